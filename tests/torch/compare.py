#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The ops that were recorded of a job against those that torch.profiler has of the same run: as
many, with the same names, parents, shapes, sequence numbers, and values of inputs that are
numbers, bools and lists of these.

usage: compare.py THEIRS.json OURS.json [shapes [STRING...]]; OURS is what xsprof dump -f kineto
writes, the strings are what inputs of ops have to be.
"""
import ast
import collections
import json
import sys

SHAPES = "shapes" in sys.argv
STRINGS = set(sys.argv[4:])
strings = set()


def plain(shapes):
    """Of a list of tensors torch.profiler says nothing, or a list each; a scalar has none."""
    return [s if s and not isinstance(s[0], list) else [] for s in shapes]


def ours(path):
    with open(path) as f:
        trace = json.load(f)
    stacks = any("Call stack" in e.get("args", {}) for e in trace["traceEvents"])
    assert trace["record_shapes"] == SHAPES and trace["with_stack"] == stacks, trace.keys()
    events = [e for e in trace["traceEvents"]
              if e.get("ph") == "X" and e.get("cat") in ("cpu_op", "user_annotation")]
    # Of a class that is not known torch.profiler has no type.
    assert not any("object" in e["args"].get("Input type", ()) for e in events)
    for args in (e["args"] for e in events):
        assert not args.get("Input Dims") or len(args["Input Dims"]) == len(args["Input Strides"])
    events.sort(key=lambda e: (e["tid"], e["ts"], -e["dur"]))
    stack, out, before = [], [], {}
    for e in events:
        while stack and (stack[-1]["tid"] != e["tid"] or
                         stack[-1]["ts"] + stack[-1]["dur"] <= e["ts"]):
            stack.pop()
        # What oneDNN says of itself by ITT is not PyTorch's.
        if "Record function id" not in e["args"]:
            continue
        e["children"] = 0
        e["parent"] = stack[-1] if stack else None
        e["before"] = before.get(e["tid"])
        before[e["tid"]] = e
        if stack:
            stack[-1]["children"] += 1
        stack.append(e)
        if stack[0]["name"] == "profiled" and len(stack) > 1:
            out.append(e)
    return out


def repeats(e, parents):
    """An only child that is called as its parent: torch.profiler leaves it out. Where it has whole
    microseconds it may take one for an only child that is none: of another, or of the op before it
    in the same microsecond."""
    before = e["before"]
    if e["parent"]["name"] == e["name"]:
        return not parents or e["parent"]["children"] == 1
    return not parents and before and before["name"] == e["name"] and e["ts"] - before["ts"] < 1


def value(text):
    """What Python prints, as what it is. Of strings torch.profiler has none."""
    if text in ("inf", "-inf", "nan"):
        return float(text)
    try:
        return ast.literal_eval(text) if text else None
    except (SyntaxError, ValueError):
        strings.add(text)
        return None


def row(e):
    args = e["args"]
    return [e["name"], e["parent"]["name"], args.get("Input Dims", []) if SHAPES else None,
            args.get("Sequence number", -1),
            [value(v) for v in args.get("Concrete Inputs", [])] if SHAPES else None]


def key(op, parents, values):
    name, parent, shapes, sequence, concrete = op
    if not parents:
        parent = None
    return json.dumps([name, parent, plain(shapes) if SHAPES else None, sequence,
                       concrete if values else None])


def main():
    with open(sys.argv[1]) as f:
        ops = json.load(f)
    parents = any(op[1] for op in ops)
    # PyTorch 1.13 does not tell a program these.
    values = any(op[4] for op in ops)
    theirs = collections.Counter(key(op, parents, values) for op in ops)
    events = ours(sys.argv[2])
    mine, maybe = collections.Counter(), collections.Counter()
    for e in events:
        (maybe if repeats(e, parents) else mine)[key(row(e), parents, values)] += 1
    theirs_alone = theirs - mine - (collections.Counter() if parents else maybe)
    for text, n in sorted(theirs_alone.items()):
        print("only torch.profiler has %d of %s" % (n, text))
    for text, n in sorted((mine - theirs).items()):
        print("only the recording has %d of %s" % (n, text))
    if STRINGS and strings != STRINGS:
        print("strings are %s, not %s" % (sorted(strings), sorted(STRINGS)))
    print("%d ops%s" % (sum(theirs.values()), ", with values" if values else ""))
    return bool(theirs_alone or mine - theirs or not theirs or STRINGS and strings != STRINGS)


sys.exit(main())
