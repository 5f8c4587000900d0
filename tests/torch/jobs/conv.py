#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Trains a small residual conv net: usage: conv.py OUT.json [shapes]."""
import sys

import torch
from torch import nn

from profiled import profiled


class Block(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(channels)

    def forward(self, x):
        return nn.functional.relu(self.norm(self.conv(x)) + x)


def main():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(3, 8, 3, stride=2), Block(8), nn.MaxPool2d(2), Block(8),
                        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.1), nn.Linear(8, 10))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
    loss_of = nn.CrossEntropyLoss()

    def step():
        optimizer.zero_grad()
        loss = loss_of(net(torch.randn(4, 3, 32, 32)), torch.randint(10, (4,)))
        loss.backward()
        optimizer.step()

    # Enough tensors for the collector, which checks the first ones.
    for _ in range(4):
        step()
    with profiled(sys.argv[1]):
        step()


main()
