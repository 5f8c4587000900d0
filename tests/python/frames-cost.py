#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Measures what a sampled program loses, bare, with py-spy and with xsprof, in turns in one run.

Usage: frames-cost.py XSPROF PY_SPY [ROUNDS], or frames-cost.py work ROUNDS: the program, which
prints its CPU time and how long it took. Prints TAP comments, and judges nothing.

py-spy stops the program to read it, which costs time, and works in a process of its own. xsprof
works in the program's process.
"""
import os
import subprocess
import sys
import time

HZ = "100"
ROUNDS = 100000
TURNS = 5
TICK = os.sysconf("SC_CLK_TCK")


def leaf(n):
    total = 0
    for i in range(n):
        total += i & 7
    return total


def nested(deep, n):
    return nested(deep - 1, n) if deep else leaf(n)


def work(rounds):
    began = time.monotonic(), time.process_time()
    for i in range(rounds):
        nested(i % 20, 500)
    print(time.process_time() - began[1], time.monotonic() - began[0])


def cpu_of(pid):
    """CPU time of a process that has ended, without its children."""
    with open("/proc/%d/stat" % pid, encoding="utf-8", errors="replace") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def measure(prefix, rounds):
    """CPU time of the program, its elapsed time, and CPU time of the program and the tool."""
    command = prefix + [sys.executable, os.path.abspath(__file__), "work", str(rounds)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          universal_newlines=True) as process:
        for line in process.stdout:
            said = line.split()
            if len(said) == 2:
                break
        else:
            raise SystemExit("frames-cost.py: %s: no result" % prefix[0])
        process.stdout.read()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        tool = cpu_of(process.pid) if prefix else 0.0
    cpu, elapsed = map(float, said)
    return cpu, elapsed, cpu + tool


def main():
    if sys.argv[1] == "work":
        work(int(sys.argv[2]))
        return
    xsprof, spy = sys.argv[1:3]
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else ROUNDS
    ways = {"bare": [],
            "py-spy": [spy, "record", "-r", HZ, "-f", "raw", "-o", "cost.spy", "--"],
            "xsprof": [xsprof, "record", "-q", "--python=" + HZ, "-o", "cost.data", "--"]}
    load = os.getloadavg()[0]
    best = {}
    for _ in range(TURNS):
        for name, prefix in ways.items():
            got = measure(prefix, rounds)
            best[name] = [min(pair) for pair in zip(got, best.get(name, got))]
    bare = best["bare"]
    print("# %s Hz, the least of %d turns; bare: %.2f s of CPU time, %.2f s in all" % (
        HZ, TURNS, bare[0], bare[1]))
    for name in "py-spy", "xsprof":
        print("# %s / bare: %.3f of CPU time, %.3f in all; with the tool's own %.3f of CPU time" % (
            (name,) + tuple(a / b for a, b in zip(best[name], bare))))
    if load > 0.3 * os.cpu_count():
        print("# the machine is loaded: load average %.1f with %d CPUs: only the ratios of CPU "
              "time mean something" % (load, os.cpu_count()))


if __name__ == "__main__":
    main()
