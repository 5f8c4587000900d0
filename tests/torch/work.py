#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A PyTorch program that profiles itself: usage: work.py OUT.json [shapes].

It writes torch.profiler's data of the parts under the mark "profiled": jobs/profiled.py. A thread
also runs a part, under "thread", which torch.profiler does not see.
"""
import json
import os
import sys
import threading

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "jobs"))
from profiled import SHAPES, add_rows  # pylint: disable=wrong-import-position

net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 6 * 6, 10))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)


def step():
    optimizer.zero_grad()
    loss = net(torch.randn(4, 3, 8, 8)).sum()
    loss.backward()
    optimizer.step()


def others():
    torch.ones(1, 2, 1, 2, 1, 2, 1).sum()
    torch.cat([torch.ones(2), torch.zeros(3)])
    torch.einsum("ij,jk->ik", torch.ones(2, 3), torch.ones(3, 4))
    nn.functional.gelu(torch.ones(4), approximate="tanh")
    torch.zeros((), dtype=torch.bfloat16) + torch.ones(3, dtype=torch.bfloat16)
    torch.arange(6).view(2, 3).t().contiguous().bool().any()
    for text in ("first text", "second text", "first text"):
        with record_function(text):
            torch.ones(2, 2).mm(torch.ones(2, 3)).abs_()
    with torch.inference_mode():
        net(torch.randn(1, 3, 8, 8))


# The loss of a thread, whose backward ops run in another one.
forward = {}


def forward_part():
    forward["thread"] = threading.get_native_id()
    forward["loss"] = net(torch.randn(4, 3, 8, 8)).sum()


def backward_part():
    forward["loss"].backward()


def in_thread(work, *args):
    thread = threading.Thread(target=work, args=args)
    thread.start()
    thread.join()


def part(mark, work):
    with record_function(mark):
        work()


def main():
    torch.set_num_threads(1)
    # Enough tensors for the collector, which checks the first ones.
    for _ in range(3):
        step()
        others()
    with profile(activities=[ProfilerActivity.CPU], record_shapes=SHAPES) as prof:
        part("profiled", step)
        part("profiled", others)
        in_thread(part, "thread", others)
        in_thread(forward_part)
        part("profiled", backward_part)
    ops = []
    add_rows(ops, prof, sys.argv[1])
    with open(sys.argv[1], "w") as f:
        json.dump({"ops": ops, "thread": forward["thread"]}, f)


main()
