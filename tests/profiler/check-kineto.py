#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Checks a trace in Kineto's format for what its readers rely on.

usage: check-kineto.py FILE ops|rank|any

any: it is JSON, each event has the keys of its phase, times have three decimals. ops, rank: checks
that capture key by key. Prints errors and exits 1.
"""
import json
import re
import sys

path, kind = sys.argv[1:3]
wrong = []


def check(good, text):
    if not good and len(wrong) < 20:
        wrong.append(text)


def no_constant(text):
    check(False, "not JSON: " + text)


def pairs(items):
    keys = [k for k, _ in items]
    check(len(keys) == len(set(keys)), "a key twice: %r" % keys)
    return dict(items)


with open(path, encoding="utf-8") as f:
    text = f.read()
trace = json.loads(text, parse_constant=no_constant, object_pairs_hook=pairs)
events = trace["traceEvents"]

TOP = {
    "schemaVersion": int, "deviceProperties": list, "record_shapes": int, "with_stack": int,
    "with_flops": int, "with_modules": int, "profile_memory": int, "trace_id": str,
    "host_name": str, "displayTimeUnit": str,
    "baseTimeNanoseconds": int, "traceEvents": list, "traceName": str,
}
order = [k for k in trace if k in TOP]
for key, kind_of in TOP.items():
    check(type(trace.get(key)) is kind_of, "%s: %r" % (key, trace.get(key)))
check(order[0] == "schemaVersion" and order[-1] == "traceName" and
      order.index("traceEvents") > order.index("trace_id"), "the order of the keys: %r" % order)
check(trace["schemaVersion"] == 1 and trace["displayTimeUnit"] == "ns", "version, unit")
# Close enough to the times that a double holds microseconds to a fraction of a ns.
check(trace["baseTimeNanoseconds"] % 10 ** 15 == 0, "baseTimeNanoseconds")

# HolisticTraceAnalysis searches for this line and takes the first.
ranks = re.findall(r'"rank":\s+(\d+)', text)
if "distributedInfo" in trace:
    check(ranks and int(ranks[0]) == trace["distributedInfo"]["rank"], "rank: %r" % ranks[:3])



def exact(number):
    """Returns whether doubles of microseconds can be added to it without rounding."""
    return re.fullmatch(r"\d+\.\d{1,12}", number) and float(number) * 4096 % 1 == 0


for line in text.splitlines():
    for number in re.findall(r'^\{"ph".*?"ts":([^,}]*)', line):
        check(exact(number), "ts: " + number)
    for number in re.findall(r'^\{"ph":"X".*?"dur":([^,}]*)', line):
        check(exact(number), "dur: " + number)

NUMBER = (int, float)
# Always numbers, as in PyTorch.
OWN = "External id", "Record function id", "Sequence number", "Fwd thread id", "Ev Idx"


def unsafe(value):
    """Viewers keep numbers in doubles: larger integers must be strings of digits."""
    if isinstance(value, dict):
        return any(unsafe(v) for k, v in value.items() if k not in OWN)
    if isinstance(value, list):
        return any(map(unsafe, value))
    return type(value) is int and abs(value) > 2 ** 53


for e in events:
    if e.get("cat") in ("cpu_op", "user_annotation", "cpu_instant_event", "user_flow") and \
       e["name"] != "[memory]":
        check(not unsafe(e.get("args", {})), "a number that is rounded: %r" % e)
    check(e["ph"] in "XiCMsftbne" and isinstance(e["ts"], float) and e["ts"] >= 0 and
          "pid" in e and "tid" in e and isinstance(e["name"], str), "no event: %r" % e)
    if e["ph"] == "X":
        check(isinstance(e["dur"], float) and e["dur"] >= 0 and e["cat"], "X: %r" % e)
    if e["ph"] in "stf":
        check(type(e["id"]) is int and 0 <= e["id"] < 2 ** 53 and
              (e["ph"] == "s" or e["bp"] == "e"), "flow: %r" % e)
    if e["ph"] == "i":
        check(e["s"] in "tpg", "instant: %r" % e)
    if e["ph"] == "M":
        check(e["args"], "metadata: %r" % e)
    if e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset"):
        a = e["args"]
        check(type(e["pid"]) is int and a["device"] == e["pid"] and
              (a["stream"] in (e["tid"], -1) or e["tid"] >= 1 << 30), "where: %r" % e)
        for v in a.values():
            check(v not in ("inf", "nan", "Infinity", "-Infinity", "NaN"), "number: %r" % e)

OP = {"Ev Idx": int, "External id": int}
INPUTS = {"Concrete Inputs": list, "Input type": list, "Input Strides": list, "Input Dims": list}
SEQUENCE = {"Sequence number": int, "Fwd thread id": int}
GPU = {"External id": int, "device": int, "context": int, "stream": int, "correlation": int}
GRAPH = {"graph id": int, "graph node id": int}
MOVED = {**GPU, **GRAPH, "bytes": int, "memory bandwidth (GB/s)": NUMBER}
# Arguments that events of a category must have, and may have.
ARGS = {
    "cpu_op": (OP, {**INPUTS, **SEQUENCE, "Record function id": int,
                    "Module Hierarchy": str, "finished": bool, "Call stack": str,
                    "alpha": object, "axes": list, "Collective name": str,
                    "In msg nelems": int}),
    "user_annotation": (OP, {"Record function id": int, "finished": bool, "late": str,
                             "category": str}),
    "kernel": ({**GPU, **GRAPH, "queued": int, "registers per thread": int,
                "shared memory": int, "grid": list, "block": list,
                "blocks per SM": NUMBER, "est. achieved occupancy %": NUMBER},
               {"Collective name": str, "In msg nelems": int}),
    "gpu_memcpy": (MOVED, {}),
    "gpu_memset": (MOVED, {}),
    "cuda_runtime": ({"External id": int, "cbid": int, "correlation": int}, {}),
    "cuda_sync": ({**GPU, "cuda_sync_kind": str, "wait_on_stream": int}, {}),
    "gpu_user_annotation": ({}, {"External id": int}),
    "overhead": ({}, {}),
    "Trace": ({"Op count": int}, {}),
}
MEMORY = {"Ev Idx": int, "Device Type": int, "Device Id": int, "Addr": int, "Bytes": int,
          "Total Allocated": int, "Total Reserved": int}


def check_args(e, must, may):
    args = e.get("args", {})
    for key, kind_of in must.items():
        check(isinstance(args.get(key), kind_of), "%s of %r" % (key, e))
    for key, value in args.items():
        check(key in must or (key in may and isinstance(value, may[key])),
              "%s of %r" % (key, e))


def of(cat, name=None):
    return [e for e in events if e.get("cat") == cat and (name is None or e["name"] == name)]


def real(us):
    """Converts microseconds since the capture's first tick to the file's times."""
    return (1700000000000000000 + 1000000000000 + us * 1000 - trace["baseTimeNanoseconds"]) / 1000


def ns(us):
    return round(us * 1000)


def at(e, us, dur=None):
    check(ns(e["ts"]) == ns(real(us)) and (dur is None or ns(e["dur"]) == ns(dur)),
          "time of %r" % e)


def one(cat, name):
    found = of(cat, name)
    check(len(found) == 1, "%s %s: %d" % (cat, name, len(found)))
    return found[0]


def metadata(what, pid, tid, **args):
    check([e for e in events if e["ph"] == "M" and e["name"] == what and e["pid"] == pid and
           e["tid"] == tid and e["args"] == args], "no %s of %s/%s %r" % (what, pid, tid, args))


if kind != "any":
    for e in events:
        if e["ph"] == "X":
            check_args(e, *ARGS.get(e["cat"], ({}, {})))
        if e["name"] == "[memory]":
            check_args(e, MEMORY, {})
    ids = [e["args"]["External id"] for e in events
           if e.get("cat") in ("cpu_op", "user_annotation")]
    check(len(ids) == len(set(ids)) and all(0 < i < 2 ** 53 for i in ids), "ids: %r" % ids)
    end = [e for e in events if e["name"] == "Record Window End"]
    check(len(end) == 1 and end[0]["s"] == "g", "Record Window End")
    check(events[-1] is end[0], "it is the last")

if kind == "ops":
    check(trace["distributedInfo"] == {"rank": 3, "world_size": 8}, "ranks")
    check(trace["host_name"] == "node-1", "host_name")
    mm = [e for e in of("cpu_op", "aten::mm") if "finished" not in e["args"]][0]
    at(mm, 30, 30.0)
    check((mm["pid"], mm["tid"]) == (500, 500), "mm: where")
    check(mm["args"] == {
        "Ev Idx": 2, "alpha": -4, "External id": 2, "Record function id": 2,
        "Sequence number": 9, "Fwd thread id": 0,
        "Concrete Inputs": ["", "", "", "1.", "True", "[1, -2]", "sum, €"],
        "Input type": ["float", "float", "Generator", "Scalar", "Scalar", "ScalarList", ""],
        "Input Strides": [[3, 1], [4, 1], [], [], [], [], []],
        "Input Dims": [[2, 3], [3, 4], [], [], [], [], []],
        "Module Hierarchy": "net.encoder.0"}, "mm: %r" % mm["args"])
    cat = one("cpu_op", "aten::cat")["args"]
    check(cat["Input Dims"] == [[[5], [5]], [], []] and
          cat["Input type"] == ["TensorList", "Scalar", "ScalarList"] and
          cat["Concrete Inputs"] == ["", "7", "[0.5, nan, 2.]"] and
          cat["alpha"] == "Infinity" and cat["axes"] == [8, "x"], "cat: %r" % cat)
    check(cat["Call stack"] == '/nowhere/lib:m".so+0x5234;/nowhere/train+0x10;0x10',
          "stack: %r" % cat)
    back = one("cpu_op", "MmBackward0")
    check(back["args"]["Sequence number"] == 9 and back["args"]["Fwd thread id"] == 500 and
          back["tid"] == 501, "backward: %r" % back)
    start, finish = [[e for e in of("fwdbwd") if e["ph"] == ph] for ph in "sf"]
    check(len(start) == len(finish) == 1 and start[0]["id"] == finish[0]["id"], "fwdbwd")
    check(start[0]["ts"] == mm["ts"] and finish[0]["ts"] == back["ts"] and
          start[0]["tid"] == 500 and finish[0]["tid"] == 501, "fwdbwd: from op to op")
    left = [e for e in of("cpu_op", "aten::mm") if e["args"].get("finished") is False]
    check(len(left) == 1 and left[0]["args"]["Sequence number"] == 10, "unfinished")
    at(one("user_annotation", "ProfilerStep#3"), 10, 110.0)
    check("finished" in one("user_annotation", "ProfilerStep#4")["args"], "the last step")
    at(one("user_annotation", "forward pass"), 20, 65.0)
    check(one("user_annotation", "load")["args"]["late"] == "came later", "late argument")
    memory = of("cpu_instant_event", "[memory]")
    check([m["args"]["Bytes"] for m in memory] == [512, -512] and
          memory[0]["args"]["Addr"] == 0x7f0000001000 and
          memory[0]["args"]["Device Type"] == 1, "[memory]: %r" % memory)
    # ITT has only a name and a domain.
    for name, ts, dur in (("aten::relu", 117, 2.0), ("aten::add", 119, 1.0)):
        at(one("cpu_op", name), ts, dur)
        check(set(one("cpu_op", name)["args"]) == {"Ev Idx", "External id"}, name)
    at(one("user_annotation", "dnn"), 117, 1.0)
    oom = one("cpu_instant_event", "[OutOfMemory]")["args"]
    check((oom["Bytes"], oom["Device Type"], oom["Device Id"]) == (1 << 30, 1, 2), "oom")
    comms = one("cpu_op", "record_param_comms")["args"]
    check(comms["Collective name"] == "allreduce", "record_param_comms")
    metadata("process_name", 500, 0, name="train")
    metadata("process_labels", 500, 0, labels="CPU")
    metadata("process_sort_index", 500, 0, sort_index=500)
    metadata("thread_name", 500, 500, name="thread 500 (train)")
    metadata("thread_sort_index", 500, 500, sort_index=500)

if kind == "rank":
    for cat, n in (("kernel", 9), ("gpu_memcpy", 3), ("gpu_memset", 3), ("cuda_sync", 3),
                   ("cuda_runtime", 18), ("cpu_op", 9), ("overhead", 1),
                   ("gpu_user_annotation", 6)):
        check(len(of(cat)) == n, "%s: %d" % (cat, len(of(cat))))
    calls = {e["args"]["correlation"]: e for e in of("cuda_runtime")}
    ops = {e["args"]["External id"]: e for e in of("cpu_op")}
    starts = {e["id"]: e for e in of("ac2g") if e["ph"] == "s"}
    finishes = {e["id"]: e for e in of("ac2g") if e["ph"] == "f"}
    check(len(starts) == len(finishes) == 18, "ac2g")
    for cat in ("kernel", "gpu_memcpy", "gpu_memset", "cuda_sync"):
        for e in of(cat):
            id = e["args"]["correlation"]
            call = calls[id]
            check(e["args"]["External id"] == call["args"]["External id"] in ops, "op: %r" % e)
            check(starts[id]["ts"] == call["ts"] and starts[id]["tid"] == call["tid"] and
                  finishes[id]["ts"] == e["ts"] and finishes[id]["pid"] == e["pid"] and
                  finishes[id]["tid"] == e["tid"], "ac2g %d" % id)
    check({e["name"] for e in of("cuda_runtime")} ==
          {"cudaLaunchKernel", "cudaMemcpyAsync", "cudaMemsetAsync", "cudaStreamSynchronize"},
          "names of calls, without _v7000")
    check({e["tid"] for e in of("cuda_sync")} == {1000007}, "stream sync")
    copy = of("gpu_memcpy")[0]["args"]
    check(copy["memory bandwidth (GB/s)"] == 52.4288, "bandwidth")
    kernel = of("kernel")[0]["args"]
    check(kernel["grid"] == [4, 4, 1] and kernel["block"] == [128, 1, 1], "grid, block")
    # A kernel has its op's collective arguments; other kernels have none.
    for e in of("kernel"):
        check((e["args"].get("Collective name"), e["args"].get("In msg nelems")) ==
              (("allreduce", 4096) if e["name"].startswith("nccl") else (None, None)),
              "collective: %r" % e)
    first = [e for e in of("gpu_user_annotation", "ProfilerStep#0") if e["tid"] == 7][0]
    # A little more on both sides than its first and last event.
    check(first["args"]["External id"] ==
          one("user_annotation", "ProfilerStep#0")["args"]["External id"], "whose it is")
    check(first["ts"] == real(1020) - 0.001 or abs(first["ts"] - real(1020) + 0.001) < 5e-4,
          "annotation: %r" % first)
    check(abs(first["dur"] - 380.002) < 5e-4 and first["pid"] == 0, "annotation: %r" % first)
    overhead = of("overhead")[0]
    check((overhead["pid"], overhead["tid"]) == (-1, 0), "overhead")
    metadata("process_labels", 0, 0, labels="GPU 0")
    metadata("process_sort_index", 0, 0, sort_index=5000000)
    metadata("thread_name", 0, 7, name="stream 7 ")
    metadata("thread_name", 0, 1000007, name="stream 7 (sync)")
    metadata("thread_sort_index", 0, 20, sort_index=20)
    metadata("process_sort_index", -1, 0, sort_index=16777226)

for line in wrong:
    print("check-kineto: " + line)
sys.exit(bool(wrong))
