#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
#
# xsprof record --metrics: counters of a device. A stand-in for libcupti replays them to the
# collector, with samples of the time that has passed; no GPU is used.

import json
import os
import sys

import gpulib
from gpulib import BUILD, CAPTURE, XSPROF, finish

PROGRAM = os.path.join(BUILD, "tests", "gpu", "program")
OWN = {"without": ("CUDA_",), "XSPROF_CUPTI": os.path.join(BUILD, "tests", "gpu", "libcupti.so")}
# What the stand-in's chip measures at once, and the values in every other sample.
DEFAULT = {"GPU active (%)": 10, "SM active (%)": 20, "Tensor active (%)": 30,
           "DRAM read (%)": 40, "DRAM write (%)": 50, "PCIe RX (GB/s)": 60}
TOO_FAST = "not recorded: metric samples that came too fast"
WHOLE = [True, [], True]
NO_TIME = "not recorded: metric samples of unknown time"


def equal(got, want, name):
    gpulib.equal(got, want, f"{name} (replay)")


def run(*args, **more):
    return gpulib.run([XSPROF, *args], **{**OWN, **more})


def record(*options, what="metrics", n=40, **more):
    got, events, _ = gpulib.record([PROGRAM, what, str(n)], options, **{**OWN, **more})
    return got, [sample(e) for e in gpulib.of(events, "metrics")], events


def sample(event):
    return {**event, "values": {a["key"]: a["value"] for a in event.get("args", [])}}


def lines(got):
    return [line for line in got.stderr.splitlines() if "xsprof: " in line]


def kernels(events):
    return gpulib.of(events, "kernel")


def is_whole(samples, ns):
    """Checks that each begins where the one before has ended."""
    ends = {(b["begin_ns"] - a["end_ns"]) for a, b in zip(samples, samples[1:])}
    # The program's and the capture's clock rates differ by a few parts in a million.
    return [len(samples) > 5, [e for e in samples if abs(e["end_ns"] - e["begin_ns"] - ns) >
                               ns // 10000], ends <= {-1, 0, 1}]


def check_default():
    got, samples, events = record("--metrics")
    equal(is_whole(samples, 1000000), WHOLE, "samples follow each other, 1000 a second")
    equal([e["values"] for e in samples[:4]],
          [{k: v + i % 2 for k, v in DEFAULT.items()} for i in range(4)],
          "what the chip has, and can measure at one time, in units of ours")
    equal([{e["values"]["SM active (%)"] for e in samples}, {e["device"] for e in samples}],
          [{20, 21}, {1}], "all of one device")
    first, last = kernels(events)[0]["begin_ns"], kernels(events)[-1]["end_ns"]
    inside = [e for e in samples if first < e["begin_ns"] and e["end_ns"] < last + 10 ** 9]
    equal([len(samples) - len(inside), lines(got), gpulib.missed(events)], [0, [], {}],
          "their times are on the clock of activities; nothing is missed, and nothing said")
    return samples, events


def check_report(samples, events):
    report = json.loads(run("report", "--gpu", "--json", CAPTURE).stdout)["devices"]
    work = [(e["begin_ns"], e["end_ns"]) for e in kernels(events)]
    busy = [sum(max(0, min(e["end_ns"], b) - max(e["begin_ns"], a)) for a, b in work)
            for e in samples]
    value = [e["values"]["SM active (%)"] for e in samples]
    long = [e["end_ns"] - e["begin_ns"] for e in samples]
    got = next(m for m in report[0]["metrics"] if m["name"] == "SM active (%)")
    equal([[m["name"] for m in report[0]["metrics"]], got["samples"], got["sampled_ns"],
           got["busy_ns"], got["max"]],
          [list(DEFAULT), len(samples), sum(long), sum(busy), 21],
          "report --gpu --json: metrics of the device")
    mean = sum(v * n for v, n in zip(value, long)) / sum(long)
    while_busy = sum(v * n for v, n in zip(value, busy)) / sum(busy)
    equal([abs(got["mean"] - mean) < 1e-6, abs(got["mean_while_busy"] - while_busy) < 1e-6],
          [True, True], "their mean, and that of the time in which the device was busy")
    text = run("report", "--gpu", CAPTURE).stdout
    equal([f"SM active (%): mean {mean:.1f}, while busy {while_busy:.1f}, at most 21.0 "
           f"({len(samples)} samples)" in text, text.count("GPU metrics")], [True, 0],
          "report --gpu: a line for each, and samples are no activities")
    names = [r["name"] for r in json.loads(run("report", "--json", CAPTURE).stdout)["ranges"]]
    equal(["cudaLaunchKernel" in names, "GPU metrics" in names], [True, False],
          "nor are they ranges")


def check_formats(samples):
    trace = json.loads(run("dump", "-f", "chrome", CAPTURE).stdout)["traceEvents"]
    counters = [e["args"]["value"] for e in trace if e["name"] == "GPU 1 SM active (%)"]
    equal([counters, {e["ph"] for e in trace if e["name"].startswith("GPU 1 DRAM")}],
          [[e["values"]["SM active (%)"] for e in samples], {"C"}], "counters in Chrome's format")
    equal([e["name"] for e in trace if e["name"] == "GPU metrics"], [], "and no ranges of them")
    trace = json.loads(run("dump", "-f", "kineto", CAPTURE).stdout)["traceEvents"]
    counters = [e for e in trace if e.get("name") == "PCIe RX (GB/s)"]
    equal([[e["args"]["value"] for e in counters], {(e["ph"], e["pid"]) for e in counters}],
          [[e["values"]["PCIe RX (GB/s)"] for e in samples], {("C", 1)}],
          "in Kineto's, at the device")
    names = run("dump", "-f", "perfetto", CAPTURE, encoding="latin-1").stdout
    equal([names.count(f"GPU 1 {name}") for name in DEFAULT] + [names.count("GPU metrics")],
          [1] * len(DEFAULT) + [0], "and a track for each in Perfetto's")
    code = ("import sys, xsprof\ncapture = xsprof.open(sys.argv[1])\n"
            "print(sum(a.kind == 'metrics' for a in capture.gpu()),"
            "any(r.name == 'GPU metrics' for r in capture.ranges()))")
    got = gpulib.run([sys.executable, "-c", code, CAPTURE], XSPROF_LIBDIR=f"{BUILD}/lib",
                     PYTHONPATH=os.path.join("tools", "python"))
    equal(got.stdout.split(), [str(len(samples)), "False"], "Python has them beside activities")


def check_chosen():
    got, samples, events = record("--metrics=pcie,issue,nvlink,sm__nothing.avg.pct,pcie,a__b.c",
                                  "--metrics-hz=200")
    equal([{k: v // 10 for k, v in e["values"].items()} for e in samples[:1]],
          [{"PCIe RX (GB/s)": 6, "PCIe TX (GB/s)": 7, "SM issue (%)": 8}],
          "--metrics=...: those, once each, by the name that the chip has; no value is left out")
    equal(is_whole(samples, 5000000), WHOLE, "--metrics-hz=200")
    equal([" ".join(line.split()[1:]).split(":")[0] for line in lines(got)],
          [f"GPU 1 (SI100) has no metric {m}" for m in
           ("NVLink RX (GB/s)", "NVLink TX (GB/s)", "a__b.c")],
          "what was asked for and is not known is named")
    equal([len(kernels(events)) > 0, "--metrics=help" in got.stderr], [True, True],
          "and how to see which there are")
    got, samples, _ = record("--metrics=gpu,sm,tensor,dram,pcie,issue")
    equal([list(samples[0]["values"]), [" ".join(line.split()[1:]) for line in lines(got)]],
          [list(DEFAULT), [f"GPU 1 (SI100) cannot measure {m} at the same time as the others: it "
                           "is left out" for m in ("PCIe TX (GB/s)", "SM issue (%)")]],
          "and what cannot be measured at the same time")
    got, samples, events = record("--metrics=a__b.c")
    equal([len(lines(got)), samples, len(kernels(events)) > 0], [1, [], True],
          "where there is none, kernels are recorded")


def check_refused():
    for what, why in (("metrics-root", "(35): the driver allows only root to read GPU counters"),
                      ("metrics-mig", "(43): it is partitioned by MIG"),
                      ("metrics-busy", "(26): another profiler or a monitor uses its counters")):
        got, samples, events = record("--metrics", what=what)
        equal([[why in line for line in lines(got)], samples, len(kernels(events)) >= 40],
              [[True], [], True], f"{what}: one line with the reason, and kernels are recorded")
        equal([f"xsprof: {text}" for text in gpulib.refused()], lines(got),
              f"{what}: and the capture has the reason")
    got, samples, events = record("--metrics", STAND_IN_VERSION="1204")
    equal([["which needs CUDA 12.6 or newer" in line for line in lines(got)], samples,
           len(kernels(events)) >= 40], [[True], [], True], "CUDA 12.4 does not sample")
    for version in ("1206", "1305"):
        _, samples, _ = record("--metrics", STAND_IN_VERSION=version)
        equal(is_whole(samples, 1000000), WHOLE,
              f"CUDA {version[:2]}.{int(version[2:])} does")


def check_short():
    got, samples, events = record("--metrics", "--metrics-hz=1", what="one-of-each", n=0)
    equal([samples, ["GPU 1's metrics" in line for line in lines(got)], gpulib.refused()],
          [[], [True], [line.removeprefix("xsprof: ") for line in lines(got)]],
          "a program that ends before the first sample: that is said")


def check_idle():
    _, samples, _ = record("--metrics", what="idle")
    device, = json.loads(run("report", "--gpu", "--json", CAPTURE).stdout)["devices"]
    equal([[m["name"] for m in device["metrics"]], device["metrics"][0]["samples"],
           device["first_ns"]], [list(DEFAULT), len(samples), None],
          "a device without work of the program: its metrics are reported")
    text = run("report", "--gpu", CAPTURE).stdout
    equal([": no work of it is in the capture\n" in text,
           "#   GPU active (%): mean " in text], [True, True], "as text too")


def check_clocks():
    _, samples, events = record("--metrics", what="metrics-realtime")
    first = kernels(events)[0]["begin_ns"]
    last = max(e["ns"] for e in events)
    equal([len(samples) > 5, [e for e in samples if e["begin_ns"] < first or
                              e["end_ns"] > last]], [True, []],
          "samples whose times are of the system's clock")
    _, samples, events = record("--metrics", what="metrics-unknown")
    missed = gpulib.missed(events)
    equal([samples, list(missed), missed.get(NO_TIME, 0) > 5], [[], [NO_TIME], True],
          "those whose times are of none are counted")
    _, samples, _ = record("--metrics", what="metrics-clocks")
    equal(is_whole(samples[1:], 500000), WHOLE, "a device that samples by its own clock alone")


def check_full():
    got, samples, events = record("--metrics", what="metrics-full", n=100)
    lost = gpulib.missed(events).get(TOO_FAST, 0)
    times = int(got.stdout.split("sampled: ")[1].split()[0])
    span = (samples[-1]["end_ns"] - samples[0]["begin_ns"]) / 1e6
    # Sampling restarts between two samples, so each time up to half of one is not counted.
    equal([times > 1, lost > 0, abs(span - len(samples) - lost) <= times / 2 + 1],
          [True, True, True], f"a full buffer: {len(samples)} samples and {lost} that are counted "
          f"as lost are {span:.1f} ms, begun {times} times")
    text = run("report", "--gpu", CAPTURE).stdout
    equal(f"# not recorded: {lost} metric samples" in text, True, "report --gpu says so")


def check_pause():
    got, samples, events = record("--metrics", what="metrics-pause")
    gaps = [(a["end_ns"], b["begin_ns"]) for a, b in zip(samples, samples[1:])
            if b["begin_ns"] - a["end_ns"] > 10 ** 9]
    equal(["paused: 1" in got.stdout, len(gaps), TOO_FAST in gpulib.missed(events)],
          [True, 1, False], "sampling ends where recording is paused, and goes on")


def check_options():
    got = run("record", "--metrics=help")
    equal([got.returncode, all(f"\n  {w} " in got.stdout for w in
                               ("gpu", "sm", "tensor", "dram", "nvlink", "pcie", "issue"))],
          [0, True], "--metrics=help: which there are")
    for option, why in (("--metrics=tensors", "'tensors' is invalid: --metrics=help"),
                        ("--metrics=", "a metric is missing"),
                        ("--metrics-hz=10", "--metrics-hz needs --metrics")):
        got = run("record", option, "-o", CAPTURE, "--", "true")
        equal([got.returncode, why in got.stderr], [2, True], f"{option} is refused")
    for hz in ("0", "100001", "1k", "-1", ""):
        got = run("record", "--metrics", "--metrics-hz", hz, "-o", CAPTURE, "--", "true")
        equal([got.returncode, "1 to 100000" in got.stderr], [2, True], f"a rate of '{hz}'")
    got = run("record", "--gpu-metrics-devices=all", "-o", CAPTURE, "--", "true")
    equal([got.returncode, "--metrics samples" in got.stderr], [2, True],
          "an option of Nsight Systems says what it is called here")


whole = check_default()
check_report(*whole)
check_formats(whole[0])
check_chosen()
check_refused()
check_short()
check_idle()
check_clocks()
check_full()
check_pause()
check_options()
finish()
