#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Says what is wrong with a trace in Chrome's JSON for the viewers that must read it.

usage: check-chrome.py FILE [events]

With a number: how many events of the capture it must stand for. Prints one line and exits 1
when something is wrong.
"""
import collections
import json
import re
import sys


def fail(text):
    print("check-chrome: " + text)
    sys.exit(1)


def no_constant(text):
    fail("not JSON: " + text)


with open(sys.argv[1], encoding="utf-8") as f:
    trace = json.load(f, parse_constant=no_constant)
events = trace["traceEvents"]
other = trace["otherData"]

tracks = collections.defaultdict(list)      # (pid, tid) -> ranges (begin, end)
stacks = collections.defaultdict(list)      # (pid, tid) -> open begins
counts = collections.Counter()
closed_for_them = 0


def ns(us):
    return round(us * 1000)


for e in events:
    if type(e.get("pid")) is not int or type(e.get("tid")) is not int:
        fail("no number as pid and tid: %r" % e)
    ph = e["ph"]
    counts[ph] += 1
    if ph == "M":
        continue
    if not isinstance(e["ts"], float) or e["ts"] < 0 or not e["name"]:
        fail("ts or name: %r" % e)
    key = e["pid"], e["tid"]
    if ph == "B":
        stacks[key].append(e)
    elif ph == "E":
        if not stacks[key]:
            fail("an end with nothing open: %r" % e)
        begin = stacks[key].pop()
        if begin["name"] != e["name"]:
            fail("end of %r ends %r" % (e["name"], begin["name"]))
        tracks[key].append((ns(begin["ts"]), ns(e["ts"])))
        args = e.get("args", {})
        if args.get("cut") is True or args.get("unfinished") is True:
            closed_for_them += 1
    elif ph == "X":
        tracks[key].append((ns(e["ts"]), ns(e["ts"]) + ns(e["dur"])))
    elif ph in "tf" and e.get("bp") != "e":
        fail("a flow without bp: %r" % e)
    elif ph == "C" and type(e["args"]["value"]) not in (int, float):
        fail("a counter that is no number: %r" % e)

for key, stack in stacks.items():
    if stack:
        fail("%d ranges of track %r stay open" % (len(stack), key))

# Strict nesting: in the order of begins, longest first, each lies inside what is open.
for key, ranges in tracks.items():
    ranges.sort(key=lambda r: (r[0], -r[1]))
    inside = []
    for begin, end in ranges:
        while inside and inside[-1] <= begin:
            inside.pop()
        if inside and end > inside[-1]:
            fail("track %r: %d to %d does not nest" % (key, begin, end))
        inside.append(end)

# The kernel's events: lines as its own trace file has them, on the time of the others.
LINE = re.compile(r"^ *(.*\S) *-(\d+) +\( *(\d+|-+)\) \[(\d{3,})\] "
                  r"([d.][Nnp.][Hhs.][0-9a-f.]) +(\d+)\.(\d{6}): (\S+): (.*)$")
LOST = re.compile(r"^CPU:\d+ \[LOST (\d+ )?(TIMES 32 BYTES OF )?EVENTS\]$")
lines = []
if "systemTraceEvents" in trace:
    text = trace["systemTraceEvents"]
    if type(text) is not str or not text.startswith("# tracer: nop\n") or text[-1] != "\n":
        fail("systemTraceEvents is no text that viewers take: %.80r" % (text,))
    lines = [line for line in text[:-1].split("\n") if not line.startswith("#")]
    before = 0
    for line in lines:
        if LOST.match(line):
            continue
        got = LINE.match(line)
        if not got:
            fail("no line of the kernel's: %r" % line)
        micros = int(got.group(6)) * 1000000 + int(got.group(7))
        if micros < before:
            fail("time goes back: %r" % line)
        before = micros
if len(lines) != other["events_kernel"]:
    fail("%d lines of the kernel, says there are %d" % (len(lines), other["events_kernel"]))

shown = len(events) + len(lines) - counts["M"] - closed_for_them - other["ranges_drawn_async"]
shown += other["events_merged"]
if shown != other["entries"]:
    fail("%d entries, says there are %d" % (shown, other["entries"]))
if len(sys.argv) > 2 and shown != int(sys.argv[2]):
    fail("%d events, expected %s" % (shown, sys.argv[2]))
