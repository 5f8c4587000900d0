#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What the benchmark of Python programs runs: usage: python-work.py turns|calls.

turns: two threads that both want the GIL all the time; calls: one that calls a small function. A
line of stdout says that all is ready, with the process id. For each line from stdin the time for
the same work follows, and the CPU time of the process, in ns.
"""
import os
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
print("ready", os.getpid(), flush=True)
for _ in sys.stdin:
    began, begin = time.monotonic_ns(), time.process_time_ns()
    WORK()
    print(time.monotonic_ns() - began, time.process_time_ns() - begin, flush=True)
