#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
#
# Names that a program gives to streams and contexts with NVTX: the collector of NVTX asks that of
# CUDA for the numbers. Stand-ins for libcupti and libcuda; no GPU is used.

import json
import os

import gpulib
from gpulib import BUILD, CAPTURE, finish, result
from replaylib import equal, record, run

CUDA = os.path.join(BUILD, "tests", "gpu", "libcuda-stand-in.so")
STREAMS = {7: "compute", 8: "zum Ger\u00e4t", 9: '"from" the device'}
ONE = "of one context"      # the name of its stream 10; another context has a stream 10 too


def missed(events):
    return {e["name"].removeprefix("not recorded: "): e["i64"] for e in events
            if e["type"] == "counter" and e["name"].startswith("not recorded: nvtxName")}


def check_names():
    got, _, events = record("--gpu", what=["named"], LD_PRELOAD=CUDA)
    said = [line for line in got.stdout.splitlines() if line.startswith(("nvtx", "named", "paus"))]
    equal(said, ["nvtx: 1", "named: -2 -22 -22", "paused: -11"],
          "an unknown type of handle, no text, and CUPTI given back: an error for each")
    equal(missed(events), {"nvtxNameCuStream": 2, "nvtxNameCuContext": 1, "nvtxNameCudaStream": 1,
                           "nvtxNameCuEvent": 1}, "names of what is not known are counted")
    rows = json.loads(run("report", "--gpu", "--json", CAPTURE).stdout)["streams"]
    equal({(row["context"], row["stream"]): (row["name"], row["context_name"]) for row in rows},
          {(3, n): (name, "of the trainer") for n, name in (*STREAMS.items(), (10, ONE))}
          | {(4, 10): (None, None)}, "report --gpu has the last name of each")
    text = run("report", "--gpu", CAPTURE).stdout
    result("stream 8 (zum Ger\u00e4t) of context 3 (of the trainer)" in text,
           "in its table too (replay)", text)
    for form, track in (("kineto", "stream {} {}"), ("chrome", "GPU 1 stream {} ({}), context 3 "
                                                     "(of the trainer)")):
        trace = json.loads(run("dump", "-f", form, CAPTURE).stdout)["traceEvents"]
        got = {e["args"]["name"] for e in trace if e["name"] == "thread_name"}
        want = {track.format(n, name) for n, name in STREAMS.items()}
        equal(sorted(want - got), [], f"{form}'s format")
        if form == "kineto":
            equal([name for name in got if ONE in name], [],
                  "where streams of two contexts have one track, neither name is shown")
    run("dump", "-f", "perfetto", "-o", CAPTURE + ".pftrace", CAPTURE)
    with open(CAPTURE + ".pftrace", "rb") as f:
        trace = f.read()
    equal([f"stream {n} ({name})".encode() in trace for n, name in STREAMS.items()], [True] * 3,
          "perfetto's format")


def check_without():
    for what, options, more in (("libcuda", ["--gpu"], {}), ("--gpu", [], {"LD_PRELOAD": CUDA})):
        _, _, events = record(*options, what=["named"], **more)
        equal(missed(events).get("nvtxNameCuStream"), 5, f"without {what}, each is counted")


check_names()
check_without()
finish()
