#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compares what save-session wrote with what it did.

usage: check-session.py DIR NAMED

NAMED is not 0 if the library was built with elfutils: then stacks have names.
"""
import json
import os
import pickle
import re
import sys

top, named = sys.argv[1], sys.argv[2] != "0"
FRAME = r"[^;()]+\(\d+\): \S.*|(/.*\+)?0x[0-9a-f]+|\?\? \(/.*\)|[^/; ]+"
DIMS, STRIDES = [2, 3], [3, 1]
TENSOR = [5, 6, 0, 6, 4, "cuda:0"]
LONG = "x" * 2999


def once(items):
    keys = [k for k, _ in items]
    assert len(keys) == len(set(keys)), keys
    return dict(items)


def load(name):
    with open(os.path.join(top, name), encoding="utf-8") as f:
        return json.load(f, parse_constant=lambda c: sys.exit("not JSON: " + c),
                         object_pairs_hook=once)


trace = load("session.json")
assert trace["who"] == 'a "name"' and trace["ids"] == [1, {}], trace["who"]
assert trace["trace_id"] == "0123456789ABCDEF", trace["trace_id"]
assert [trace["PT_PROFILER_JOB_" + k] for k in ("NAME", "VERSION", "ATTEMPT_INDEX")] == \
    ['a "job"', "2", "3"], trace
assert (trace["schemaVersion"], trace["host_name"]) == (1, "a host"), trace
with open(os.path.join(top, "session.json"), encoding="utf-8") as f:
    ranks = [re.search(r'"rank":\s+(\d+)', line) for line in f]
assert [m.group(1) for m in ranks if m] == ["3"], trace["distributedInfo"]
assert trace["distributedInfo"] == {"backend": 'a:b":c', "rank": 3}, trace["distributedInfo"]
assert trace["xsprof_stacks_missed"] == 0
assert (trace["record_shapes"], trace["with_stack"], trace["with_flops"],
        trace["with_modules"], trace["profile_memory"]) == (1, 1, 0, 1, 1)
events = trace["traceEvents"]
ops = [e["args"] for e in events if e.get("cat") == "cpu_op" and e["name"] == "aten::mm"]
shader, = [e for e in events if e["name"] == "shader"]
assert shader["cat"] == "cpu_op" and shader["tid"] != shader["pid"], shader
assert len(ops) == 3, len(ops)
for a in ops:
    assert a["Input Dims"] == [DIMS, [DIMS, DIMS]] + [[]] * 9, a["Input Dims"]
    assert a["Input Strides"] == [STRIDES, [STRIDES, STRIDES]] + [[]] * 9, a["Input Strides"]
    assert a["Input type"][:5] == ["float", "TensorList", "Scalar", "Scalar", "Scalar"], a
    assert a["Concrete Inputs"] == ["", "", "-7", "2.", "True", 'a "word"', "[1, 2, 3]",
                                    "[1.5, nan]", "", "", LONG], a["Concrete Inputs"]
    assert (a["Sequence number"], a["Record function id"]) == (4, 9), a
    assert a["Module Hierarchy"] == "net.encoder", a
    # With elfutils some frames have names; the others are an offset in a file.
    frames = a["Call stack"].split(";")
    assert len(frames) >= 2 and all(re.fullmatch(FRAME, f) for f in frames), frames
    if named:
        assert any(re.fullmatch(r"save-session\.c\(\d+\): main", f) for f in frames), frames
steps = [e["name"] for e in events if e["name"].startswith("ProfilerStep#")]
assert len(steps) == 3 == len(set(steps)), steps
memory = [e["args"] for e in events if e["name"] == "[memory]"]
assert [(m["Bytes"], m["Total Allocated"], m["Total Reserved"], m["Device Type"], m["Device Id"])
        for m in memory] == [(512, 512, 1024, 1, 0), (-512, 0, 1024, 1, 0)] * 3, memory
oom = [e["args"] for e in events if e["name"] == "[OutOfMemory]"]
assert len(oom) == 2, oom
oom = oom[0]
assert (oom["Bytes"], oom["Total Allocated"], oom["Total Reserved"], oom["Device Type"],
        oom["Device Id"]) == (1 << 20, 5, 6, 1, 0), oom

nodes = [n for n in load("session.et")["nodes"] if n["name"] == "aten::mm"]
assert len(nodes) == 3, len(nodes)
for n in nodes:
    assert n["inputs"]["values"][:8] == [TENSOR, [TENSOR, TENSOR], -7, 2, True, 'a "word"',
                                         [1, 2, 3], [1.5, "NaN"]], n["inputs"]
    assert n["inputs"]["values"][10] == LONG
    assert n["inputs"]["shapes"][:2] == [DIMS, [DIMS, DIMS]], n["inputs"]

with open(os.path.join(top, "session.pickle"), "rb") as f:
    snapshot = pickle.load(f)
entries, = snapshot["device_traces"]
assert [e["action"] for e in entries] == \
    ["alloc", "free_requested", "free_completed"] * 3 + ["oom"] * 2, entries
assert [e["size"] for e in entries[-2:]] == [1 << 20, (1 << 63) - 1], entries
assert entries[0]["frames"][0]["name"] == "aten::mm" and not snapshot["segments"], entries[0]

times, sizes = load("session.timeline")
# Memory that is freed inside of its op is temporary.
assert len(times) == len(sizes) >= 4 and sizes[-1] == [0] * 9, sizes
assert all(sum(row) == row[4] for row in sizes), sizes
assert max(row[4] for row in sizes) == 512, sizes
