#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compares the recorded ops of a job with torch.profiler's of the same run, op by op in the order
of their begins: all that torch.profiler has of each in its event tree, its events and its JSON, and
the order of both clocks' times.
usage: compare.py THEIRS.json KINETO NDJSON INFO [shapes [STRING...]]; THEIRS is written by
jobs/profiled.py, the others by xsprof dump -f kineto, -f ndjson and xsprof info --json. The strings
are those that the ops' inputs must have.
"""
import ast
import json
import sys

SHAPES = "shapes" in sys.argv
STRINGS = set(sys.argv[6:])
# Ids that only the profiler has.
OWN = {"External id", "Record function id", "Ev Idx"}
# The profiler's JSON leaves out lists of more than LIST tensors. The recording has at most TENSORS
# tensors of one op, and leaves out later inputs.
LIST, TENSORS = 30, 96
# By their numbers in PyTorch, with the names of dump -f ndjson.
SCOPES = ["function", "backward-function", "torchscript-function", "kernel-function-dtype",
          "custom-class", "build-feature", "lite-interpreter", "user-scope", "static-runtime-op",
          "static-runtime-model"]
strings, wrong = set(), []


def complain(text, *args):
    wrong.append(text % args)


def ours(path):
    """Returns the ops inside of the ranges called profiled: [(op, index of its parent or -1)]."""
    with open(path, encoding="utf-8") as f:
        trace = json.load(f)
    stacks = any("Call stack" in e.get("args", {}) for e in trace["traceEvents"])
    assert trace["record_shapes"] == SHAPES and trace["with_stack"] == stacks, trace.keys()
    events = [e for e in trace["traceEvents"]
              if e.get("ph") == "X" and e.get("cat") in ("cpu_op", "user_annotation")]
    # torch.profiler has no type for unknown classes.
    assert not any("object" in e["args"].get("Input type", ()) for e in events)
    for args in (e["args"] for e in events):
        assert not args.get("Input Dims") or len(args["Input Dims"]) == len(args["Input Strides"])
    # oneDNN's own ITT ranges are not PyTorch's.
    events = [e for e in events if "Record function id" in e["args"]]
    events.sort(key=lambda e: (e["tid"], e["ts"], -e["dur"]))
    stack, out = [], []
    for e in events:
        e["begin"], e["end"] = e["ts"] * 1000, (e["ts"] + e["dur"]) * 1000
        while stack and (stack[-1][0]["tid"] != e["tid"] or
                         stack[-1][0]["ts"] + stack[-1][0]["dur"] <= e["ts"]):
            stack.pop()
        inside = stack and stack[0][0]["name"] == "profiled"
        if inside:
            out.append((e, stack[-1][1]))
        stack.append((e, len(out) - 1 if inside else -1))
    return out, trace["baseTimeNanoseconds"]


def scopes(path):
    """Returns scopes by record function id."""
    with open(path, encoding="utf-8") as f:
        events = [json.loads(line) for line in f]
    return {e["record_function_id"]: e["op"] for e in events
            if e["type"] == "begin" and "op" in e}


def value(text):
    """Parses what Python prints. torch.profiler has no strings."""
    if text in ("inf", "-inf", "nan"):
        return float(text)
    try:
        return ast.literal_eval(text) if text else None
    except (SyntaxError, ValueError):
        strings.add(text)
        return None


def is_list(sizes):
    return bool(sizes) and isinstance(sizes[0], list)


def limit(theirs, args):
    """Removes from theirs the tensor lists that do not fit into the recording."""
    if sum(len(s) if is_list(s) else bool(s) for s in theirs["sizes"]) <= TENSORS:
        return
    said = theirs["args"] or {}
    for i, mine in enumerate(args["Input type"]):
        if mine == "" and theirs["types"][i] == "TensorList":
            for of, nothing in ((theirs["types"], ""), (theirs["sizes"], []),
                                (theirs["strides"], []), (said.get("Input type"), ""),
                                (said.get("Input Dims"), []), (said.get("Input Strides"), [])):
                if of:
                    of[i] = nothing


def inputs(at, theirs, args, known):
    """Compares one op's inputs; @known: what this version of PyTorch reports of inputs."""
    types, values = args.get("Input type", []), [value(v) for v in args.get("Concrete Inputs", [])]
    if "ScalarList" not in known:
        types = ["" if t == "ScalarList" else t for t in types]
    sizes, strides = args.get("Input Dims", []), args.get("Input Strides", [])
    if "lists" not in known:
        # This version gives [] as sizes for a list of tensors.
        sizes, strides = ([[] if s and isinstance(s[0], list) else s for s in of]
                          for of in (sizes, strides))
        theirs["strides"] = [[] if s and isinstance(s[0], list) else s for s in theirs["strides"]]
    if "values" not in known:
        values = [v if isinstance(v, (int, float)) else None for v in values]
    for name, mine in (("types", types), ("sizes", sizes), ("strides", strides),
                       ("values", values)):
        if theirs[name] != mine:
            complain("op %d, %s: its %s are %s, not %s", at, theirs["name"], name, mine,
                     theirs[name])


def known_of(rows):
    known = {t for r in rows for t in r["types"]} if SHAPES else set()
    if SHAPES and any(s and isinstance(s[0], list) for r in rows for s in r["sizes"]):
        known.add("lists")
    if SHAPES and any(isinstance(v, list) for r in rows for v in r["values"]):
        known.add("values")
    # Up to 2.1 the JSON has no shapes of list elements, though the events do.
    if any(is_list(s) for r in rows for s in (r["args"] or {}).get("Input Dims", [])):
        known.add("JSON lists")
    return known


def json_args(at, theirs, args, tids, known):
    """Compares the JSON word for word; without Kineto there is none."""
    most = LIST if "JSON lists" in known else 0
    for key, want in (theirs["args"] or {}).items():
        got = args.get(key)
        if key == "Fwd thread id":
            want = tids.get(want, want)
        elif key in ("Input Dims", "Input Strides") and got:
            got = [[] if is_list(s) and len(s) > most else s for s in got]
        elif key == "Input type" and got and "ScalarList" not in known:
            got = ["" if t == "ScalarList" else t for t in got]
        elif key == "Concrete Inputs":
            got = ["" if v in strings else v for v in got or []]
        if key not in OWN and got != want:
            complain("op %d, %s: its %s is %s, not %s", at, theirs["name"], key, got, want)


def op(at, theirs, mine, parent, tids):
    args = mine["args"]
    for what, got, want in (
            ("name", mine["name"], theirs["name"]),
            ("op around it", parent, theirs["parent"]),
            ("sequence number", args.get("Sequence number", -1), theirs["sequence"]),
            ("forward thread", args.get("Fwd thread id", 0),
             tids.get(theirs["forward"]) if theirs["forward"] else 0),
            ("scope", mine["scope"], SCOPES[theirs["scope"]])):
        if got != want:
            complain("op %d, %s: its %s is %s, not %s", at, theirs["name"], what, got, want)


def edges(rows):
    """Returns begins and ends in the order of their times: [(index of the op, which)]."""
    out, stack = [], []
    for at, row in enumerate(rows):
        while stack and stack[-1] != row["parent"]:
            out.append((stack.pop(), "end"))
        out.append((at, "begin"))
        stack.append(at)
    return out + [(at, "end") for at in reversed(stack)]


def times(rows, events, base, info):
    """
    At an edge of an op both observers are called, one after the other, before the next edge. So
    each of their times, less the offset of the clocks, lies between ours of that edge and ours of
    the next. There is one offset and one rate for all times, except for the error of our clock,
    which info has; theirs is fitted to the same two clocks by the same reads. The rate, and the
    drift since the recording took its offset, are at most what the kernel may adjust the time of
    day by (500 ppm).
    """
    order = edges(rows)
    theirs = [rows[at][which] - base for at, which in order]
    mine = [events[at][0][which] for at, which in order]
    for name, of in (("torch.profiler", theirs), ("the recording", mine)):
        back = [i for i in range(1, len(of)) if of[i] < of[i - 1]]
        if back:
            complain("the times of %s do not nest: %s", name,
                     [(order[i], rows[order[i][0]]["name"]) for i in back[:3]])
    error = 2 * info["clock"]["error_ns"]
    begin = mine[0]

    def bounds(rate):
        apart = [t - m - rate * (m - begin) for t, m in zip(theirs, mine)]
        after = [t - n - rate * (n - begin) for t, n in zip(theirs, mine[1:])]
        return max(after), min(apart)

    def room(rate):
        least, most = bounds(rate)
        return most - least

    # A minimum of linear functions has one maximum.
    low, high = -500e-6, 500e-6
    for _ in range(60):
        third = (high - low) / 3
        low, high = (low + third, high) if room(low + third) < room(high - third) else (
            low, high - third)
    least, most = bounds((low + high) / 2)
    if least > most + error:
        complain("no offset of the clocks puts all times in order: above %d ns, below %d", least,
                 most)
    if abs(most) > error + (info["last_ns"] - info["first_ns"]) * 500e-6:
        complain("the clocks are %d ns apart", most)


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        said = json.load(f)
    rows, scope = said["ops"], scopes(sys.argv[3])
    events, base = ours(sys.argv[2])
    with open(sys.argv[4], encoding="utf-8") as f:
        info = json.load(f)
    print("%d ops" % len(rows))
    for at, (theirs, mine) in enumerate(zip(rows, events)):
        if theirs["name"] != mine[0]["name"]:
            print("op %d is %s, not %s" % (at, mine[0]["name"], theirs["name"]))
            return 1
    if not rows or len(rows) != len(events):
        print("%d ops are recorded" % len(events))
        return 1
    # PyTorch's thread numbers, mapped to tids.
    tids = {r["thread"]: e["tid"] for r, (e, _) in zip(rows, events)}
    known = known_of(rows)
    other = {r["forward"] for r in rows} - set(tids) - {0}
    # One other thread did forward ops and nothing else here.
    if len(other) != ("thread" in said):
        complain("forward ops are of other threads: %s", sorted(other))
    tids.update((number, said.get("thread")) for number in other)
    for at, (theirs, (mine, parent)) in enumerate(zip(rows, events)):
        mine["scope"] = scope[mine["args"]["Record function id"]]
        op(at, theirs, mine, parent, tids)
        if SHAPES:
            limit(theirs, mine["args"])
            inputs(at, theirs, mine["args"], known)
        json_args(at, theirs, mine["args"], tids, known)
    times(rows, events, base, info)
    if STRINGS and strings != STRINGS:
        complain("strings are %s, not %s", sorted(strings), sorted(STRINGS))
    for line in wrong[:20]:
        print(line)
    print("%d ops%s%s" % (len(rows), ", with values" if "values" in known else "",
                          ", as JSON" if any(r["args"] for r in rows) else ""))
    return bool(wrong)


sys.exit(main())
