#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
#
# Buffers of CUPTI: the ways in which CUPTI returns them, and how lost records are counted. A
# stand-in for libcupti replays them to the CUPTI collector; no GPU is used.

import collections
import json
import os
import re

import gpulib
from gpulib import BUILD, ROOM, XSPROF, finish

PROGRAM = os.path.join(BUILD, "tests", "gpu", "program")
OWN = {"without": ("CUDA_",), "XSPROF_CUPTI": os.path.join(BUILD, "tests", "gpu", "libcupti.so")}
DROPPED = "not recorded: CUPTI dropped records"
BUFFERS = "not recorded: CUPTI buffers, because too many were in use"
UNKNOWN = "not recorded: CUPTI records of unknown kinds"
EXIT = "not recorded: CUPTI buffers, because the program ended"


def named(name):
    version = OWN.get("STAND_IN_VERSION")
    return f"replay of {version}: {name}" if version else f"replay: {name}"


def result(good, name, why=""):
    gpulib.result(good, named(name), why)


def equal(got, want, name):
    gpulib.equal(got, want, named(name))


def record(*what, **more):
    got, events, path = gpulib.record([PROGRAM, *what], ("--gpu",), **{**OWN, **more})
    return got, events, path


def count(*what, **more):
    return gpulib.count([PROGRAM, *what], **{**OWN, **more})


def of_kind(counts, kind):
    return sum(n for (k, _), n in counts.items() if k == kind)


def kernels(events):
    return collections.Counter(e["name"] for e in events
                               if e["type"] == "gpu" and e["kind"] == "kernel")


def told(got, word):
    return int(re.search(f"^{word}: ([0-9]+)$", got.stdout, re.M).group(1))


def lines(got):
    """Returns the messages, without the recorder's summary and the one about no device."""
    return [line for line in got.stderr.splitlines()
            if not line.startswith(("[ xsprof record:", "xsprof: --gpu: CUDA was initialised"))]


def shown(path, miss, n, name):
    """Checks that a loss is in the trace, in info, and in the report."""
    words = miss.removeprefix("not recorded: ")
    report = gpulib.run([XSPROF, "report", "--gpu", path], **OWN).stdout
    info = gpulib.run([XSPROF, "info", path], **OWN).stdout
    result(f"# not recorded: {n} {words}" in report, f"{name}: the report says so", report)
    result(re.search(f"{n} {words}|{words}:? +{n}", info), f"{name}: info says so", info)


def check_names():
    names = [f"kernel_{c}" for c in "abcde"]
    for what in ("names", "names-again"):
        got, counts, missed, _ = count(what, "20000")
        equal([got.returncode, {k: n for k, n in counts.items() if k[0] == "kernel"}, missed],
              [0, {("kernel", name): 4000 for name in names}, {}],
              f"{what}: names that are gone when a buffer was given back")


def check_order():
    got, events, _ = gpulib.record([PROGRAM, "in-flight", "8000"], ("--gpu", *ROOM), **OWN)
    calls = {e["value"] for e in events if e["type"] == "gpu" and e["kind"] == "runtime"}
    works = {e["value"] for e in events if e["type"] == "gpu" and e["kind"] == "kernel"}
    result(told(got, "requested") > 20, "many buffers of each thread", got.stdout)
    equal([len(calls), len(works), calls == works, gpulib.missed(events)],
          [32000, 32000, True, {}], "several of each thread in flight, given back last first")


def check_losses():
    got, counts, missed, path = count("refused", "100000")
    lost = told(got, "refused")
    equal([lost > 0, of_kind(counts, "kernel") + of_kind(counts, "runtime") + lost, missed,
           got.returncode],
          [True, 800000, {DROPPED: lost}, 0],
          "when all buffers are in use no more are given: each record is there or counted")
    shown(path, DROPPED, lost, "refused")
    got, counts, missed, path = count("refused", "100000", STAND_IN_VERSION="1208")
    equal([missed.keys(), missed[BUFFERS] + 256, told(got, "refused")],
          [{BUFFERS}, told(got, "requested"), 0],
          "CUDA 12.8 must get one: those that are thrown away are counted")
    shown(path, BUFFERS, missed[BUFFERS], "CUDA 12.8")
    got, events, path = record("dropped", "100")
    equal([kernels(events).total(), gpulib.missed(events)], [400, {DROPPED: 7}],
          "records that CUPTI dropped are counted")
    shown(path, DROPPED, 7, "dropped")
    got, counts, missed, path = count("tail", "20000")
    n = told(got, "requested")
    equal([of_kind(counts, "kernel"), missed], [80000, {UNKNOWN: n}],
          "behind the last record of a buffer is one that is none: counted, and nothing is lost")
    shown(path, UNKNOWN, n, "tail")


def check_end():
    got, counts, missed, _ = count("fork-in", "20000")
    equal([got.returncode, of_kind(counts, "kernel"), missed], [0, 80000, {}],
          "a fork while CUPTI gives a buffer back: all is there")
    got, _, missed, path = count("exit-in", "20000")
    equal([got.returncode, missed.keys(), missed.get(EXIT, 0) >= 1], [3, {EXIT}, True],
          "an exit while CUPTI gives a buffer back: its status, and the buffer is counted")
    equal([len(lines(got)), "within 10 s" in got.stderr], [1, True], "exit: one line says so")
    shown(path, EXIT, missed.get(EXIT, 0), "exit")
    got, events, path = record("hang", "1000")
    equal([got.returncode, kernels(events), gpulib.missed(events)],
          [0, {}, {EXIT: told(got, "requested")}],
          "a flush that does not return: the program ends, and what CUPTI has is counted")
    equal([len(lines(got)), "within 10 s" in got.stderr], [1, True], "hang: one line says so")
    shown(path, EXIT, told(got, "requested"), "hang")


def check_nothing():
    for what, said in (("no-device", "CUPTI: "), ("no-driver", "--gpu: no recorded process")):
        got, events, _ = record(what)
        equal([got.returncode, kernels(events), got.stderr.count(said),
               len([e for e in events if e["name"] == "op" and e["type"] == "begin"])],
              [0, {}, 1, 1], f"{what}: one line, and the CPU is recorded")


def check_early():
    got, events, path = record("early")
    report = json.loads(gpulib.run([XSPROF, "report", "--gpu", "--json", path], **OWN).stdout)
    equal([kernels(events).total(), report["before_their_call"]], [100, 7],
          "report --gpu: how many began before the call that started them")
    text = gpulib.run([XSPROF, "report", "--gpu", path], **OWN).stdout
    result(re.search("^# 7 .*before", text, re.M), "and the table says so", text)


for check in (check_names, check_order, check_losses, check_nothing, check_early, check_end):
    check()
for version in ("1108", "1206", "1209", "1305") if os.environ.get("XSPROF_TIER") == "full" else ():
    OWN["STAND_IN_VERSION"] = version
    for check in (check_names, check_order, check_nothing, check_early, check_end):
        check()
finish()
