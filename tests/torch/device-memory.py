#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Memory of a device that is not there: a program makes the calls of an allocator.

usage: device-memory.py OUT.json
       device-memory.py compare OUT.json REPORT.json KINETO.json SNAPSHOT

The first writes what torch.profiler has of them. The second holds against that what xsprof report,
dump -f kineto and dump -f memory-snapshot have; the snapshot is read by memory_viz too.
"""
import ctypes
import json
import pickle
import sys

sys.dont_write_bytecode = True
import memory

CUDA, INDEX = 1, 2
MIB = 1 << 20
# Address, bytes, and the allocator's totals.
CALLS = [[0x7f0000100000, MIB, MIB, 4 * MIB],
         [0x7f0000200000, 3 * MIB, 4 * MIB, 5 * MIB],
         [0x7f0000100000, -MIB, 3 * MIB, 5 * MIB],
         [0x7f0000600000, 2 * MIB, 5 * MIB, 7 * MIB]]


def calls():
    """Of each version's name one: both go to torch.profiler."""
    library = ctypes.CDLL(None)
    for types in "lmm", "lll":
        f = library["_ZN3c1027reportMemoryUsageToProfilerEPv%sNS_6DeviceE" % types]
        f.argtypes = (ctypes.c_void_p, ctypes.c_int64, ctypes.c_size_t, ctypes.c_size_t,
                      ctypes.c_uint16)
        f.restype = None
        yield f


def tree(events):
    for e in events:
        yield e
        yield from tree(e.children)


def main():
    import torch
    from torch.profiler import profile, record_function
    device = INDEX << 8 | CUDA
    one, other = calls()
    with profile(profile_memory=True) as prof:
        with record_function("outer"):
            with record_function("allocates"):
                one(*CALLS[0], device)
                other(*CALLS[1], device)
                torch.ones(100)
            one(*CALLS[2], device)
        other(*CALLS[3], device)
    events = [e for e in tree(prof.profiler.kineto_results.experimental_event_tree())
              if e.name == "[memory]" and str(e.extra_fields.device) == "cuda:%d" % INDEX]
    fields = [e.extra_fields for e in sorted(events, key=lambda e: e.start_time_ns)]
    with open(sys.argv[1], "w") as f:
        json.dump([[x.ptr, x.alloc_size, x.total_allocated, x.total_reserved] for x in fields], f)


def compare(theirs, report, kineto, snapshot):
    with open(theirs) as f:
        theirs = json.load(f)
    # The tree of 2.13 has none of what is in no range.
    assert theirs in (CALLS, CALLS[:3]), theirs
    with open(report) as f:
        report = json.load(f)
    rows = {r["name"]: [r["device_bytes"], r["self_device_bytes"]] for r in report["ranges"]}
    assert rows["allocates"] == [4 * MIB, 4 * MIB], rows["allocates"]
    assert rows["outer"] == [3 * MIB, -MIB], rows["outer"]
    # Ops of the host have none, and what is in no range is said.
    assert [n for n, v in rows.items() if any(v)] in (["allocates", "outer"],
                                                      ["outer", "allocates"]), rows
    assert report["memory"]["in_no_range"]["device_bytes"] == 2 * MIB, report["memory"]

    with open(kineto) as f:
        events = [e["args"] for e in json.load(f)["traceEvents"] if e.get("name") == "[memory]"]
    events = [e for e in events if e["Device Type"] != 0]
    assert {(e["Device Type"], e["Device Id"]) for e in events} == {(CUDA, INDEX)}, events
    events.sort(key=lambda e: e["Ev Idx"])
    assert [[e[k] for k in ("Addr", "Bytes", "Total Allocated", "Total Reserved")]
            for e in events] == CALLS, events

    with open(snapshot, "rb") as f:
        snapshot = pickle.load(f)
    entries = snapshot["device_traces"][INDEX]
    # The host's memory has no place beside a device's.
    assert [len(t) for t in snapshot["device_traces"]] == [0, 0, len(entries)]
    assert [(e["addr"], e["size"] if e["action"] == "alloc" else -e["size"]) for e in entries
            if e["action"] != "free_requested"] == [tuple(r[:2]) for r in CALLS], entries
    assert [[f["name"] for f in e["frames"]] for e in entries] == \
        [["allocates", "outer"]] * 2 + [["outer"]] * 2 + [[]], entries
    assert {s["device"] for s in snapshot["segments"]} == {INDEX}
    return memory.check_viz(snapshot, [r[:3] for r in CALLS], 5 * MIB, INDEX)


if sys.argv[1] == "compare":
    print("memory_viz: %s" % compare(*sys.argv[2:]))
else:
    main()
