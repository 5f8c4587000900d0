#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
#
# What is not the collector's own: the session of another tool, time that the driver takes, memory
# that CUPTI hands over, queries that are no waits. A stand-in for libcupti replays them to the
# CUPTI collector; no GPU is used.

import collections
import json
import os

import gpulib
from gpulib import BUILD, finish

PROGRAM = os.path.join(BUILD, "tests", "gpu", "program")
OWN = {"without": ("CUDA_",), "XSPROF_CUPTI": os.path.join(BUILD, "tests", "gpu", "libcupti.so")}


def equal(got, want, name):
    gpulib.equal(got, want, f"{name} (replay)")


def record(*what, options=("--gpu",), version=1305, **more):
    got, events, _ = gpulib.record([PROGRAM, *what], options,
                                   **{**OWN, "STAND_IN_VERSION": str(version), **more})
    return got, events


def kinds(events):
    return collections.Counter(e["kind"] for e in events if e["type"] == "gpu" and
                               not e["name"].startswith("Start of"))


def check_others_session():
    got, _ = record("subscribed")
    equal(["another tool already uses CUPTI" in got.stderr, "meddled: 0" in got.stdout],
          [True, True], "another tool has CUPTI: nothing of its session is changed")
    got, _ = record("pause")
    equal(["paused: 0, zeroed: 0, buffers: 250" in got.stdout, "resumed: 1" in got.stdout,
           "meddled: 0" in got.stdout], [True, True, True],
          "CUPTI is given back as it was: it clears the buffers of the next tool")
    equal(["defaults: clock 1, thread ids 0, all waits 1\n" in got.stdout,
           "ours: clock 1, thread ids 1, all waits 0\n" in got.stdout], [True, True],
          "its clock, thread ids and waits are CUPTI's own again until recording is resumed")
    info = gpulib.run([gpulib.XSPROF, "info", "--json", gpulib.CAPTURE])
    facts = json.loads(info.stdout)["processes"][0]["facts"]
    equal(["resumed: 1, buffers: 32" in got.stdout, json.loads(facts["device_buffers"])],
          [True, {"at_most": 32, "bytes": 3200000}],
          "CUPTI's memory on the device is bounded, and the process states that")
    equal([facts.get("cupti_version"), "cuda_driver_version" in facts], ["130500", False],
          "it states the version of CUPTI, and of no driver that the program has not loaded")
    record("pause", LD_PRELOAD=os.path.join(gpulib.BUILD, "tests", "gpu", "libcuda-stand-in.so"))
    trace = json.loads(gpulib.run([gpulib.XSPROF, "dump", "-f", "kineto", gpulib.CAPTURE]).stdout)
    equal([trace.get("cupti_version"), trace.get("cuda_driver_version"),
           "cuda_runtime_version" in trace], [130500, 13010, False],
          "Kineto's format has the versions, the driver's too if the program has loaded it")
    gpulib.record(["sh", "-c", f"XSPROF_CUPTI=/nowhere {PROGRAM} each; {PROGRAM} each"], **OWN)
    trace = json.loads(gpulib.run([gpulib.XSPROF, "dump", "-f", "kineto", gpulib.CAPTURE]).stdout)
    equal(trace.get("cupti_version"), 130000, "also if the first process has no CUPTI")


def check_driver():
    got, events = record("driver", options=("--gpu-budget=2",))
    names = [e.get("name") or "" for e in events]
    equal([got.returncode, [n for n in names if n.startswith("GPU budget")],
           kinds(events)["unrecorded"], kinds(events)["kernel"], kinds(events)["overhead"]],
          [0, [], 0, 1, 160], "what the driver takes to load and to wait is no cost of a budget")


def check_details():
    for version in (1204, 1305):
        got, events = record("overheads", version=version)
        equal(["freed: 100" in got.stdout, kinds(events)["overhead"]], [True, 100],
              f"CUDA {version // 100}.{version % 100}: details of overheads are freed")
    trace = json.loads(gpulib.run([gpulib.XSPROF, "dump", "-f", "kineto", gpulib.CAPTURE]).stdout)
    overheads = [e for e in trace["traceEvents"] if e.get("cat") == "overhead"]
    equal([gpulib.overlaps(overheads), min(e["tid"] for e in overheads),
           {e["pid"] for e in overheads}, len(overheads)], [[], 0, {-1}, 101],
          "in Kineto's format, those that overlap are on several tracks")
    said = []
    for what in ("overheads", "query"):
        record(what)
        got = gpulib.run([gpulib.XSPROF, "report", "--gpu", gpulib.CAPTURE])
        said.append("no work of a device and no call is in the capture" in got.stdout)
    equal(said, [True, False], "where there is nothing else, report --gpu says so")


def check_queries():
    for what in ("query", "queries"):
        for version in (1206, 1208, 1305):
            got, events = record(what, "50", version=version)
            equal([got.returncode, kinds(events)], [0, {"sync": 1, "runtime": 1}],
                  f"{what}, CUDA {version // 100}.{version % 100}: a query of work that is not "
                  "over is no wait")


check_others_session()
check_driver()
check_details()
check_queries()
finish()
