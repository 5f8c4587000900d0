#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
#
# Compares what is recorded of the buffers of tests/gpu/levelzero, a replay, with what PTI's own
# function finds in them, record by record; and tests the real libraries without a driver. Usage:
# levelzero-oracle.py FOLDER LIB: FOLDER has what the script built, LIB PTI's libraries

import collections
import os
import sys

sys.dont_write_bytecode = True
import gpulib
from gpulib import BUILD, DIR, equal, finish, missed, of, result, run

FOLDER, LIB = sys.argv[1:]
PROGRAM = os.path.join(BUILD, "tests", "gpu", "levelzero")
PTI = os.path.join(LIB, "libpti_view.so.1")
CLEAN = ("XPTI_", "ZE_", "PTI_", "LD_")
FIRST = 1 << 30
WORK = ("kernel", "memcpy", "memset", "sync")


def steps(dump):
    got = run([os.path.join(FOLDER, "oracle"), PTI, dump], without=CLEAN, LD_LIBRARY_PATH=LIB)
    if got.returncode:
        result(False, "PTI's own function steps through the buffers", got.stderr)
    return [line.split() for line in got.stdout.splitlines()]


def check_steps(*what):
    dump = os.path.join(DIR.name, "dump")
    _, events, _ = gpulib.record([PROGRAM, *what], ("--gpu", "--no-torch"), without=CLEAN,
                                 PTI_STAND_IN_DUMP=dump)
    theirs = steps(dump)
    ours = of(events, *WORK, "driver", "runtime")
    name = " ".join(what) + ": " + str(len(theirs)) + " records that PTI steps through"
    key = collections.Counter((e["kind"], e["value"] - FIRST, e.get("bytes") or 0) for e in ours)
    equal(key, collections.Counter((w[0], int(w[1]), int(w[4])) for w in theirs),
          f"{name} are those recorded (replay)")
    calls = {(e["kind"], e["value"] - FIRST): e for e in ours}
    # Each of their queues is one of our streams, each device one device.
    for what, at, field in (("device", 6, "device"), ("queue", 5, "stream")):
        pairs = {(w[at], calls.get((w[0], int(w[1])), {}).get(field)) for w in theirs
                 if w[0] in WORK and w[at] != "0"}
        result(pairs and len({a for a, _ in pairs}) == len(pairs) == len({b for _, b in pairs}),
               f"{name}: {what}s", pairs)
    names = collections.Counter(e["name"] for e in ours if e["kind"] == "kernel")
    equal(names, collections.Counter("(no name)" if w[7] == "-" else w[7]
                                     for w in theirs if w[0] == "kernel"), f"{name}: kernels")
    threads = {key: e["thread_id"] for key, e in calls.items() if key[0] in ("driver", "runtime")}
    equal(threads, {(w[0], int(w[1])): int(w[7]) for w in theirs if w[0] in ("driver", "runtime")},
          f"{name}: threads of calls")
    times = {(w[0], int(w[1])): (int(w[2]), int(w[3])) for w in theirs}
    zero = min(e["begin_ns"] for e in ours) - min(begin for begin, _ in times.values())
    # The reader knows the clock's rate better than the program did.
    off = [(e, times[key]) for key, e in calls.items()
           if abs(e["begin_ns"] - zero - times[key][0]) > 10000 or
           abs(e["end_ns"] - e["begin_ns"] - times[key][1] + times[key][0]) > 1000]
    equal(off, [], f"{name}: times")


def check_no_driver():
    got, events, _ = gpulib.record([os.path.join(FOLDER, "init")], ("--gpu", "--no-torch"),
                                   without=CLEAN, XSPROF_PTI=PTI, LD_LIBRARY_PATH=LIB)
    lines = [line for line in got.stderr.splitlines() if "has no GPU driver" in line]
    if got.stdout != "zeInit: 0\n":
        result(got.returncode == 0 and got.stdout == "zeInit: 0x78000001\n" and len(lines) == 1,
               "the real loader without a driver: one line, and the program goes on",
               got.stdout + got.stderr)
    # Then the real PTI must not be called: it aborts the program.
    result(got.returncode == 0 and not of(events, "overhead"), "and PTI is left alone", got.stderr)


def check_driver(*what):
    """The real loader and the real PTI, on a stand-in for a driver that prints its times."""
    got, events, _ = gpulib.record([os.path.join(FOLDER, "work"), *what], ("--gpu", "--no-torch"),
                                   without=CLEAN, XSPROF_PTI=PTI, LD_LIBRARY_PATH=LIB,
                                   ZE_ENABLE_ALT_DRIVERS=os.path.join(FOLDER, "driver.so"))
    name = f"the real PTI on a stand-in for a driver, {' '.join(what)}"
    work, calls = of(events, *WORK), {e["value"]: e for e in of(events, "driver") if e["value"]}
    times = int(got.stdout) if got.stdout.strip().isdigit() else 0
    equal([times, collections.Counter(e["name"] for e in work)],
          [int(what[0]) * int(what[1]),
           {"axpy": times, "Memcpy MtoD (Memory -> Device)": times, "Memset (Device)": times,
            "Command Queue Sync": times}], f"{name}: what it did")
    equal(collections.Counter(e["name"] for e in calls.values() if "CommandList" in e["name"]),
          {"zeCommandListAppendLaunchKernel": times, "zeCommandListAppendMemoryCopy": times,
           "zeCommandListAppendMemoryFill": times, "zeCommandQueueExecuteCommandLists": times},
          f"{name}: what it called")
    # A wait has the time of its call, which PTI converts to our clock again: a few ns apart.
    wrong = [(e, calls.get(e["value"])) for e in work if e["value"] not in calls or
             e["kind"] != "sync" and e["begin_ns"] < calls[e["value"]]["begin_ns"]]
    result(work and not wrong, f"{name}: each has its call, and begins after that did", wrong[:2])
    lengths = sorted(e["end_ns"] - e["begin_ns"] for e in work if e["kind"] == "kernel")
    result(lengths and lengths[0] >= 995, f"{name}: none is shorter than it was", lengths[:9])
    equal([len({e["stream"] for e in work}), {e["device"] for e in work}, missed(events)],
          [int(what[1]), {96}, {}], f"{name}: its queues, its device, and nothing is missing")
    result("PTI" not in got.stderr, f"{name}: not a word", got.stderr)
    if what[-1] == "sycl":
        equal([line for line in got.stderr.splitlines() if line.startswith("children")],
              ["children find " + os.path.join(BUILD, "lib", "libxsprof-levelzero.so")],
              f"{name}: its children are recorded as well")


check_steps("each")
check_steps("reverse")
check_steps("many", "500")
check_no_driver()
check_driver("200", "1")
check_driver("500", "4")
check_driver("100", "1", "0", "sycl")
finish()
