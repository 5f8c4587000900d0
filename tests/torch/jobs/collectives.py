#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Collectives as process groups of GPUs report them: usage: collectives.py OUT.json FOLDER ET.json
FOLDER has the extension comms.cc. Writes torch.profiler's trace of them to OUT.json, PyTorch's
execution trace to ET.json.
"""
import sys

import torch
from torch.profiler import ExecutionTraceObserver, ProfilerActivity, profile

sys.path.insert(0, sys.argv[2])
import comms


def main():
    t = torch.ones(6, 4)
    u = torch.zeros(40, dtype=torch.int64)
    torch.ones(2).add_(1)
    observer = ExecutionTraceObserver()
    observer.register_callback(sys.argv[3])
    observer.start()
    with profile(activities=[ProfilerActivity.CPU]) as prof:
        for i in range(20):
            comms.all_reduce(t, i, 1, 2)
            comms.all_to_all(u, torch.empty_like(u), 100 + i, 0, [10, 30], [30, 10])
    observer.stop()
    observer.unregister_callback()
    prof.export_chrome_trace(sys.argv[1])


main()
