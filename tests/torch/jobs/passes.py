#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Trains with an optimizer per parameter, each of which steps in the backward pass.

passes.py FOLDER: until a file "enough" is in FOLDER; makes "begun" there after the first step.
passes.py N: N steps.
"""
import os
import sys
import time

import torch


def main():
    net = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Linear(8, 1))
    optimizers = {p: torch.optim.SGD([p], lr=1e-9) for p in net.parameters()}

    def update(p):
        optimizers[p].step()
        optimizers[p].zero_grad()

    for p in net.parameters():
        p.register_post_accumulate_grad_hook(update)

    def step():
        net(torch.ones(2, 8)).sum().backward()
        time.sleep(0.001)

    if sys.argv[1].isdigit():
        for _ in range(int(sys.argv[1])):
            step()
        return
    step()
    with open(os.path.join(sys.argv[1], "begun"), "w"):
        pass
    while not os.path.exists(os.path.join(sys.argv[1], "enough")):
        step()


main()
