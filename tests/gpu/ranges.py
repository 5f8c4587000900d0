#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
#
# xsprof record --metrics-by=kernel: metrics of each kernel. A stand-in for libcupti replays them to
# the collector; no GPU is used.

import collections
import json
import os

import gpulib
from gpulib import BUILD, CAPTURE, XSPROF, finish

PROGRAM = os.path.join(BUILD, "tests", "gpu", "ranges")
OWN = {"without": ("CUDA_",), "XSPROF_CUPTI": os.path.join(BUILD, "tests", "gpu", "libcupti.so")}
# Values of every other kernel; the others have one more.
DEFAULT = {"SM active (%)": 10, "Warps active (%)": 20, "Tensor active (%)": 30,
           "DRAM read (%)": 40, "DRAM write (%)": 50, "SM issue (%)": 60}
PASSES = "measured in passes"
ALONE = ("GPU 1 (SI100): metrics of each kernel are measured: kernels run one at a time, in 1 pass "
         "each, and launches wait for them")
UNMEASURED = "not recorded: metrics of kernels, which CUPTI did not measure"
OF_GRAPHS = "not recorded: metrics of kernels of graphs"
OF_OTHERS = "not recorded: metrics of kernels that wait for other kernels"


def equal(got, want, name):
    gpulib.equal(got, want, f"{name} (replay)")


def run(*args, **more):
    return gpulib.run([XSPROF, *args], **{**OWN, **more})


def record(what="", n=10, metrics="--metrics", **more):
    got, events, _ = gpulib.record([PROGRAM, what, str(n)], (metrics, "--metrics-by=kernel"),
                                   **{**OWN, **more})
    seen = {k: int(v) for k, v in (line.split(": ") for line in got.stdout.splitlines())}
    return got, seen, measured(events), events


def metrics(kernel):
    return {a["key"]: a["value"] for a in kernel["metrics"] if a["type"] == "f64"}


def passes(kernel):
    return next((a["value"] for a in kernel["metrics"] if a["key"] == PASSES), None)


def measured(events):
    """Returns kernels with their metrics: the records of the same call, place and time."""
    args = collections.defaultdict(list)
    same = ("value", "name", "begin_ns", "end_ns", "device", "context", "stream")
    for e in gpulib.of(events, "metrics"):
        args[tuple(e[k] for k in same)] += e["args"]
    kernels = gpulib.of(events, "kernel")
    for e in kernels:
        e["metrics"] = args.pop(tuple(e[k] for k in same), [])
    gpulib.result(not args, "metrics are of kernels (replay)", args)
    return kernels


def lines(got):
    return [line.split("xsprof: ", 1)[1].strip() for line in got.stderr.splitlines()
            if "xsprof: " in line]


def check_default():
    got, seen, kernels, events = record(n=30)
    equal([metrics(k) for k in kernels],
          [{k: v + i % 2 for k, v in DEFAULT.items()} for i in range(30)],
          "each kernel has its metrics")
    equal([{passes(k) for k in kernels}, lines(got), gpulib.missed(events)],
          [{1}, [ALONE], {}], "and in how many passes; a line says what that does to the program")
    equal(seen, {"measured": 30, "alone": 30, "enabled": 1, "disabled": 0, "wrong": 0},
          "launched by the runtime and by the driver, each was measured once")
    calls = [e["name"] for e in gpulib.of(events, "runtime", "driver")]
    equal(collections.Counter(calls), {"cudaLaunchKernel": 23, "cuLaunchKernel": 7},
          "and the calls are the program's")
    equal([e for e in gpulib.of(events, "metrics") if not e["value"]], [],
          "the device is not sampled")
    return kernels


def check_report(kernels):
    report = json.loads(run("report", "--gpu", "--by", "kernel", "--json", CAPTURE).stdout)
    rows = {r["name"]: r for r in report["rows"] if "metrics" in r}
    want = {}
    for name in ("kernel_a", "kernel_b"):
        values = [metrics(k)["DRAM read (%)"] for k in kernels if k["name"] == name]
        want[name] = [len(values), sum(values) / len(values), min(values), max(values)]
    got = {name: [next([m["kernels"], m["mean"], m["min"], m["max"]] for m in row["metrics"]
                       if m["name"] == "DRAM read (%)") for row in (rows[name],)][0]
           for name in rows}
    equal(got, want, "report --gpu --by kernel --json: mean, least and most of each name")
    equal([[m["name"] for m in rows["kernel_a"]["metrics"]],
           [report["devices"][0][k] for k in ("kernels", "measured_alone", "measured_in_passes")]],
          [list(DEFAULT), [30, 30, 1]], "and how many kernels ran alone for it")
    text = run("report", "--gpu", "--by", "kernel", CAPTURE).stdout
    row = next(line.split() for line in text.splitlines() if line.split()[-1:] == ["kernel_b"] and
               line.split()[1:2] == ["10.5"])
    equal([row, "30 of 30 kernels ran alone, in 1 pass each" in text,
           "Measured  SM active (%)" in text],
          [["10", *(f"{v + 0.5:.1f}" for v in DEFAULT.values()), "kernel_b"], True, True],
          "report --gpu --by kernel: a row for each, and what it did to times")


def check_formats(kernels):
    want = [v for k in kernels for v in (metrics(k)["SM issue (%)"], 0)]
    trace = json.loads(run("dump", "-f", "chrome", CAPTURE).stdout)["traceEvents"]
    equal([e["args"]["value"] for e in trace if e["name"] == "GPU 1 SM issue (%)"], want,
          "counters in Chrome's format, which end with their kernel")
    trace = json.loads(run("dump", "-f", "kineto", CAPTURE).stdout)["traceEvents"]
    counters = [e for e in trace if e.get("name") == "SM issue (%)"]
    equal([[e["args"]["value"] for e in counters], {(e["ph"], e["pid"]) for e in counters},
           sum(e.get("cat") == "kernel" for e in trace)], [want, {("C", 1)}, len(kernels)],
          "in Kineto's, at the device; kernels are as many as before")
    names = run("dump", "-f", "perfetto", CAPTURE, encoding="latin-1").stdout
    equal([names.count(f"GPU 1 {name}") for name in DEFAULT], [1] * len(DEFAULT),
          "and a track for each in Perfetto's")


def check_chosen():
    got, seen, kernels, _ = record(metrics="--metrics=dram,lts__t_sector_hit_rate.pct,"
                                           "sm__nothing.avg.pct,a__b.c")
    equal([metrics(k) for k in kernels[:2]],
          [{"DRAM read (%)": 40 + i, "DRAM write (%)": 50 + i, "lts__t_sector_hit_rate.pct": 70 + i}
           for i in range(2)], "--metrics=...: those; one without a value is left out")
    equal(lines(got)[0], "GPU 1 (SI100) has no metric a__b.c: xsprof record --metrics=help "
          "lists the metrics", "what is not known is named")
    every = "sm,occupancy,tensor,dram,issue,lts__t_sector_hit_rate.pct"
    got, seen, kernels, _ = record(metrics=f"--metrics={every}")
    equal([{passes(k) for k in kernels}, {len(metrics(k)) for k in kernels}, seen["wrong"],
           "in 2 passes each" in got.stderr], [{2}, {7}, 0, True],
          "what was named is measured in several passes")


def check_threads():
    got, seen, kernels, events = record("threads", 50)
    equal([len(kernels), seen["measured"], seen["alone"], seen["enabled"], seen["wrong"]],
          [200, 200, 200, 2, 0], "threads in two contexts: kernels of a context run one at a time")
    values = {c: collections.Counter(metrics(k)["SM active (%)"] for k in kernels
                                     if k["stream"] == c) for c in (3, 4)}
    equal([values, gpulib.missed(events)], [{3: {10: 50, 11: 50}, 4: {10: 50, 11: 50}}, {}],
          "and each has its own values")


def check_refused():
    for what, why in (("root", "(35): the driver allows only root to read GPU counters "
                               "(ERR_NVGPUCTRPERM; its option NVreg_RestrictProfilingToAdmin"),
                      ("start-root", "(35): the driver allows only root"),
                      ("mig", "(43): it is partitioned by MIG"),
                      ("virtual", "(33): it is a virtual GPU, whose host must allow it"),
                      ("busy", "(26): another profiler or a monitor uses its counters")):
        got, seen, kernels, events = record(what, 20)
        said = [line for line in lines(got) if line != ALONE]
        equal([[why in line for line in said], len(kernels), gpulib.missed(events), seen["wrong"],
               {passes(k) for k in kernels}, seen["disabled"]],
              [[True], 20, {UNMEASURED: 20}, 0, {None}, seen["enabled"]],
              f"{what}: one line with the reason; kernels are recorded, and counted as unmeasured")
    got, seen, kernels, events = record(STAND_IN_VERSION="1204")
    equal([["needs CUDA 12.6 or newer" in line for line in lines(got)], len(kernels),
           gpulib.missed(events)], [[True], 10, {UNMEASURED: 10}], "CUDA 12.4 measures none")
    for version in ("1206", "1208", "1305"):
        got, seen, kernels, events = record(STAND_IN_VERSION=version)
        equal([seen["measured"], {len(metrics(k)) for k in kernels}], [10, {6}],
              f"CUDA {version[:2]}.{int(version[2:])} does")
    got, seen, kernels, events = record("lost", 20)
    equal([len(kernels), len([k for k in kernels if passes(k)]), gpulib.missed(events),
           ["(999)" in line for line in lines(got) if line != ALONE]],
          [20, 5, {UNMEASURED: 15}, [True]], "where it fails later, all that follows is recorded")


def check_not_measured():
    got, seen, kernels, events = record("collective", 8)
    equal([len(kernels), seen["measured"], gpulib.missed(events)], [9, 8, {OF_OTHERS: 1}],
          "a kernel of a collective, which would wait for ever, is not measured, and counted")
    got, seen, kernels, events = record("capture", 8)
    missed = gpulib.missed(events)
    count = collections.Counter((k["name"], passes(k)) for k in kernels)
    equal([seen["wrong"], count["kernel_a", 1] + count["kernel_b", 1], count["kernel_c", None],
           missed.get(OF_GRAPHS), count["kernel_d", 1] > 0,
           sum(n for (_, p), n in count.items() if p), sum(missed.values())],
          [0, 24, 2, 2, True, seen["measured"], sum(n for (_, p), n in count.items() if not p)],
          "nothing is measured while a graph is captured; measured and counted are all kernels")


def check_budget():
    """xsprof record refuses both; a program that records itself may set both."""
    got, seen, kernels, events = record("threads", 300, XSPROF_GPU_BUDGET="0.1")
    equal([len(kernels), seen["measured"], seen["alone"], seen["wrong"], gpulib.missed(events)],
          [1200, 1200, 1200, 0, {}], "a budget has no effect on kernels that are measured")


def check_lifetime():
    got, seen, kernels, events = record("again", 6)
    equal([len(kernels), [metrics(k)["SM active (%)"] for k in kernels], seen],
          [12, [10, 11] * 6, {"measured": 12, "alone": 12, "enabled": 2, "disabled": 1,
                              "wrong": 0}], "a context that ends, and another at its address")
    got, seen, kernels, events = record("late", 4)
    equal([[metrics(k).get("SM active (%)") for k in kernels], gpulib.missed(events)],
          [[10, 11, 10, 11], {}], "a kernel's record that comes before its launch has returned")
    got, seen, kernels, events = record("pause", 6)
    equal([len(kernels), seen["measured"], seen["wrong"], gpulib.missed(events)],
          [12, 12, 0, {}], "kernels are not measured while recording is paused")


def check_options():
    for options, why in ((("--metrics-by=kernel",), "--metrics-by needs --metrics"),
                         (("--metrics", "--metrics-by=range"), "neither device nor kernel"),
                         (("--metrics", "--metrics-by=kernel", "--metrics-hz=10"),
                          "--metrics-hz: of kernels metrics are not sampled"),
                         (("--metrics", "--metrics-by=kernel", "--gpu-budget=2"),
                          "--gpu-budget: each kernel runs alone"),
                         (("--metrics=pcie", "--metrics-by=kernel"), "is measured of devices only"),
                         (("--metrics=occupancy",), "is measured of kernels only")):
        got = run("record", *options, "-o", CAPTURE, "--", "true")
        equal([got.returncode, why in got.stderr], [2, True], f"{' '.join(options)} is refused")
    text = run("record", "--metrics=help").stdout
    equal([f"\n  {w} " in text for w in ("occupancy", "sm", "pcie")], [True] * 3,
          "--metrics=help has both")


whole = check_default()
check_report(whole)
check_formats(whole)
check_chosen()
check_threads()
check_refused()
check_not_measured()
check_lifetime()
check_budget()
check_options()
finish()
