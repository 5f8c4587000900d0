#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What the benchmark of PyTorch's ops runs: usage: torch-work.py WHAT PROFILER.

WHAT: op: CPU time of one tiny op, in ns; step: of one step of a small convolutional net, in us;
many: bytes that the process grew by, an op; exit: nothing, and what the clock says at the end.
PROFILER: none, or names, shapes, all: torch.profiler with as much. The last line of stdout is
the figure.
"""
import contextlib
import itertools
import sys
import time

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile

WHAT, PROFILER = sys.argv[1:]
torch.set_num_threads(1)
a, b = torch.ones(1), torch.ones(1)


def ops(n, op=torch.is_same_size):
    for _ in itertools.repeat(None, n):
        op(a, b)


def least(n, work, rounds):
    """CPU time of this thread for one of @n, in ns: the least of all rounds."""
    best = float("inf")
    for _ in range(rounds):
        begin = time.thread_time_ns()
        work(n)
        best = min(best, (time.thread_time_ns() - begin) / n)
    return best


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
    if PROFILER == "none":
        return contextlib.nullcontext()
    return profile(activities=[ProfilerActivity.CPU], record_shapes=PROFILER != "names",
                   profile_memory=PROFILER == "all", with_stack=PROFILER == "all")


def main():
    if WHAT == "step":
        steps = training()
        steps(5)
        with profiler():
            return least(10, steps, 6) / 1000
    with torch.no_grad():
        # What is only done for the first ones: the comparison of 256 tensors, 16 lists.
        for _ in range(400):
            torch.cat([a, b]).any()
        ops(20000)
        with profiler():
            if WHAT == "op":
                return least(20000, ops, 10)
            # torch.profiler keeps all of them until its end: a tenth is enough to know.
            n = 10 ** 7 if WHAT == "many" and PROFILER == "none" else 10 ** 6
            before = resident()
            ops(n)
            if WHAT == "many":
                return (resident() - before) / n
    return time.clock_gettime(time.CLOCK_MONOTONIC)


print(main())
