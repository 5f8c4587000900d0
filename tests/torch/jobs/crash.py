#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A rank of a two-rank job: after a common collective, rank 1 crashes in a range.

usage: crash.py FOLDER     writes its pid to FOLDER/pid.RANK
"""
import os
import signal
import sys

import torch
import torch.distributed as dist
from torch.autograd.profiler import record_function

dist.init_process_group("gloo")
rank = dist.get_rank()
with open("%s/pid.%d" % (sys.argv[1], rank), "w") as f:
    f.write(str(os.getpid()))
dist.all_reduce(torch.ones(3))
with record_function("last"):
    torch.ones(3).sum()
    if rank:
        # torchrun, or Python, may have handlers.
        signal.signal(signal.SIGSEGV, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGSEGV)
sys.stdout.flush()
os._exit(0)
