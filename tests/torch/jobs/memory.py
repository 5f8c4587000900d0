#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Allocates memory, MIB MiB at a time, until there is none: usage: memory.py MIB limit sets itself
a limit of 256 MiB, catches PyTorch's error, and prints the count and the error; memory.py MIB
FOLDER joins the memory cgroup of that folder and is killed.
"""
import os
import resource
import sys

import torch


def limit():
    with open("/proc/self/statm") as f:
        size = int(f.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (size + (256 << 20),) * 2)


def main():
    # Do what happens only once, such as starting threads, before the limit.
    torch.ones(1 << 20).sum()
    if sys.argv[2] == "limit":
        limit()
    else:
        with open(os.path.join(sys.argv[2], "cgroup.procs"), "w") as f:
            f.write("%d" % os.getpid())
    held = []
    try:
        while len(held) < 1000:
            held.append(torch.ones(int(sys.argv[1]) << 20, dtype=torch.uint8))
    except RuntimeError as e:
        print(len(held), e)


main()
