#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What the benchmark of Python programs runs: usage: python-work.py turns|calls.

turns: two threads that both want the GIL all the time; calls: one that calls a small function. For
each line from stdin the CPU time of the process, in ns, for the same work goes to stdout, after a
line that says that all is ready.
"""
import sys
import threading
import time

ITEMS = 4_000_000
CALLS = 500_000


def spin(n=ITEMS // 2):
    total = 0
    for i in range(n):
        total += i
    return total


def turns():
    threads = [threading.Thread(target=spin) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def leaf():
    pass


def calls():
    for _ in range(CALLS):
        leaf()


WORK = turns if sys.argv[1] == "turns" else calls
WORK()
print("ready", flush=True)
for _ in sys.stdin:
    begin = time.process_time_ns()
    WORK()
    print(time.process_time_ns() - begin, flush=True)
