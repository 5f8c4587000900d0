#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
#
# Comparisons of tests/gpu/run.sh: with what a program says that it did, with torch.profiler, and of
# the clocks of device and host. The exit status is 0 if all are right.

import collections
import json
import subprocess
import sys

WORK = ("kernel", "gpu_memcpy", "gpu_memset")


def dump(xsprof, path):
    text = subprocess.run([xsprof, "dump", "-f", "ndjson", path], stdout=subprocess.PIPE, text=True,
                          check=True).stdout
    return [e for e in map(json.loads, text.splitlines()) if e["type"] == "gpu"]


def counts(xsprof, path, said, processes):
    events = dump(xsprof, path)
    want = collections.Counter()
    for line in open(said, encoding="utf-8"):
        kind, name, n = line.split()
        want[kind, name] += int(n) * int(processes)
    got = collections.Counter()
    for e in events:
        name = e["name"]
        if e["kind"] == "kernel" and "scale<double>" in name:
            got["kernel", "scale_in_graph"] += 1
        elif e["kind"] == "kernel" and "scale<float>" in name:
            got["kernel", "scale"] += 1
        elif e["kind"] == "kernel":
            got["kernel", name.split("(")[0]] += 1
        elif e["kind"] == "memcpy":
            way, memories = name.split()[1], name.split("(")[1].rstrip(")").split(" -> ")
            got["memcpy", f"{way}_{memories[0] if way == 'HtoD' else memories[1]}"] += 1
        elif e["kind"] == "memset":
            got["memset", name.split("(")[1].rstrip(")")] += 1
        elif name == "cudaGraphLaunch":
            got["call", name] += 1
    # The one kernel on managed memory has another's name; there are more waits, at the ends of
    # parts.
    want["kernel", "scale"] += want.pop(("kernel", "scale_managed"))
    want.pop(("sync", "Stream_Sync"))
    waits = want.pop(("sync", "Stream_Wait_Event"))
    if got != want:
        print("got ", dict(got), "\nwant", dict(want))
    calls = {e["value"] for e in events if e["kind"] in ("runtime", "driver")}
    alone = [e for e in events if e["kind"] in ("kernel", "memcpy", "memset") and
             e["value"] not in calls]
    if alone:
        print(len(alone), "activities without their call")
    return got == want and not alone and chain(events) == waits


def chain(events):
    """Returns how many stream waits name the latest earlier recording of their event."""
    calls = sorted((e for e in events if e["kind"] == "runtime" and e["name"] == "cudaEventRecord"),
                   key=lambda e: (e["pid"], e["value"]))
    good = 0
    for e in events:
        if e["name"] != "Stream Wait Event":
            continue
        args = {a["key"]: a["value"] for a in e.get("args", [])}
        before = [c["value"] for c in calls if c["pid"] == e["pid"] and c["value"] < e["value"]]
        good += bool(before and args.get("wait_on_cuda_event_record_corr_id") == before[-1] and
                     args.get("wait_on_stream") not in (None, e["stream"]))
    print(good, "waits with their recording")
    return good


def details(xsprof, graphs, managed):
    """Checks whole graphs, without their nodes; and unified memory: 100 times 4 MiB moved."""
    events = dump(xsprof, graphs)
    kinds = collections.Counter((e["kind"], "scale<double>" in e["name"]) for e in events)
    used = [a["value"] for e in events for a in e.get("args", []) if a["key"] == "in use (bytes)"]
    print(f"memory: {kinds['alloc', False]} allocated, {kinds['free', False]} freed; at most "
          f"{max(used, default=0)} bytes in use, {used[-1:]} at the end")
    moves = [e for e in dump(xsprof, managed) if e["name"].startswith("Unified Memory")]
    moved = sum(e["bytes"] for e in moves if e["name"] == "Unified Memory HtoD")
    print(f"graphs: {kinds['graph', False]} as a whole, {kinds['kernel', True]} of their nodes; "
          f"unified memory: {len(moves)} moves, {moved} bytes to the device")
    return kinds["graph", False] == 20 and not kinds["kernel", True] and \
        moved >= 90 * 4 << 20 and max(used, default=0) >= 8 << 20


def pools(xsprof, path, said):
    """Checks allocations and frees in the order of a stream, by what the program said."""
    with open(said, encoding="utf-8") as f:
        want = {kind: int(n) for kind, n in map(str.split, f)}
    # Those of pools themselves, as created, are in the trace too.
    got = collections.Counter(e["kind"] for e in dump(xsprof, path) if e["kind"] not in
                              ("alloc", "free") or not e["name"].startswith("Pool "))
    print("pools:", {kind: got[kind] for kind in want}, "of", want)
    return all(got[kind] == n for kind, n in want.items())


def whole(report, kernels):
    """Checks that each kernel is there, and that CUPTI lost nothing."""
    report = json.load(open(report, encoding="utf-8"))
    n = sum(row["count"] for row in report["rows"] if row["kind"] == "kernel")
    print(n, "kernels of", kernels, report["not_recorded"])
    return n == int(kernels) and not report["not_recorded"]


def flat(path):
    """Is the memory at the end that of the first fifth? Prints its growth after that, in MiB."""
    with open(path, encoding="utf-8") as f:
        rows = [line.split() for line in f if line.startswith("launches ")]
    for what, at in (("host", 3), ("device", 6)):
        grown = (int(rows[-1][at]) - int(rows[1][at])) / 1024
        print(f"{what} memory after the first fifth of {rows[-1][1]} launches: +{grown:.1f} MiB")
        if grown > 64:
            return False
    return True


def back(path, before):
    """Prints the cost of a launch after a recording has ended, as a ratio to that before. It is a
    figure: CUPTI, not we, determines it, see Documentation/gpu.rst."""
    costs = []
    with open(path, encoding="utf-8") as f:
        for line in f:
            words = line.split()
            if words[:1] == ["second"] and words[2] == "launch":
                costs.append(float(words[4]))
    bare, after = costs[:int(before)], costs[-2:]
    print(f"launch after a recording / before: {min(after) / min(bare):.3f}")
    return len(costs) > int(before) + 3


def budget(xsprof, path):
    events = dump(xsprof, path)
    off = [e for e in events if e["kind"] == "unrecorded"]
    print(f"budget of 2 %: devices were not recorded {len(off)} times, for "
          f"{sum(e['end_ns'] - e['begin_ns'] for e in off) / 1e9:.1f} s")
    return bool(off)


def ranges(xsprof, path):
    """Checks that each kernel outside graphs was measured once, alone, in percentages."""
    events = dump(xsprof, path)
    kernels = [e for e in events if e["kind"] == "kernel"]
    values = collections.defaultdict(dict)
    for e in events:
        if e["kind"] == "metrics" and e["value"]:
            values[e["pid"], e["value"]].update({a["key"]: a["value"] for a in e["args"]})
    alone = [e for e in kernels if not e["graph"]]
    measured = [e for e in alone if (e["pid"], e["value"]) in values]
    calls = collections.Counter((e["pid"], e["value"]) for e in alone)
    twice = sum(n > 1 for n in calls.values())
    strange = [v for v in values.values() for k, n in v.items() if "%" in k and not 0 <= n <= 101]
    ends, overlaps = {}, 0
    for e in sorted(measured, key=lambda e: e["begin_ns"]):
        overlaps += e["begin_ns"] < ends.get((e["pid"], e["context"]), 0)
        ends[e["pid"], e["context"]] = e["end_ns"]
    passes = {v["measured in passes"] for v in values.values() if "measured in passes" in v}
    print(f"metrics of kernels: {len(measured)} of {len(alone)} measured in {sorted(passes)} "
          f"passes, {len(kernels) - len(alone)} are of graphs; {twice} calls have several kernels, "
          f"{overlaps} overlap, {len(strange)} have strange values {strange[:2]}")
    means = collections.defaultdict(list)
    for e in measured:
        for k, n in values[e["pid"], e["value"]].items():
            means[e["name"].split("(")[0], k].append(n)
    for (name, k), v in list(means.items())[:40]:
        print(f"  {name}: {k} {sum(v) / len(v):.2f} ({len(v)})")
    return bool(measured) and len(measured) == len(alone) and not (twice or overlaps or strange)


def spread(name, values):
    values.sort()
    print(f"{name}: least {values[0] / 1e3:.1f} us, median {values[len(values) // 2] / 1e3:.1f} us")


def clocks(xsprof, path):
    events = dump(xsprof, path)
    calls = {e["value"]: e for e in events if e["kind"] == "runtime"}
    kernels = sorted((e for e in events if e["kind"] == "kernel"), key=lambda e: e["begin_ns"])
    waits = sorted((e for e in events if e["name"] == "cudaDeviceSynchronize"),
                   key=lambda e: e["end_ns"])
    begins = [k["begin_ns"] - calls[k["value"]]["begin_ns"] for k in kernels]
    # The program waits for each kernel before it launches the next.
    ends = [w["end_ns"] - k["end_ns"] for k, w in zip(kernels, waits)]
    if not kernels or len(kernels) != len(waits):
        print("got", len(kernels), "kernels and", len(waits), "waits", file=sys.stderr)
        return False
    good = min(begins) >= 0 and min(ends) >= 0
    n = len(kernels) // 3
    for i, part in enumerate(("first", "second", "last")):
        spread(f"{part} third of {len(kernels)} kernels, from call to kernel",
               begins[i * n:(i + 1) * n])
        spread(f"{part} third, from kernel's end to the wait's", ends[i * n:(i + 1) * n])
    return good


def killed(path):
    report = json.load(open(path, encoding="utf-8"))
    device = report["devices"][0]
    ms = (device["last_ns"] - device["first_ns"]) / 1e6
    print(f"of a program killed after 3 s: activities of {ms:.0f} ms")
    return ms > 1000


def by_op(events):
    ops = {e["args"]["External id"]: e["name"] for e in events if e.get("cat") == "cpu_op"}
    return collections.Counter(
        (ops.get(e["args"].get("External id")), e["name"], e["args"]["stream"])
        for e in events if e.get("cat") in WORK)


def arguments(events):
    keys = ("grid", "block", "registers per thread", "shared memory", "bytes", "device", "context")
    return collections.Counter((e["name"], key, str(e["args"][key])) for e in events
                               if e.get("cat") in WORK for key in keys if key in e["args"])


def differ(what, ours, theirs):
    print(f"{what}: {sum(ours.values())} of ours, {sum(theirs.values())} of torch.profiler's")
    for key in list((ours - theirs) + (theirs - ours))[:20]:
        print("  ", ours[key], theirs[key], key)
    return ours != theirs


def occupancy(report, ours, theirs):
    """Theirs is rounded, and 0 for kernels with more than the default shared memory per block."""
    key = "est. achieved occupancy %"
    of = [{(e["name"], str(e["args"]["grid"]), str(e["args"]["block"])): e["args"].get(key)
           for e in events if e.get("cat") == "kernel"} for events in (ours, theirs)]
    bad = [(launch, of[0].get(launch), one) for launch, one in of[1].items()
           if one and not abs((of[0].get(launch) or -1) - one) <= 0.6]
    # A report's row has the average of all launches of a kernel, weighted by time.
    rows = {r["name"]: r["occupancy"] for r in report["rows"] if r["kind"] == "kernel"}
    for name, row in rows.items():
        values = [one for (kernel, _, _), one in of[0].items() if kernel == name]
        if not min(values) - 0.6 <= row <= max(values) + 0.6:
            bad.append((name, row, values))
    print(f"occupancy: {len(of[1])} launches, {len(bad)} apart by more than their rounding")
    for one in bad[:20]:
        print("  ", one)
    return bad


def torch(ours, theirs, report):
    ours = json.load(open(ours, encoding="utf-8"))["traceEvents"]
    theirs = json.load(open(theirs, encoding="utf-8"))["traceEvents"]
    report = json.load(open(report, encoding="utf-8"))
    bad = [differ("op, kernel and stream", by_op(ours), by_op(theirs)),
           differ("arguments", arguments(ours), arguments(theirs)),
           bool(occupancy(report, ours, theirs))]
    annotations = [collections.Counter(e["name"] for e in events
                                       if e.get("cat") == "gpu_user_annotation")
                   for events in (ours, theirs)]
    bad.append(differ("annotations on streams", *annotations))
    return not any(bad)


def same(one, other):
    rows = [collections.Counter({(r["kind"], r["name"]): r["count"]
                                 for r in json.load(open(path, encoding="utf-8"))["rows"]
                                 if r["kind"] in ("kernel", "memcpy", "memset")})
            for path in (one, other)]
    print("got ", rows[0] - rows[1], "\nwant", rows[1] - rows[0])
    return rows[0] == rows[1]


sys.exit(not globals()[sys.argv[1]](*sys.argv[2:]))
