#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
#
# Compares what tests/nvtx/table does with its trace: levels and nesting over domains, and each call
# without a record counted by its name. Also how `xsprof record` names the collector.

import os
import sys

sys.dont_write_bytecode = True
from nvtxlib import BUILD, NVTX_SO, XSPROF, Tap, args_of, lost, nvtx_env, record, run, tally

TABLE = os.path.join(BUILD, "tests", "nvtx", "table")

MISSED = {
    "attributes shorter than their fields": 96,
    "attributes of an unknown type": 17,
    "end of a range that was not started": 4,
    "extensions other than payloads and counters": 1,
    "operations on an unknown sync object": 10,
    "payloads of an unknown schema": 413,
    "payloads with fields left out": 64,
    "pop without push": 6,
    "ranges cut in two: an enclosing range of another domain ended first": 2,
    "schemas and enumerations beyond the limit": 2,
    "domains of ranges nested too deep": 760,
    "unknown domains: the default one is used": 20,
    "unknown registered strings": 1,
}
NAMED = ("CuDevice", "CuContext", "CuStream", "CuEvent", "CudaDevice", "CudaStream", "CudaEvent",
         "ClDevice", "ClContext", "ClCommandQueue", "ClMemObject", "ClSampler", "ClProgram",
         "ClEvent")


def check_trace(tap, events):
    tap.equal(lost(events), 0, "nothing lost")
    last = {e["name"]: e["i64"] for e in events if e["type"] == "counter"}
    want = {f"not recorded: {name}": n for name, n in MISSED.items()}
    want.update({f"not recorded: nvtxName{name}": 2 for name in NAMED})
    tap.equal(sorted(last.items()), sorted(want.items()), "what was not recorded, by name")
    tap.equal([e for e in events if e.get("unmatched")], [], "no end without its begin")
    begins = tally(events, "begin")
    names = [("nvtx", "deep"), ("a", "in a"), ("b", "in b"), ("nvtx", "third"),
             ("nvtx", "in a thread"), ("nvtx", "of a child")]
    tap.equal([begins[name] for name in names], [1400, 3, 1, 2, 2, 3],
              "ranges by domain: those inside of one that ended are two")
    tap.equal(sum(begins.values()), sum(tally(events, "end").values()), "every range ended")
    short = [dict(args_of(e)) for e in events if e["type"] == "begin" and e.get("args")]
    short = [a for a in short if a.get("category") == 7]
    tap.equal([len(short), sum("color" in a for a in short),
               sum(a.get("payload") == 77 for a in short)], [40, 32, 16],
              "fields that are within the size are read")


def check_threads(tap, events):
    begins = tally(events, "begin")
    want = {("nvtx", f"name {i}"): 160 for i in range(50)}
    want.update({("nvtx", "categorized"): 8000, ("shared", "registered"): 8000})
    tap.equal(dict(begins), want, "ranges of many threads by name")
    categories = {dict(args_of(e)).get("category") for e in events
                  if e["type"] == "begin" and e["name"] == "categorized"}
    tap.equal(categories, {"a category"}, "categories that all threads name")
    ids = [sorted(e["value"] for e in events if e["type"] == kind)
           for kind in ("async-begin", "async-end")]
    tap.ok(ids[0] == ids[1] and len(set(ids[0])) == 400, "ranges that another thread ends", ids)
    tap.equal([lost(events), sum(e["type"] == "counter" for e in events)], [0, 0],
              "nothing lost, no call without a record")


def named(options, env):
    """Returns the collector and the user's tool, as a command's environment names them."""
    return run([XSPROF, "record", "--no-torch", "-q", "-o", os.devnull, *options, "--", "sh", "-c",
                "echo ${NVTX_INJECTION64_PATH-none} ${XSPROF_NVTX_TOOL-none}"], env).strip()


def main():
    tap = Tap()
    out, events = record([TABLE, "recording"], nvtx_env())
    tap.ok("not ok" not in out and "1..30" in out, "the table under a recorder", out)
    check_trace(tap, events)
    out, events = record([TABLE, "threads"], nvtx_env(), options=["--buffer-size", "8M"])
    tap.ok("not ok" not in out and "1..1" in out, "levels of many threads at once", out)
    check_threads(tap, events)
    out = run([TABLE, "idle"], nvtx_env(NVTX_INJECTION64_PATH=NVTX_SO))
    tap.ok("not ok" not in out and "1..3" in out, "with no recorder no slot is filled", out)

    tap.equal(named([], nvtx_env()), f"{NVTX_SO} none", "the command is told of the collector")
    tap.equal(named(["--no-nvtx"], nvtx_env()), "none none", "--no-nvtx names none")
    theirs = nvtx_env(NVTX_INJECTION64_PATH="/a/tool.so")
    tap.equal(named([], theirs), f"{NVTX_SO} /a/tool.so", "a tool of the user's is chained")
    tap.equal(named(["--no-nvtx"], theirs), "/a/tool.so none", "--no-nvtx leaves it in place")
    out, events = record([TABLE, "threads"], theirs, options=["--buffer-size", "8M"])
    tap.ok("not ok" not in out and any(
        e.get("name") == "not recorded: the tool in XSPROF_NVTX_TOOL: it cannot be loaded"
        for e in events), "a tool that is not there is told of", out)
    out, events = record([TABLE, "threads"], nvtx_env(NVTX_INJECTION64_PATH=NVTX_SO,
                                                      XSPROF_NVTX_TOOL=NVTX_SO),
                         options=["--buffer-size", "8M"])
    tap.ok("not ok" not in out, "the collector is not chained to itself", out)
    check_threads(tap, events)
    tap.exit()


if __name__ == "__main__":
    main()
