#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Trains with several threads, all inside an op when the process is killed: the main thread in the
forward pass, one in a backward pass, one in a single op. usage: killed.py STEPS
"""
import os
import signal
import sys
import threading

import torch
from torch import nn

inside = threading.Semaphore(0)
library = torch.library.Library("jobs", "DEF")
library.define("stay(Tensor x) -> Tensor")


def stay(x):
    inside.release()
    threading.Event().wait()
    return x.clone()


class Slow(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        return torch.ops.jobs.stay(grad)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(8, 8), nn.Linear(8, 1)
        self.hangs = False

    def forward(self, x):
        x = self.first(x)
        return self.last(torch.ops.jobs.stay(x) if self.hangs else x)


def killer():
    for _ in range(3):
        inside.acquire()
    os.kill(os.getpid(), signal.SIGKILL)


def main():
    library.impl("stay", stay, "CPU")
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(int(sys.argv[1]) + 1):
        optimizer.zero_grad()
        with torch.no_grad() if net.hangs else torch.enable_grad():
            loss = net(torch.ones(2, 8)).sum()
        loss.backward()
        optimizer.step()
        net.hangs = step == int(sys.argv[1]) - 1
        if net.hangs:
            threading.Thread(target=killer).start()
            x = torch.ones(3, requires_grad=True)
            threading.Thread(target=Slow.apply(x).sum().backward).start()
            threading.Thread(target=torch.ops.jobs.stay, args=(torch.ones(2),)).start()


main()
