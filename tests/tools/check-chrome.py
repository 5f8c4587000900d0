#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Checks a trace in Chrome's JSON by the rules of the viewers that must read it.

usage: check-chrome.py FILE [events]

With a number: how many events of the capture it must contain. On an error prints one line and exits
with 1.
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


def once(items):
    keys = [key for key, _ in items]
    if len(keys) != len(set(keys)):
        fail("a key twice: %r" % keys)
    return dict(items)


with open(sys.argv[1], encoding="utf-8") as f:
    trace = json.load(f, parse_constant=no_constant, object_pairs_hook=once)
events = trace["traceEvents"]
other = trace["otherData"]

tracks = collections.defaultdict(list)      # (pid, tid) -> ranges (begin, end)
stacks = collections.defaultdict(list)      # (pid, tid) -> open begins
counts = collections.Counter()
closed_for_them = own_ranges = arrows = 0
at = collections.Counter(e["ts"] for e in events if "ts" in e)
asyncs = set()
starts = set()                              # (pid, tid, begin) of ranges in one event


# A flow's own range has these in common with its end.
SAME = "pid", "tid", "ts", "name", "cat"
e = {"ph": None}
for after in events:
    before, e = e, after
    if type(e.get("pid")) is not int or type(e.get("tid")) is not int:
        fail("no number as pid and tid: %r" % e)
    ph = e["ph"]
    counts[ph] += 1
    if ph == "M":
        continue
    if not isinstance(e["ts"], float) or e["ts"] < 0 or not isinstance(e["name"], str):
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
        if set(begin.get("args", {})) & set(e.get("args", {})):
            fail("a key in both: %r, %r" % (begin, e))
        # Perfetto sorts such an end before its begin. Damaged captures have many at once.
        if e["ts"] == begin["ts"] and at[e["ts"]] <= 64:
            fail("an end at the time of its begin: %r, %r" % (begin, e))
        tracks[key].append((begin["ts"], e["ts"]))
        args = e.get("args", {})
        if args.get("cut") is True or args.get("unfinished") is True:
            closed_for_them += 1
    elif ph in "be":
        key = e["pid"], e["id2"]["local"], e["name"], e["cat"]
        if ph == "b":
            if key in asyncs:
                fail("begins while it is open: %r" % e)
            asyncs.add(key)
        elif key not in asyncs:
            fail("an end without a begin: %r" % e)
        else:
            asyncs.remove(key)
        args = e.get("args", {})
        if args.get("cut") is True or args.get("unfinished") is True:
            closed_for_them += 1
    elif ph == "X":
        tracks[key].append((e["ts"], e["ts"] + e["dur"]))
        starts.add((*key, e["ts"]))
        # Open from before the window to its end; one without duration has its begin here.
        args = e.get("args", {})
        if e["dur"] and (args.get("cut") is True or args.get("unfinished") is True):
            closed_for_them += 1
    elif ph in "stf":
        if ph != "s" and e.get("bp") != "e":
            fail("a flow without bp: %r" % e)
        same = [before.get(k) for k in SAME] == [e[k] for k in SAME]
        # An arrow from a call to what it started: both must come before it.
        if e["cat"] == "ac2g":
            arrows += 1
            if (*key, e["ts"]) not in starts:
                fail("an arrow without a range that begins there: %r" % e)
        elif same and before["ph"] == "X" and before["dur"] * 4096 == 1:
            own_ranges += 1
        elif not stacks[key]:
            fail("a flow in no range: %r" % e)
    elif ph == "C" and type(e["args"]["value"]) not in (int, float):
        fail("a counter that is no number: %r" % e)

if asyncs:
    fail("%d async ranges stay open, as %r" % (len(asyncs), asyncs.pop()))
for key, stack in stacks.items():
    if stack:
        fail("%d ranges of track %r stay open" % (len(stack), key))

# Strict nesting, in doubles as in viewers: in the order of begins, longest first, each lies inside
# what is open.
for key, ranges in tracks.items():
    ranges.sort(key=lambda r: (r[0], -r[1]))
    inside = []
    for begin, end in ranges:
        while inside and inside[-1] <= begin:
            inside.pop()
        if inside and end > inside[-1]:
            fail("track %r: %r to %r does not nest" % (key, begin, end))
        inside.append(end)

# As Perfetto sorts, in whole nanoseconds: ends first, longer ranges before shorter, the rest in the
# order of the file. It cuts what is open inside a range that is over.
sorted_by = collections.defaultdict(list)
for i, e in enumerate(events):
    if e["ph"] in "BEX" and "ts" in e:
        ts, dur = round(e["ts"] * 1000), round(e.get("dur", 0) * 1000)
        kind = {"E": (0, 0), "X": (1, -dur)}.get(e["ph"], (1, 0))
        sorted_by[e["pid"], e["tid"]].append((ts, kind, i, dur, e["ph"]))
for key, of_track in sorted_by.items():
    inside = []     # ends, None while open
    for ts, _, _, dur, ph in sorted(of_track):
        while inside and inside[-1] is not None and inside[-1] <= ts:
            inside.pop()
        for i, end in enumerate(inside):
            if end is not None and end < ts and None in inside[i:]:
                fail("track %r: what is open at %d ns is inside of what ended" % (key, ts))
        if ph == "E" and inside and inside[-1] is None:
            inside.pop()
        elif ph != "E":
            inside.append(ts + dur if ph == "X" else None)

# The kernel's events: lines like those of its own trace file, in the other events' time.
LINE = re.compile(r"^ *(.*\S) *-(\d+) +\( *(\d+|-+)\) \[(\d{3,})\] "
                  r"([d.][Nnp.][Hhs.][0-9a-f.]) +(\d+)\.(\d{6}): (\S+): (.*)$")
LOST = re.compile(r"^CPU:\d+ \[LOST (\d+ )?(TIMES 32 BYTES OF )?EVENTS\]$")
lines = []
if "systemTraceEvents" in trace:
    text = trace["systemTraceEvents"]
    if type(text) is not str or not text.startswith("# tracer: nop\n") or text[-1] != "\n":
        fail("systemTraceEvents is no text that viewers take: %.80r" % (text,))
    if trace.get("metadata") != {"clock-domain": "LINUX_FTRACE_GLOBAL"}:
        fail("the clock of systemTraceEvents: %r" % (trace.get("metadata"),))
    lines = [line for line in text[:-1].split("\n") if not line.startswith("#")]
    # A missing switch has two lines: itself, and a mark.
    marks = {i for i, line in enumerate(lines) if ": inferred_sched_switch: next_pid=" in line}
    lines = [line for i, line in enumerate(lines) if i not in marks and i + 1 not in marks]
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
# Names of threads that differ from the kernel's.
lines = [line for line in lines if ": xsprof_thread: name=" not in line]
if len(lines) != other["events_kernel"]:
    fail("%d lines of the kernel, says there are %d" % (len(lines), other["events_kernel"]))

# A flow with a range of its own is two events of the file; arrows to devices are no records.
shown = len(events) + len(lines) - counts["M"] - own_ranges - arrows
shown -= closed_for_them + other["ranges_drawn_async"] + other["ranges_drawn_as_pairs"]
shown += other["events_merged"]
if shown != other["entries"]:
    fail("%d entries, says there are %d" % (shown, other["entries"]))
if len(sys.argv) > 2 and shown != int(sys.argv[2]):
    fail("%d events, expected %s" % (shown, sys.argv[2]))
