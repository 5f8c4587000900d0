#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The work for the benchmark of PyTorch's ops: usage: torch-work.py WHAT PROFILER LIBRARY.

WHAT: op: CPU time of one tiny op called by C++, in ns; call: of one called by Python; step: of one
step of a small convolutional net, in us; many: growth of the process in bytes per op; exit:
nothing, and the time at the end. PROFILER: none; names, shapes, all: torch.profiler with as much
detail; count: an observer that counts. LIBRARY: the compiled torch-op.cc. Prints the figure; for
op, call and step one figure for each line of input, after a line that says that it is ready.
"""
import contextlib
import ctypes
import itertools
import sys
import time

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile

WHAT, PROFILER, LIBRARY = sys.argv[1:]
torch.set_num_threads(1)
a, b = torch.ones(1), torch.ones(1)


def ops(n, op=torch.is_same_size):
    for _ in itertools.repeat(None, n):
        op(a, b)


def figures(windows, n, work):
    """Measures the CPU time of this thread per one of @n, in ns: the least of all windows. Return:
    count."""
    times = 0
    print("ready", flush=True)
    for _ in sys.stdin:
        best = float("inf")
        for _ in range(windows):
            begin = time.thread_time_ns()
            work(n)
            best = min(best, (time.thread_time_ns() - begin) / n)
            times += n
        print(best, flush=True)
    return times


def training():
    net = nn.Sequential(nn.Conv2d(3, 16, 3), nn.ReLU(), nn.Conv2d(16, 32, 3), nn.ReLU(),
                        nn.Flatten(), nn.Linear(32 * 28 * 28, 10))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    images, labels = torch.randn(16, 3, 32, 32), torch.randint(10, (16,))

    def steps(n):
        for _ in range(n):
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(images), labels).backward()
            optimizer.step()
    return steps


def resident():
    with open("/proc/self/statm", encoding="ascii") as f:
        return int(f.read().split()[1]) * 4096


def profiler():
    if PROFILER in ("none", "count"):
        return contextlib.nullcontext()
    return profile(activities=[ProfilerActivity.CPU], record_shapes=PROFILER != "names",
                   profile_memory=PROFILER == "all", with_stack=PROFILER == "all")


def measure_ops():
    library = ctypes.PyDLL(LIBRARY)
    work = library.run_ops if WHAT == "op" else ops
    work(20000)
    if PROFILER == "count":
        library.count_ops()
    with profiler():
        # Many calls first: torch.profiler takes twice as long for the first ones.
        n = figures(20, 5000, work)
    if PROFILER == "count" and library.ops_counted() != 2 * n:
        sys.exit("torch-work.py: not every op was observed")


def main():
    if WHAT == "step":
        steps = training()
        steps(5)
        with profiler():
            figures(30, 1, steps)
        return
    with torch.no_grad():
        # Do first what only happens for the first ones: the comparison of 256 tensors, 16 lists.
        for _ in range(400):
            torch.cat([a, b]).any()
        if WHAT in ("op", "call"):
            measure_ops()
            return
        ops(20000)
        with profiler():
            # torch.profiler keeps all ops until its end: a tenth is enough to measure.
            n = 10 ** 7 if WHAT == "many" and PROFILER == "none" else 10 ** 6
            before = resident()
            ops(n)
            grown = (resident() - before) / n
    print(grown if WHAT == "many" else time.clock_gettime(time.CLOCK_MONOTONIC))


main()
