#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
#
# Compares what tests/gpu/rocm does, through stand-ins for rocprofiler-sdk and its loader, with the
# trace that the ROCm collector writes of it. These are replays: no GPU is used.

import collections
import json
import os
import sys

sys.dont_write_bytecode = True
import gpulib
from gpulib import BUILD, DIR, XSPROF, equal, finish, missed, of, result

HERE = os.path.join(BUILD, "tests", "gpu")
PROGRAM = os.path.join(HERE, "rocm")
TOOL = os.path.join(HERE, "rocp-tool.so")
COLLECTOR = os.path.join(BUILD, "lib", "libxsprof-rocm.so")
PRELOADED = os.path.join(BUILD, "lib", "libxsprof-rocminit.so")
CLEAN = ("ROCP", "LD_PRELOAD")
FIRST = 0xc0000000 + (96 << 20)
KINDS = (("runtime",), ("kernel",), ("memcpy",), ("alloc", "free"))


def record(*what, options=("--gpu", "--no-torch"), **more):
    return gpulib.record([PROGRAM, *what], options, without=CLEAN, **more)


def tally(events):
    return collections.Counter((e["kind"], e["name"]) for e in events if e["type"] == "gpu")


def args_of(event):
    return {a["key"]: a["value"] for a in event.get("args", [])}


def counts(events):
    return [len(of(events, *kinds)) for kinds in KINDS]


def counted(got):
    """Returns how many records the stand-in has delivered."""
    return [int(word) for word in got.stdout.splitlines()[-1].split()]


CALLS = ("hipLaunchKernel", "hipModuleLaunchKernel", "hipMemcpyAsync", "hipMalloc", "hipFree",
         "hipStreamSynchronize")
MEMORY = collections.Counter({("alloc", "Alloc (Device)"): 1, ("free", "Free (Host)"): 1})
EACH = MEMORY + collections.Counter({
    **{("runtime", name): 1 for name in CALLS},
    ("kernel", "axpy(float, float*)"): 1, ("kernel", "plain"): 1, ("kernel", "(no name)"): 1,
    ("memcpy", "Memcpy HtoD (Host -> Device)"): 1, ("memcpy", "Memcpy DtoH (Device -> Host)"): 1,
    ("memcpy", "Memcpy DtoD (Device -> Device)"): 1, ("memcpy", "Memcpy HtoH (Host -> Host)"): 1,
    ("overhead", "Start of rocprofiler-sdk"): 1,
})


def check_each():
    for version in "0.4", "0.5", "0.6", "1.0", "1.2":
        got, events, _ = record("each", ROCP_STAND_IN_VERSION=version)
        equal([tally(events), missed(events)],
              [EACH if version > "0.5" else EACH - MEMORY, {}],
              f"every kind of record of rocprofiler-sdk {version} (replay)")
        equal(counts(events), counted(got), "as many as it handed over")
    op = [e["ns"] for e in events if e["name"] == "op"]
    gpu = {(e["kind"], e["name"]): e for e in events if e["type"] == "gpu"}
    call, kernel = gpu["runtime", "hipLaunchKernel"], gpu["kernel", "axpy(float, float*)"]
    result(op[0] <= call["begin_ns"] <= call["end_ns"] <= op[1] and
           call["end_ns"] < kernel["begin_ns"] < kernel["end_ns"],
           "times are of the markers' clock: a call is inside its range, its kernel later",
           (op, call, kernel))
    clocks = [e for e in events if e["name"] == "clock of device 96: known within ns"]
    result(clocks and all(0 < e["i64"] < 10**6 for e in clocks),
           "how well the clock of records is known is in the trace", clocks)
    equal([kernel["value"], call["value"]], [FIRST + 1] * 2, "call and kernel have one id")
    equal([gpu["alloc", "Alloc (Device)"]["value"]], [gpu["runtime", "hipMalloc"]["value"]],
          "so have a call and the memory that it allocates")
    equal(call["thread_id"], [e["tid"] for e in events if e["name"] == "op"][0],
          "a call is of the thread that made it")
    equal([(kernel["device"], kernel["stream"]),
           [(e["device"], e["stream"]) for e in of(events, "kernel") if e["device"] != 96]],
          [(96, 1), [(97, 2)] * 2], "where kernels ran")
    args = args_of(kernel)
    equal([args[k] for k in ("grid", "block", "shared memory")],
          ["[100, 3, 1]", "[64, 2, 1]", 4096], "what is known of a kernel")
    equal([(e["name"][7:11], e["device"], e["bytes"]) for e in of(events, "memcpy")],
          [("HtoD", 96, 1 << 20), ("DtoH", 96, 512), ("DtoD", 96, 4096), ("HtoH", 96, 64)],
          "copies: their direction, device and bytes")
    equal(args_of(gpu["memcpy", "Memcpy DtoD (Device -> Device)"]),
          {"fromDevice": 96, "toDevice": 97}, "a copy between devices names both")
    result("--gpu:" not in got.stderr, "the recorder knows that a GPU was used", got.stderr)


def check_readers():
    _, _, path = record("each")
    text = gpulib.run([XSPROF, "report", "--gpu", path]).stdout
    result("ROCm device 96, Stand-in 0: busy for" in text and "(HSA queue 17)" in text and
           "(copies to the device)" in text, "report --gpu names devices and queues", text)
    trace = json.loads(gpulib.run([XSPROF, "dump", "-f", "kineto", path]).stdout)
    events = trace["traceEvents"]
    op = next(e for e in events if e.get("name") == "op")
    call = next(e for e in events if e.get("name") == "hipLaunchKernel")
    kernel = next(e for e in events if e.get("cat") == "kernel" and e["name"].startswith("axpy"))
    equal([call["args"]["External id"], kernel["args"]["External id"]],
          [op["args"]["External id"]] * 2, "call and kernel belong to the range around the call")
    devices = {d["id"]: d for d in trace["deviceProperties"]}
    equal([devices[96].get(k) for k in ("kind", "name", "uuid", "pciAddress", "computeUnits",
                                        "warpSize", "arch")],
          ["rocm", "Stand-in 0", "GPU-000000000000a0a0", "0000:41:00.0", 304, 64, "gfx942"],
          "a device has its name, uuid and address")
    equal([devices[97].get(k) for k in ("name", "uuid", "pciAddress")],
          ["gfx942", None, "0000:42:03.0"], "one without a product's name and uuid has none")


def check_many():
    for how in "", "reverse":
        got, events, _ = record("many", "5000", ROCP_STAND_IN=how)
        equal([counts(events), missed(events)], [[20000, 20000, 0, 0], {}],
              "20,000 kernels and calls of 4 threads, none lost" +
              (", in buffers that come back in the opposite order" if how else "") + " (replay)")
        equal(counts(events), counted(got), "as many as were handed over")
        calls = {e["value"]: e for e in of(events, "runtime")}
        wrong = [e for e in of(events, "kernel")
                 if e["begin_ns"] < calls.get(e["value"], {"begin_ns": 1 << 63})["begin_ns"]]
        result(not wrong and len(calls) == 20000, "each kernel has its call, and is later",
               wrong[:3])


def check_counted():
    got, events, _ = record("many", "500", ROCP_STAND_IN="drop")
    equal([sum(counts(events)), missed(events)],
          [3600, {"not recorded: records that rocprofiler-sdk dropped": 400}],
          "those that rocprofiler-sdk drops are counted (replay)")
    equal(counts(events), counted(got), "the others are there")
    got = gpulib.run([XSPROF, "record", "--gpu", "--no-torch", "-o", gpulib.CAPTURE, "--", PROGRAM,
                      "many", "40000"], without=CLEAN, ROCP_STAND_IN="stall")
    # The capture is long: only counts are read.
    lines = gpulib.run([XSPROF, "dump", "-f", "ndjson", gpulib.CAPTURE]).stdout.splitlines()
    full = [json.loads(one)["i64"] for one in lines if "ROCm records, because all buffers" in one]
    there = sum('"kind":"kernel"' in one or '"kind":"runtime"' in one for one in lines)
    equal([there + max(full, default=0), bool(full)], [sum(counted(got)), True],
          "those that find all buffers full, as the collector is held up, are counted (replay)")
    got, events, _ = record("many", "50", ROCP_STAND_IN="no-time")
    equal([counts(events), missed(events)],
          [[200, 150, 0, 0],
           {"not recorded: activities without a time from rocprofiler-sdk": 50}],
          "activities without times are counted")
    for how, each in ("strange", 2), ("short", 1):
        got, events, _ = record("many", "40", ROCP_STAND_IN=how)
        equal([counts(events), missed(events)],
              [[160, 160, 0, 0],
               {"not recorded: rocprofiler-sdk records of unknown kinds": 40 * each}],
              f"records that are {how} are stepped over and counted")
    got, events, _ = record("pause")
    ours = sum(counts(events))
    # Two rounds, and nothing of the one between.
    equal([missed(events), ours, sum(counted(got))], [{}] + [2 * sum(EACH.values()) - 2] * 2,
          "paused, rocprofiler-sdk collects nothing; resumed, it does")
    got, events, _ = record("each", ROCP_STAND_IN="late")
    equal([tally(events), counts(events)], [EACH, counted(got)],
          "what devices have done by the time that rocprofiler-sdk ends is there")


def check_chain():
    got, events, _ = record("each", ROCP_TOOL_LIBRARIES=TOOL)
    equal(tally(events), EACH, "beside another tool that was named already")
    result("tool: 3 kernels, 0 markers" in got.stdout, "which is told of as much", got.stdout)
    equal([line for line in got.stdout.splitlines() if line.startswith(("tools", "after"))],
          [f"tools: {TOOL}:{COLLECTOR}:"] * 2 + [f"afterwards: {TOOL}"],
          "it comes first, and what the program starts has what the user said")
    for what, name in ("markers", "opens it for itself"), ("linked", "is linked with it, once"):
        got, events, _ = record(what, ROCP_TOOL_LIBRARIES=TOOL)
        equal([(e["type"], e["name"]) for e in events if e.get("cat") == "roctx"],
              [("begin", "outer"), ("instant", "a mark"), ("async-begin", "started"),
               ("end", "outer"), ("async-end", "started")],
              f"rocprofiler-sdk's roctx of a program that {name} (replay)")
        result("tool: 0 kernels, 6 markers" in got.stdout, "the tool has it too", got.stdout)
    result("levels: 0 0 -1" in got.stdout, "the program gets roctx's levels", got.stdout)
    _, events, _ = record("markers", ROCP_STAND_IN_VERSION="0.5")
    equal([(e["type"], e["name"]) for e in events if e.get("cat") == "roctx"][:2],
          [("begin", "outer"), ("instant", "a mark")], "and of an older version")


def line(name, words, *what, some=False, kept=True, **more):
    got, events, _ = record(*what, **more)
    lines = [one for one in got.stderr.splitlines() if "ROCm" in one and "--gpu" not in one]
    result(got.returncode == 0 and len(lines) == 1 and words in lines[0] and
           bool(tally(events)) == some and [e for e in events if e["name"] == "op"],
           f"{name}: one line, and the program goes on and is recorded", got.stderr)
    equal([f"xsprof: {text}" for text in gpulib.refused()], lines if kept else [],
          f"{name}: the capture has it, if it is of the collector")


def check_bad():
    for what in "context", "buffer", "trace", "callback", "start", "agents":
        line(f"rocprofiler-sdk refuses: {what}", "refused by the stand-in (9)", "each",
             ROCP_STAND_IN=f"refuse-{what}")
    line("no GPU", "ROCm has no GPU here", "each", ROCP_STAND_IN="no-gpu")
    for version in "0.3", "0.7", "2.0":
        line(f"rocprofiler-sdk {version}", f"this rocprofiler-sdk is {version}.0", "each",
             ROCP_STAND_IN_VERSION=version)
    line("no rocprofiler-sdk", "librocprofiler-sdk.so of ROCm cannot be loaded", "each",
         kept=False, ROCPROFILER_REGISTER_LIBRARY="/nowhere/librocprofiler-sdk.so")
    line("one without functions", "has no rocprofiler_get_status_string", "each",
         ROCP_REGISTER_IS_SDK="1")
    got, events, _ = record("nothing")
    result(got.returncode == 0 and not tally(events) and "ROCm " not in got.stderr,
           "a program that never starts a runtime of ROCm: not a word", got.stderr)
    got, events, _ = record("each", options=("--no-torch",))
    equal([tally(events), "tools: none" in got.stdout], [collections.Counter(), True],
          "without --gpu a program is left alone")
    got = gpulib.run([PROGRAM, "each"], without=CLEAN, LD_PRELOAD=PRELOADED)
    equal([got.returncode, counted(got)], [0, [0] * 4],
          "preloaded into a program that is not recorded, rocprofiler-sdk collects nothing")


def check_end():
    _, events, _ = record("fork")
    equal(tally(events), EACH, "the child of a fork has none of it, and ends")
    got, _, _ = record("_exit")
    equal(got.returncode, 0, "a program that ends by _exit() ends")
    tool = {"ROCP_TOOL_LIBRARIES": TOOL}
    got, _, _ = record("markers", ROCP_TOOL_EXIT="marker", **tool)
    equal(got.returncode, 3, "a program that a tool ends in a call of roctx ends")
    # The delivering thread ends the program, so it would wait for itself.
    got, events, _ = record("many", "1000", ROCP_TOOL_EXIT="buffer", **tool)
    result(got.returncode == 3 and "rocm did not deliver the last activities" in got.stderr,
           "one that a tool ends while records are handed over ends, and a line says what is lost",
           (got.returncode, got.stderr))


for check in (check_each, check_readers, check_many, check_counted, check_chain, check_bad,
              check_end):
    if not sys.argv[1:] or check.__name__ in sys.argv[1:]:
        check()
finish()
