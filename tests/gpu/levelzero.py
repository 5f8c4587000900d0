#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
#
# Compares what tests/gpu/levelzero does, through stand-ins for PTI and Level Zero's loader, with
# the trace that the Level Zero collector writes of it. These are replays: no GPU is used.

import collections
import json
import os
import sys

sys.dont_write_bytecode = True
import gpulib
from gpulib import BUILD, DIR, ROOM, XSPROF, equal, finish, missed, of, result

PROGRAM = os.path.join(BUILD, "tests", "gpu", "levelzero")
PTI = os.path.join(BUILD, "tests", "gpu", "libpti_view.so.1")
COLLECTOR = os.path.join(BUILD, "lib", "libxsprof-levelzero.so")
PRELOADED = os.path.join(BUILD, "lib", "libxsprof-preload.so")
CLEAN = ("XPTI_", "ZE_", "PTI_", "LD_PRELOAD")
FIRST = 1 << 30


def run(args, **more):
    return gpulib.run(args, without=CLEAN, **more)


def record(*what, options=("--gpu", "--no-torch"), **more):
    return gpulib.record([PROGRAM, *what], options, without=CLEAN, **more)


def tally(events):
    return collections.Counter((e["kind"], e["name"]) for e in events if e["type"] == "gpu")


def args_of(event):
    return {a["key"]: a["value"] for a in event.get("args", [])}


EACH = collections.Counter({
    ("driver", "zeCommandListAppendLaunchKernel"): 1,
    ("driver", "zeCommandListAppendMemoryCopy"): 2,
    ("driver", "zeCommandListAppendMemoryFill"): 1,
    ("driver", "zeCommandQueueSynchronize"): 1, ("driver", "Level Zero function 7"): 1,
    ("runtime", "urEnqueueKernelLaunch"): 1, ("kernel", "axpy"): 1, ("kernel", "(no name)"): 1,
    ("memcpy", "Memcpy MtoD (Memory -> Device)"): 1,
    ("memcpy", "Memcpy PtoP (Device -> Device)"): 1, ("memset", "Memset (Device)"): 1,
    ("sync", "Command Queue Sync"): 1, ("overhead", "Start of PTI"): 1,
})
LAUNCH = ("driver", "zeCommandListAppendLaunchKernel")


def check_each():
    for name, more in (("1.2", {}), ("0.12", {"PTI_STAND_IN_OLD": "1"})):
        got, events, _ = record("each", **more)
        equal(tally(events), EACH, f"every kind of record of PTI {name} (replay)")
    op = [e["ns"] for e in events if e["name"] == "op"]
    gpu = {(e["kind"], e["name"]): e for e in events if e["type"] == "gpu"}
    call, kernel = gpu[LAUNCH], gpu["kernel", "axpy"]
    result(op[0] <= call["begin_ns"] <= call["end_ns"] <= op[1] <= kernel["begin_ns"],
           "times are of the markers' clock: a call is inside its range, its kernel later",
           (op, call, kernel))
    equal([kernel["value"], call["value"]], [FIRST + 1] * 2, "call and kernel have one id")
    equal([kernel["device"], kernel["context"], kernel["stream"],
           gpu["memset", "Memset (Device)"]["device"]], [96, 1, 1, 97], "where they ran")
    args = args_of(kernel)
    equal([args[k] for k in ("queued before start (ns)", "submitted before start (ns)", "source",
                             "line")], [500, 200, "axpy.cpp", 42], "what is known of a kernel")
    equal(call["thread_id"], [e["tid"] for e in events if e["name"] == "op"][0],
          "a call is of the thread that made it")
    equal([gpu["memcpy", "Memcpy MtoD (Memory -> Device)"]["bytes"],
           gpu["memset", "Memset (Device)"]["bytes"]], [1 << 20, 512], "bytes moved")
    equal([gpu["sync", "Command Queue Sync"][k] for k in ("device", "stream")], [96, 1],
          "the device of a queue is known")
    equal(args_of(gpu["driver", "zeCommandQueueSynchronize"])["result"], 1,
          "a result that is not 0")
    equal(args_of(gpu["memcpy", "Memcpy PtoP (Device -> Device)"])["toDevice"], 97,
          "a copy between devices names the other one")
    result("--gpu:" not in got.stderr, "the recorder knows that a GPU was used", got.stderr)


def check_readers():
    _, _, path = record("each")
    text = run([XSPROF, "report", "--gpu", path]).stdout
    result("Level Zero device 96, Stand-in 0: busy for" in text and "(SYCL queue 3)" in text,
           "report --gpu names devices and queues", text)
    trace = json.loads(run([XSPROF, "dump", "-f", "kineto", path]).stdout)
    events = trace["traceEvents"]
    op = next(e for e in events if e.get("name") == "op")
    call = next(e for e in events if e.get("name") == LAUNCH[1])
    kernel = next(e for e in events if e.get("cat") == "kernel" and e["name"] == "axpy")
    equal([call["args"]["External id"], kernel["args"]["External id"]],
          [op["args"]["External id"]] * 2, "call and kernel belong to the range around the call")
    ends = {ph: {e["id"] for e in events if e.get("cat") == "ac2g" and e["ph"] == ph}
            for ph in ("s", "f")}
    result(call["args"]["correlation"] in ends["s"] and ends["f"] and ends["f"] <= ends["s"],
           "an arrow from each call to what it launched", ends)
    device = next(d for d in trace["deviceProperties"] if d["id"] == 96)
    equal([device[k] for k in ("kind", "name", "uuid", "pciAddress", "numEUsPerSubslice")],
          ["levelzero", "Stand-in 0", "a0a0a0a0-a0a0-a0a0-a0a0-a0a0a0a0a0a0", "0:10:0.0", 8],
          "a device has its name, uuid and address")


def check_many():
    _, events, _ = record("many", "25000", options=("--gpu", "--no-torch", *ROOM))
    kernels, calls = of(events, "kernel"), of(events, "driver")
    equal([len(kernels), len(calls)], [100000, 100000], "100,000 of 4 threads, none lost (replay)")
    equal(len({e["value"] for e in kernels} & {e["value"] for e in calls}), 100000,
          "each kernel has its call")
    equal(missed(events), {}, "nothing is counted as missing")
    _, events, _ = record("reverse")
    equal([len(of(events, "kernel")), len(of(events, "driver")), missed(events)],
          [602, 606, {}], "buffers that come back in no order (replay)")


def check_counted():
    got, events, _ = record("dropped", "300")
    full = missed(events).get("not recorded: PTI records, because all buffers were full", 0)
    equal([len(of(events, "kernel", "driver")) + full, full > 0, "refused: 0" in got.stdout],
          [600, True, True],
          "of 300 threads with a buffer each some are not recorded, and counted (replay)")
    _, events, _ = record("no-time")
    n = sum(tally(events).values())
    equal([n + missed(events)["not recorded: activities without a time from PTI"],
           n < sum(EACH.values())], [sum(EACH.values()), True],
          "activities without times are counted, and shown with none")
    _, events, _ = record("strange")
    equal([tally(events), missed(events)],
          [EACH, {"not recorded: PTI records of unknown kinds": 1}],
          "records of an unknown kind are stepped over and counted")
    _, events, _ = record("broken")
    equal(missed(events), {"not recorded: PTI records of unknown kinds": 1,
                           "not recorded: ends of buffers that PTI cannot read": 1,
                           "not recorded: waits in queues that PTI did not report": 1},
          "a buffer that PTI cannot read on is counted")
    _, events, _ = record("waits")
    equal([sorted((e["name"], e["device"], e["stream"]) for e in of(events, "sync")),
           missed(events)],
          [[("Barrier", 97, 1), ("Command Queue Sync", 97, 1)],
           {"not recorded: waits in queues that PTI did not report": 1}],
          "waits are of the device of their queue, also if that is told of later (replay)")
    streams = []
    for others in "0", "3000":
        _, events, _ = record("queues", "3300", others)
        streams.append(sorted(e["stream"] for e in of(events, "kernel")))
    equal(missed(events), {"not recorded: waits in queues that PTI did not report": 3000},
          "waits for queues that nothing else is in are counted")
    equal(streams[1], streams[0], "and take no place from a queue that is known")
    got, events, _ = record("pause")
    result("paused: 0" in got.stdout and "resumed: 1" in got.stdout,
           "paused, PTI collects nothing; resumed, it does", got.stdout)
    equal([missed(events), sum(tally(events).values()) - len(of(events, "unrecorded"))],
          [{}, 2 * sum(EACH.values()) - 1],
          "what began before a pause is recorded, whenever PTI reports it")


def line(name, words, *what, some=False, **more):
    got, events, _ = record(*what, **more)
    lines = [one for one in got.stderr.splitlines() if "Level Zero" in one and "--gpu" not in one]
    result(got.returncode == 0 and len(lines) == 1 and words in lines[0] and
           bool(tally(events)) == some and [e for e in events if e["name"] == "op"],
           f"{name}: one line, and the program goes on and is recorded", got.stderr)
    equal([f"xsprof: {text}" for text in gpulib.refused()], lines, f"{name}: the capture has it")


def check_bad():
    line("no driver", "has no GPU driver", "each", ZE_STAND_IN="none")
    line("a driver without a GPU", "has no GPU driver", "each", ZE_STAND_IN="cpu")
    line("a driver that is too old", "older than Level Zero 1.3", "each", ZE_STAND_IN="old")
    line("no tracing in the driver", "ZE_ENABLE_TRACING_LAYER=1", "tracing")
    line("PTI refuses", "PTI_ERROR_OF_STAND_IN (200)", "refused")
    line("a PTI that finds its other half not", "libxptifw.so", "empty")
    line("no PTI", "XSPROF_PTI: /nowhere/libpti", "each", XSPROF_PTI="/nowhere/libpti_view.so.1")
    line("a PTI that is too old", "0.12 or newer", "each", XSPROF_PTI="libc.so.6")
    got, events, _ = record("nothing")
    result(got.returncode == 0 and not tally(events) and "Level Zero " not in
           got.stderr.replace("Vulkan, Level Zero or", ""),
           "a program that never initialises Level Zero: not a word", got.stderr)
    _, events, _ = record("fork")
    equal(tally(events), EACH, "the child of a fork has none of it, and ends")
    got, _, _ = record("_exit")
    equal(got.returncode, 0, "a program that ends by _exit() ends")


def check_env():
    def said(env, *options):
        text = run([XSPROF, "record", "-q", *options, "-o", os.path.join(DIR.name, "c"), "--", "sh",
                    "-c", "env"], **env).stdout
        return dict(one.split("=", 1) for one in text.splitlines() if "=" in one)

    def of_ours(env):
        return [env.get(k) for k in ("ZE_ENABLE_TRACING_LAYER", "XPTI_SUBSCRIBERS",
                                     "XPTI_TRACE_ENABLE", "XPTI_FRAMEWORK_DISPATCHER")]

    equal(of_ours(said({})), [None] * 4, "without --gpu a program is left alone")
    env = said({}, "--gpu")
    equal(of_ours(env), ["1", COLLECTOR, "1", "libxptifw.so"], "--gpu names the collector to SYCL")
    result(PRELOADED in env["LD_PRELOAD"].split(":"), "and preloads what sees zeInit()", env)
    env = said({"XPTI_SUBSCRIBERS": "/a/tool.so", "ZE_ENABLE_TRACING_LAYER": "0"}, "--gpu")
    equal(of_ours(env), ["0", "/a/tool.so," + COLLECTOR, "1", "libxptifw.so"],
          "what the user said stays, and comes first")
    maps = run([XSPROF, "record", "-q", "--gpu", "--no-torch", "-o", os.path.join(DIR.name, "c"),
                "--", "sh", "-c", "grep -o 'libxsprof[^ ]*so\\|libze[^ ]*' /proc/$$/maps"]).stdout
    result("libxsprof-preload.so" in maps and "libxsprof-levelzero" not in maps and
           "libxsprof-user" not in maps and "libze" not in maps,
           "a program without Level Zero has the small library, and nothing else of it", maps)


for check in (check_each, check_readers, check_many, check_counted, check_bad, check_env):
    check()
finish()
