#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compares the answers of Perfetto's SQL for a trace with the capture.

usage: same.py queries FORMAT        prints the queries, NAME=SQL, each ended by a zero
       same.py FORMAT NDJSON SAID TRACE     FORMAT is perfetto, chrome or kineto

Prints a line for each difference, and exits with 1 if there is any.
"""
import collections
import gzip
import json
import re
import sys

sys.dont_write_bytecode = True
from ours import Comparison, Ours, by_name, track_thread

QUERIES = {
    "stats": "select name, value from stats where value > 0 and severity in ('error', 'data_loss')",
    "ranges": """select tid, s.name, count(*), sum(s.dur) from slice s join thread_track t
                 on s.track_id = t.id join thread using (utid)
                 where s.dur != 0 and s.category is not 'Trace' group by 1, 2""",
    "names": "select name, count(*), sum(dur) from slice where dur != 0 group by 1",
    "flows": """select a.name, b.name, ta.tid, tb.tid, a.ts, b.ts from flow f
                join slice a on a.id = f.slice_out join slice b on b.id = f.slice_in
                join thread_track ka on ka.id = a.track_id join thread ta on ta.utid = ka.utid
                join thread_track kb on kb.id = b.track_id join thread tb on tb.utid = kb.utid""",
    "all flows": "select count(*) from flow",
    "counters": """select t.name, count(*), sum(value) from counter c join track t
                   on t.id = c.track_id group by 1""",
    "threads": """select tid, pid, thread.name, process.name from thread
                  left join process using (upid)""",
    "tree": """select p.pid, p.name, p.cmdline, p.start_ts, parent.pid, p.end_ts from process p
               left join process parent on parent.upid = p.parent_upid""",
    "twice": """select pid from process where pid > 0 group by 1 having count(*) > 1 union all
                select tid from thread where tid > 0 group by 1 having count(*) > 1""",
    "rows": """select distinct t.name, s.name from slice s join track t on t.id = s.track_id
               where t.name not in ('global', 'lost') and t.type like '%track_event'""",
    "order": """select pid, extract_arg(arg_set_id, 'process_sort_index_hint') from process
                where pid > 0""",
    "sched": "select cpu, count(*) from sched group by 1",
    # Viewers do not draw the idle task, if they recognize it.
    "idle": """select is_idle, thread.name, count(*) from sched join thread using (utid)
               where tid = 0 group by 1, 2""",
    "inferred idle": """select count(*) from ftrace_event where name = 'inferred_sched_switch'
                        and extract_arg(arg_set_id, 'next_pid') = 0""",
    "inferred": """select cpu, count(*) from ftrace_event where name = 'inferred_sched_switch'
                   group by 1""",
}
# Kineto's format has no kernel events.
OF_KERNEL = "sched", "inferred", "idle", "inferred idle"

comparison = Comparison()
same = comparison.same


def compare_tree(ours, tree):
    """Compares programs' command lines, whose first word is the name, and parents of tasks."""
    for pid, began in ours.began.items():
        name, cmdline, start, parent, end = tree.get(pid, [None] * 5)
        # Without the scheduler's events the end may be known only as an interval; with them its
        # last switch may come after the recorder has seen it end, and has stopped the tracer.
        if end or (ours.switches and ours.all_left(pid)):
            same("end of %d" % pid, end, ours.ended.get(pid))
        same("name of %d" % pid, name, (cmdline or "").split(" ")[0])
        # As in the other formats, except for folders.
        same("program of %d" % pid, (name or "").rsplit("/", 1)[-1], ours.programs[pid])
        same("%d has command line and parent" % pid, bool(cmdline and parent), True)
        same("start of %d, before %d" % (pid, began), 0 < (start or 0) <= began, True)
        # The command has no markers: it is the recorder's child.
        if ours.switches and parent not in ours.forks and parent not in ours.began:
            above = tree.get(tree.get(parent, [None] * 5)[3], [None])
            same("what began %d, the command" % parent, above[0], "xsprof")
    for pid, (parent, ns) in ours.forks.items():
        if pid in ours.others and pid not in ours.began:
            same("parent and start of %d" % pid, [tree[pid][3], tree[pid][2]], [parent, ns])
            same("end of %d" % pid, tree[pid][4], ours.ended.get(pid))


def in_range(drawn, arrow, base):
    """Returns whether the viewer drew the arrow correctly: each end in the range around it, if it
    was drawn there, or in one of its own."""
    starts, ends = ([(name, ns)] + around for name, _, ns, around in arrow)
    ways = [(start, end, arrow[0][1], arrow[1][1], at - base, to - base)
            for start, at in starts for end, to in ends]
    return next((way for way in ways if drawn[way]), ways[0])


def compare(form, ours, said):
    same("errors", said[""], [])
    same("stats", said["stats"], [])

    # The viewer adds an end to open ranges.
    want = ours.closed()
    if form == "perfetto":
        # Ranges around what was written before them are on tracks beside their thread's.
        names = {name for tid, name in want} - {name for tid, name in ours.open}
        same("ranges", {name: [n, dur] for name, n, dur in said["names"] if name in names},
             {name: v for name, v in by_name(want).items() if name in names})
    else:
        whose, got = {}, collections.defaultdict(lambda: [0, 0])
        for tid, _, name, _ in said["threads"]:
            whose[tid] = track_thread(name) or tid
        for tid, name, n, dur in said["ranges"]:
            got[whose[tid], name][0] += n
            got[whose[tid], name][1] += dur
        same("ranges", {key: v for key, v in got.items() if key not in ours.open}, want)

    arrows, drawn, expected = [], collections.Counter(), collections.Counter()
    for ends in ours.flows.values():
        ends.sort(key=lambda end: end[2])
        arrows += zip(ends, ends[1:])
    if form == "chrome":
        drawn.update(tuple(row) for row in said["flows"])
        expected.update(in_range(drawn, arrow, said["base"]) for arrow in arrows)
    else:
        drawn.update((a, b, ta, tb, to - at) for a, b, ta, tb, at, to in said["flows"])
        expected.update((a[0], b[0], a[1], b[1], b[2] - a[2]) for a, b in arrows)
    if form == "kineto":
        expected.update(ours.links)
    same("arrows", dict(drawn), dict(expected))
    same("all arrows", said["all flows"], [[sum(expected.values())]])

    # In JSON a counter's name includes that of its series.
    cut = 0 if form == "perfetto" else len(" value")
    same("counters", {name[:len(name) - cut]: [n, v] for name, n, v in said["counters"]},
         dict(ours.counters))

    threads = {tid: (pid, name) for tid, pid, name, exe in said["threads"] if tid in ours.threads}
    same("threads", threads,
         {tid: (pid, "thread %d (%s)" % (tid, name) if form == "kineto" else name)
          for tid, (pid, name) in ours.threads.items()})
    if form == "perfetto":
        compare_tree(ours, {pid: rest for pid, *rest in said["tree"]})
        same("numbers of two processes or threads", said["twice"], [])
        # Tracks for ranges that do not nest have these ranges' names.
        same("rows", [row for row in said["rows"] if row[0] != row[1]], [])
    else:
        exes = {pid: exe for tid, pid, name, exe in said["threads"] if pid in ours.programs}
        same("processes", exes, ours.programs)
    if form == "chrome":
        order = dict(said["order"])
        first = max(order[pid] for pid in ours.programs)
        same("processes before programs", [pid for pid, at in order.items()
                                           if pid not in ours.programs and (at or 0) <= first], [])
    if form != "kineto":
        same("other processes", {pid: exe for tid, pid, name, exe in said["threads"]
                                 if pid in ours.others and tid == pid and not exe}, {})
        # Switches missing from the capture are in the trace, each with a mark.
        idle = ours.idle + said["inferred idle"][0][0]
        # Lines of JSON call the idle task <idle>, unless an event has the kernel's name for it.
        same("idle", [[utid, "<idle>" if name.startswith("swapper/") else name, n]
                      for utid, name, n in said["idle"] if n],
             [[int(form == "perfetto"), "swapper" if form == "perfetto" else "<idle>", idle]]
             if idle else [])
        same("switches", dict(said["sched"]), dict(+(ours.switches + said["inferred"])))


if sys.argv[1] == "queries":
    sys.stdout.write("".join("%s=%s\0" % q for q in QUERIES.items()
                             if sys.argv[2] != "kineto" or q[0] not in OF_KERNEL))
else:
    with open(sys.argv[3], encoding="utf-8") as f:
        said = json.load(f)
    said["inferred"] = collections.Counter(dict(said.get("inferred", [])))
    # Keep only the JSON lines that Perfetto knows.
    with (gzip.open if sys.argv[4].endswith(".gz") else open)(sys.argv[4], "rb") as f:
        trace = f.read()
    lines = re.findall(rb"\[(\d+)\] [^:]+: inferred_sched_switch: next_pid=(\d+)", trace)
    if sys.argv[1] == "chrome":
        said["base"] = int(re.search(rb'"base_monotonic_ns":"?(\d+)', trace)[1])
    if lines:
        said["inferred"].update(int(cpu) for cpu, _ in lines)
        said["inferred idle"] = [[sum(tid == b"0" for _, tid in lines)]]
    compare(sys.argv[1], Ours(sys.argv[2]), said)
    sys.exit(1 if comparison.wrong else 0)
