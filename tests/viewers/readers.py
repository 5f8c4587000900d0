#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compares what a reader makes of a file with the capture.

usage: readers.py TOOL NDJSON FILE...

TOOL is pandas, pyarrow or duckdb, with FILE the same as ndjson; hta, tensorboard or
tensorboard-stacks, with Kineto's JSON; ranks, with Kineto's JSON of each rank; or speedscope or
folded, with speedscope.mjs's output for Chrome's JSON or for folded stacks.

Prints a line for each difference, and exits with 1 if there is any.
"""
import collections
import gzip
import json
import logging
import os
import re
import shutil
import sys
import tempfile
import warnings

sys.dont_write_bytecode = True
from ours import Comparison, Ours, by_name, track_thread

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)
GZ = re.compile(r"(\.gz)?$")
comparison = Comparison()
same = comparison.same


def plain(path):
    """Sums over the lines, in integers, which tables of them must equal."""
    want = {w: collections.Counter() for w in ("types", "marks", "told", "counters", "switches")}
    want["threads"], want["args"] = set(), 0
    with open(path, encoding="utf-8") as f:
        for e in map(json.loads, f):
            kind = e["type"]
            want["types"][kind] += 1
            if kind in ("begin", "end"):
                want["marks"][e["tid"], e["name"]] += e["ns"] * (1 if kind == "end" else -1)
            elif kind in ("span", "complete"):
                want["told"][e["name"]] += e["end_ns"] - e["begin_ns"]
            elif kind == "counter":
                want["counters"][e["name"]] += e["i64"]
            elif kind == "kernel" and e["name"] == "sched_switch":
                want["switches"][e["fields"]["next_comm"]] += e["fields"]["next_pid"]
            if e.get("thread"):
                want["threads"].add((e["tid"], e["thread"]))
            want["args"] += len(e.get("args", []))
    return want


def pandas(path):
    import pandas as pd
    df = pd.read_json(path, lines=True)
    same("type of ns", str(df["ns"].dtype), "int64")
    marks = df[df["type"].isin(["begin", "end"])]
    marks = marks["ns"].where(marks["type"] == "end", -marks["ns"]) \
        .groupby([marks["tid"], marks["name"]]).sum()
    told = df[df["type"].isin(["span", "complete"])]
    counters = df[df["type"] == "counter"]
    switches = df[(df["type"] == "kernel") & (df["name"] == "sched_switch")]
    # One column per field: the fields of one kind of event.
    fields = pd.json_normalize(switches["fields"].tolist())
    threads = df[["tid", "thread"]].dropna().drop_duplicates()
    return {
        "types": df["type"].value_counts().to_dict(),
        "marks": marks.to_dict(),
        "told": (told["end_ns"] - told["begin_ns"]).groupby(told["name"]).sum().to_dict(),
        "counters": counters.groupby("name")["i64"].sum().to_dict(),
        "switches": fields.groupby("next_comm")["next_pid"].sum().to_dict(),
        "threads": {(tid, name) for tid, name in threads.itertuples(index=False) if name},
        "args": int(df["args"].dropna().map(len).sum()),
    }


def duckdb(path):
    import duckdb as db
    db.sql("create view e as from read_json('%s')" % path)

    def rows(sql):
        return {key[0] if len(key) == 1 else tuple(key): v for *key, v in db.sql(sql).fetchall()}
    return {
        "types": rows("select type, count(*) from e group by 1"),
        "marks": rows("""select tid, name, sum(case type when 'end' then ns else -ns end) from e
                         where type in ('begin', 'end') group by 1, 2"""),
        "told": rows("""select name, sum(end_ns - begin_ns) from e
                        where type in ('span', 'complete') group by 1"""),
        "counters": rows("select name, sum(i64) from e where type = 'counter' group by 1"),
        "switches": rows("""select fields->>'next_comm', sum((fields->>'next_pid')::int) from e
                            where type = 'kernel' and name = 'sched_switch' group by 1"""),
        "threads": set(db.sql("select distinct tid, thread from e where thread != ''").fetchall()),
        "args": db.sql("select sum(len(args)) from e").fetchall()[0][0],
    }


def pyarrow(path):
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.json as pj
    # A column has one type, so values of arguments and fields, which have several, are left out.
    number, text = pa.int64(), pa.string()
    schema = pa.schema([("type", text), ("name", text), ("tid", number), ("thread", text),
                        ("ns", number), ("begin_ns", number), ("end_ns", number), ("i64", number)])
    t = pj.read_json(path, parse_options=pj.ParseOptions(
        explicit_schema=schema, unexpected_field_behavior="ignore"))

    def of(*types):
        return t.filter(pc.is_in(t["type"], pa.array(types)))

    def sums(table, values, *keys):
        got = pa.table([table[k] for k in keys] + [values], [*keys, "v"])
        got = got.group_by(list(keys)).aggregate([("v", "sum")]).to_pylist()
        return {row[keys[0]] if len(keys) == 1 else tuple(row[k] for k in keys): row["v_sum"]
                for row in got}
    marks, told = of("begin", "end"), of("span", "complete")
    threads = zip(t["tid"].to_pylist(), t["thread"].to_pylist())
    return {
        "types": sums(t, pa.array([1] * len(t)), "type"),
        "marks": sums(marks, pc.if_else(pc.equal(marks["type"], "end"), marks["ns"],
                                        pc.negate(marks["ns"])), "tid", "name"),
        "told": sums(told, pc.subtract(told["end_ns"], told["begin_ns"]), "name"),
        "counters": sums(of("counter"), of("counter")["i64"], "name"),
        "threads": {(tid, name) for tid, name in threads if name},
    }


def compare_tables(tool, ndjson, path):
    want = plain(ndjson)
    for what, got in tool(path).items():
        same(what, got, dict(want[what]) if isinstance(got, dict) else want[what])


def overlapping(kineto):
    """Returns the tracks for ranges that do not nest in those of their thread: {track: thread}."""
    with (gzip.open if kineto.endswith(".gz") else open)(kineto, "rt", encoding="utf-8") as f:
        events = json.load(f)["traceEvents"]
    threads = {e["tid"]: track_thread(e["args"]["name"])
               for e in events if e["name"] == "thread_name"}
    return {track: tid for track, tid in threads.items() if tid}


def hta(ours, kineto):
    """Compares the table on which all of its analyses are based."""
    os.environ["HTA_DISABLE_NS_ROUNDING"] = "1"
    from hta.trace_analysis import TraceAnalysis
    with tempfile.TemporaryDirectory() as folder:
        # Its files need names like this.
        shutil.copy(kineto, os.path.join(folder, "rank.json" + GZ.search(kineto).group()))
        t = TraceAnalysis(trace_dir=folder, include_last_profiler_step=True).t
        df, names = t.get_trace(0), t.symbol_table.get_sym_table()
    got, threads = collections.defaultdict(lambda: [0, 0]), overlapping(kineto)
    for tid, name, dur in zip(df["tid"], df["name"], df["dur"]):
        ns, tid = round(dur * 1000), threads.get(int(tid), int(tid))
        if ns and (tid, names[name]) not in ours.open:
            got[tid, names[name]][0] += 1
            got[tid, names[name]][1] += ns
    same("ranges", dict(got), ours.closed())


def repeated(ndjson):
    """Returns the ops that are the only child of an op of the same name, by process, which the
    plugin merges, as PyTorch's own profiler does; and names of ranges that are no ops."""
    stacks, n, ranges = collections.defaultdict(list), collections.Counter(), set()
    with open(ndjson, encoding="utf-8") as f:
        for e in map(json.loads, f):
            stack = stacks[e.get("tid")]
            if e["type"] == "begin":
                if stack:
                    stack[-1][1].append(e["name"])
                stack.append((e["name"], []))
                if e.get("op") == "user-scope":
                    ranges.add(e["name"])
            elif e["type"] == "end" and stack:
                name, children = stack.pop()
                n[e["pid"], name] += children == [name]
    return n, ranges


def tensorboard(ours, kineto, ndjson, stacks):
    """Compares its tables of operators and memory; @stacks: the demo's training, with stacks."""
    from torch_tb_profiler.io.cache import Cache
    from torch_tb_profiler.profiler.loader import RunLoader
    with tempfile.TemporaryDirectory() as folder, Cache() as cache:
        shutil.copy(kineto, os.path.join(folder,
                                         "a.17.pt.trace.json" + GZ.search(kineto).group()))
        profile, = RunLoader("run", folder, cache).load().profiles.values()
    got = {op["name"]: [op["calls"], op["host_total_duration"]]
           for op in profile.operation_table_by_name["data"]}
    twice, ranges = repeated(ndjson)
    both = collections.Counter()
    for (pid, name), n in twice.items():
        both[name] += n
    want = {name: v for name, v in by_name(ours.closed()).items()
            if ours.categories[name] == "torch" and name not in ranges}
    same("operators", {name: n for name, (n, us) in got.items()},
         {name: n - both[name] for name, (n, ns) in want.items()})
    # It rounds; and it merges some pairs.
    same("times", {name: us for name, (n, us) in got.items() if name in want and
                   not both[name] and abs(us - want[name][1] / 1000) > n}, {})
    if stacks:
        # The calls of an op by the Python stack above it.
        rows = profile.operation_stack_by_name["aten::conv2d"]["data"]
        same("calls by stack", sum(row["calls"] for row in rows), want["aten::conv2d"][0])
        same("stacks", [row["call_stack"] for row in rows if not re.search(
            r"Conv2d\.forward;.*train\.py\(\d+\): main;.*train\.py\(\d+\): <module>$",
            row["call_stack"])], [])
    records = profile.memory_snapshot.memory_records
    same("allocations and frees", [sum(r.bytes > 0 for r in records),
                                   sum(r.bytes < 0 for r in records)],
         [ours.types["alloc"], ours.types["free"]])


def ranks(ndjson, paths):
    """Checks that the tools take ranks from the files, in any order of these."""
    from hta.trace_analysis import TraceAnalysis
    from torch_tb_profiler.io.cache import Cache
    from torch_tb_profiler.profiler.loader import RunLoader
    os.environ["HTA_DISABLE_NS_ROUNDING"] = "1"
    # By rank, as the program wrote it: "told.N" is beside the files.
    want = collections.defaultdict(collections.Counter)
    pids, twice = {}, collections.defaultdict(collections.Counter)
    for n in range(len(paths)):
        with open(os.path.join("job", "told.%d" % n)) as f:
            pids[json.load(f)["pid"]] = n
    with open(ndjson, encoding="utf-8") as f:
        for e in map(json.loads, f):
            if e["type"] == "end" and e["pid"] in pids:
                want[pids[e["pid"]]][e["name"]] += 1
    for (pid, name), n in repeated(ndjson)[0].items():
        if pid in pids:
            twice[pids[pid]][name] += n
    with tempfile.TemporaryDirectory() as folder, Cache() as cache:
        for i, path in enumerate(reversed(paths)):
            shutil.copy(path, os.path.join(folder, "w%d.%d.pt.trace.json" % (i, i + 1)))
        t = TraceAnalysis(trace_dir=folder, include_last_profiler_step=True).t
        names = t.symbol_table.get_sym_table()
        for rank in want:
            df = t.get_trace(rank)
            # Without events shorter than its clock's tick.
            got = collections.Counter(names[name] for name in df[df["dur"] > 0]["name"])
            same("rank %d: ops" % rank, {n: c for n, c in got.items() if n in want[rank]},
                 {n: c for n, c in want[rank].items() if n in got})
            same("rank %d: collectives" % rank, got["c10d::allreduce_"] > 0, True)
            profiles = [p for p in RunLoader("run", folder, cache).load().profiles.values()
                    if p.worker != "All"]
    # It names ranks by the names of the files.
    for profile in profiles:
        rank = len(paths) - 1 - int(profile.worker[1:])
        got = {op["name"]: op["calls"] for op in profile.operation_table_by_name["data"]}
        same("rank %d: operators" % rank, got, {n: want[rank][n] - twice[rank][n] for n in got})
        same("rank %d: linear" % rank, got.get("aten::linear", 0) > 0, True)
    same("workers", len(profiles), len(paths))


def speedscope(ours, path):
    with open(path, encoding="utf-8") as f:
        said = json.load(f)
    # It pairs a begin and an end whose arguments differ, and complains.
    pair = re.compile(r'ts=.*: Tried to end "(.*?)(?: {".*)?" when "\1(?: {".*)?" was on the top')
    same("complaints", [c for c in said[""] if not pair.match(c)], [])
    got, threads = collections.defaultdict(lambda: [0, 0]), {}
    for name, frames in said["tracks"]:
        thread, tid = re.match(r".*, (.*) \(tid (\d+)\)$", name).groups()
        threads[int(tid)] = thread
        for frame, (n, ns) in frames.items():
            # A frame is a name and its arguments.
            frame = re.sub(r' {".*', "", frame)
            if n and (int(tid), frame) not in ours.open:
                got[int(tid), frame][0] += n
                got[int(tid), frame][1] += ns
    same("threads", {tid: name for tid, name in threads.items() if tid in ours.threads},
         {tid: name for tid, (pid, name) in ours.threads.items() if tid in threads})
    same("ranges", by_name(got), by_name(ours.closed()))


def folded(ours, path):
    """Compares inclusive times; each line of the file has whole microseconds."""
    with open(path, encoding="utf-8") as f:
        said = json.load(f)
    (_, frames), = said["tracks"]
    opened = {name for _, name in ours.open}
    want = {name: ns for name, (_, ns) in by_name(ours.closed()).items()}
    same("frames", set(frames) - opened, set(want))
    lines = sum(n for n, _ in frames.values())
    same("times", {name: ns for name, (_, ns) in frames.items()
                   if name in want and not 0 <= want[name] - ns < lines * 1000}, {})


if __name__ == "__main__":
    tool, ndjson, path = sys.argv[1:4]
    if tool in ("pandas", "pyarrow", "duckdb"):
        compare_tables(globals()[tool], ndjson, path)
    elif tool == "ranks":
        ranks(ndjson, sys.argv[3:])
    elif tool in ("tensorboard", "tensorboard-stacks"):
        tensorboard(Ours(ndjson), path, ndjson, tool == "tensorboard-stacks")
    else:
        globals()[tool](Ours(ndjson), path)
    sys.exit(1 if comparison.wrong else 0)
