#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
#
# Optional details of CUDA, and what a budget leaves out: a stand-in for libcupti replays them to
# the CUPTI collector; no GPU is used.

import json
import os
import shutil

import gpulib
from gpulib import CAPTURE, finish
from replaylib import args_of, equal, kinds, record, run


def check_chain(version):
    got, gpu, _ = record("--gpu", what=["details"], STAND_IN_VERSION=str(version))
    first, second = map(int, got.stdout.split("recordings: ")[1].split()[:2])
    waits = [(e["stream"], args_of(e)) for e in gpu if e["kind"] == "sync"]
    ids, streams, calls = ("wait_on_cuda_event_id", "wait_on_stream",
                           "wait_on_cuda_event_record_corr_id")
    again = [(e["value"], args_of(e).get(calls)) for e in gpu
             if e["kind"] == "sync" and e["stream"] == 21]
    equal([len(again), [call - to for call, to in again]], [50, [1] * 50],
          "of an event that is recorded again and again, each wait has its own")
    waits = [w for w in waits if w[0] != 21]
    equal(sorted(waits, key=lambda w: (w[0], w[1][ids])),
          [(8, {ids: 11, streams: 7, calls: first}), (8, {ids: 12}),
           (9, {ids: 11, streams: 13, calls: second})],
          f"CUDA {version // 100}.{version % 100}: a wait names the stream and the call of the "
          "recording that it is for, where CUPTI told of it")
    return gpu


def check_wrap():
    """Correlation ids wrap, in the middle of a flush and after it."""
    for version in (1206, 1305):
        for first in (0xfffffff0, 0xffffffe0):
            _, gpu, _ = record("--gpu", what=["recordings", "16"], STAND_IN_VERSION=str(version),
                               STAND_IN_CALLS=str(first))
            own = [args_of(e).get("wait_on_cuda_event_record_corr_id") for e in gpu
                   if e["kind"] == "sync"]
            equal(sorted(own, key=lambda call: ((call or 0) - first) % (1 << 32)),
                  [(first + 1 + 2 * i) % (1 << 32) for i in range(32)],
                  f"CUDA {version // 100}.{version % 100}: after {first:#x} calls each wait has "
                  "its own recording")


def check_collectives(gpu):
    report = json.loads(run("report", "--gpu", "--json", CAPTURE).stdout)
    times = {name: [(e["begin_ns"], e["end_ns"]) for e in gpu
                    if e["kind"] == "kernel" and e["name"].startswith(name)]
             for name in ("nccl", "axpy")}
    (begin, end), = times["nccl"]
    beside = len({ns for a, b in times["axpy"] for ns in range(max(begin, a), min(end, b))})
    device = report["devices"][0]
    equal([device["collectives_ns"], device["collectives_beside_kernels_ns"]],
          [end - begin, beside], "report --gpu: collectives, and how long beside other kernels")
    equal("; collectives 1." in run("report", "--gpu", CAPTURE).stdout, True, "and in its table")


def check_memory():
    _, gpu, _ = record("--gpu=memory", what=["details"])
    # The total after each, in the order of times; unknown for one that is reported too late.
    equal([(e["name"], e["bytes"], args_of(e).get("in use (bytes)")) for e in gpu
           if e["kind"] in ("alloc", "free")],
          [("Alloc (Device)", 65536, 65536), ("Alloc (Device)", 4096, 69632),
           ("Free (Device)", 4096, 65536), ("Alloc (Device)", 512, None),
           ("Free (Device)", 65536, 512)], "--gpu=memory: what is allocated and freed, and in use")
    report = json.loads(run("report", "--gpu", "--json", CAPTURE).stdout)
    equal([report["devices"][0]["memory_bytes"], "memory at most 69.6 kB" in
           run("report", "--gpu", CAPTURE).stdout],
          [69632, True], "report --gpu: the most that was in use")
    trace = json.loads(run("dump", "-f", "chrome", CAPTURE).stdout)["traceEvents"]
    equal([e["args"]["value"] for e in trace if e.get("name") == "memory in use on GPU 1"],
          [65536, 69632, 65536, 512], "a counter in Chrome's format")
    trace = json.loads(run("dump", "-f", "kineto", CAPTURE).stdout)["traceEvents"]
    equal([(e["name"], e["args"]["bytes"], e["args"]["device"], "address" in e["args"])
           for e in trace if e.get("cat") == "gpu_memory"],
          [("Alloc (Device)", 65536, 1, True), ("Alloc (Device)", 4096, 1, True),
           ("Free (Device)", 4096, 1, True), ("Alloc (Device)", 512, 1, True),
           ("Free (Device)", 65536, 1, True)], "instants in Kineto's")
    equal([e["args"]["value"] for e in trace if e.get("name") == "memory in use on GPU 1"],
          [65536, 69632, 65536, 512], "and a counter")
    names = run("dump", "-f", "perfetto", CAPTURE, encoding="latin-1").stdout
    equal([names.count("memory in use on GPU 1"), names.count("GPU 1 memory")], [1, 1],
          "and in Perfetto's")


IN_USE = "in use (bytes)"
NOT_KNOWN = "not recorded: amounts of memory in use after an allocation or a free"


def check_in_use():
    _, gpu, events = record("--gpu=memory", what=["memory"])
    got = {(e["kind"], e["bytes"]): args_of(e).get(IN_USE) for e in gpu
           if e["kind"] in ("alloc", "free")}
    for name, want in (
            ("the free of what was allocated before changes nothing",
             {("alloc", 65536): 65536, ("free", 4096): 65536}),
            ("an allocation that is reported after its free is not in use",
             {("free", 1 << 20): 65536, ("alloc", 1 << 20): None}),
            ("of one time, the order is that of calls",
             {("alloc", 256): 65792, ("free", 256): 65536, ("alloc", 512): 66048}),
            ("an address that is allocated again was freed", {("alloc", 1024): 1536}),
            ("it begins anew after a pause", {("alloc", 2048): 2048, ("free", 513): 2048}),
            ("and after records were dropped", {("alloc", 100): None, ("alloc", 300): 300})):
        equal({key: got.get(key, "none") for key in want}, want, f"memory in use: {name}")
    equal(gpulib.missed(events), {NOT_KNOWN: 2, "not recorded: CUPTI dropped records": 3},
          "memory in use: what is not known is counted")
    for n in (30000, 100000):
        _, gpu, events = record("--gpu=memory", *gpulib.ROOM, what=["memory-many", str(n)])
        got = sorted((e["begin_ns"], e["value"], args_of(e).get(IN_USE)) for e in gpu
                     if e["kind"] == "alloc")
        wrong = [e for e in got if e[2] not in (None, 512 * e[1])]
        unknown = [e for e in got if e[2] is None]
        equal([len(got), wrong[:3], gpulib.missed(events).get(NOT_KNOWN, 0), len(unknown) > 0],
              [n, [], len(unknown), n > 65536],
              f"memory in use: of {n} allocations it is right, or not known")


def check_pools():
    for version in (1108, 1206, 1305):
        _, gpu, events = record("--gpu=pools,jit", what=["details"], STAND_IN_VERSION=str(version))
        used, kept = "used of the pool (bytes)", "kept at least (bytes)"
        equal([(e["kind"], e["name"], e["bytes"], args_of(e).get(used), args_of(e).get(kept))
               for e in gpu if e["kind"] in ("alloc", "free")],
              [("alloc", "Pool Created", 1 << 20, 8192, None),
               ("free", "Pool Destroyed", 1 << 20, 8192, None),
               ("free", "Pool Trimmed", 1 << 20, 8192, 4096),
               ("alloc", "Pool Created (Imported)", 0, None, None)],
              f"CUDA {version // 100}.{version % 100}: --gpu=pools: pools of memory")
        equal([(e["name"], args_of(e).get("cache size (bytes)")) for e in gpu
               if e["kind"] == "overhead" and e["name"].startswith("JIT")],
              [("JIT Cache Load (PTX to cubin)", 512), ("JIT Cache Store (PTX to cubin)", 512),
               ("JIT Compile (PTX to cubin)", None), ("JIT Compile (NVVM IR to PTX)", None)],
              "--gpu=jit: what the driver compiles, and its cache")
        equal(gpulib.missed(events), {"not recorded: CUPTI records of unknown kinds": 2},
              "operations that are not known are counted")
    text = run("report", "--gpu", CAPTURE).stdout
    equal(["Pool Trimmed" in text, "JIT Compile (PTX to cubin)" in text], [True, True],
          "report --gpu has both")


def check_links():
    uuid = "GPU-{}000000-0000-0000-0000-000000000000"
    link = {"from": uuid.format("aa"), "to": uuid.format("bb"), "links": 18,
            "bandwidth (MB/s)": 478000, "version": 4, "peer access": True, "peer atomics": True,
            "system memory access": False, "system memory atomics": False}
    bus = {"domain": 2, "upstream bus": 7, "generation": 5, "GT/s": 32, "lanes": 16}
    for version in (1108, 1301, 1302, 1305):
        _, _, events = record("--gpu=links", what=["links"], STAND_IN_VERSION=str(version))
        shown = []
        for e in events:
            if e["type"] == "instant" and e["name"].startswith(("NVLink", "PCI")):
                shown.append((e["name"], args_of(e)))
            elif e["type"] == "args" and shown:
                shown[-1][1].update(args_of(e))
        equal(shown, [("NVLink", link), ("NVLink", {**link, "to": "NPU 3, domain 4"}),
                      ("PCI Express (device)", {"device": 1, "uuid": uuid.format("aa"), **bus}),
                      ("PCI Express (bridge)", {"bridge": 1, "secondary bus": 9, **bus})],
              f"CUDA {version // 100}.{version % 100}: --gpu=links: how devices are connected")
        equal(gpulib.missed(events), {"not recorded: CUPTI records of unknown kinds": 1},
              "a type of devices that is not known is counted")
    _, _, events = record("--gpu", what=["links"])
    equal([e["name"] for e in events if e.get("name") in ("NVLink", "PCI Express (device)")], [],
          "which is not recorded without a request")


def check_peer():
    _, gpu, events = record("--gpu", what=["peer"])
    copy = next(e for e in gpu if e["kind"] == "memcpy")
    equal([args_of(copy), [e.get("device") for e in gpu if e["kind"] == "sync"],
           gpulib.missed(events)],
          [{"fromDevice": 1, "toDevice": 2, "channel": 4}, [1], {}],
          "a copy between devices has its channel, and tells which device its context is on")


def check_details():
    check_peer()
    gpu = check_chain(1108)
    check_chain(1206)
    check_chain(1208)
    plain = check_chain(1305)
    check_collectives(plain)
    equal([kinds(gpu)["graph"], kinds(gpu)["memcpy"], kinds(plain)["graph"]], [0, 0, 0],
          "without a request there are no whole graphs and no unified memory")
    equal([k for e in gpu for k in args_of(e) if "before start" in k], [],
          "nor when kernels were queued")
    equal([e["name"] for e in gpu if e["name"].startswith(("JIT", "Pool"))], [],
          "nor pools of memory, nor what the driver compiles")
    check_memory()
    _, gpu, _ = record("--gpu=graphs,managed,queued", what=["details"])
    graph = [e for e in gpu if e["kind"] == "graph"]
    call = {e["value"]: e["name"] for e in gpu if e["kind"] == "runtime"}
    equal([(e["name"], e["stream"], e["graph"], call[e["value"]]) for e in graph],
          [("CUDA graph 5", 9, 5, "cudaGraphLaunch")], "a graph as a whole, and its call")
    moved = [(e["name"], e["bytes"], e["device"], args_of(e)["cause"]) for e in gpu
             if e["kind"] == "memcpy"]
    equal(moved, [("Unified Memory HtoD", 65536, 1, "coherence"),
                  ("Unified Memory DtoH", 4096, 1, "coherence")], "what unified memory moved")
    trace = json.loads(run("dump", "-f", "kineto", CAPTURE).stdout)["traceEvents"]
    kernel = next(e["args"] for e in trace if e.get("name", "").startswith("axpy"))
    equal([kernel["queued before start (ns)"], kernel["submitted before start (ns)"],
           kernel["grid"]], [500, 200, [4, 5, 6]], "when a kernel was queued and submitted")
    text = run("report", "--gpu", CAPTURE).stdout
    equal(["CUDA graph 5" in text, "in no stream" in text], [True, True],
          "report --gpu has both")
    equal([(e["cat"], e["args"]["graph id"]) for e in trace if e.get("name") == "CUDA graph 5"],
          [("kernel", 5)], "Kineto's format has the graph as work of its stream")
    got = run("record", "--gpu=graph", "-o", CAPTURE, "--", "true")
    equal([got.returncode, "'graph' is invalid" in got.stderr], [2, True],
          "a word that is none is refused")


def check_budget_on():
    """The recording ends while devices are not recorded, and the program goes on."""
    for seconds in (10, 30, 90):
        _, gpu, events = record("--gpu-budget=0.1%", "-d", str(seconds), what=["budget-on"])
        off = [e["ns"] for e in events
               if e.get("name") == "GPU budget: devices are not recorded from here"]
        last = max(e["ns"] for e in events if e.get("name") == "range")
        # On a slow machine it takes longer.
        if off and last - off[0] > 4 * 10 ** 9:
            break
    pieces = sorted((e["begin_ns"], e["end_ns"]) for e in gpu
                    if e["name"] == "GPU not recorded: over budget")
    gpulib.result(len(pieces) > 1 and pieces[0][0] <= off[0] and
                  all(abs(b[0] - a[1]) < 10 for a, b in zip(pieces, pieces[1:])) and
                  pieces[-1][1] > last - 3 * 10 ** 9,
                  "record -d: the time in which devices are not recorded is there (replay)",
                  (off, pieces[:3], pieces[-1:], last))


def check_budget():
    for text in ("0", "101", "two", "nan", ""):
        got = run("record", "--gpu-budget", text, "-o", CAPTURE, "--", "true")
        equal([got.returncode, "0.1 to 100" in got.stderr], [2, True], f"a budget of '{text}'")
    over = "GPU not recorded: over budget"
    # So little that any machine exceeds it; gpu/budget tests the figures.
    got, gpu, events = record("--gpu-budget=0.1%", what=["budget"])
    equal("step: 1" in got.stdout, True, "CUPTI is given back")
    off = [e for e in gpu if e["kind"] == "unrecorded"]
    names = [e["name"] for e in off]
    at = (names + [over]).index(over)
    equal([set(names[:at]) <= {"GPU not recorded: the cost of a launch is measured"},
           set(names[at:])], [True, {over}],
          "the time in which devices are not recorded is in the trace")
    inside = [e for e in gpu if e["kind"] == "kernel" and
              any(o["begin_ns"] + 1 < e["begin_ns"] < o["end_ns"] - 1 for o in off)]
    equal(inside, [], "and nothing is recorded in them")
    said = [args_of(e) for e in events if e.get("name") ==
            "GPU budget: devices are not recorded from here"]
    equal([e.get("name") for e in events if str(e.get("name")).startswith("GPU budget")],
          ["GPU budget: calls are not recorded from here",
           "GPU budget: devices are not recorded from here"], "calls were left out first")
    report = run("report", "--gpu", CAPTURE).stdout
    steps = json.loads(run("report", "--gpu", "--json", CAPTURE).stdout)["budget_steps"]
    equal([[s["what"] for s in steps], report.count("after the begin, process")],
          [["GPU budget: calls are not recorded from here",
            "GPU budget: devices are not recorded from here"], 2], "report --gpu has the steps")
    equal([len(said), said[0]["cost (% of a CPU)"] > 0.1, said[0]["budget (% of a CPU)"]],
          [1, True, 0.1], "the step is in the trace, with its reason")
    report = json.loads(run("report", "--gpu", "--json", CAPTURE).stdout)
    device = report["devices"][0]
    part = [min(e["end_ns"], device["last_ns"]) - max(e["begin_ns"], device["first_ns"])
            for e in off]
    equal([device["busy_ns"] + device["idle_ns"] + device["unrecorded_ns"],
           0 < device["unrecorded_ns"] <= sum(ns for ns in part if ns > 0)],
          [device["last_ns"] - device["first_ns"], True],
          "report --gpu says how long that was between the first and the last activity")
    text = run("report", "--gpu", CAPTURE).stdout
    equal(["devices were not recorded for" in text, " of recorded time (" in text],
          [True, True], "and does not take it for idle")
    got, gpu, events = record("--gpu-budget=0.1%", what=["budget-graphs"])
    names = [e.get("name") for e in events]
    equal(["step: 1" in got.stdout, "GPU budget: graphs as a whole from here" in names,
           kinds(gpu)["graph"] > 0],
          [True, True, True], "where most kernels are of graphs, graphs as a whole come first")
    got, _, events = record("--gpu-budget=0.1%", "--gpu=managed", what=["budget"])
    equal([[e["name"] for e in events if str(e.get("name")).startswith("GPU budget")],
           "unified memory: 0" in got.stdout],
          [["GPU budget: unified memory is not recorded from here",
            "GPU budget: calls are not recorded from here",
            "GPU budget: devices are not recorded from here"], True],
          "unified memory, which slows the driver down, is left out first")
    check_budget_on()
    # With a locale that writes 0.5 as 0,5.
    places = os.path.join(gpulib.DIR.name, "locales")
    os.mkdir(places)
    german = {"LOCPATH": places, "LC_ALL": "de_DE.UTF-8"}
    made = gpulib.run(["localedef", "-i", "de_DE", "-f", "UTF-8",
                       os.path.join(places, german["LC_ALL"])]) if shutil.which("localedef") \
        else None
    if made and made.returncode == 0:
        got, gpu, _ = record("--gpu-budget=0.5", what=["budget"], **german)
        equal(["no budget" in got.stderr, "step: 1" in got.stdout,
               [e["name"] for e in gpu if e["kind"] == "unrecorded"][-1:]],
              [False, True, [over]],
              "a budget in a program whose locale has another decimal point")
    else:
        gpulib.skipped("a budget in a program whose locale has another decimal point",
                       "there is no localedef with sources of locales")
    got, gpu, events = record("--gpu-budget=100", what=["budget-much"])
    equal(["step: 1" in got.stdout, {e["name"] for e in gpu if e["kind"] == "unrecorded"}],
          [True, {"GPU not recorded: the cost of a launch is measured"}],
          "within a budget all is recorded but the moment of the measurement")
    cost = [e["i64"] for e in events if e.get("name") == "cost of recording a launch (ns)"]
    equal([len(cost), cost[:1] > [0]], [1, True],
          f"what records add to a launch is measured: {cost}, made up as 20000 ns")


check_details()
check_wrap()
check_in_use()
check_pools()
check_links()
check_budget()
finish()
