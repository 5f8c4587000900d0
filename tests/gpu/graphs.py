#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
#
# Kernels of CUDA graphs belong to the ops that captured them, in all outputs: a stand-in for
# libcupti, in several versions, replays them to the CUPTI collector; no GPU is used.

import json
import os

import gpulib
from gpulib import BUILD, CAPTURE, XSPROF, finish

PROGRAM = os.path.join(BUILD, "tests", "gpu", "program")
OWN = {"without": ("CUDA_",), "XSPROF_CUPTI": os.path.join(BUILD, "tests", "gpu", "libcupti.so")}
WANTED = {"mm_kernel": "aten::mm", "relu_kernel": "aten::relu", "of_no_range": None,
          "of_before": None}
# If CUPTI does not report an update, a graph keeps the ops of its capture.
UPDATED = {1108: "aten::mm", 1204: "aten::mm", 1303: "aten::mm", 1305: "aten::relu"}


def equal(got, want, name):
    gpulib.equal(got, want, f"{name} (replay)")


def run(*args, **more):
    return gpulib.run([XSPROF, *args], **{**OWN, **more})


def record(version, options=("--gpu",), launches=3):
    got, events, _ = gpulib.record([PROGRAM, "capture", str(launches)], options,
                                   **{**OWN, "STAND_IN_VERSION": str(version)})
    return got, events


def chrome_args(form):
    trace = json.loads(run("dump", "-f", form, CAPTURE).stdout)["traceEvents"]
    return [e for e in trace if e.get("ph") in ("X", "B", "b")]


def check(version):
    got, events = record(version)
    cuda = f"CUDA {version // 100}.{version % 100}"
    kernels = gpulib.of(events, "kernel")
    calls = {e["value"]: e["name"] for e in gpulib.of(events, "runtime")}
    equal(sorted({(e["name"], e.get("captured_in")) for e in kernels}, key=str),
          sorted([*WANTED.items(), ("updated_kernel", UPDATED[version])], key=str),
          f"{cuda}: each kernel of a graph belongs to the range that captured it")
    equal([{calls[e["value"]] for e in kernels}, len(kernels)], [{"cudaGraphLaunch"}, 13],
          "and to the call that launched it")
    # Seven for nodes; a launch causes none.
    equal("callbacks: 10, of launches: 0" in got.stdout, True,
          f"callbacks come when nodes are made, and none when they run: {got.stdout!r}")
    equal(gpulib.missed(events), {}, "all is recorded")


def check_outputs():
    record(1305)
    wanted = {**WANTED, "updated_kernel": "aten::relu"}
    for form in ("chrome", "kineto"):
        shown = chrome_args(form)
        equal({e["name"]: e["args"].get("captured in") for e in shown if e["name"] in wanted},
              wanted, f"{form}: an argument of the kernel")
        equal([e["name"] for e in shown if e["name"] == "graph node"], [],
              f"{form}: the nodes themselves are not drawn")
    kernel = next(e["args"] for e in shown if e["name"] == "mm_kernel")
    ids = {name: {e["args"]["External id"] for e in shown
                  if e["name"] == name and "External id" in e.get("args", {})}
           for name in ("step", "aten::mm")}
    equal([kernel["External id"] in ids["step"], {kernel["captured External id"]}],
          [True, ids["aten::mm"]],
          "kineto: the External id is that of what launched the graph, as its tools expect, and "
          "the op of the capture has its own key")
    text = run("dump", CAPTURE).stdout
    equal(text.count('captured_in="aten::mm"'), 3, "text: a field")
    trace = run("dump", "-f", "perfetto", CAPTURE, encoding="latin-1").stdout
    equal([trace.count("captured in"), "graph node" in trace], [7, True],
          "perfetto: an annotation of those that are known")
    report = json.loads(run("report", "--gpu", "--json", CAPTURE).stdout)
    equal(sorted((r["name"], r["captured_in"], r["count"]) for r in report["captured"]
                 if r["captured_in"]),
          [("mm_kernel", "aten::mm", 3), ("relu_kernel", "aten::relu", 3),
           ("updated_kernel", "aten::relu", 1)], "report --gpu: a row of each kernel and range")
    equal(sorted((r["name"], r["count"], r["total_ns"] > 0) for r in report["captured"]
                 if not r["captured_in"]),
          [("of_before", 3, True), ("of_no_range", 3, True)],
          "those of which the range is not known are rows too")
    table = run("report", "--gpu", CAPTURE).stdout
    equal("mm_kernel, in aten::mm\n" in table, True, "and in its table")


def check_whole():
    got, events = record(1300, ("--gpu=graphs",))
    equal([len(gpulib.of(events, "node")), "callbacks: 0, of launches: 0" in got.stdout],
          [0, True], "of graphs as a whole no node is asked for")


for number in UPDATED:
    check(number)
check_outputs()
check_whole()
finish()
