#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
#
# Every ITT call: the known numbers of calls by tests/itt/calls are in the trace as the right
# records, whether the program ends by exit() or _exit(), or is killed by its arguments.

import collections
import os
import sys

sys.dont_write_bytecode = True
from ittlib import BUILD, ITT_SO, Tap, args_of, clean_env, lost, need_tools, record, run, tally

CALLS = os.path.join(BUILD, "tests", "itt", "calls")
JIT = os.path.join(BUILD, "tests", "itt", "jit")
TABLE = os.path.join(BUILD, "tests", "itt", "table")


def named(events, kind, name):
    return [e for e in events if e["type"] == kind and e.get("name") == name]


def all_args(events, kind, name):
    return [args_of(e) for e in named(events, kind, name)]


def check_tasks(tap, events):
    begins = tally(events, "begin")
    tap.equal([begins["one", "shared"], begins["two", "shared"], begins["two", "step"]],
              [10, 10, 10], "one string handle in two domains")
    tap.equal(begins["one", "(no name)"], 1, "a NULL string handle has a stated name")
    tap.equal(begins["one", "task of a function"], 2, "tasks of functions")
    ids = dict(all_args(events, "begin", "with ids")[0])
    tap.ok(set(ids) == {"id", "parent"} and ids["id"] and ids["id"] != ids["parent"],
           "ids of a task are its arguments", ids)
    # A pause ends what is open.
    tap.equal(sum(begins.values()), sum(tally(events, "end").values()) + 1,
              "an end too many ends nothing")
    tap.equal([e for e in events if e.get("unmatched")], [], "no end without its begin")
    relations = [(e["aux"], e["value"], e["tail"]) for e in events if e["type"] == "relation"]
    tap.equal(len(relations), 4, "relations: added, to the current task, of a region")
    tap.ok((1, ids["id"]) in [(k, head) for k, head, _ in relations],
           "the current task's relation bears its id", relations)
    tap.equal(len(named(events, "instant", "group")), 1, "a task group is an instant")
    scopes = [e["scope"] for e in named(events, "instant", "marker")]
    tap.equal(scopes, ["global", "thread"], "markers and their scopes")


def check_overlapped(tap, events):
    for kind in ("async-begin", "async-end"):
        t = tally(events, kind)
        tap.equal((t["one", "odd"], t["one", "even"], t["one", "region"], t["one", "node"],
                   t["frames", "frames"], t["old frame", "old frame"]), (4, 4, 1, 1, 1, 1),
                  f"overlapped tasks, regions, frames: {kind}")
    begins = {(e["name"], e["value"]) for e in events if e["type"] == "async-begin"}
    ends = {(e["name"], e["value"]) for e in events if e["type"] == "async-end"}
    tap.equal(begins, ends, "ends bear the names and ids of their begins")
    node = [e["type"] for e in events if e["type"].startswith("async") and e["name"] == "node"]
    tap.equal(node, ["async-begin"] + 4 * ["async-instant"] + ["async-end"],
              "a region that begins again while it is open is over with its last end")
    told = named(events, "span", "told")[0]
    tap.ok(told["begin_ns"] < told["end_ns"] <= told["ns"], "a task with both its times told",
           told)
    other = named(events, "span", "other clock")[0]
    tap.ok(abs(other["end_ns"] - other["begin_ns"] - 250e6) < 12e6,
           "a task with times of another clock: 250 ms", other)
    tap.equal(len(named(events, "span", "told overlapped")), 1, "an overlapped task with times")
    frames = named(events, "span", "frames")
    tap.ok(len(frames) == 3 and all(f["begin_ns"] <= f["end_ns"] for f in frames),
           "submitted frames: with times, with none", frames)


def check_metadata(tap, events):
    args = [pair for e in events if e["type"] in ("begin", "args") for pair in args_of(e)]
    for pair in (("pi", 3.25), ("pi", -1), ("half", 0.5), ("minus", -3), ("text", "whole"),
                 ("text", "half"), ("metadata", "3 of four"),
                 ("unaligned", 0x0908070605040302)):
        tap.ok(pair in args, f"metadata of the current task: {pair[0]}", args)
    apart = [args_of(e) for e in events if e.get("name") == "metadata"]
    more = [args_of(e) for e in events if e["type"] == "args"]
    many = [pair for a in apart + more for pair in a if pair[0] == "many"]
    tap.ok(len(many) == 64 and any(("(more values)", 136) in a for a in more),
           "a long array, cut and said so", many)
    tap.ok([("alone", 0x04030201)] in apart, "metadata with no task open", apart)
    tap.ok([("scope", 1), ("scoped", 0x0201)] in apart and
           [("scope", 3), ("scoped", "text")] in apart, "metadata of a scope", apart)
    tap.ok(any(a and a[0][0] == "id" and a[-1] == ("metadata", "x=9") for a in apart),
           "formatted metadata of an id", apart)


def check_counters(tap, events):
    values = collections.defaultdict(list)
    for e in events:
        if e["type"] == "counter":
            values[e["cat"], e["name"]].append(e.get("i64", e.get("f64")))
    tap.equal(values["queue", "jobs"], [1, 42, 41, 40], "increments keep the counter's value")
    tap.equal(values["queue", "load"], [1.5, 2.5, 1.5], "a counter of doubles")
    tap.equal(values["one", "by name"], [1, 10, 9, 7], "a counter that is only a name")
    tap.equal(values["one", "v3"], [2.0 ** 64], "a value beyond 63 bits")
    meaning = dict(all_args(events, "instant", "counter metadata")[0])
    tap.equal((meaning["counter"], meaning["units"]), ("jobs", "jobs"), "a counter's meaning")
    for api in ("thread_ignore", "suppress_push", "heap_record", "model_induction_uses",
                "memory_read", "av_save", "state_get"):
        tap.equal(values["itt", f"not recorded: __itt_{api}"][-1:], [check_counters.missed],
                  f"calls without a record are counted: {api}")
    tap.equal(values["itt", "not recorded: task_end without task_begin"], [1],
              "an end without a begin is counted")


def check_rest(tap, events):
    ops = collections.Counter((e["name"], e["op"]) for e in events if e["type"] == "sync")
    tap.equal({k: c for k, c in ops.items() if k[0] != "lock"}, {
        ("Mutex: a", "create"): 1, ("Mutex: a", "prepare"): 1, ("Mutex: a", "acquired"): 1,
        ("Mutex: a", "releasing"): 1, ("renamed", "rename"): 1, ("renamed", "prepare"): 1,
        ("renamed", "cancel"): 1, ("renamed", "acquired"): 1, ("renamed", "releasing"): 1,
        ("renamed", "destroy"): 1, ("User Synchronization", "prepare"): 1,
        ("Lock: name", "create"): 1, ("Lock: name", "acquired"): 1,
    }, "synchronisation objects by name and operation")
    tap.equal([sum(tally(events, k).values()) for k in ("flow-start", "flow-step", "flow-end")],
              [1, 1, 1], "a stitched stack")
    tap.equal((len(named(events, "instant", "event")), len(named(events, "span", "event"))),
              (3, 1), "events: three starts, one end")
    marks = named(events, "instant", "mark")
    tap.equal([args_of(e) for e in marks],
              [[], [("parameter", "parameter")], [], [("parameter", "(off)")],
               [("parameter", "(off)"), ("scope", 1)]], "marks")
    memory = [(e["type"], e["name"], e["value"], e["bytes"]) for e in events
              if e["type"] in ("alloc", "free") and e["cat"] == "itt.heap"]
    tap.equal(memory, [("alloc", "pool: alloc", 0x1000, 64), ("free", "pool: alloc", 0x1000, 0),
                       ("alloc", "pool: alloc", 0x2000, 128), ("free", "pool: alloc", 0x2000, 0)],
              "a heap: allocated, moved, freed; a failure is none")
    model = tally([e for e in events if e.get("cat") == "itt.model"], "begin")
    tap.equal(dict(model), {("itt.model", "site"): 1, ("itt.model", "model task"): 2},
              "a model's sites and tasks")
    tap.ok({e["thread"] for e in named(events, "begin", "in the thread")} == {"a named thread"},
           "a thread bears its given name")
    tap.equal(len(named(events, "instant", "module load")), 2, "modules")
    tap.equal(all_args(events, "instant", "set track"), [[("track", "track"), ("group", "tracks")]],
              "a track")
    bars = all_args(events, "instant", "histogram")
    tap.equal(bars[0], [("y", 1), ("y", 2), ("y", 3)], "a histogram")
    tap.equal([len(named(events, "begin", n)) for n in ("before the pause", "while paused",
                                                        "after resume")], [1, 0, 1],
              "pause and resume")


def check_jit(tap):
    """Checks code that is generated at run time: tests/itt/jit."""
    out, events = record([JIT])
    tap.equal(out, "1 1 1 1 1 1 1 1 0 0 0 1\n", "a compiler is told that it is heard")
    said = [(e["name"], dict(args_of(e))) for e in events if e.get("cat") == "itt.jit"]
    three = {"code": "f", "start": 0x3000, "size": 48, "code id": 3, "module": "m"}
    tap.equal(said, [
        ("code made", {"code": "f", "start": 0x1000, "size": 16, "code id": 1, "class": "C",
                       "file": "f.c"}),
        ("code made", three), ("code made", three),
        ("code inlined", {"code": "f", "start": 0x3010, "size": 8, "code id": 4,
                          "inlined into": 3}),
        ("code changed", {"code": "f", "start": 0x1000, "size": 20, "code id": 1}),
        ("code changed", {"start": 0x3020, "size": 4, "code id": 3}),
        ("code gone", {"code": "f", "code id": 1}),
    ], "code made, inlined, changed and gone, with its place")
    missed = [e["i64"] for e in events if e["type"] == "counter" and
              e["name"].startswith("not recorded: code made at run time")]
    tap.equal(missed[-1:], [3], "code of which too little is told is counted")
    out = run([JIT], clean_env(INTEL_JIT_PROFILER64=ITT_SO))
    tap.equal(out.split()[0], "0", "with no recorder a compiler has nothing to tell")


def main():
    need_tools()
    tap = Tap()

    for how, missed in (("exit", 5), ("_exit", 4)):
        print(f"# a program that ends by {how}()")
        _, events = record([CALLS, how])
        tap.equal(lost(events), 0, "nothing lost")
        check_tasks(tap, events)
        check_overlapped(tap, events)
        check_metadata(tap, events)
        # In powers of two while it runs, exact at a normal end.
        check_counters.missed = missed
        check_counters(tap, events)
        check_rest(tap, events)

    out, events = record([CALLS, "hostile"])
    tap.ok(out == "" and len(events) > 1000, "NULLs and nonsense for every argument")

    out, _ = record([TABLE, "recording"])
    tap.ok("\nnot ok" not in out and "1..21" in out, "the table under a recorder", out)
    out = run([TABLE, "idle"], clean_env(INTEL_LIBITTNOTIFY64=ITT_SO))
    tap.ok("\nnot ok" not in out and "1..17" in out,
           "with no recorder every function is the part's own null", out)
    check_jit(tap)
    show = ["sh", "-c", "echo ${INTEL_LIBITTNOTIFY64-none} ${INTEL_JIT_PROFILER64-none}"]
    out, _ = record(show)
    tap.equal([os.path.basename(path) for path in out.split()], 2 * ["libxsprof-itt.so"],
              "the command is told of the collector")
    out, _ = record(show, options=["--no-itt"])
    tap.equal(out, "none none\n", "--no-itt names none")
    tap.exit()


if __name__ == "__main__":
    main()
