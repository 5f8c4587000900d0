#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Checks a viewer's messages about a trace, and its data.

usage: said.py VIEWER TRACE SAID NDJSON      SAID: lines of page.mjs

Prints a line for each complaint, and exits with 1 if there is any.
"""
import collections
import json
import re
import sys

sys.dont_write_bytecode = True
from ours import Comparison, Ours, by_name

viewer, trace, said, ndjson = sys.argv[1:]
with open(said, encoding="utf-8") as f:
    said = [json.loads(line) for line in f]
wrong = [s["error"] for s in said if "error" in s]
console = [s["console"] for s in said if "console" in s]
page = [s["js"] for s in said if "js" in s]
# Kinds of kernel events, and a task state, that catapult does not know.
KNOWN = re.compile("Unknown event |Unrecognized sleep state: I$")


def events():
    with open(trace, encoding="utf-8") as f:
        return json.load(f)["traceEvents"]


def compare(report):
    """Compares catapult's ranges, threads and counters with the capture."""
    ours, comparison, got, threads = Ours(ndjson), Comparison(), {}, {}
    for exe, tid, thread, ranges in report["threads"]:
        if tid in ours.threads:
            threads[tid] = exe, thread
        # Tids beyond all threads are additional tracks.
        if tid in ours.threads or type(tid) is int and tid >= 20000000:
            got.update({(tid, name): v for name, v in ranges.items()
                        if v[0] and (tid, name) not in ours.open})
    comparison.same("ranges", by_name(got), by_name(ours.closed()))
    name = "thread {0} ({1})" if trace.endswith("kineto") else "{1}"
    comparison.same("threads", threads, {tid: (ours.programs[pid], name.format(tid, thread))
                                         for tid, (pid, thread) in ours.threads.items()})
    comparison.same("counters", {name: [len(v), sum(v)] for name, v in report["counters"].items()
                                 if name in ours.counters}, dict(ours.counters))
    return ["%d differences" % comparison.wrong] if comparison.wrong else []


if not page:
    wrong.append("it says nothing")
elif viewer == "perfetto":
    # viewers/sql tests what it counts as import errors.
    wrong += re.findall(".*(?:unrecoverable|Could not|Oops).*", page[0])
elif viewer == "catapult":
    report = page[0]
    wrong += [report["error"]] if "error" in report else []
    if not wrong:
        wrong += [w for w in report["warnings"] if not KNOWN.match(w)]
        ends = collections.Counter(e["id"] for e in events() if e["ph"] in "stf")
        if report["flows"] != sum(n - 1 for n in ends.values()):
            wrong.append("%d arrows" % report["flows"])
        wrong += compare(report)
elif viewer == "speedscope":
    # Its names of begins include arguments; it still pairs such ranges.
    wrong += [c for c in console if re.search("Doing nothing|still open|Could not", c)]
    tracks = {(e["pid"], e["tid"]) for e in events() if e["ph"] in "BX"}
    if "/%d)" % len(tracks) not in page[0]:
        wrong.append("it has not %d tracks: %.200s" % (len(tracks), page[0]))

for text in wrong[:20]:
    print("%s: %.300s" % (viewer, text))
sys.exit(1 if wrong else 0)
