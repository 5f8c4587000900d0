#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
#
# An independent count: programs with NVIDIA's own headers and library, of versions 2 and 3, and
# with the Python package, run under a tool that only counts and under `xsprof record`, must give
# equal counts by name, domain and payload.
#
# The counting tool is also set as the user's tool, together with the collector.
#
# Usage: programs.py FOLDER PYTHON: where the headers and the library are, and a Python with nvtx

import collections
import os
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from nvtxlib import NVTX_SO, Tap, args_of, lost, nvtx_env, record, run, skip_all, tally

TESTS = os.path.dirname(os.path.abspath(__file__))
CC = os.environ.get("CC", "cc")
KINDS = ("begin", "instant", "async-begin")
# Events that the collector adds to those of calls.
NOTES = ("attributes", "resource", "resource destroyed")


def compile_c(out, source, *options):
    subprocess.run([CC, "-O1", "-Wall", "-Wextra", "-o", out, os.path.join(TESTS, source),
                    "-iquote", os.path.dirname(os.path.dirname(TESTS)), *options], check=True)


def count(argv, tool, chained=False):
    """
    Runs argv under the counting tool, chained: and under xsprof record.
    Returns its output, the tool's lines, split, and the events.
    """
    events = []
    with tempfile.TemporaryDirectory() as tmp:
        path = os.path.join(tmp, "counts")
        env = nvtx_env(NVTX_INJECTION64_PATH=tool, XSPROF_TEST_COUNTS=path)
        if chained:
            out, events = record(argv, env, options=["--no-itt"])
        else:
            out = run(argv, env)
        with open(path, encoding="utf-8") as f:
            return out, [line.rstrip("\n").split("\t") for line in f], events


def sort(lines):
    """Sorts lines without thread ids, which differ from run to run, as does their order."""
    return sorted(line[:2] if line[0] == "thread" else line for line in lines)


def number(value):
    return "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def seen(events):
    """Returns {(kind, domain, name, payload, color): n}, in the counting tool's form."""
    attributes = {dict(args_of(e))["id"]: dict(args_of(e)) for e in events
                  if e["type"] == "instant" and e["name"] == "attributes"}
    counts = collections.Counter()
    for e in events:
        if e["type"] not in KINDS or e["name"] in NOTES:
            continue
        args = attributes.get(e["value"], {}) if e["type"] == "async-begin" else dict(args_of(e))
        counts[e["type"], e["cat"], e["name"], number(args.get("payload")),
               "color" if "color" in args else ""] += 1
    return counts


def compare(tap, what, argv, tool, copies, inherited):
    """inherited: pops of ranges that the parent of a fork pushed, which count as no ends here."""
    out, lines, _ = count(argv, tool)
    mine, events = record(argv, nvtx_env(), options=["--no-itt"])
    tap.equal((out, mine), ("", ""), f"{what}: levels are as pushed")
    hold(tap, what, lines, events, copies, inherited)

    # The counting tool as the user's own: it and the collector see the same calls of one run.
    what += ", chained"
    out, chained, both = count(argv, tool, chained=True)
    tap.equal(out, "", f"{what}: levels are as pushed")
    tap.equal(sort(chained), sort(lines),
              f"{what}: the user's tool sees what it sees alone")
    hold(tap, what, chained, both, copies, inherited)
    return events


def check_few(tap, program, tool, few):
    """A tool that makes no handles: the program gets ours, which the tool never sees."""
    _, lines, _ = count([program], tool)
    _, alone, _ = count([program], few)
    out, chained, events = count([program], few, chained=True)
    tap.equal(out, "", "a tool without handles: levels are as pushed")
    tap.equal(sort(chained), sort(alone),
              "a tool without handles sees what it sees alone")
    hold(tap, "a tool without handles", lines, events, 4, 1)


def check_idle(tap, program, tool):
    """Without a recorder only the user's tool is loaded."""
    _, lines, _ = count([program], tool)
    with tempfile.TemporaryDirectory() as tmp:
        path = os.path.join(tmp, "counts")
        run([program], nvtx_env(NVTX_INJECTION64_PATH=NVTX_SO, XSPROF_NVTX_TOOL=tool,
                                XSPROF_TEST_COUNTS=path))
        with open(path, encoding="utf-8") as f:
            got = [line.rstrip("\n").split("\t") for line in f]
    tap.equal(sort(got), sort(lines),
              "with no recorder the user's tool sees what it sees alone")


def hold(tap, what, lines, events, copies, inherited):
    """Compares the events of a run with the counting tool's lines."""
    want = collections.Counter(tuple(l[:5]) for l in lines if l[0] in KINDS)
    tap.ok(len(want) > 3, f"{what}: the counting tool saw {sum(want.values())} calls", lines)
    tap.equal(sorted((seen(events) - want).items()) + sorted((want - seen(events)).items()), [],
              f"{what}: equal by kind, domain, name, payload and colour")
    for kind, more in (("end", inherited), ("async-end", 0)):
        tap.equal(sum(tally(events, kind).values()) + more, sum(l[0] == kind for l in lines),
                  f"{what}: {kind}s")
    tap.equal(sum(l[0] == "copy" for l in lines), copies, f"{what}: copies of NVTX")
    begins = collections.Counter((e["cat"], e["name"], e["value"]) for e in events
                                 if e["type"] == "async-begin")
    ends = collections.Counter((e["cat"], e["name"], e["value"]) for e in events
                               if e["type"] == "async-end")
    tap.equal(ends, begins, f"{what}: started ranges end with their names and ids")
    syncs = collections.Counter((e["cat"], e["name"], e["op"]) for e in events
                                if e["type"] == "sync")
    tap.equal(syncs, collections.Counter(tuple(l[1:]) for l in lines if l[0] == "sync"),
              f"{what}: sync objects by operation")
    tap.equal([e for e in events if e.get("unmatched")], [], f"{what}: no end without its begin")
    tap.equal([e["name"] for e in events if e["type"] == "counter" and
               e["name"].startswith("not recorded")], [], f"{what}: no call without a record")
    tap.equal(lost(events), 0, f"{what}: nothing lost")


def check_program(tap, what, events):
    """Checks what the counting tool does not record."""
    with_all = [dict(args_of(e)) for e in events if e["type"] == "begin" and
                e["name"] == "with all"]
    in_domain = [a.get("category") for a in with_all[0::2]]
    tap.equal(in_domain, [None, 1, 2, "third", "f\u00fcnf", 5], f"{what}: categories by name")
    tap.equal([a.get("category") for a in with_all[1::2]], [None, 1, 2, "third of all", 4, 5],
              f"{what}: each domain has categories of its own")
    tap.equal({a["color"] for a in with_all}, {"#80ff0001"}, f"{what}: the colour")
    named = {e["thread"] for e in events if e.get("name", "").startswith("text ")}
    tap.equal(named, {"a named thread"}, f"{what}: threads have the names given")
    texts = tally(events, "begin")
    tap.equal([texts["nvtx", f"text {i}"] for i in range(10)], [120] * 10,
              f"{what}: a buffer that is used again")
    pids = {name: {e["pid"] for e in events if e.get("name") == name}
            for name in ("main", "in a child", "before the exec", "executed")}
    tap.ok(len(pids["in a child"]) == 1 and not pids["in a child"] & pids["main"] and
           pids["executed"], f"{what}: the child of a fork and what it executes", pids)
    resource = [dict(args_of(e)) for e in events if e.get("name") == "resource"]
    tap.equal([(r["name"], r["identifier"], r["type"]) for r in resource],
              [("a buffer", 0x7777, "pointer")], f"{what}: a resource")


def make_locales(folder):
    """Makes locales with other decimal points, by name; none if their sources are missing."""
    points = {"de_DE.UTF-8": ",", "ps_AF.UTF-8": "\u066b"}
    for name in points if shutil.which("localedef") else ():
        subprocess.run(["localedef", "-i", name.split(".")[0], "-f", "UTF-8",
                        os.path.join(folder, name)], stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
    return {name: point for name, point in points.items()
            if os.path.exists(os.path.join(folder, name))}


def check_lengths(tap, what, events):
    """Checks the values of tests/nvtx/lengths.c."""
    def args(name):
        said = {}
        marks = [i for i, e in enumerate(events) if e["type"] == "instant"]
        for i in (i for i in marks if events[i]["name"] == name):
            said.update(args_of(events[i]))
            for e in events[i + 1:]:
                if e["type"] != "args":
                    break
                said.update(args_of(e))
        return said

    fixed = {"fixed": "[0.5, -1.25]", "four": "four", "last": 8}
    tap.equal(args("pointers"), {"n": 3, "values": "[5, -6, 7]", "zero": "[1, 256, 2]",
                                 "text": "tex", **fixed},
              f"{what}: arrays and texts that are pointed to, by a field or by their ends")
    tap.equal(args("negative"), {"n": -4, "values": "[]", "zero": "[1, 256, 2]", "text": "",
                                 **fixed}, f"{what}: a length below 0 is 0")
    tap.equal(args("long"), {"n": 100000, "zero": "[1, 256, 2]", **fixed},
              f"{what}: one that is too long, and none at all, are left out")
    inside = {"n": 3, "values": "[-1, 300, 2]", "number": 0.75, "zero": "[70000, 1]",
              "text": "in", "counted": "abc"}
    tap.equal([args("inside"), args("inside, cut"), args("inside, too long")],
              [{**inside, "last": 65000}, inside, {"n": 255}],
              f"{what}: those in the payload, and what is behind them")
    tap.equal(args("matrix"), {"shape": "[2, 3]", "matrix": "[1, 2, 3, 4, 5, 6]"},
              f"{what}: one of two dimensions has the product")
    tap.equal([args("elsewhere"), args("nowhere")],
              [{"other": "[11, 12, 13, 14]", "payload": 4}, {}],
              f"{what}: one whose length is another payload")
    name = "another one around it.a structure with a long name.the first field of the innermost"
    tap.equal(args("names"), {f"{name} structure": 1, f"{name} structures": 2},
              f"{what}: long names of fields in fields are whole, and two that begin alike are two")
    tap.equal({e["name"]: e["i64"] for e in events if e["type"] == "counter"},
              {"not recorded: payloads with fields left out": 5},
              f"{what}: payloads with something that is left out are counted")


def check_hostile(tap, what, inc, tmp):
    program = os.path.join(tmp, "hostile")
    compile_c(program, "hostile.c", f"-I{inc}", "-ldl")
    for seed in ("1", "77", "99991"):
        out, events = record([program, "20000", seed], nvtx_env(), options=["--no-itt"])
        marks = [e for e in events if e["type"] == "instant" and e["cat"] == "hostile"]
        tap.ok(out == "20000\n" and marks, f"{what}, {seed}: it runs to its end",
               (out, len(marks)))


def check_extension(tap, what, out, events, point="."):
    """Checks the values of tests/nvtx/extension.c."""
    def args(kind, name):
        return [dict(args_of(e)) for e in events if e["type"] == kind and e["name"] == name]

    tap.equal(out, f"on 1{point}5\n", f"{what}: levels, and the domain is on")
    fields = args("begin", "all")[0]
    more = [dict(args_of(e)) for e in events if e["type"] == "args"]
    fields.update(more[0])
    tap.equal(fields, {
        "tiny": -3, "small": 60000, "plain": -70000, "large": -5000000000,
        "big": 18446744073709551615, "half": 0.5, "whole": -0.125, "bytes": 4096, "at": 0x1234,
        "embedded": "embed", "array": "[1, 2, 3]", "text": "pointed", "color": "green", "other": 7,
        "handle": "registered"}, f"{what}: fields of many types")
    tap.equal(args("instant", "cut"), [{"tiny": -3, "small": 60000, "plain": -70000}],
              f"{what}: a payload that is cut has the fields that are there")
    tap.equal(args("instant", "unknown"), [{}], f"{what}: a schema that nobody registered")
    nested = args("instant", "nested")[0]
    for found in (m for m in more if any(key in m for key in ("last.a", "last.b"))):
        nested.update(found)
    tap.equal(nested, {"k": 1, "in.a": -2, "in.b": "[0.10000000000000001, -4]",
                       "few": "[7, 8, 65535]", "last.a": 9, "last.b": "[1e+30, 0]"},
              f"{what}: schemas inside of a schema, and arrays")
    payload = {"first": 1, "second": -2, "last": 3}
    tap.equal([args("begin", "named by a payload"), args("instant", "named by a payload"),
               args("begin", "(no name)")], [[payload], [payload], [{"payload": -42}]],
              f"{what}: events that are payloads")
    tap.equal(more[1], {"result": -9}, f"{what}: the payload of a pop is its range's")
    stack, ended = [], []
    for e in events:
        if e["type"] == "begin":
            stack.append(e["name"])
        elif e["type"] == "args" and "of outer" in dict(args_of(e)):
            ended.append((list(stack), dict(args_of(e))))
        elif e["type"] == "end":
            stack.pop()
    tap.equal(ended, [(["outer"], {"of outer": 77})],
              f"{what}: and no range's of another domain, which is inside it or alone")
    tap.equal([args("instant", "named in attributes"), args("instant", "(no name)")], [[{}], [{}]],
              f"{what}: a name in the payload of attributes")
    ids = {kind: [e["value"] for e in events if e["type"] == kind]
           for kind in ("async-begin", "async-end")}
    tap.equal([ids["async-end"], args("instant", "attributes")],
              [ids["async-begin"], [{"id": ids["async-begin"][0], **payload},
                                    {"id": ids["async-begin"][0], "result": -9}]],
              f"{what}: a started range and its payloads")
    values = collections.defaultdict(list)
    for e in events:
        if e["type"] == "counter":
            values[e["cat"], e["name"]].append(e.get("i64", e.get("f64")))
    tap.equal(dict(values), {
        ("extension", "memory.used"): [7, 7], ("extension", "memory.share"): [0.75],
        ("extension", "queue.items"): [7], ("extension", "queue.load"): [0.5],
        ("extension", "words"): [0, -1, -2, -3, -4, 0], ("extension", "share"): [0.25],
        ("extension", "fixed"): [4000000000], ("extension", "more (added)"): [5],
        ("nvtx", "not recorded: payloads with fields left out"): [1, 2],
        ("nvtx", "not recorded: payloads of an unknown schema"): [1],
        ("nvtx", "not recorded: nvtxScopeRegister"): [1],
        ("nvtx", "not recorded: pop without push"): [1],
        ("nvtx", "not recorded: end of a range that was not started"): [1],
        ("nvtx", "not recorded: schemas and enumerations beyond the limit"): [1],
        ("nvtx",
         "not recorded: ranges cut in two: an enclosing range of another domain ended first"): [1],
        ("nvtx", "not recorded: counter samples in groups or batches, or without a value"):
            [1, 2, 4],
        ("nvtx", "not recorded: unknown counters, and samples of them"): [1, 2],
    }, f"{what}: counters, and what was not recorded")


COUNTERS = """
import nvtx
domain = nvtx.get_domain("counting")
items, load = domain.get_counter("items", int), domain.get_counter("load", float)
for i in range(5):
    items.sample(i)
    load.sample(i / 4)
"""

PYTHON = """
import nvtx, threading
@nvtx.annotate("decorated", color="red", domain="py")
def f(n):
    with nvtx.annotate(f"level {n}", domain="py", category="cat", payload=n):
        if n:
            f(n - 1)
for i in range(50):
    f(3)
    with nvtx.annotate("plain"):
        nvtx.mark("a mark", color="blue")
def g():
    for i in range(100):
        with nvtx.annotate(message="thread", domain="py"):
            pass
ids = [nvtx.start_range(message=f"range {i}", color="green") for i in range(10)]
threads = [threading.Thread(target=g) for _ in range(3)]
[t.start() for t in threads]
[t.join() for t in threads]
[nvtx.end_range(i) for i in ids]
nvtx.push_range("pushed"); nvtx.pop_range()
"""


def main():
    folder, python = sys.argv[1:]
    with open(NVTX_SO, "rb") as f:
        data = f.read()
        if any(name in data for name in (b"__asan_init", b"__tsan_init", b"__ubsan_handle")):
            skip_all("the collector has a sanitizer: programs without it cannot load it")
    include = os.path.join(folder, "nvtx", "include")
    headers = [os.path.join(os.environ.get("CUDA_HOME", "/usr/local/cuda"), "include"), include,
               os.path.join(folder, "cu13", "include")]
    headers = [i for i in headers if os.path.exists(os.path.join(i, "nvtx3", "nvToolsExt.h"))]
    tap = Tap()
    with tempfile.TemporaryDirectory() as tmp:
        for i, inc in enumerate(headers):
            compile_c(os.path.join(tmp, "abi.o"), "abi.c", "-c", f"-I{inc}")
            tap.ok(True, f"the layouts are those of the header in place {i + 1}")
        compile_c(os.path.join(tmp, "abi.o"), "abi.c", "-c", "-DV2", f"-I{include}")
        tap.ok(True, "and of version 2")
        tool = os.path.join(tmp, "count.so")
        compile_c(tool, "count.c", "-fPIC", "-shared", f"-I{include}")

        for i, inc in enumerate(headers):
            program = os.path.join(tmp, f"three{i}")
            copies = []
            for name in ("one", "two"):
                copies.append(os.path.join(tmp, f"{name}{i}.so"))
                compile_c(copies[-1], "program.c", "-fPIC", "-shared", f"-DCOPY=copy_{name}",
                          f"-I{inc}", "-ldl")
            compile_c(program, "program.c", f"-I{inc}", *copies, f"-Wl,-rpath,{tmp}", "-pthread",
                      "-ldl")
            events = compare(tap, f"version 3, {i + 1}", [program], tool, 4, 1)
            check_program(tap, f"version 3, {i + 1}", events)
        few = os.path.join(tmp, "few.so")
        compile_c(few, "count.c", "-fPIC", "-shared", "-DFEW", f"-I{include}")
        check_few(tap, program, tool, few)
        check_idle(tap, program, tool)

        for i, inc in enumerate(headers):
            if os.path.exists(os.path.join(inc, "nvtx3", "nvToolsExtCounters.h")):
                compile_c(os.path.join(tmp, "abi.o"), "ext-abi.c", "-c", f"-I{inc}")
                program = os.path.join(tmp, f"ext{i}")
                compile_c(program, "extension.c", f"-I{inc}", "-ldl")
                out, events = record([program], nvtx_env(), options=["--no-itt"])
                check_extension(tap, f"extensions, {i + 1}", out, events)
                lengths = os.path.join(tmp, f"len{i}")
                compile_c(lengths, "lengths.c", f"-I{inc}", "-ldl")
                _, events = record([lengths], nvtx_env(), options=["--no-itt"])
                check_lengths(tap, f"lengths, {i + 1}", events)
                check_hostile(tap, f"nonsense, {i + 1}", inc, tmp)
        points = make_locales(tmp)
        for name, point in points.items():
            out, events = record([program], nvtx_env(LOCPATH=tmp, LC_ALL=name),
                                 options=["--no-itt"])
            check_extension(tap, f"extensions in {name}", out, events, point)
        if not points:
            tap.skip("extensions in other locales", "localedef has no sources of locales")

        library = os.path.join(folder, "nvtx", "lib", "libnvToolsExt.so.1")
        program = os.path.join(tmp, "two")
        for name in ("one", "two"):
            compile_c(os.path.join(tmp, f"{name}.o"), "program.c", "-c", "-DV2",
                      f"-DCOPY=copy_{name}", f"-I{include}")
        compile_c(program, "program.c", "-DV2", f"-I{include}", os.path.join(tmp, "one.o"),
                  os.path.join(tmp, "two.o"), library,
                  f"-Wl,-rpath,{os.path.dirname(library)}", "-pthread", "-ldl")
        events = compare(tap, "version 2's library", [program], tool, 2, 1)
        check_program(tap, "version 2's library", events)

        _, events = record([python, "-c", COUNTERS], nvtx_env(), options=["--no-itt"])
        tap.equal([[e.get("i64", e.get("f64")) for e in events if e["type"] == "counter" and
                    (e["cat"], e["name"]) == ("counting", name)] for name in ("items", "load")],
                  [[0, 1, 2, 3, 4], [0, 0.25, 0.5, 0.75, 1]], "Python's counters")
        compare(tap, "Python's nvtx", [python, "-c", PYTHON], tool, 1, 0)
    tap.exit()


if __name__ == "__main__":
    main()
