#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
#
# OpenCL programs on a real device (PoCL's, which is the CPU): calls, kernels and copies in the
# trace must equal what the program prints, what an independent layer counts, and the runtime's own
# times.

import collections
import json
import os
import re
import sys

sys.dont_write_bytecode = True
from gpulib import (BUILD, DIR, ROOM, WORK, XSPROF, check_calls, equal, failed, finish, missed, of,
                    result)
from opencllib import check_same, record, run, said, seen

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PROGRAM = os.path.join(DIR.name, "opencl")
CLOSE = os.path.join(DIR.name, "close")
OLD = os.path.join(DIR.name, "old")
ICD = os.path.join(DIR.name, "icd.so")
LAYER = os.path.join(DIR.name, "layer.so")
COUNT = os.path.join(DIR.name, "count")

def compile_all():
    cc = os.environ.get("CC", "cc")
    flags = ["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-iquote", ROOT]
    for args in ([*flags, "-o", PROGRAM, os.path.join(HERE, "opencl.c"), "-pthread", "-lOpenCL"],
                 [*flags, "-o", CLOSE, os.path.join(HERE, "opencl-close.c"), "-ldl"],
                 [*flags, "-o", OLD, os.path.join(HERE, "opencl-old.c"), "-lOpenCL"],
                 [*flags, "-shared", "-fPIC", "-o", ICD, os.path.join(HERE, "opencl-icd.c")],
                 [*flags, "-shared", "-fPIC", "-o", LAYER, os.path.join(HERE, "opencl-layer.c")]):
        got = run([cc, *args])
        result(not got.returncode, "what the collector knows of OpenCL is what its headers say"
               if LAYER in args else f"of OpenCL: {os.path.basename(args[args.index('-o') + 1])}",
               got.stderr)


def check_pairs(events, name):
    check_calls(events, name)
    # An in-order queue runs one command after the other.
    last = {}
    overlaps = []
    for e in sorted(of(events, *WORK), key=lambda e: e["begin_ns"]):
        if e["begin_ns"] < last.get(e["stream"], 0) - 2000:
            overlaps.append(e)
        last[e["stream"]] = e["end_ns"]
    result(not overlaps, f"{name}; commands of a queue do not overlap by more than its clock errs",
           overlaps[:3])


def check_all():
    got, events, path = record([PROGRAM, "all"])
    calls, work, kernels, queues = said(got.stdout)
    seen_calls, seen_work, seen_kernels = seen(events)
    equal(got.returncode, 0, "a program with each kind of call: status")
    equal(seen_calls, calls, "each call")
    equal({k: v[0] for k, v in seen_work.items()}, {k: v[0] for k, v in work.items()},
          "what a device did for them")
    equal({k: v[1] for k, v in seen_work.items()}, {k: v[1] for k, v in work.items()},
          "bytes moved")
    equal(dict(seen_kernels), {k: v[0] for k, v in kernels.items()}, "kernels by their names")
    equal(missed(events), {}, "nothing is missed")
    # The runtime's own times, which the program asked for; its clock may be slewed by 500 ppm.
    timed = [e for e in of(events, "kernel") if any(a["key"] == "local size" for a in e["args"])]
    ours = collections.Counter()
    for e in timed:
        ours[e["name"]] += e["end_ns"] - e["begin_ns"]
    want = {k: v[1] for k, v in kernels.items()}
    result(len(timed) == 3 and all(abs(ours[k] - want[k]) <= 4 + want[k] // 2000 for k in want),
           "kernels last as long as the runtime says", (ours, want))
    args = {a["key"]: a["value"] for a in timed[0]["args"]}
    equal([args["global size"], args["local size"]], ["[1024]", "[64]"], "sizes of a kernel")
    result(args["queued before start (ns)"] >= args["submitted before start (ns)"] >= 0,
           "when it was queued and submitted", args)
    check_pairs([e for e in events if e.get("stream") != 3], "each work after its call")
    streams = {e["stream"] for e in of(events, *WORK)}
    equal(len(streams), queues, "queues are told apart")
    report = run([XSPROF, "report", "--gpu", path])
    result(not report.returncode and "OpenCL device 32, " in report.stdout and
           "scale" in report.stdout and
           re.search(r"stream 1 \((in|out of) order\)", report.stdout),
           "report --gpu names the device, its queues and kernels", report.stdout + report.stderr)
    facts = json.loads(run([XSPROF, "info", "--json", path]).stdout)["processes"][0]["facts"]
    device = json.loads(facts["device.32"])
    result(device["computeUnits"] > 0 and device["name"] and device["vendor"],
           "info says what the device is", facts)
    result("clock of device 32" in {e["name"][:18] for e in events if e["type"] == "counter"},
           "how well the device's clock is known is in the trace")


def check_options():
    for options, word in ((["--metrics"], "--metrics"), (["--gpu=memory"], "--gpu=WHAT"),
                          (["--gpu", "--gpu-budget=5"], "--gpu-budget")):
        got = run([XSPROF, "record", *options, "-o", os.path.join(DIR.name, "options"),
                   "--", PROGRAM, "all"])
        result(f"{word}: for CUDA alone, which no recorded process used" in got.stderr,
               f"{word} of a program without CUDA: a line tells", got.stderr)


def check_kineto():
    path = os.path.join(DIR.name, "capture")
    out = os.path.join(DIR.name, "kineto.json")
    run([XSPROF, "dump", "-f", "kineto", "-o", out, path])
    with open(out, encoding="utf-8") as f:
        trace = json.load(f)
    cats = collections.Counter(e.get("cat") for e in trace["traceEvents"] if e["ph"] == "X")
    flows = collections.Counter(e["ph"] for e in trace["traceEvents"] if e.get("cat") == "ac2g")
    result(cats["kernel"] == 4 and flows["s"] == flows["f"] > 4,
           "Kineto's JSON has kernels, and arrows from their calls", (cats, flows))


def check_many():
    got, events, _ = record([PROGRAM, "threads", "4", "500"])
    calls, _, kernels, queues = said(got.stdout)
    seen_calls, _, seen_kernels = seen(events)
    equal((seen_calls, dict(seen_kernels)), (calls, {k: v[0] for k, v in kernels.items()}),
          "four threads, each with a queue: calls and kernels")
    equal(len({e["stream"] for e in of(events, "kernel")}), queues, "four queues")
    check_pairs(events, "four threads: each kernel after its call")
    got, events, _ = record([PROGRAM, "storm", "20000"])
    calls, _, kernels, _ = said(got.stdout)
    seen_calls, _, seen_kernels = seen(events)
    equal((seen_calls, dict(seen_kernels)), (calls, {k: v[0] for k, v in kernels.items()}),
          "20,000 kernels at once: all")
    equal(missed(events), {}, "20,000 kernels at once: nothing is missed")


def check_ends():
    got, events, _ = record([PROGRAM, "fail"])
    equal(seen(events)[0], said(got.stdout)[0], "a command with an error: its calls")
    equal(missed(events), {"not recorded: commands that ended with an error": 1},
          "a command with an error is counted")
    report = run([XSPROF, "report", "--gpu", os.path.join(DIR.name, "capture")]).stdout
    result("\n# not recorded: 1 commands that ended with an error (process " in report,
           "report --gpu says what is missing", report)
    got, events, _ = record([PROGRAM, "endless"])
    equal(missed(events), {"not recorded: commands, because the program ended": 1},
          "a command that never began is counted")
    got, events, _ = record([PROGRAM, "all"], options=())
    equal(of(events, "runtime", "kernel", "memcpy"), [], "without --gpu it is not recorded")
    got, events, _ = record([PROGRAM, "all"], options=("--gpu", "--categories=-opencl"))
    equal((got.returncode, of(events, "runtime", "kernel", "memcpy")), (0, []),
          "without its category it is not recorded")
    layer = os.path.join(BUILD, "lib", "libxsprof-opencl.so")
    functions = {line.split()[-1] for line in run(["nm", "-D", layer]).stdout.splitlines()}
    result({"clGetLayerInfo", "clInitLayer", "clInitLayerWithProperties"} <= functions,
           "loaders of before and since 2026 find the layer's functions", functions)
    alone = run([PROGRAM, "all"], OPENCL_LAYERS=layer)
    equal((alone.returncode, alone.stderr), (0, ""), "without a recorder the layer does nothing")
    got, events, _ = record([PROGRAM, "all"], OPENCL_LAYERS=os.path.join(DIR.name, "none.so"))
    equal(seen(events)[0], said(got.stdout)[0], "a layer of the user's that is not there")


def check_lives():
    events, path = check_same("the child of a fork, of a parent that had looked for platforms",
                              PROGRAM, "fork")
    equal(missed(events), {}, "the child of a fork: nothing is missed")
    calls = of(events, "runtime")
    result(calls and all(e["thread_id"] == e["pid"] for e in calls),
           "the child of a fork: calls are of its own thread", calls[:1])
    report = run([XSPROF, "report", "--gpu", path]).stdout
    result("# OpenCL device 32, " in report, "the child of a fork: its device is named", report)
    events, path = check_same("a queue of the parent's in the child of a fork", PROGRAM, "inherit")
    equal({e["device"] for e in of(events, "runtime") if e["name"] != "clBuildProgram"}, {32},
          "calls of parent and child are of the queue's device")
    processes = json.loads(run([XSPROF, "info", "--json", path]).stdout)["processes"]
    equal(["device.32" in p["facts"] for p in processes], [True, True],
          "parent and child declare it")
    events, _ = check_same("4,200 queues one after the other", PROGRAM, "queues")
    equal(missed(events), {"not recorded: commands, because the program ended": 1},
          "a queue at the address of another has its own order: what is over is not waited for")
    check_same("a callback of the program's, with the last reference to an event", PROGRAM,
               "callback")
    check_same("a loader that is closed and opened again", CLOSE)


def check_old():
    vendor = os.path.join(DIR.name, "old.icd")
    with open(vendor, "w", encoding="utf-8") as f:
        f.write(ICD + "\n")
    events, _ = check_same("a runtime of OpenCL 1.2, whose clock cannot be asked for; functions of "
                           "an extension, looked up with a platform and without", OLD,
                           OCL_ICD_VENDORS=vendor)
    equal(missed(events), {}, "OpenCL 1.2: nothing is missed")


def check_clpeak():
    got, events, _ = record(["clpeak", "--kernel-latency"], ("--gpu", *ROOM), OPENCL_LAYERS=LAYER,
                            COUNT_FILE=COUNT)
    with open(COUNT, encoding="ascii") as f:
        counted = int(f.read())
    kernels = of(events, "kernel")
    equal((len(kernels), counted), (20002, 20002),
          "clpeak: every kernel, as an independent layer of the user's counts them")
    check_pairs(events, "clpeak: each kernel after its call")
    equal(missed(events), {}, "clpeak: nothing is missed")


compile_all()
if not failed():
    check_all()
    check_kineto()
    check_options()
    check_many()
    check_ends()
    check_lives()
    check_old()
    check_clpeak()
finish()
