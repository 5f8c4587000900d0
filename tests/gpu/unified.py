#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
#
# Unified memory: what is moved, and faults; and what CUPTI refuses. A stand-in for libcupti replays
# it to the CUPTI collector; no GPU is used.

import collections
import json
import os

import gpulib
from gpulib import CAPTURE, finish, result
from replaylib import args_of, equal, kinds, record, run

# Name, device (None: the host), lasts, bytes, arguments.
FAULTS = [
    ("CPU Page Fault", None, False, 0, {"access": "write", "instruction": 0x401000}),
    ("GPU Page Fault", 1, True, 0, {"access": "read", "fault groups": 3}),
    ("Thrashing", 1, False, 8192, {"devices (mask)": 6}),
    ("Thrashing", None, False, 8192, {"devices (mask)": 6}),
    ("Throttling", 1, True, 0, {}),
    ("Throttling", None, True, 0, {}),
    ("Remote Mapping", 1, False, 4096, {"cause": "out of memory", "toDevice": 1}),
    ("Remote Mapping", None, False, 4096, {"cause": "unknown", "fromDevice": 1}),
    # Of devices 70 and 71, which versions before 12.8 do not tell.
    ("Thrashing", 70, False, 8192, {"devices 64 to 127 (mask)": 0xc0}),
]


def check_faults():
    for version in (1108, 1208, 1305):
        _, gpu, events = record("--gpu=faults", what=["details"], STAND_IN_VERSION=str(version))
        faults = [e for e in gpu if e["kind"] == "fault"]
        wanted = FAULTS if version >= 1208 else FAULTS[:-1]
        equal([(e["name"], e.get("device"), e["end_ns"] > e["begin_ns"], e.get("bytes", 0),
                args_of(e)) for e in faults],
              [("Unified Memory " + name, device, lasts, size, {"address": 0x7000, **args})
               for name, device, lasts, size, args in wanted],
              f"CUDA {version // 100}.{version % 100}: --gpu=faults: faults of unified memory")
        equal(gpulib.missed(events), {"not recorded: CUPTI records of unknown kinds":
                                      1 + len(FAULTS) - len(wanted)},
              "thrashing of devices that the record does not tell is counted")
        equal(kinds(gpu)["memcpy"], 0, "and not what was moved")
    trace = json.loads(run("dump", "-f", "kineto", CAPTURE).stdout)["traceEvents"]
    own, = {e["pid"] for e in trace if e.get("cat") == "cuda_runtime"}
    got = [(e["cat"], e["pid"] == own or e["pid"], e["args"].get("device")) for e in trace
           if e.get("name") == "Unified Memory Throttling"]
    equal(got, [("gpu_fault", 1, 1), ("gpu_fault", True, None)],
          "Kineto's format has them in the process of their device, or of the host")
    names = {e["args"]["name"] for e in json.loads(run("dump", "-f", "chrome", CAPTURE).stdout)
             ["traceEvents"] if e["name"] == "thread_name"}
    equal([name in names for name in ("GPU 1 memory faults", "CPU faults of unified memory")],
          [True, True], "in Chrome's they have tracks")
    report = json.loads(run("report", "--gpu", "--json", CAPTURE).stdout)
    equal(sorted((r["name"], r["count"]) for r in report["rows"] if r["kind"] == "fault"),
          sorted(collections.Counter("Unified Memory " + f[0] for f in FAULTS).items()),
          "report --gpu counts them")
    got, gpu, _ = record("--gpu=faults,managed", what=["unified"],
                         STAND_IN_WITHOUT_COUNTERS="0xf8")
    equal([kinds(gpu)["fault"], kinds(gpu)["memcpy"],
           "(28): not recorded: faults of unified memory" in got.stderr], [0, 2, True],
          "a device without faults: what was moved is recorded, and a line tells")
    got, gpu, _ = record("--gpu=faults,managed", what=["unified"],
                         STAND_IN_WITHOUT_COUNTERS="0x150")
    equal([len([e for e in gpu if e["kind"] == "fault" and "GPU Page Fault" not in e["name"]]),
           kinds(gpu)["fault"], kinds(gpu)["memcpy"], got.stderr.count("not recorded:"),
           "(28): not recorded: moves between devices\n" in got.stderr,
           "(28): not recorded: page faults of devices, throttling\n" in got.stderr],
          [6, 6, 2, 2, True, True],
          "a device without some counters: the others are recorded, and a line for each word tells")


def refused(got):
    """What the capture says that was refused, and whether standard error says the same."""
    texts = [r["why"] for r in json.loads(run("info", "--json", CAPTURE).stdout)["refused"]]
    report = run("report", "--gpu", CAPTURE)
    shown = report.stdout if report.returncode == 0 else run("info", CAPTURE).stdout
    result(all(text in shown for text in texts), "and report or info shows it (replay)", shown)
    lines = [line.removeprefix("xsprof: ") for line in got.stderr.splitlines()]
    return sorted(texts), all(text in lines for text in texts)


def check_refused():
    cannot = "this CUPTI cannot report "
    # Kinds 40 and 46 are links, 49 to 52 memory, pools, graphs and compilations.
    got, _, _ = record("--gpu=graphs,memory,pools,jit,links,managed", what=["unified"],
                       STAND_IN_WITHOUT_KINDS=hex(1 << 40 | 1 << 46 | 15 << 49),
                       STAND_IN_WITHOUT_COUNTERS="0x106")
    equal(refused(got),
          (["CUPTI: CUPTI_ERROR_OF_STAND_IN (28): not recorded: moves of unified memory",
            cannot + "how devices are connected: it is not recorded",
            cannot + "memory pools: they are not recorded", cannot + "memory: it is not recorded",
            cannot + "the driver's compilations: they are not recorded",
            cannot + "whole graphs: recording their nodes"], True),
          "the capture has what was asked for and refused")
    fifo = os.path.join(gpulib.DIR.name, "fifo")
    os.mkfifo(fifo)
    for what, more, text in (("subscribed", {}, "another tool already uses CUPTI"),
                             ("each", {"STAND_IN_VERSION": "1107"}, "this libcupti has version 17"),
                             ("each", {"XSPROF_CUPTI": "/nowhere"}, "XSPROF_CUPTI: /nowhere"),
                             ("each", {"XSPROF_CUPTI": fifo},
                              f"XSPROF_CUPTI: {fifo}: it is not a regular file")):
        got, _, _ = record("--gpu", what=[what], **more)
        texts, same = refused(got)
        equal([len(texts), texts[0].startswith(text), same], [1, True, True],
              f"and why nothing is recorded: {text}")
    got = run("report", "--gpu", "--name", "nosuch", CAPTURE)
    equal([got.returncode, "no GPU event matches the filters" in got.stderr], [1, True],
          "filters that select nothing are told, not what was refused")
    got, _, _ = record("--gpu=memory", what=["each"])
    equal(refused(got), ([], True), "nothing refused: no such fact")


def check_ready():
    """Counters are refused while cuInit() runs."""
    for what, moved in (("unified", 2), ("unified-late", 2), ("unified-never", 0)):
        got, gpu, _ = record("--gpu=managed", what=[what])
        equal([kinds(gpu)["memcpy"], "until recording stopped" in got.stderr], [moved, not moved],
              {"unified": "all that is moved after cuInit() is recorded",
               "unified-late": "without its callback, what is moved a moment later",
               "unified-never": "where CUDA is never ready, a line tells"}[what])


def check_tracks():
    """What overlaps is on tracks of its own in Kineto's format."""
    record("--gpu=faults,managed,jit", what=["details"])
    trace = json.loads(run("dump", "-f", "kineto", CAPTURE).stdout)["traceEvents"]
    tracks = {key: [e for e in trace if e.get("ph") == "X" and e["cat"] == cat and
                    (e.get("args") or {}).get(arg) == value]
              for key, cat, arg, value in (
                  ("copies", "gpu_memcpy", "stream", -1), ("kernels", "kernel", "stream", 7),
                  ("waits", "cuda_sync", "stream", 8), ("faults", "gpu_fault", "device", 1),
                  ("jit", "overhead", "device", 1))}
    tids = {key: {e["tid"] for e in events} for key, events in tracks.items()}
    # Copies and faults overlap always, the others where the program makes the next one in time.
    more = {key: bool(gpulib.overlaps([{**e, "tid": 0} for e in events]))
            for key, events in tracks.items()}
    equal([gpulib.overlaps(trace), {key: (min(v), len(v) > 1) for key, v in tids.items()},
           more["copies"], more["faults"]],
          [[], {"copies": (8000000, True), "kernels": (7, more["kernels"]),
                "waits": (1000008, more["waits"]), "faults": (7000000, True),
                "jit": (0, more["jit"])}, True, True],
          "no two events of a track overlap, and the first track has the tid of its stream")
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in trace if e["name"] == "thread_name"}
    equal([names[1, 8000000], names[1, 7000000], names.get((-1, 0)),
           sorted({names[1, tid] for tid in tids["waits"]})[:2]],
          ["stream -1 ", "faults of unified memory", None,
           ["stream 8 (sync)", "stream 8 (sync) (track 2)"][:1 + more["waits"]]],
          "tracks have names")
    calls = {e["args"]["correlation"]: e["name"] for e in trace if e.get("cat") == "cuda_runtime"}
    equal([(e["args"]["device"], calls.get(e["args"].get("call correlation"))) for e in trace
           if e.get("name") == "JIT Compile (NVVM IR to PTX)"], [(1, "cudaLaunchKernel")],
          "what the driver compiles has its device and its call")


check_ready()
check_faults()
check_tracks()
check_refused()
finish()
