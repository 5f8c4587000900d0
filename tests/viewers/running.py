#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compares how long threads ran inside ranges in Perfetto and in the report.

usage: running.py query              prints the query, NAME=SQL
       running.py SAID REPORT        sql.mjs's output, and the report in JSON

Prints a line for each name that differs, and exits with 1 if there is any.
"""
import json
import sys

# The time of a name's slices, and the part in which their thread was on a CPU.
QUERY = """running=select s.name, sum(s.dur), sum((select sum(min(c.ts + c.dur, s.ts + s.dur) -
    max(c.ts, s.ts)) from sched c where c.utid = t.utid and c.ts < s.ts + s.dur and
    c.ts + c.dur > s.ts)) from slice s join thread_track t on t.id = s.track_id
    where s.dur > 0 group by 1"""
ON_CPU = "on_cpu_ns", "syscall_ns", "irq_ns", "softirq_ns"


def main():
    if sys.argv[1] == "query":
        print(QUERY)
        return 0
    with open(sys.argv[1], encoding="utf-8") as f:
        said = {name: (wall, ran or 0) for name, wall, ran in json.load(f)["running"]}
    with open(sys.argv[2], encoding="utf-8") as f:
        report = json.load(f)
    missed = report["cause"]["missed"]
    compared = wrong = 0
    for row in report["ranges"]:
        cause, (wall, ran) = row.get("cause"), said.get(row["name"], (0, 0))
        # A range inside another of its name counts once there, and twice here.
        if not cause or cause["unknown_ns"] or cause["wall_ns"] != wall:
            continue
        compared += 1
        want = sum(cause[key] for key in ON_CPU)
        # The trace has an inferred switch at its earliest possible time.
        most = want + (cause["runnable_ns"] + cause["blocked_ns"] if missed else 0)
        if not want <= ran <= most:
            wrong += 1
            print("%s: on the CPU for %d ns in Perfetto, %d in the report" %
                  (row["name"], ran, want))
    if compared < 50:
        print("only %d names have such times" % compared)
    return wrong or compared < 50


if __name__ == "__main__":
    sys.exit(bool(main()))
