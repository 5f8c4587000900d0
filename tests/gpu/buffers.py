#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
#
# Buffers of CUPTI: in which ways it gives them back, and what is lost of them. Played to the
# collector of CUPTI through a stand-in for libcupti. Results are of a replay: no GPU is there.

import collections
import json
import os
import re

import gpulib
from gpulib import BUILD, XSPROF, finish

PROGRAM = os.path.join(BUILD, "tests", "gpu", "program")
OWN = {"without": ("CUDA_",), "XSPROF_CUPTI": os.path.join(BUILD, "tests", "gpu", "libcupti.so")}

def result(good, name, why=""):
    gpulib.result(good, f"replay: {name}", why)


def equal(got, want, name):
    gpulib.equal(got, want, f"replay: {name}")


def record(*what, **more):
    got, events, path = gpulib.record([PROGRAM, *what], ("--gpu",), **{**OWN, **more})
    return got, events, path


def kernels(events):
    return collections.Counter(e["name"] for e in events
                               if e["type"] == "gpu" and e["kind"] == "kernel")


def told(got, word):
    return int(re.search(f"^{word}: ([0-9]+)$", got.stdout, re.M).group(1))


def check_names():
    names = [f"kernel_{c}" for c in "abcde"]
    for what in ("names", "names-again"):
        got, events, _ = record(what, "20000")
        equal([got.returncode, kernels(events), gpulib.missed(events)],
              [0, {name: 4000 for name in names}, {}],
              f"{what}: names that are gone when a buffer was given back")


def check_order():
    got, events, _ = record("in-flight", "20000")
    calls = {e["value"] for e in events if e["type"] == "gpu" and e["kind"] == "runtime"}
    works = {e["value"] for e in events if e["type"] == "gpu" and e["kind"] == "kernel"}
    result(told(got, "requested") > 20, "many buffers of each thread", got.stdout)
    equal([len(calls), len(works), calls == works, gpulib.missed(events)],
          [80000, 80000, True, {}], "several of each thread in flight, given back last first")


def check_early():
    got, events, path = record("early")
    report = json.loads(gpulib.run([XSPROF, "report", "--gpu", "--json", path], **OWN).stdout)
    equal([kernels(events).total(), report["before_their_call"]], [100, 7],
          "report --gpu: how many began before the call that started them")
    text = gpulib.run([XSPROF, "report", "--gpu", path], **OWN).stdout
    result(re.search("^# 7 .*before", text, re.M), "and the table says so", text)


for check in (check_names, check_order, check_early):
    check()
finish()
