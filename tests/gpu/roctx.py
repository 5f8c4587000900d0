#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
#
# Compares the calls of tests/gpu/roctx.c with the trace. Uses the real roctx, whose callback for
# tools counts the calls. Usage: roctx.py PREFIX, the folder with the unpacked roctx.

import collections
import os
import subprocess
import sys

sys.dont_write_bytecode = True
import gpulib
from gpulib import DIR, XSPROF, equal, finish, missed, result

PREFIX = sys.argv[1]
LIBRARIES = os.path.join(PREFIX, "lib", "x86_64-linux-gnu")
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "roctx.c")
KINDS = ("instant", "begin", "end", "async-begin", "async-end")
CLEAN = ("ROCP", "LD_PRELOAD")
ROOM = ("--gpu", "--no-torch", "-b", "64M")


def build(name, *flags):
    path = os.path.join(DIR.name, name)
    got = subprocess.run([os.environ.get("CC", "cc"), "-std=gnu11", "-Wall", "-Wextra", "-Werror",
                          "-O1", "-isystem", os.path.join(PREFIX, "include"), "-o", path, SOURCE,
                          *flags, "-pthread", "-ldl"], stderr=subprocess.PIPE, encoding="utf-8")
    result(got.returncode == 0, f"{name} is built with Debian's headers", got.stderr)
    return path


LINKED = ("-L" + LIBRARIES, "-lroctx64", "-Wl,-rpath," + LIBRARIES)
PROGRAM = build("program", *LINKED)
PLUGIN = build("plugin.so", "-DPLUGIN", "-fPIC", "-shared", *LINKED)
PLUGGED = build("plugged", "-DPLUGGED")


def record(program, *what, options=("--gpu", "--no-torch"), **more):
    got, events, _ = gpulib.record([program, *what], options, without=CLEAN, **more)
    return got, [e for e in events if e.get("cat") == "roctx"]


def told(events):
    return [(e["type"], e["name"]) for e in events if e["type"] in KINDS]


def counts(events):
    tally = collections.Counter(e["type"] for e in events)
    return [tally[kind] for kind in KINDS]


def counted(got):
    return [int(word) for word in got.stdout.split()]


def pair(name):
    return [("begin", name), ("end", name)]


EACH = [("instant", "a mark"), ("begin", "outer"), *pair("inner"), ("end", "outer"),
        ("async-begin", "over threads"), ("async-end", "over threads"),
        *pair("same place, first"), *pair("same place, second")]


def check_each():
    got, events = record(PROGRAM, "each")
    equal(told(events), EACH, "ranges and marks, in their order")
    equal(counts(events), counted(got), "as many of each kind as roctx tells its own tool")
    result("levels: 0 1 1 0" in got.stderr, "the program gets the levels that roctx counts",
           got.stderr)
    got, events = record(PLUGGED, "each", PLUGIN=PLUGIN)
    equal([told(events), got.returncode], [EACH, 0],
          "those of a plug-in that is linked with roctx where the program is not")


def check_many():
    got, events = record(PROGRAM, "many", "5000", options=ROOM)
    equal(counts(events), [20000] * 5, "20,000 of each kind of 4 threads")
    equal(counts(events), counted(got), "and roctx told its own tool of as many")
    open_now = collections.Counter()
    for e in events:
        if e["type"].startswith("async"):
            open_now[e["value"]] += 1 if e["type"] == "async-begin" else -1
    result(not any(open_now.values()), "each range that is started is stopped, by its id",
           open_now.most_common(3))


def check_odd():
    got, events = record(PROGRAM, "odd")
    equal(told(events), [("async-begin", "once"), ("async-end", "once"), *pair("after")],
          "a pop without a push, and stops of nothing, are no ends")
    equal(list(missed(events).values()), [2], "such stops are counted")
    result("pop: none" in got.stderr, "and roctx says to the program that there was none",
           got.stderr)
    _, events = record(PROGRAM, "fork")
    pids = sorted({e["pid"] for e in events})
    first = events[0]["pid"]
    equal([[told(e for e in events if e["pid"] == pid) for pid in pids if pid == first],
           [told(e for e in events if e["pid"] == pid) for pid in pids if pid != first]],
          [[pair("of the parent")], [pair("of the child")]],
          "the child of a fork ends no range of its parent's")


def check_off():
    got, events = record(PROGRAM, "each", options=("--no-torch",))
    equal([told(events), counted(got)], [[], [1, 4, 4, 1, 1]], "without --gpu it is left alone")
    got = gpulib.run([PROGRAM, "each"], without=CLEAN,
                     LD_PRELOAD=os.path.join(gpulib.BUILD, "lib", "libxsprof-rocminit.so"))
    equal([got.returncode, counted(got)], [0, [1, 4, 4, 1, 1]],
          "preloaded into a program that is not recorded, it does nothing")
    maps = gpulib.run([XSPROF, "record", "-q", "--gpu", "--no-torch", "-o",
                       os.path.join(DIR.name, "c"), "--", "grep", "-o", "libxsprof[^ ]*so",
                       "/proc/self/maps"], without=CLEAN).stdout
    result("libxsprof-rocminit.so" in maps and "libxsprof-rocm.so" not in maps,
           "a program without roctx has the small library, and nothing else of it", maps)


for check in (check_each, check_many, check_odd, check_off):
    check()
finish()
