#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compares the totals of threads in a report with the time that their ranges cover.

usage: covered.py NDJSON REPORT      REPORT: xsprof report --by thread --json

Prints a line for each thread that differs, and exits with 1 if there is any.
"""
import collections
import json
import sys

ranges, stacks, opened = collections.defaultdict(list), collections.defaultdict(list), set()
with open(sys.argv[1], encoding="utf-8") as f:
    for e in map(json.loads, f):
        kind, tid = e["type"], e.get("tid")
        if kind == "begin":
            stacks[tid].append(e["ns"])
        elif kind == "end" and stacks[tid]:
            ranges[tid].append((stacks[tid].pop(), e["ns"]))
        elif kind in ("span", "complete"):
            ranges[tid].append((e["begin_ns"], e["end_ns"]))
        elif kind == "open":
            opened.add(tid)
with open(sys.argv[2], encoding="utf-8") as f:
    rows = json.load(f)["ranges"]

wrong = compared = 0
for row in rows:
    if row["tid"] in opened:
        continue
    covered = upto = 0
    for begin, end in sorted(ranges[row["tid"]]):
        covered += max(0, end - max(begin, upto))
        upto = max(upto, end)
    compared += 1
    wall = row.get("cause", {}).get("wall_ns", covered)
    if not row["total_ns"] == covered == wall:
        wrong += 1
        print("thread %d: covered %d ns, total %d, wall %d" %
              (row["tid"], covered, row["total_ns"], wall))
sys.exit(bool(wrong or compared < 3))
