#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Counts a capture's ranges from its NDJSON and compares that with `xsprof report --json`.

usage: check-report.py NDJSON REPORT BY
"""
import collections, json, sys
stacks = collections.defaultdict(list)
durations = collections.defaultdict(list)
selfs = collections.Counter()
totals = collections.Counter()
by = sys.argv[3].split(",")
def key(name, tid):
    return tuple({"name": name, "thread": tid}.get(b, "default") for b in by)
def once(name, stack):
    """Returns whether no range in the stack is in the same row, so that its time counts there."""
    if "name" in by:
        return name not in [outer[1] for outer in stack]
    return "category" in by or not stack
last = 0
for line in open(sys.argv[1]):
    e = json.loads(line)
    last = e["ns"]
    stack = stacks[e["tid"]]
    if e["type"] == "begin":
        stack.append([e["ns"], e["name"], 0])
    elif e["type"] == "end":
        begin, name, inside = stack.pop()
        d = e["ns"] - begin
        durations[key(name, e["tid"])].append(d)
        if once(name, stack):
            totals[key(name, e["tid"])] += d
        selfs[key(name, e["tid"])] += d - inside
        if stack:
            stack[-1][2] += d
    elif e["type"] == "exit":
        for tid, stack in stacks.items():
            while stack:
                begin, name, inside = stack.pop()
                d = last - begin
                durations[key(name, tid)].append(d)
                if once(name, stack):
                    totals[key(name, tid)] += d
                selfs[key(name, tid)] += d - inside
                if stack:
                    stack[-1][2] += d
report = json.load(open(sys.argv[2]))
rows = report["ranges"]
assert len(rows) == len(durations) > 0, (len(rows), len(durations))
assert [r["total_ns"] for r in rows] == sorted((r["total_ns"] for r in rows), reverse=True)
for r in rows:
    k = tuple(r["tid" if b == "thread" else b] for b in by)
    d = sorted(durations[k])
    assert r["count"] == len(d), (r, len(d))
    assert r["total_ns"] == totals[k], (r, totals[k])
    assert r["self_ns"] == selfs[k], (r, selfs[k])
    assert r["min_ns"] == d[0] and r["max_ns"] == d[-1], r
    for p, q in (("p50_ns", 50), ("p99_ns", 99)):
        exact = d[-(-len(d) * q // 100) - 1]
        assert abs(r[p] - exact) <= exact * 0.01, (r, p, exact)
counter = report["others"][0]
assert counter["type"] == "counter" and counter["name"] == "allocated", counter
assert sum(o["count"] for o in report["others"]) == 4000, report["others"]
