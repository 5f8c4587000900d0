#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
#
# A PyTorch program on a GPU: some steps of a small convolutional net, with the same kernels in each
# run. With "profiler FILE" torch.profiler writes its trace of the steps; with "cost LIBRARY HOW" it
# prints the cost of launching an empty kernel (tests/gpu/work.cu), where HOW is bare or profiler.
# With "stop LIBRARY HOW" it prints how long many launches take, how long the profiler then takes to
# stop, and how much memory they took.

import ctypes
import os
import sys
import time

import torch
from torch import nn

STEPS = 20


def net():
    torch.manual_seed(1)
    return nn.Sequential(
        nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(64 * 8 * 8, 256), nn.ReLU(), nn.Linear(256, 10)).cuda()


def train(steps, profiler=None):
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loss_of = nn.CrossEntropyLoss()
    x = torch.randn(64, 3, 32, 32).pin_memory()
    y = torch.randint(0, 10, (64,))
    spent = []
    for _ in range(steps):
        begin = time.perf_counter()
        with torch.profiler.record_function("step"):
            optimizer.zero_grad()
            loss = loss_of(model(x.cuda(non_blocking=True)), y.cuda())
            loss.backward()
            optimizer.step()
            loss.item()
        spent.append(time.perf_counter() - begin)
        if profiler:
            profiler.step()
    spent.sort()
    print(f"step least {spent[0] * 1e6:.0f} us median {spent[len(spent) // 2] * 1e6:.0f} us")


def profiler():
    kinds = torch.profiler.ProfilerActivity
    return torch.profiler.profile(activities=[kinds.CPU, kinds.CUDA])


def cost(library, how):
    lib = ctypes.CDLL(library)
    torch.zeros(1).cuda()
    lib.launch_cost(20000, 10)
    if how == "profiler":
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]):
            lib.launch_cost(20000, 20)
    else:
        lib.launch_cost(20000, 20)


def resident():
    with open("/proc/self/statm", encoding="ascii") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGESIZE") >> 20


def stop(library, how):
    lib = ctypes.CDLL(library)
    torch.zeros(1).cuda()
    lib.launch_cost(2000, 2)
    began, before = time.perf_counter(), resident()
    cuda = torch.profiler.ProfilerActivity.CUDA
    profile = torch.profiler.profile(activities=[cuda]) if how == "profiler" else None
    if profile:
        profile.start()
    lib.launch_cost(20000, 20)
    end, grown = time.perf_counter(), resident() - before
    if profile:
        profile.stop()
    print(f"ran {end - began:.2f} s, stop {time.perf_counter() - end:.2f} s, +{grown} MiB, after "
          f"the stop +{resident() - before} MiB")


def main():
    what = sys.argv[1] if len(sys.argv) > 1 else "plain"
    if what == "cost":
        cost(*sys.argv[2:4])
    elif what == "stop":
        stop(*sys.argv[2:4])
    elif what == "nvtx":
        with torch.autograd.profiler.emit_nvtx():
            train(STEPS)
    elif what == "profiler":
        with profiler() as p:
            train(int(sys.argv[3]) if len(sys.argv) > 3 else STEPS)
        p.export_chrome_trace(sys.argv[2])
    else:
        train(int(sys.argv[2]) if len(sys.argv) > 2 else STEPS)


if __name__ == "__main__":
    main()
