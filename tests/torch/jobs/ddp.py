#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Trains with DistributedDataParallel on two gloo ranks, and makes collectives of its own: usage:
ddp.py FOLDER [spawn] [shapes]

With "spawn" it starts the ranks itself, without environment variables; else torchrun does. Rank N
writes torch.profiler's events of one step to FOLDER/rank.N, and its own facts to FOLDER/told.N.
"""
import json
import os
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from profiled import profiled

STEPS = 5


def job(rank=-1, size=-1, store=None):
    if rank < 0:
        dist.init_process_group("gloo")
    else:
        dist.init_process_group("gloo", init_method="file://" + store, rank=rank,
                                world_size=size)
    rank = dist.get_rank()
    # A group in which this rank has another number.
    other = dist.new_group([1, 0] if rank < 2 else None)
    torch.manual_seed(rank)
    net = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 4))
    net = DistributedDataParallel(net)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

    def step():
        optimizer.zero_grad()
        net(torch.randn(8, 32)).square().sum().backward()
        optimizer.step()
        t = torch.ones(3) * rank
        dist.all_reduce(t)
        dist.broadcast(t, 1)
        dist.all_gather([torch.empty(3), torch.empty(3)], t)
        dist.all_reduce(t, group=other)

    for _ in range(STEPS - 1):
        step()
    with profiled("%s/rank.%d" % (sys.argv[1], rank)):
        step()
    with open("%s/told.%d" % (sys.argv[1], rank), "w") as f:
        json.dump({"pid": os.getpid(), "rank": rank, "size": dist.get_world_size(),
                   "backend": dist.get_backend(), "steps": STEPS}, f)
    dist.barrier()
    dist.destroy_process_group()
    # Gloo's threads free the last tensors at any time. If ops are observed, they may do so while
    # Python exits, which crashes PyTorch.
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    if "spawn" in sys.argv:
        store = os.path.abspath(os.path.join(sys.argv[1], "store"))
        torch.multiprocessing.spawn(job, (2, store), 2)
    else:
        job()
