#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Two ranks that reduce a tensor several times; rank 1 leaves out the last time, so rank 0 waits
for it. usage: hung.py TIMES FOLDER

Rank 1 ends when FOLDER has a file "enough"; that ends both.
"""
import os
import sys
import time

import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    for step in range(int(sys.argv[1])):
        dist.all_reduce(torch.ones(4) * rank)
    with open(os.path.join(sys.argv[2], "pid.%d" % rank), "w") as f:
        f.write("%d" % os.getpid())
    if rank == 0:
        try:
            dist.all_reduce(torch.ones(4))
        except RuntimeError:
            pass
    while not os.path.exists(os.path.join(sys.argv[2], "enough")):
        time.sleep(0.05)


main()
