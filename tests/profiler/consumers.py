#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Checks what the tools for PyTorch's traces calculate from ours; and that they use the intended
fields: without one of these the result changes or is an error. TAP.

usage: consumers.py DIR      DIR/traces/rank0.json rank1.json, DIR/ops.json,
       DIR/memory.json and memory.raw.json.gz, of the same memory
"""
import contextlib
import io
import json
import logging
import os
import shutil
import sys
import tempfile
import warnings

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)


def copies(top, change=None, names=("rank0", "rank1"), suffix=".json"):
    """Copies the traces to a new folder, each changed by change()."""
    folder = tempfile.mkdtemp(dir=top)
    for name in names:
        source = os.path.join(top, "traces" if name != "ops" else "", name + ".json")
        target = os.path.join(folder, name + suffix)
        if change is None:
            shutil.copy(source, target)
            continue
        with open(source, encoding="utf-8") as f:
            trace = json.load(f)
        change(trace)
        with open(target, "w", encoding="utf-8") as f:
            # One key per line, because the tool searches for the rank's line.
            json.dump(trace, f, indent=1)
    return folder


def without(cat, *path):
    """Returns a change() that removes a field from the events of a category."""
    def change(trace):
        for e in trace["traceEvents"]:
            if e.get("cat") == cat:
                for key in path[:-1]:
                    e = e.get(key, {})
                e.pop(path[-1], None)
    return change


def no_rank(trace):
    del trace["distributedInfo"]


def hta(folder):
    """Returns numbers of both ranks."""
    from hta.trace_analysis import TraceAnalysis
    analysis = TraceAnalysis(trace_dir=folder)
    time = analysis.get_temporal_breakdown(visualize=False)
    overlap = analysis.get_comm_comp_overlap(visualize=False)
    queue = analysis.get_queue_length_summary(ranks=sorted(analysis.t.traces))
    return {
        "ranks": sorted(int(r) for r in time["rank"]),
        "compute": sorted(float(v) for v in time["compute_time(us)"]),
        "other": sorted(float(v) for v in time["non_compute_time(us)"]),
        "overlap": sorted(float(v) for v in overlap["comp_comm_overlap_pctg"]),
        "queues": {tuple(map(int, k)): (int(c), float(m)) for k, c, m in
                   zip(queue.index, queue.iloc[:, 0], queue.iloc[:, 7])},
    }


HTA = {
    "ranks": [0, 1],
    # Three steps of 100 + 200; other events belong to no step, and overlaps count once.
    "compute": [900.0, 900.0],
    "overlap": [47.62, 50.0],
    # In three steps twelve launches and ends on the compute stream, two on the other.
    "queues": {(0, 7): (24, 2.0), (0, 20): (6, 1.0), (1, 7): (24, 2.0), (1, 20): (6, 1.0)},
}


def tensorboard(folder):
    from torch_tb_profiler.io.cache import Cache
    from torch_tb_profiler.profiler.loader import RunLoader
    with Cache() as cache:
        run = RunLoader("run", folder, cache).load()
        found = {}
        for profile in run.profiles.values():
            rows = profile.kernel_table["data"]["rows"] if profile.kernel_table else []
            found[profile.worker] = {
                "kernels": {row[0][:4]: row[2:7] for row in rows},
                "ops": {o["name"]: (o["calls"], o["host_total_duration"])
                        for o in profile.operation_table_by_name["data"]},
                "views": sorted(v.name for v in profile.views),
                "memory": [(r.device_name, r.addr, r.bytes, r.total_allocated, r.op_name)
                           for r in profile.memory_snapshot.memory_records]
                if profile.memory_snapshot else [],
                # Blocks per SM and occupancy, averaged over a kernel's launches.
                "sm": [row[7:] for row in rows],
            }
        return found


RANK = {"aten::mm": (6, 240), "record_param_comms": (3, 120)}
TENSORBOARD = {
    "rank0": {"kernels": {"gemm": [6, 900, 150, 200, 100], "nccl": [3, 600, 200, 200, 200]},
              "ops": RANK, "sm": [[0.5, 25.0], [0.5, 25.0]]},
    "rank1": {"kernels": {"gemm": [6, 900, 150, 200, 100], "nccl": [3, 630, 210, 210, 210]},
              "ops": RANK, "sm": [[0.5, 25.0], [0.5, 25.0]]},
    # A free is counted for the op that allocated the address.
    "ops": {"kernels": {}, "memory": [("GPU0", 0x7f0000001000, 512, 1024, "aten::mm"),
                                      ("GPU0", 0x7f0000001000, -512, 512, "aten::mm")]},
}

def hta_memory(path):
    """Returns the bytes of each category at each microsecond, as it plots them."""
    from hta.memory_analysis import MemoryAnalysis
    times, sizes = MemoryAnalysis(path)._process_raw_events()
    return {ns // 1000: size for ns, size in zip(times, sizes)}


def timeline(path):
    """Returns the same from our file of sums."""
    with open(path, encoding="utf-8") as f:
        times, sizes = json.load(f)
    return {us: size[1:] for us, size in zip(times, sizes)}


number = 0
bad = False


def result(good, name, detail=None):
    global number, bad
    number += 1
    if not good:
        print("# %r" % (detail,))
        bad = True
    print("%s %d %s" % ("ok" if good else "not ok", number, name), flush=True)


def attempt(tool, folder):
    """Returns the tool's answer, or its error."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            return tool(folder)
    except Exception as e:  # any exception means no answer
        return {"error": "%s: %s" % (type(e).__name__, e)}


def agrees(found, want):
    if isinstance(want, dict):
        return isinstance(found, dict) and all(k in found and agrees(found[k], v)
                                               for k, v in want.items())
    return found == want


def main():
    top = sys.argv[1]
    found = attempt(hta, copies(top))
    result(agrees(found, HTA), "HTA: two ranks, breakdown, overlap, queue lengths", found)
    for text, change in (("dur", without("kernel", "dur")),
                         ("correlation", without("cuda_runtime", "args", "correlation")),
                         ("stream", without("kernel", "args", "stream")),
                         ("rank", no_rank)):
        found = attempt(hta, copies(top, change))
        result(not agrees(found, HTA), "HTA needs " + text, found)
    found, want = (attempt(tool, os.path.join(top, name)) for tool, name in
                   ((hta_memory, "memory.raw.json.gz"), (timeline, "memory.json")))
    result(len(want) > 10 and found == want, "HTA: memory over time", (found, want))
    suffix = ".17.pt.trace.json"
    names = ("rank0", "rank1", "ops")
    found = attempt(tensorboard, copies(top, None, names, suffix))
    result(agrees(found, TENSORBOARD), "TensorBoard: kernels, operators, allocations", found)
    result("memory" in found.get("ops", {}).get("views", []), "TensorBoard: memory", found)
    result("kernel" in found.get("rank0", {}).get("views", []), "TensorBoard: kernels", found)
    for text, change in (("device", without("kernel", "args", "device")),
                         ("dur", without("cpu_op", "dur")),
                         ("Addr", without("cpu_instant_event", "args", "Addr")),
                         ("Device Type", without("cpu_instant_event", "args", "Device Type"))):
        found = attempt(tensorboard, copies(top, change, names, suffix))
        result(not agrees(found, TENSORBOARD), "TensorBoard needs " + text, found)
    print("1..%d" % number)
    sys.exit(bad)


if __name__ == "__main__":
    main()
