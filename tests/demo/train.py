#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
#
# The demo's training job: a small convolution net learns to find a bright bar in a noisy picture.
# It does not use xsprof; the recording has PyTorch's ops, and the ITT tasks that oneDNN emits below
# them. Usage: train.py [STEPS]

import sys

import torch
from torch import nn


def batch(size, classes=8, side=32):
    """Pictures with one bright vertical bar each, and the index of the bar."""
    where = torch.randint(0, classes, (size,))
    pictures = torch.randn(size, 3, side, side) * 0.5
    width = side // classes
    for i, k in enumerate(where.tolist()):
        pictures[i, :, :, k * width:(k + 1) * width] += 1.0
    return pictures, where


def network(classes=8):
    return nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(32 * 8 * 8, classes))


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    torch.manual_seed(1)
    torch.set_num_threads(1)
    net = network()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    loss_of = nn.CrossEntropyLoss()
    for step in range(steps):
        pictures, where = batch(16)
        optimizer.zero_grad()
        loss = loss_of(net(pictures), where)
        loss.backward()
        optimizer.step()
        if step in (0, steps - 1):
            print(f"train: step {step + 1} of {steps}, loss {loss.item():.4f}", flush=True)


if __name__ == "__main__":
    main()
