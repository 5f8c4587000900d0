#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
#
# Many threads in the collector at once, and forks in between: nothing is lost, mixed up or
# counted twice.

import collections
import os
import sys

sys.dont_write_bytecode = True
from ittlib import BUILD, Tap, lost, need_tools, record, tally

THREADS, ROUNDS, FORKS = 4, 2000, 8


def main():
    need_tools()
    tap = Tap()
    _, events = record([os.path.join(BUILD, "tests", "itt", "threads")],
                       options=["--buffer-size", "8M"])
    parent = {e["pid"] for e in events if e.get("name") == "open"}
    tap.equal(lost(events), 0, "nothing lost")

    begins = tally(events, "begin")
    want = collections.Counter()
    for i in range(50):
        want["of all", f"name {i}"] = THREADS * ROUNDS // 50
        for t in range(THREADS):
            want[f"own {t}", f"name {i}"] = ROUNDS // 50
    want["of children", "in a child"] = FORKS * 10
    tap.equal(begins, want, "tasks by name and domain: one name in five domains")
    tap.equal(sum(tally(events, "end").values()), sum(want.values()), "every task ends")
    of_children = collections.Counter(e["pid"] for e in events if e.get("name") == "in a child"
                                      and e["type"] == "begin")
    tap.ok(sorted(of_children.values()) == [10] * FORKS and not parent & set(of_children),
           "each child's tasks are its own", of_children)

    ids = {kind: collections.Counter(e["value"] for e in events if e["type"] == kind)
           for kind in ("async-begin", "async-end")}
    tap.equal(ids["async-end"], ids["async-begin"], "overlapped tasks end in another thread")
    tap.equal(len(ids["async-begin"]), THREADS * 100, "ids are told apart")

    last = collections.defaultdict(int)
    for e in events:
        if e["type"] == "counter":
            last[e["cat"], e["name"]] = max(last[e["cat"], e["name"]], e["i64"])
    missed = [k for k in last if k[1].startswith("not recorded")]
    tap.equal(missed, [], "no call without a record")
    tap.equal(last["counters", "shared"], THREADS * ROUNDS, "a counter that all count on")
    tap.equal({last["of all", f"name {i}"] for i in range(50)}, {THREADS * ROUNDS // 50},
              "counters by name that all count on")
    syncs = collections.Counter((e["name"], e["op"]) for e in events if e["type"] == "sync")
    tap.equal(syncs, {("Lock", op): THREADS * ROUNDS for op in ("create", "acquired", "destroy")},
              "sync objects made and destroyed over and over")
    tap.exit()


if __name__ == "__main__":
    main()
