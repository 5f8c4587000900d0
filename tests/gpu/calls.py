#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
#
# Compares what tests/gpu/program does, through a stand-in for libcupti, with the trace that the
# CUPTI collector writes of it. These are replays: no GPU is used.

import collections
import gzip
import json
import os
import re
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import gpulib
from gpulib import BUILD, DIR, ROOM, XSPROF, finish, missed

PROGRAM = os.path.join(BUILD, "tests", "gpu", "program")
CUPTI = os.path.join(BUILD, "tests", "gpu", "libcupti.so")
VERSIONS = {"11.8": 1108, "12.0": 1200, "12.4": 1204, "12.6": 1206, "12.8": 1208, "12.9": 1209,
            "13.0": 1300, "13.5": 1305}


# None of these uses a GPU.
def result(good, name, why=""):
    gpulib.result(good, f"replay: {name}", why)


def equal(got, want, name):
    gpulib.equal(got, want, f"replay: {name}")


# Uses the stand-in for libcupti.
OWN = {"without": ("CUDA_",), "XSPROF_CUPTI": CUPTI}


def run(args, **more):
    return gpulib.run(args, **{**OWN, **more})


def record(*what, options=("--gpu",), **more):
    return gpulib.record([PROGRAM, *what], options, **{**OWN, **more})


def tally(events):
    return collections.Counter((e["kind"], e["name"]) for e in events if e["type"] == "gpu")


def args_of(event):
    return {a["key"]: a["value"] for a in event.get("args", [])}


AXPY = "axpy(float const*, float*, int)"
EACH = collections.Counter({
    ("runtime", "cudaLaunchKernel"): 2, ("runtime", "cudaMemcpyAsync"): 1,
    ("runtime", "cudaMemsetAsync"): 1, ("runtime", "cudaStreamSynchronize"): 1,
    ("runtime", "cudaGraphLaunch"): 1, ("runtime", "CUDA runtime function 99"): 1,
    ("driver", "cuLaunchKernel"): 1, ("kernel", AXPY): 2, ("kernel", "plain_kernel"): 1,
    ("kernel", "(no name)"): 1, ("memcpy", "Memcpy HtoD (Pageable -> Device)"): 1,
    ("memcpy", "Memcpy PtoP (Device -> Device)"): 1, ("memset", "Memset (Device)"): 1,
    ("sync", "Stream Sync"): 1, ("overhead", "Instrumentation"): 1,
    ("overhead", "Driver Compiler"): 1, ("overhead", "Start of CUPTI"): 1,
})


def check_each():
    for name, version in VERSIONS.items():
        got, events, _ = record("each", STAND_IN_VERSION=str(version))
        equal(tally(events), EACH, f"every kind of record of CUDA {name}")
    op = [e["ns"] for e in events if e["name"] == "op"]
    gpu = {(e["kind"], e["name"], e["value"]): e for e in events if e["type"] == "gpu"}
    call, kernel = gpu["runtime", "cudaLaunchKernel", 1], gpu["kernel", AXPY, 1]
    result(op[0] <= call["begin_ns"] <= call["end_ns"] <= op[1] <= kernel["begin_ns"],
           "times are of the markers' clock: a call is inside its range, its kernel later",
           (op, call, kernel))
    equal([kernel[k] for k in ("device", "context", "stream")], [1, 3, 7], "where a kernel ran")
    args = args_of(kernel)
    equal([args[k] for k in ("grid", "block", "cluster", "registers per thread", "shared memory",
                             "channel")],
          ["[4, 5, 6]", "[128, 2, 1]", "[2, 1, 1]", 40, 3072, 8], "how it was launched")
    main = [e["tid"] for e in events if e["name"] == "op"][0]
    equal(call["thread_id"], main, "a call is of the thread that made it, as the kernel counts")
    equal([gpu["memcpy", "Memcpy HtoD (Pageable -> Device)", 2]["bytes"],
           gpu["memset", "Memset (Device)", 3]["bytes"]], [1 << 20, 512], "bytes moved")
    graph = gpu["kernel", AXPY, 9]
    equal([graph["graph"], graph["graph_node"]], [5, 17], "a kernel of a graph, and its node")
    equal(gpu["sync", "Stream Sync", 4]["device"], 1, "the device of a context is known")
    result("--gpu:" not in got.stderr, "the recorder knows that a GPU was used", got.stderr)
    equal(args_of(gpu["runtime", "cudaLaunchKernel", 10]).get("External id"), 71,
          "an id that the program pushed is with its call, one of a range is not")


def check_kineto():
    _, _, path = record("each")
    trace = json.loads(run([XSPROF, "dump", "-f", "kineto", path]).stdout)
    events = trace["traceEvents"]
    op = next(e for e in events if e.get("name") == "op")
    call = next(e for e in events if e.get("name") == "cudaLaunchKernel")
    kernel = next(e for e in events if e.get("cat") == "kernel" and e["args"]["correlation"] == 1)
    equal([call["args"]["External id"], kernel["args"]["External id"]],
          [op["args"]["External id"]] * 2, "call and kernel belong to the range around the call")
    equal([kernel["args"]["grid"], kernel["pid"], kernel["tid"]], [[4, 5, 6], 1, 7],
          "a kernel in Kineto's words")
    flows = [(e["ph"], e["id"]) for e in events if e.get("cat") == "ac2g"]
    result(("s", 1) in flows and ("f", 1) in flows, "an arrow leads from call to kernel", flows)
    equal([d["name"] for d in trace["deviceProperties"]], ["Stand-in 1"], "deviceProperties")
    tables = run([XSPROF, "report", "--gpu", path]).stdout.split("\n\n")
    of = {kind: next(t for t in tables if t.splitlines()[0].endswith(kind))
          for kind in ("Activity", "Call")}
    equal([bool(re.search(r" Delay .* Bytes ", of["Activity"])), "Bytes" in of["Call"],
           sorted(re.findall(r" (\S+ k?M?B) .*  (Mem\w+)", of["Activity"]))],
          [True, False, [("1.0 MB", "Memcpy"), ("4.1 kB", "Memcpy"), ("512 B", "Memset")]],
          "report --gpu: how much was moved")


def check_many():
    got, events, _ = record("many", "25000", options=("--gpu", *ROOM))
    kernels = [e for e in events if e["type"] == "gpu" and e["kind"] == "kernel"]
    calls = [e for e in events if e["type"] == "gpu" and e["kind"] == "runtime"]
    equal([len(kernels), len(calls)], [100000, 100000], "100,000 of 4 threads, none lost")
    equal(len({e["value"] for e in kernels} & {e["value"] for e in calls}), 100000,
          "each kernel has its call")
    equal(missed(events), {}, "nothing is counted as missing")


def check_bad():
    got, events, _ = record("subscribed")
    result("another tool already uses CUPTI" in got.stderr and got.returncode == 0 and
           not tally(events),
           "CUPTI is another tool's: one line, and the program goes on", got.stderr)
    got, events, _ = record("privilege")
    result("allows only root" in got.stderr and got.returncode == 0 and not tally(events),
           "the driver allows it to root alone: one line that names the setting", got.stderr)
    result("subscribed: 0\n" in got.stdout, "and CUPTI is left to other tools", got.stdout)
    got, events, _ = record("each", XSPROF_CUPTI="/nowhere/libcupti.so")
    result("XSPROF_CUPTI" in got.stderr and got.returncode == 0, "no libcupti there: one line",
           got.stderr)
    got, events, _ = record("each", STAND_IN_VERSION="1107")
    result("11.8" in got.stderr and got.returncode == 0 and not tally(events),
           "a CUPTI that is too old: one line", got.stderr)
    got, events, _ = record("no-time")
    n = sum(tally(events).values())
    equal([n + missed(events)["not recorded: activities without a time from CUPTI"],
           n < sum(EACH.values())], [sum(EACH.values()), True],
          "activities without times are counted, and shown with none")
    got, events, _ = record("strange")
    equal([tally(events), missed(events)["not recorded: CUPTI records of unknown kinds"]],
          [EACH, 3], "records of an unknown kind are stepped over and counted")
    got, events, _ = record("fork")
    equal([got.returncode, tally(events)["kernel", AXPY]], [0, 1],
          "the child of a fork has no CUPTI, and ends")
    got, events, _ = record("fork-lock")
    equal(["child: 0\n" in got.stdout, [n for _, n in tally(events) if n.startswith("a kernel")]],
          [True, ["a kernel whose name is as long as no other thing that is allocated"]],
          "the child of a fork does not wait for a lock that a thread of its parent had")
    got, events, _ = record("_exit")
    equal(tally(events), EACH, "a program that ends by _exit() has what was before")


def check_waits():
    _, events, _ = record("waits")
    waits = [(e["context"], e["device"]) for e in events
             if e["type"] == "gpu" and e["kind"] == "sync"]
    equal(sorted(waits), [(5, 2), (5, 2), (70000, 2)],
          "waits are of the device of their context, also if that is told of later")
    equal(missed(events), {"not recorded: waits in contexts that CUPTI did not report": 1},
          "a wait of which the device is not known is counted")


def check_contexts(n=5000):
    _, events, _ = record("contexts", str(n))
    waits = collections.Counter((e["context"], e["device"]) for e in events
                                if e["type"] == "gpu" and e["kind"] == "sync")
    equal(waits, {(10 + i, 2): 2 + (i == 0) for i in range(n)},
          f"waits in {n} contexts have their devices, however many wait in vain")
    equal(missed(events),
          {"not recorded: waits in contexts that CUPTI did not report": 2 * n},
          "those in a context that is not known are counted")


def check_busy():
    got, events, _ = record("busy", "400")
    n = tally(events)["kernel", AXPY]
    result(256 <= n <= 400, "of a device that is never idle all is there but the last buffer: "
           "at most 128 launches", n)
    lines = [run([XSPROF, "report", "--gpu", *more, gpulib.CAPTURE]).stdout.count(
                "ended without its exit handlers") for more in ([], ["--json"])]
    record("each")
    lines.append(run([XSPROF, "report", "--gpu", gpulib.CAPTURE]).stdout.count("exit handlers"))
    equal(lines, [1, 0, 0], "and report --gpu says that the last may be missing")


def check_recorder():
    got, events, _ = record("fast", options=("--gpu", "--flight=64k"))
    last = int(re.search("last: ([0-9]+)", got.stdout).group(1))
    result(last in {e["value"] for e in events if e["type"] == "gpu" and e["kind"] == "kernel"},
           "--flight keeps the latest activities", (last, len(events)))
    # A small ring fills soon, and then the collector notices that the recorder is gone.
    got = run([XSPROF, "record", "-q", "--gpu", "-b", "64k", "-o", os.path.join(DIR.name, "gone"),
               "--", PROGRAM, "orphan"])
    for _ in range(600):
        if subprocess.run(["pgrep", "-x", "-f", f"{PROGRAM} orphan"],
                          stdout=subprocess.DEVNULL, check=False).returncode:
            break
        time.sleep(0.1)
    result(got.returncode == -9 and "orphan: 0" in got.stdout,
           "a recorder that was killed: the program gets CUPTI back", got)


def check_pause():
    got, events, _ = record("pause")
    result("paused: 0" in got.stdout and "resumed: 1" in got.stdout,
           "paused, CUPTI collects nothing; resumed, it does", got.stdout)
    off, = [e for e in events if e["type"] == "gpu" and e["kind"] == "unrecorded"]
    equal([missed(events), sum(tally(events).values()) - 1], [{}, 2 * sum(EACH.values()) - 1],
          "what began before a pause is recorded, whenever CUPTI reports it")
    began, = [e["ns"] for e in events if e["type"] == "control" and e["op"] == "pause"]
    ended, = [e["ns"] for e in events if e["type"] == "control" and e["op"] == "resume"]
    report = run([XSPROF, "report", "--gpu", "--json", gpulib.CAPTURE]).stdout
    device, = json.loads(report)["devices"]
    more = device["unrecorded_ns"] - (off["end_ns"] - off["begin_ns"])
    result(off["begin_ns"] <= began < ended < off["end_ns"] and abs(more) < 10 and
           off["name"] == "GPU not recorded: recording was off",
           "what the device did from its begin until CUPTI collects again is unknown",
           (more, began, ended, off, device))
    got, _, _ = record("pause-late")
    result("paused: 0, kept: 0\n" in got.stdout,
           "a launch while CUPTI is given back: no buffer stays with it", got.stdout)


def check_duration():
    got, events, _ = record("go-on", options=("--gpu", "-d", "1"))
    ranges = [e["ns"] for e in events if e["type"] == "begin" and e["name"] == "range"]
    calls = [e["begin_ns"] for e in events if e["type"] == "gpu" and e["kind"] == "runtime"]
    asked = [ns for ns in ranges if ns < events[0]["ns"] + 10 ** 9]
    # Each range has a call, soon after it began. CUPTI's times are whole ns, which are of no tick:
    # one of the same moment may be a little earlier.
    result(len(asked) >= 10 and all(any(ns - 3 <= c < after - 1000 for c in calls)
                                    for ns, after in zip(asked, ranges[1:])),
           "record -d: what the device did is there of all of that time",
           (asked[-2:], calls[-2:]))


def check_chain():
    def names(env, *options):
        text = run([XSPROF, "record", "-q", *options, "-o", os.path.join(DIR.name, "c"), "--",
                    "sh", "-c", 'echo "${CUDA_INJECTION64_PATH:-none} ${XSPROF_CUDA_TOOL:-none}"'],
                   **env).stdout
        return " ".join(os.path.basename(word) for word in text.split())

    equal(names({}), "none none", "without --gpu a program is left alone")
    equal(names({}, "--gpu"), "libxsprof-cupti.so none", "--gpu names the collector")
    equal(names({"CUDA_INJECTION64_PATH": "/a/tool.so"}, "--gpu"), "libxsprof-cupti.so tool.so",
          "a tool that was named is kept for after it")
    got, events, _ = record("each", CUDA_INJECTION64_PATH="/nowhere/tool.so")
    result("/nowhere/tool.so" in got.stderr and tally(events) == EACH,
           "a tool that cannot be loaded is named, and the GPU is recorded", got.stderr)
    got = run([XSPROF, "record", "--gpu", "-a"])
    result(got.returncode == 2 and "--gpu" in got.stderr,
           "--gpu of processes that run already is refused", got.stderr)


def check_raw():
    """Replays buffers of an H100 for tests/gpu/work.cu small, written by raw.c with CUDA 13.0."""
    raw = os.path.join(DIR.name, "raw")
    with gzip.open(os.path.join(os.path.dirname(__file__), "h100-13.0.raw.gz")) as f:
        open(raw, "wb").write(f.read())
    got, events, path = record("raw", raw)
    names = collections.Counter(e["name"].split("(")[0] for e in events
                                if e["type"] == "gpu" and e["kind"] == "kernel")
    equal(names, {"void ns::scale<float>": 13, "void ns::scale<double>": 20, "empty": 20},
          "kernels of a real GPU's buffers")
    moved = collections.Counter(e["name"] for e in events if e["type"] == "gpu" and
                                e["kind"] in ("memcpy", "memset"))
    equal(moved, {"Memcpy HtoD (Pinned -> Device)": 2, "Memcpy DtoH (Device -> Pinned)": 2,
                  "Memcpy HtoD (Pageable -> Device)": 2, "Memset (Device)": 2},
          "its copies and sets")
    gpu = [e for e in events if e["type"] == "gpu"]
    calls = {e["value"]: e for e in gpu if e["kind"] in ("runtime", "driver")}
    work = [e for e in gpu if e["kind"] in ("kernel", "memcpy", "memset")]
    result(all(e["value"] in calls and e["begin_ns"] >= calls[e["value"]]["begin_ns"] and
               e["end_ns"] > e["begin_ns"] for e in work),
           "each began after the call that started it")
    equal(len({(e["graph"], e["graph_node"]) for e in work if e["graph"]}), 10,
          "a graph of ten nodes")
    equal(missed(events), {}, "nothing is counted as missing")


def check_window():
    _, events, path = record("each")
    gpu = [e for e in events if e["type"] == "gpu" and e["kind"] != "overhead"]
    first = min(e["begin_ns"] for e in gpu)
    last = max(e["end_ns"] for e in gpu)
    told = min(e["ns"] for e in gpu)
    result(told > last, "activities are told of later than they were", (told, last))
    window = ["--from", f"@{first / 1e9:.9f}", "--to", f"@{(last + 100) / 1e9:.9f}"]
    for form in ("chrome", "kineto", "ndjson"):
        text = run([XSPROF, "dump", "-f", form, *window, path]).stdout
        result(text.count('"plain_kernel"') == 1 and text.count("Memset (Device)") == 1,
               f"dump -f {form} --to: what was in the window, whenever it was told of", text[:2000])
    text = run([XSPROF, "report", "--json", *window, path]).stdout
    result("plain_kernel" in text and "Memset (Device)" in text, "report --to: the same", text)
    early = ["--to", f"@{(first - 1) / 1e9:.9f}"]
    for verb in (["dump", "-f", "ndjson"], ["report", "--json"]):
        text = run([XSPROF, *verb, *early, path]).stdout
        result("plain_kernel" not in text, f"{verb[0]} --to: nothing of what was later", text)


def check_slices():
    def devices(*slices):
        each = "; ".join(f"STAND_IN_SLICE={n} {PROGRAM} each" for n in slices)
        run([XSPROF, "record", "-q", "--gpu", "-o", gpulib.CAPTURE, "--", "sh", "-c", each])
        report = json.loads(run([XSPROF, "report", "--gpu", "--json", gpulib.CAPTURE]).stdout)
        info = run([XSPROF, "info", gpulib.CAPTURE]).stdout.splitlines()
        return report["devices"], [line.split()[1:] for line in info if line.startswith("slice")]

    def kineto():
        trace = json.loads(run([XSPROF, "dump", "-f", "kineto", gpulib.CAPTURE]).stdout)
        events = trace["traceEvents"]
        kernels = [e for e in events if e.get("cat") == "kernel"]
        labels = {e["pid"]: e["args"]["labels"].split() for e in events
                  if e["name"] == "process_labels" and "GPU" in e["args"]["labels"]}
        return (collections.Counter((e["pid"], e["args"]["device"]) for e in kernels),
                {p: w[:6] for p, w in labels.items()},
                {d["id"]: (d["uuid"][:8], d.get("id in process"))
                 for d in trace["deviceProperties"]})

    found, lines = devices(0, 0)
    equal([len(found), lines], [1, []], "two processes on one GPU: one device")
    equal(kineto()[0], {(1, 1): 8}, "in Kineto's format too")
    found, lines = devices(1, 2)
    equal([len(found), [d["kernels"] for d in found], lines],
          [2, [4, 4], [["device", "1", "(process", lines[i][3], "is", "GPU", "instance",
                        str(7 + i) + ",", "compute", "instance", "0", "of",
                        "GPU-aa000000-0000-0000-0000-000000000000:",
                        f"MIG-0{1 + i}000000-0000-0000-0000-000000000000"] for i in range(2)]],
          "on two slices of it: two devices, which info names")
    text = run([XSPROF, "report", "--gpu", gpulib.CAPTURE]).stdout
    equal([f"# GPU 1, MIG-0{n}000000-" in text for n in (1, 2)], [True] * 2,
          "and report --gpu")
    equal(kineto(), ({(1, 1): 4, (2, 2): 4},
                     {1: ["GPU", "1"], 2: "GPU 2, device 1 of process".split()},
                     {1: ("MIG-0100", None), 2: ("MIG-0200", 1)}),
          "Kineto's format has a number for each, and says what the process calls it")
    found, lines = devices(1, 1)
    equal([len(found), len(lines)], [1, 2], "on the same slice: one device")
    equal(kineto(), ({(1, 1): 8}, {1: ["GPU", "1"]}, {1: ("MIG-0100", None)}), "and one number")


def check_report():
    _, events, path = record("many", "500")
    report = json.loads(run([XSPROF, "report", "--gpu", "--json", path]).stdout)
    rows = {(r["kind"], r["name"]): r for r in report["rows"]}
    kernels = [e for e in events if e["type"] == "gpu" and e["kind"] == "kernel"]
    calls = {e["value"]: e for e in events if e["type"] == "gpu" and e["kind"] == "runtime"}
    times = sorted((e["begin_ns"], e["end_ns"]) for e in kernels)
    busy, end = 0, 0
    for first, last in times:
        busy += max(0, last - max(first, end))
        end = max(end, last)
    delays = [e["begin_ns"] - calls[e["value"]]["begin_ns"] for e in kernels]
    row = rows["kernel", AXPY]
    equal([row["count"], row["total_ns"], row["min_ns"], row["max_ns"]],
          [2000, sum(b - a for a, b in times), min(b - a for a, b in times),
           max(b - a for a, b in times)], "report --gpu: a kernel's times are those of the trace")
    equal(row["delay_ns"], sum(delays) // len(delays), "the delay since its call")
    device = report["devices"][0]
    equal([device["device"], device["busy_ns"], device["kernels_ns"]], [1, busy, busy],
          "how long the device was busy, each moment once")
    equal([report["streams"][0]["stream"], report["streams"][0]["count"]], [7, 2000], "its streams")
    equal([rows["runtime", "cudaLaunchKernel"]["count"], report["before_their_call"]], [2000, 0],
          "the calls; no activity before its own")
    _, events, path = record("each")
    text = run([XSPROF, "report", "--gpu", path]).stdout
    result("GPU 1, Stand-in 1: busy for" in text and "Memcpy PtoP" in text and
           "plain_kernel" in text, "the table names the device, copies and kernels", text)
    rows = {(r["kind"], r["name"]): r
            for r in json.loads(run([XSPROF, "report", "--gpu", "--json", path]).stdout)["rows"]}
    # 256 threads of 40 registers: 6 blocks of 8 warps on a multiprocessor of 64; 120 blocks on 132.
    equal([rows["kernel", "plain_kernel"]["occupancy"],
           rows["memcpy", "Memcpy HtoD (Pageable -> Device)"]["bytes"]],
          [round(120 / 132 * 8 * 100 / 64, 1), 1 << 20], "occupancy and bytes")
    got = run([XSPROF, "record", "-q", "-o", path, "--", PROGRAM, "each"])
    got = run([XSPROF, "report", "--gpu", path])
    result(got.returncode == 1 and "not recorded with --gpu" in got.stderr,
           "nothing of a GPU: an error that says how to record it", got.stderr)


for check in (check_each, check_kineto, check_many, check_raw, check_bad, check_waits,
              check_contexts, check_busy, check_recorder, check_pause, check_duration, check_chain,
              check_window, check_report,
              check_slices):
    check()
finish()
