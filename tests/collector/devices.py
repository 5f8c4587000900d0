#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
#
# Which device, stream and range an activity has in Kineto's format and in report --gpu, where a
# process has several devices, one by several interfaces, or records late. devices.c.

import collections
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "gpu"))
sys.dont_write_bytecode = True
import gpulib
from gpulib import CAPTURE, XSPROF, equal, finish

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.path.join(gpulib.DIR.name, "devices")


def build():
    got = gpulib.run(["gcc", "-O1", "-I", os.path.join(ROOT, "lib/include"), "-I",
                      os.path.join(ROOT, "kmod/uapi"), os.path.join(ROOT,
                      "tests/collector/devices.c"), "-o", PROGRAM, "-pthread", "-L",
                      os.path.join(gpulib.BUILD, "lib"), "-lxsprof-user",
                      f"-Wl,-rpath,{gpulib.BUILD}/lib"])
    if got.returncode:
        sys.exit(got.stderr)


def record(script):
    got = gpulib.run([XSPROF, "record", "-q", "-o", CAPTURE, "--", "sh", "-c", script],
                     PROGRAM=PROGRAM)
    if got.returncode:
        sys.exit(got.stderr)
    trace = json.loads(gpulib.run([XSPROF, "dump", "-f", "kineto", CAPTURE]).stdout)
    report = json.loads(gpulib.run([XSPROF, "report", "--gpu", "--json", CAPTURE]).stdout)
    return trace["traceEvents"], trace["deviceProperties"], report


def of(events, cat):
    return [e for e in events if e.get("cat") == cat]


def check_two(word, numbers):
    events, described, report = record(f"$PROGRAM {word}")
    equal(sorted((e["name"], e["pid"], e["args"]["device"]) for e in of(events, "kernel")),
          [("first", numbers[0], numbers[0]), ("second", numbers[1], numbers[1])],
          f"{word}: each kernel is on its device")
    equal([d["id"] for d in described], numbers, f"{word}: both devices are described")
    equal([(s["device"], s["count"]) for s in report["streams"]], [(n, 1) for n in numbers],
          f"{word}: report --gpu has both streams")
    equal(gpulib.overlaps(events), [], f"{word}: nothing overlaps on a track")


def check_late():
    events, _, report = record("$PROGRAM late")
    steps = {e["args"]["External id"] for e in of(events, "user_annotation")
             if e["name"] == "step"}
    got = [e["args"].get("External id") for e in of(events, "kernel")]
    equal([len(got), set(got) == steps], [10, True], "kernels recorded late have their ranges")
    equal([(r["range"], r["count"]) for r in report["launchers"]], [("step", 10)],
          "report --gpu too")


def check_ranges():
    events, _, _ = record("$PROGRAM ranges")
    notes = of(events, "gpu_user_annotation")
    equal([sorted(e["name"] for e in notes), len({e["tid"] for e in notes}),
           gpulib.overlaps(events)], [["A", "B"], 2, []],
          "ranges that overlap on a stream are on tracks of their own")


def check_peers():
    events, _, _ = record("$PROGRAM peer a; $PROGRAM peer b; $PROGRAM peer a")
    got = [(e["pid"], e["args"]["device"], e["args"]["fromDevice"], e["args"]["devices (mask)"])
           for e in of(events, "gpu_memcpy")]
    # Number 0 of the second process is another device than that of the others.
    equal(collections.Counter(got), {(0, 0, 0, 1): 2, (1, 1, 1, 2): 1},
          "devices in arguments have the numbers of the trace")
    ends = [e["args"]["toDevice"] for e in of(events, "gpu_memcpy")]
    equal([e in (0, 1) for e in ends], [False] * 3,
          "one that nothing describes is none of those that are described")


def check_streams():
    events, _, _ = record("$PROGRAM stream 20000007; $PROGRAM stream 7; $PROGRAM stream 1000007")
    got = [(e["pid"], e["tid"]) for e in of(events, "kernel")]
    equal([len(got), len(set(got)), sorted(e["args"]["stream"] for e in of(events, "kernel"))],
          [3, 3, [7, 1000007, 20000007]],
          "a stream with a large number is not on the track of another")


def check_full():
    record("$PROGRAM full; $PROGRAM peer a")
    trace = json.loads(gpulib.run([XSPROF, "dump", "-f", "kineto", CAPTURE]).stdout)
    equal([trace.get("xsprof_devices_merged"), len(trace["deviceProperties"])], [2, 1024],
          "devices for which there is no number are counted")


build()
check_two("twins", [32, 33])
check_two("interfaces", [32, 64])
check_late()
check_ranges()
check_peers()
check_streams()
check_full()
finish()
