#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A model and its training step, compiled by torch.compile, in training and under inference_mode:
usage: compiled.py OUT.json [shapes]."""
import sys

import torch
from torch import nn

from profiled import profiled


def main():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.LayerNorm(32), nn.Linear(32, 4))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    compiled = torch.compile(net)
    x = torch.randn(8, 16)

    def step():
        optimizer.zero_grad()
        compiled(x).square().sum().backward()
        optimizer.step()

    # The first step compiles it.
    for _ in range(3):
        step()
    with profiled(sys.argv[1]):
        step()
    with torch.inference_mode():
        compiled(x)
        with profiled(sys.argv[1]):
            compiled(x)


main()
