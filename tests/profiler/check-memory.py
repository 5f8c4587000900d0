#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Checks files written from the capture of `kineto-capture memory FILE 40`.

usage: check-memory.py DIR      timeline.json, raw.raw.json, snapshot.pickle, execution.json
"""
import json
import os
import pickle
import sys

top = sys.argv[1]
wrong = []
N = 40
# In the order of PyTorch's plots; each row of sizes begins with a 0.
PARAMETER, OPTIMIZER_STATE, INPUT, TEMPORARY, ACTIVATION, GRADIENT, DETAIL, UNKNOWN = range(8)
CREATE, DESTROY = 1, 3
OPS = ["aten::linear", "MmBackward0", "Optimizer.step#Adam.step", "aten::empty"]


def check(good, text):
    if not good:
        wrong.append(text)


def load(name):
    with open(os.path.join(top, name), encoding="utf-8") as f:
        return json.load(f, parse_constant=lambda c: check(False, "not JSON: " + c))


def expected(device):
    """Yields (us, bytes, category, address, op) of each allocation and free of a device."""
    for i in range(N):
        if i // 4 % 2 != device:
            continue
        size, us, address = 256 * (i % 7 + 1), 101 + i * 10, 0x7f0000000000 + i * 0x1000
        category = (ACTIVATION, GRADIENT, OPTIMIZER_STATE, TEMPORARY)[i % 4]
        yield 1700001000000000 + us, size, category, address, OPS[i % 4]
        if i % 4 == 3:
            yield 1700001000000000 + us + 1, -size, category, address, OPS[i % 4]


times, sizes = load("timeline.json")
sums, want = [0] * 8, []
for us, size, category, _, _ in expected(1):
    sums[category] += size
    want.append((us, [0] + list(sums)))
check(list(zip(times, sizes)) == want, "timeline: %r" % sizes[:3])

raw = load("raw.raw.json")
check(raw == [[us * 1000, CREATE if size > 0 else DESTROY, size, category]
              for us, size, category, _, _ in expected(1)], "raw: %r" % raw[:3])

with open(os.path.join(top, "snapshot.pickle"), "rb") as f:
    data = f.read()
check(data[:2] == b"\x80\x02", "protocol 2")
snapshot = pickle.loads(data)
check(set(snapshot) >= {"segments", "device_traces", "allocator_settings",
                        "external_annotations"}, "keys: %r" % list(snapshot))
check(len(snapshot["device_traces"]) == 2, "a list for each device")
for device, entries in enumerate(snapshot["device_traces"]):
    want = []
    for us, size, _, address, op in expected(device):
        for action in ["alloc"] if size > 0 else ["free_requested", "free_completed"]:
            want.append({"action": action, "addr": address, "size": abs(size), "stream": 0,
                         "time_us": us, "frames": [{"filename": "", "line": 0, "name": op}]})
    check(entries == want, "entries of %d: %r" % (device, entries[:2]))
live = {}
for device in (0, 1):
    for _, size, _, address, _ in expected(device):
        live[address] = (device, size) if size > 0 else None
live = {a: v for a, v in live.items() if v}
check({s["address"]: (s["device"], s["total_size"]) for s in snapshot["segments"]} == live,
      "segments")
for s in snapshot["segments"]:
    check(set(s) == {"device", "address", "total_size", "allocated_size", "active_size",
                     "requested_size", "stream", "segment_type", "blocks"}, "segment: %r" % s)
    check([(b["address"], b["size"], b["state"], b["frames"]) for b in s["blocks"]] ==
          [(s["address"], s["total_size"], "active_allocated", [])], "block: %r" % s)

trace = load("execution.json")
check(trace["schema"].startswith("1.") and trace["pid"] == 500 and
      trace["finish_ts"] > trace["start_ts"], "schema, pid, times")
nodes = {n["id"]: n for n in trace["nodes"]}
check(len(nodes) == len(trace["nodes"]) == N + 2, "%d nodes" % len(nodes))
ATTRS = ["rf_id", "fw_parent", "seq_id", "scope", "tid", "fw_tid", "op_schema",
         "kernel_backend", "kernel_file"]
for n in nodes.values():
    check(set(n) == {"id", "name", "ctrl_deps", "inputs", "outputs", "attrs"}, "node: %r" % n)
    check(n["ctrl_deps"] in nodes and (n["ctrl_deps"] < n["id"] or n["id"] == 1), "parent")
    check([a["name"] for a in n["attrs"]] == ATTRS, "attrs: %r" % n["attrs"])
    for side in ("inputs", "outputs"):
        check(set(n[side]) == {"values", "shapes", "types", "strides"} and
              len({len(v) for v in n[side].values()}) == 1, "%s: %r" % (side, n[side]))
check(sorted(n["attrs"][0]["value"] for n in nodes.values() if n["name"] in OPS) ==
      list(range(1, N + 1)), "rf_id joins it with the other trace")

for text in wrong[:20]:
    print("check-memory: " + text)
sys.exit(bool(wrong))
