#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A PyTorch program that profiles itself: usage: work.py OUT.json [shapes].

It writes what torch.profiler says of the parts under the mark "profiled", for each op: its name,
its parent's, the shapes of its inputs, its sequence number, and, where this version has them, the
values of inputs that are no tensors. The parent is left out where times
are whole microseconds, by which nobody knows it. A thread does a part as well, under "thread":
torch.profiler does not see it.
"""
import json
import sys
import threading

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function

SHAPES = "shapes" in sys.argv
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


def part(mark, work):
    with record_function(mark):
        work()


def parts_of(prof):
    events = [e for e in prof.events() if e.name != "profiled" and not e.is_async]
    whole = all(float(e.time_range.start).is_integer() for e in events)
    out = []
    for e in events:
        top = e
        while top.cpu_parent is not None:
            top = top.cpu_parent
        if top.name != "profiled":
            continue
        out.append([e.name, None if whole else e.cpu_parent.name,
                    e.input_shapes if SHAPES else None, e.sequence_nr,
                    getattr(e, "concrete_inputs", None) if SHAPES else None])
    return out


def main():
    torch.set_num_threads(1)
    # Enough tensors for whoever looks at the first ones with care.
    for _ in range(3):
        step()
        others()
    with profile(activities=[ProfilerActivity.CPU], record_shapes=SHAPES) as prof:
        part("profiled", step)
        part("profiled", others)
        thread = threading.Thread(target=part, args=("thread", others))
        thread.start()
        thread.join()
    with open(sys.argv[1], "w") as f:
        json.dump(parts_of(prof), f)


main()
