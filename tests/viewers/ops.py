#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""The demo's training with each op marked that PyTorch runs, and each step: as a program does that
knows of xsprof.

usage: ops.py LIBRARY STEPS
"""
import ctypes
import os
import runpy
import sys

import torch
from torch.utils._python_dispatch import TorchDispatchMode

TRAIN = os.path.join(os.path.dirname(__file__), "..", "demo", "train.py")
user = ctypes.CDLL(sys.argv[1])


class Marked(TorchDispatchMode):
    def __init__(self):
        user.xsprof_init()
        self.category = user.xsprof_category(b"PyTorch")
        self.names = {}

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        name = self.names.get(func)
        if name is None:
            text = func._schema.name.encode()
            name = self.names[func] = user.xsprof_name_in(self.category, text)
        user.xsprof_emit_begin(name)
        try:
            return func(*args, **(kwargs or {}))
        finally:
            user.xsprof_emit_end()


class SGD(torch.optim.SGD):
    def step(self, *args, **kwargs):
        super().step(*args, **kwargs)
        user.xsprof_profiler_step()


torch.optim.SGD = SGD
sys.argv = [TRAIN, sys.argv[2]]
with Marked():
    runpy.run_path(TRAIN, run_name="__main__")
