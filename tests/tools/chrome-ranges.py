#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Prints the ranges of a trace in Chrome's JSON as check-perfetto.py -r does: begin, end, name.

usage: chrome-ranges.py FILE

A range without an end, as an async one may be, ends with the trace. Slices shorter than a
nanosecond are only anchors for arrows, not ranges.
"""
import json
import sys

with open(sys.argv[1], encoding="utf-8") as f:
    trace = json.load(f)
base = trace["otherData"]["base_monotonic_ns"]
ANCHOR = 2 ** -12  # us
open_ranges, out, last = {}, [], 0


def ns(us):
    return base + round(us * 1000)


for e in trace["traceEvents"]:
    ph = e["ph"]
    if ph == "M":
        continue
    last = max(last, ns(e["ts"]))
    if ph in "Bb":
        key = e["pid"], e["tid"]
        if ph == "b":
            key = e["pid"], e["id2"]["local"], e["name"]
        open_ranges.setdefault(key, []).append((ns(e["ts"]), e["name"]))
    elif ph in "Ee":
        key = e["pid"], e["tid"]
        if ph == "e":
            key = e["pid"], e["id2"]["local"], e["name"]
        if open_ranges.get(key):
            begin, name = open_ranges[key].pop()
            out.append((begin, ns(e["ts"]), name))
    elif ph == "X" and e["dur"] != ANCHOR:
        out.append((ns(e["ts"]), ns(e["ts"]) + round(e["dur"] * 1000), e["name"]))
for stack in open_ranges.values():
    out += [(begin, last, name) for begin, name in stack]
for begin, end, name in sorted(out):
    print("%d %d %s" % (begin, end, json.dumps(name)))
