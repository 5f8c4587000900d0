#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
#
# How far CUDA devices' times may be from the markers' clock: bounds from launches and waits, each
# second, compared with those that this test computes from the activities.  A stand-in for libcupti
# replays them to the CUPTI collector; no GPU is used.

import gzip
import json
import os

import gpulib
from gpulib import BUILD, CAPTURE, XSPROF, finish

PROGRAM = os.path.join(BUILD, "tests", "gpu", "program")
OWN = {"without": ("CUDA_",), "XSPROF_CUPTI": os.path.join(BUILD, "tests", "gpu", "libcupti.so")}
LATE, EARLY, WITHIN = "late by at most", "early by at most", "known within"
ROUNDING = 3    # ns: times are converted to ticks and back


def equal(got, want, name):
    gpulib.equal(got, want, f"{name} (replay)")


def run(*args):
    return gpulib.run([XSPROF, *args], **OWN)


def record(*what):
    return gpulib.record([PROGRAM, *what], ("--gpu",), **OWN)[1]


def counters(events, what, device=1):
    name = f"clock of device {device}: {what} ns"
    return [e["i64"] for e in events if e["type"] == "counter" and e["name"] == name]


def expected(events):
    """The least of both bounds, None for one that nothing bounds."""
    calls = {e["value"]: e for e in gpulib.of(events, "runtime", "driver")}
    work = [(calls[e["value"]], e) for e in gpulib.of(events, "kernel", "memcpy", "memset")
            if e["value"] in calls]
    late = [e["begin_ns"] - c["begin_ns"] for c, e in work]
    early = [w["end_ns"] - e["end_ns"] for w in gpulib.of(events, "sync") for c, e in work
             if c["end_ns"] <= w["begin_ns"] and (w["name"] == "Context Sync" or
                w["name"] == "Stream Sync" and e["stream"] == w["stream"] and not e["graph"])]
    return min(late, default=None), min(early, default=None)


def near(got, want):
    return got == want or None not in (got, want) and abs(got - want) <= ROUNDING


def info():
    clock, = json.loads(run("info", "--json", CAPTURE).stdout)["device_clocks"]
    lines = [line for line in run("info", CAPTURE).stdout.splitlines()
             if line.startswith("clocks") and "times of device" in line]
    facts = json.loads(run("info", "--json", CAPTURE).stdout)["processes"][0]["facts"]
    return clock, lines, json.loads(facts.get("device_clock.1", "null"))


def check_both():
    events = record("clock", "25")
    late, early = expected(events)
    got = [counters(events, what) for what in (LATE, EARLY, WITHIN)]
    equal([near(min(got[0]), late), near(min(got[1]), early), min(map(len, got)) >= 2], [True] * 3,
          "each second the device's times are bounded from both sides, as launches and waits have "
          f"it: {late, early}, {got}")
    equal([max(abs(a), abs(b)) for a, b in zip(*got[:2])], got[2], "the larger is the error")
    clock, lines, fact = info()
    equal([clock["device"], clock["worst_error_ns"], clock["best_error_ns"],
           clock["late_at_most_ns"], clock["early_at_most_ns"], clock["late_at_least_ns"],
           clock["early_at_least_ns"]],
          [1, max(got[2]), min(got[2]), max(got[0]), max(got[1]), None, None], "info --json has it")
    equal([len(lines), "error of the times of device 1 (process " in lines[0],
           "late by at most" in lines[1], "early by at most" in lines[1],
           "least" in lines[1]], [2, True, True, True, False], "and info")
    equal(fact, {"late_at_most_ns": min(got[0]), "early_at_most_ns": min(got[1])},
          "the capture has it also as a fact of the process")
    for form, encoding in (("chrome", "utf-8"), ("kineto", "utf-8"), ("text", "utf-8"),
                           ("perfetto", "latin-1")):
        text = gpulib.run([XSPROF, "dump", "-f", form, CAPTURE], encoding=encoding, **OWN).stdout
        equal([f"clock of device 1: {what} ns" in text for what in (LATE, EARLY, WITHIN)],
              [True] * 3, f"dump -f {form} shows it")


def check_real():
    raw = os.path.join(gpulib.DIR.name, "raw")
    with gzip.open(os.path.join(os.path.dirname(__file__), "h100-13.0.raw.gz")) as f:
        open(raw, "wb").write(f.read())
    events = record("raw", raw)
    late, early = expected(events)
    got = [min(counters(events, what, 0)) for what in (LATE, EARLY, WITHIN)]
    equal([near(got[0], late), near(got[1], early), 0 < early < late < 10000, got[2] == got[0]],
          [True] * 4, f"of buffers of an H100: late by at most {late} ns, early by {early} ns")


def check_one_side():
    events = record("early")
    equal([min(counters(events, LATE)), counters(events, EARLY), counters(events, WITHIN)],
          [-100, [], []], "without a wait nothing bounds how early times are: there is no counter")
    clock, lines, fact = info()
    equal([clock["worst_error_ns"], clock["early_at_most_ns"], clock["early_at_least_ns"],
           clock["late_at_least_ns"]], [None, None, 100, None],
          "an activity before its launch is an error of at least that")
    equal([clock["before_launch"], near(clock["before_launch_ns"], 100)], [7, True],
          "and is counted")
    equal([lines[0].endswith(": unknown"), "early by an unknown time" in lines[1],
           "once early by at least 100 ns" in lines[1]], [True] * 3, "info says unknown")
    equal(fact, {"late_at_most_ns": -100, "early_at_most_ns": None}, "and so does the fact")
    report = json.loads(gpulib.run([XSPROF, "report", "--gpu", "--json", CAPTURE]).stdout)
    device, = report["devices"]
    equal([sum(row["ns"] for row in device["idle"]), device["idle_ns"] > 0],
          [device["idle_ns"], True], "report --gpu: the reasons of idle times add up to these")


def check_late():
    events = record("late")
    late, early = expected(events)
    equal([near(min(counters(events, EARLY)), early), early < 0], [True, True],
          "an activity that ends after the wait for it returned")
    clock, lines, _ = info()
    equal([clock["late_at_least_ns"], "once late by at least" in lines[1]],
          [-min(counters(events, EARLY)), True], "is an error of at least that")


def check_none():
    # Waits of which nothing is known but that they were: of another stream, and of none.
    events = record("no-launch")
    equal([counters(events, what) for what in (LATE, EARLY, WITHIN)], [[], [], []],
          "activities without their calls bound nothing")
    clock, lines, fact = info()
    equal([clock["worst_error_ns"], clock["late_at_most_ns"], fact, len(lines),
           lines[0].endswith(": unknown")], [None, None, None, 1, True],
          "info says unknown")


check_both()
check_real()
check_one_side()
check_late()
check_none()
finish()
