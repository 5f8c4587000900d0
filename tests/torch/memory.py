#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compares averages.py's recorded allocations, in each output format, with torch.profiler's.

usage: memory.py THEIRS.memory OURS.json SNAPSHOT TIMELINE RAW-TIMELINE STEPS.json
       memory.py viz OURS.json SNAPSHOT

OURS is the output of xsprof dump -f kineto, STEPS of xsprof report --steps=window --json. Reads the
snapshot with the memory_viz of this Python's PyTorch; the second form does only that.
"""
import importlib.util
import json
import os
import pickle
import re
import sys


def records(path):
    with open(path) as f:
        events = [e for e in json.load(f)["traceEvents"] if e.get("name") == "[memory]"]
    events.sort(key=lambda e: e["args"]["Ev Idx"])
    return [[e["args"]["Addr"], e["args"]["Bytes"], e["args"]["Total Allocated"]] for e in events]


def memory_viz():
    """Loads the module alone: it needs nothing of PyTorch."""
    path = os.path.join(importlib.util.find_spec("torch").submodule_search_locations[0],
                        "cuda", "_memory_viz.py")
    spec = importlib.util.spec_from_file_location("memory_viz", path)
    viz = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(viz)
    return viz


def check_viz(snapshot, ours, total):
    viz = memory_viz()

    def lines(text, script=None):
        """Replaces a picture by its lines, each followed by its bytes."""
        return sum(int(line.split()[-1]) for line in text.splitlines())

    # In 1.13 a snapshot has only segments, no traces.
    old = not hasattr(viz, "trace_plot")
    for view in viz.memory, viz.segments:
        assert view(snapshot["segments"] if old else snapshot, lines) == total, view
    if old:
        return "memory and segments"
    try:
        text = viz.segsum(snapshot)
        assert "total_allocated: %s" % viz.Bytes(total) in text, text
    except ZeroDivisionError:
        # 2.0 divides by the free bytes, which a trace does not have.
        assert not hasattr(viz, "segment_plot")
    text = viz.trace(snapshot)
    entries = len(snapshot["device_traces"][0])
    assert "%d entries\n" % entries in text, text[:200]
    assert len(re.findall(r"^\S+ = \S+\[", text, re.M)) == sum(b > 0 for _, b, _ in ours)
    assert len(re.findall(r"^del ", text, re.M)) == sum(b < 0 for _, b, _ in ours)
    page = viz.trace_plot(snapshot)
    if hasattr(viz, "segment_plot"):
        assert "snapshot.pickle" in page and "snapshot.pickle" in viz.segment_plot(snapshot)
    else:
        assert "aten::empty" in page
    return "memory, segments, segsum, trace and plots"


def main():
    ours = records(sys.argv[2])
    if sys.argv[1] == "viz":
        with open(sys.argv[3], "rb") as f:
            print("memory_viz: %s" % check_viz(pickle.load(f), ours, ours[-1][2]))
        return
    with open(sys.argv[1]) as f:
        theirs = json.load(f)
    assert len(theirs) > 50 and len(ours) > 5 * len(theirs), (len(theirs), len(ours))
    # Their records are one contiguous part of ours.
    n = len(theirs)
    at = [i for i in range(len(ours) - n + 1) if ours[i:i + n] == theirs]
    assert len(at) == 1, (at, theirs[:3])
    assert all(b[2] == a[2] + b[1] for a, b in zip(ours, ours[1:])), "totals do not add up"
    total = ours[-1][2]

    with open(sys.argv[3], "rb") as f:
        snapshot = pickle.load(f)
    entries = snapshot["device_traces"][0]
    got = [(e["addr"], e["size"] if e["action"] == "alloc" else -e["size"]) for e in entries
           if e["action"] != "free_requested"]
    assert got == [tuple(r[:2]) for r in ours], "entries of the snapshot"
    assert any(f["name"] == "aten::empty" for e in entries for f in e["frames"])
    assert sum(s["allocated_size"] for s in snapshot["segments"]) == total
    with open(sys.argv[4]) as f:
        times, sizes = json.load(f)
    assert len(times) == len(sizes) and sum(sizes[-1]) == total, sizes[-1:]
    with open(sys.argv[5]) as f:
        raw = json.load(f)
    assert [r[2] for r in raw] == [r[1] for r in ours], "bytes of the timeline"
    at = at[0]
    with open(sys.argv[6]) as f:
        step = json.load(f)["steps"][-1]
    peak = max(r[2] for r in theirs)
    assert step["peak_cpu_bytes"] in (peak, max(peak, ours[at - 1][2])), (step, peak)
    print("%d of %d records are torch.profiler's; memory_viz: %s" % (
        n, len(ours), check_viz(snapshot, ours, total)))


main()
