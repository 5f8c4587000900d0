#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A PyTorch program that profiles itself, and checks of xsprof report for the same run.

usage: averages.py OUT.json
       averages.py compare OUT.json XSPROF CAPTURE

The first writes to OUT.json a list with the sums by name of each window, as torch.profiler's
key_averages() has them, and to OUT.json.memory the allocations of the last window: [address, bytes,
total], in the order of their times. A range "window" is around each. The second compares xsprof
report's rows with these: counts, bytes and FLOPs must be equal in all windows. Times differ by the
time between the two observers' clock reads at each op. The difference is taken per call, averaged
over a row (for its own time: over the calls that it makes), in the window where it is least: a
thread may lose its CPU between the two clock reads in some windows, but a wrong time is wrong in
all. It must be at most 5 microseconds in half of the rows, and 50 in each.

Counts, times and bytes are taken from the profiler's own tree of events. key_averages() has the
same from 2.13 on. Before that it assigns allocations to ops by time, with clocks that do not agree,
in 1.13 in whole microseconds. It also nests ops by their times, and drops an op that is the only
child of an op of the same name. In whole microseconds an op shorter than one lies inside the next
if both begin in the same microsecond: then one of two consecutive calls of aten::resolve_conj is
missing.
Such a name is "merged" in that window, and is not compared with key_averages().
"""
import collections
import json
import re
import subprocess
import sys

WINDOWS = 7
HALF, ALL = 5000, 50000     # ns per call


def step(torch, net, optimizer, kept):
    optimizer.zero_grad()
    x = torch.randn(4, 3, 8, 8)
    # No op calls only one op of its own name: key_averages() drops such ops.
    net(x).backward(torch.ones(4, 10))
    optimizer.step()
    kept.append(torch.ones(100))
    a, b = torch.ones(2, 3, 4), torch.ones(2, 4, 5)
    c = a.bmm(b)
    torch.baddbmm(c, a, b)
    # Numbers, tensors without dimensions, and ops without inputs.
    (torch.tensor(2.) * torch.tensor(3.) + 1) * torch.ones(3, 1)
    torch.ones(3, 3).mul_(2).add(torch.ones(3)).mm(torch.ones(3, 2))
    torch.cat([torch.ones(2), torch.zeros(3)]).to(torch.float64)
    del kept[:-2]


def rows_of_tree(prof, name):
    """Returns {name: sums} of the profiler's tree for the range of that name and all below it."""
    rows = {}

    def walk(event):
        ops = [c for c in event.children if c.name != "[memory]"]
        own = sum(c.extra_fields.alloc_size for c in event.children if c.name == "[memory]")
        whole = own + sum(map(walk, ops))
        row = rows.setdefault(event.name, dict.fromkeys(
            ("count", "children", "total", "self", "bytes", "self_bytes", "flops"), 0))
        for key, value in (
                ("count", 1), ("children", len(ops)), ("total", event.duration_time_ns),
                ("self", event.duration_time_ns - sum(c.duration_time_ns for c in ops)),
                ("bytes", whole), ("self_bytes", own)):
            row[key] += value
        return whole

    def find(events):
        for event in events:
            if event.name == name:
                walk(event)
            else:
                find(event.children)

    find(prof.profiler.kineto_results.experimental_event_tree())
    return rows


def allocations(prof):
    found = []

    def walk(events):
        for event in events:
            if event.name == "[memory]":
                fields = event.extra_fields
                found.append((event.start_time_ns, fields.ptr, fields.alloc_size,
                              fields.total_allocated))
            walk(event.children)

    walk(prof.profiler.kineto_results.experimental_event_tree())
    return [f[1:] for f in sorted(found, key=lambda f: f[0])]


def below(event):
    yield event
    for child in event.cpu_children:
        yield from below(child)


def window_of(prof, name):
    top, = [e for e in prof.events() if e.name == name]
    rows = rows_of_tree(prof, name)
    seen = collections.Counter()
    for e in below(top):
        seen[e.name] += 1
        rows[e.name]["flops"] += e.flops or 0
    for key, row in rows.items():
        row["merged"] = row["count"] - seen[key]
    # Only names that have no other event outside of the window.
    for avg in prof.key_averages():
        row = rows.get(avg.key)
        if row and avg.count == row["count"]:
            row["averaged"] = (avg.cpu_memory_usage, avg.self_cpu_memory_usage, avg.flops or 0) \
                == (row["bytes"], row["self_bytes"], row["flops"])
    return rows


def main():
    import torch
    from torch import nn
    from torch.profiler import ProfilerActivity, profile, record_function
    torch.set_num_threads(1)
    net = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 4, (3, 2), stride=2),
                        nn.Flatten(), nn.Linear(4 * 3 * 4, 10))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    kept, windows = [], []
    for _ in range(3):
        step(torch, net, optimizer, kept)
    for _ in range(WINDOWS):
        with profile(activities=[ProfilerActivity.CPU], record_shapes=True, profile_memory=True,
                     with_flops=True) as prof:
            with record_function("window"):
                step(torch, net, optimizer, kept)
        windows.append(window_of(prof, "window"))
    with open(sys.argv[1] + ".memory", "w") as f:
        json.dump(allocations(prof), f)
    with open(sys.argv[1], "w") as f:
        json.dump({"version": [int(n) for n in torch.__version__.split(".")[:2]],
                   "windows": windows}, f)


def report(xsprof, capture, begin, end):
    """Returns its rows by name, of events that ended from @begin to @end (seconds, as text)."""
    out = subprocess.run([xsprof, "report", "--json", "--from", begin, "--to", end, capture],
                         stdout=subprocess.PIPE, check=True).stdout
    return {r["name"]: r for r in json.loads(out.decode())["ranges"]}


def places(xsprof, capture):
    """Returns begin and end of each window, in seconds from the begin of the trace."""
    out = subprocess.run([xsprof, "report", "--steps=window", "--json", capture],
                         stdout=subprocess.PIPE, check=True).stdout
    steps = json.loads(out.decode())["steps"]
    table = subprocess.run([xsprof, "report", "--steps=window", capture],
                           stdout=subprocess.PIPE, check=True).stdout.decode()
    first = re.search(r"^ +1 +(\d+\.\d{9})  ", table, re.M)[1].replace(".", "")
    start = steps[0]["begin_ns"] - int(first)
    return [["%d.%09d" % divmod(s[k] - start, 10 ** 9) for k in ("begin_ns", "end_ns")]
            for s in steps]


def compare():
    with open(sys.argv[2]) as f:
        version, windows = json.load(f).values()
    where = places(*sys.argv[3:5])
    assert len(where) == len(windows) == WINDOWS, where
    bad, apart = [], collections.defaultdict(list)
    for theirs, place in zip(windows, where):
        ours = report(*sys.argv[3:5], *place)
        if set(ours) != set(theirs):
            bad.append("names: %s" % sorted(set(ours) ^ set(theirs)))
            break
        for name, row in theirs.items():
            mine = ours[name]
            for key, word in (("count", "count"), ("bytes", "cpu_bytes"),
                              ("self_bytes", "self_cpu_bytes"), ("flops", "flops")):
                if row[key] != mine[word]:
                    bad.append("%s: %s is %d, not %d" % (name, word, mine[word], row[key]))
            apart[name, "total"].append(abs(mine["total_ns"] - row["total"]) / row["count"])
            apart[name, "self"].append(abs(mine["self_ns"] - row["self"]) /
                                       (row["count"] + row["children"]))
    least = sorted((min(v), what) for what, v in apart.items())
    if not least or least[len(least) // 2][0] > HALF or least[-1][0] > ALL:
        bad.append("times are apart, ns: %s" % least[-10:])
    rows = windows[0].values()
    some = sum(1 for r in rows if r["bytes"]), sum(1 for r in rows if r["flops"])
    if some[0] < 10 or some[1] < 6:
        bad.append("the program does not do enough: %s" % (some,))
    # Merged names have nothing to compare.
    averaged = sum(all(w[name].get("averaged", w[name]["merged"] > 0) for w in windows)
                   for name in windows[0])
    if version >= [2, 13] and averaged < len(windows[0]):
        bad.append("key_averages() has only %d of %d" % (averaged, len(windows[0])))
    for line in bad[:20]:
        print(line)
    print("%d names, %d of key_averages(), %d with bytes, %d with FLOPs; times %d ns apart, "
          "at most %d" % (len(windows[0]), averaged, *some,
                  least[len(least) // 2][0] if least else -1, least[-1][0] if least else -1))
    return bool(bad)


if sys.argv[1] == "compare":
    sys.exit(compare())
main()
