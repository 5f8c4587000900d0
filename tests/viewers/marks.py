#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Checks the traces of a recording of marks.c in every format.

usage: marks.py queries              prints the queries of sql.mjs, NAME=SQL, each ended by a zero
       marks.py FOLDER EVENTS        EVENTS: how many markers the program made

FOLDER has marks.chrome, .kineto, .perfetto and .ndjson, sql.mjs's output for the first three in
said.FORMAT, and the JSON of report and info in marks.report and marks.info.
Prints a line for each error, and exits with 1 if there is any.
"""
import collections
import json
import sys

QUERIES = {
    "asyncs": "select dur from slice where name = 'request' order by 1",
    "ends": """select replace(replace(key, 'args.', ''), 'debug.', ''), count(*) from slice
               join args using (arg_set_id) where name = 'request' group by 1""",
    "not finite": "select count(*) from slice where name = 'load'",
    "finite": "select count(*), min(value), max(value) from counter",
    "arguments": """select replace(replace(key, 'args.', ''), 'debug.', ''), count(*) from slice
                    join args using (arg_set_id) where slice.name = 'arguments' group by 1""",
    "flow ids": "select value from stats where name = 'flow_invalid_id'",
    "events": "select int_value from metadata where name = 'trace_attribute.xsprof.events'",
}
FORMATS = "chrome", "kineto", "perfetto"
wrong = []


def check(good, *what):
    if not good and len(wrong) < 20:
        wrong.append(what)


def once(items):
    keys = [key for key, _ in items]
    check(len(keys) == len(set(keys)), "a key twice", keys)
    return dict(items)


def load(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f, object_pairs_hook=once)


def nest(form, events):
    """Checks that ranges nest on every track, in doubles as viewers add them."""
    tracks, opens = collections.defaultdict(list), collections.defaultdict(list)
    for e in events:
        key = str(e["pid"]), str(e.get("tid"))
        if e["ph"] == "X":
            tracks[key].append((e["ts"], e["ts"] + e["dur"]))
        elif e["ph"] == "B":
            opens[key].append(e["ts"])
        elif e["ph"] == "E":
            tracks[key].append((opens[key].pop(), e["ts"]))
    for key, ranges in tracks.items():
        inside = []
        for begin, end in sorted(ranges, key=lambda r: (r[0], -r[1])):
            while inside and inside[-1] <= begin:
                inside.pop()
            check(not inside or end <= inside[-1], form, key, begin, end, "does not nest")
            inside.append(end)


def check_json(form, trace):
    events = trace["traceEvents"]
    nest(form, events)
    args = next(e["args"] for e in events if e["name"] == "arguments")
    check(args.get("where") == "0xdeadbeef" and args.get("big") == str(2 ** 64 - 1), form, args)
    check((args.get("k"), args.get("k (2)")) == (1, 2), form, args)
    if form == "kineto":
        ids = [e["args"].get("External id") for e in events
               if e.get("cat") in ("cpu_op", "user_annotation")]
        check(all(type(i) is int for i in ids) and len(set(ids)) == len(ids) > 900, "ids", ids[:9])
        finished = [e["args"]["finished"] for e in events if "finished" in e.get("args", {})]
        check(finished == [False] * 4, "finished", finished)
    else:
        check(trace["otherData"]["events"] == made, "events", form, trace["otherData"]["events"])


if sys.argv[1] == "queries":
    sys.stdout.write("".join("%s=%s\0" % q for q in QUERIES.items()))
    sys.exit()
folder, made = sys.argv[1], int(sys.argv[2])
said = {form: load("%s/said.%s" % (folder, form)) for form in FORMATS}
for form in FORMATS:
    of = said[form]
    check(of["asyncs"] == said["chrome"]["asyncs"] and len(of["asyncs"]) == 8, form, of["asyncs"])
    ends = dict(of["ends"])
    check((ends.get("cut"), ends.get("finished" if form == "kineto" else "unfinished")) == (2, 4),
          form, ends)
    check(of["not finite"] == [[6]] and of["finite"] == [[4, -2.5, 1.5]], form, of["not finite"])
    check({"big", "where", "k", "k (2)"} <= dict(of["arguments"]).keys(), form, of["arguments"])
    check(of["flow ids"] == [[0]], form, of["flow ids"])
    if form != "perfetto":
        check_json(form, load("%s/marks.%s" % (folder, form)))
check(said["perfetto"]["events"] == [[made]], "events of perfetto", said["perfetto"]["events"])

report, info = load(folder + "/marks.report"), load(folder + "/marks.info")
check(report["events"] == info["events"] == made, "events", report["events"], info["events"])
check((report["cut"], report["open"]) == (2, 4), report["cut"], report["open"])
load_row = next(row for row in report["others"] if row["name"] == "load")
check((load_row["min"], load_row["max"]) == (-2.5, 1.5), load_row)
request = next(row for row in report["ranges"] if row["name"] == "request")
dumped = sorted(dur for dur, in said["chrome"]["asyncs"])
check(request["max_ns"] in dumped and request["min_ns"] == dumped[0], request, dumped)

for what in wrong:
    print(*what)
sys.exit(bool(wrong))
