#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A training step and an inference of torchvision's ResNet-18 with random weights: usage: vision.py
OUT.json [shapes]"""
import sys

import torch

from profiled import profiled

# PyPI's torchvision is built for CUDA, so its own operators cannot be loaded. Models do not need
# them, but importing it needs two.
library = torch.library.Library("torchvision", "DEF")
for name in "nms", "qnms":
    library.define(name + "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
import torchvision


def main():
    torch.manual_seed(0)
    net = torchvision.models.resnet18(weights=None, num_classes=10)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)

    def step():
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(net(torch.randn(2, 3, 64, 64)),
                                                 torch.tensor([1, 2]))
        loss.backward()
        optimizer.step()

    for _ in range(2):
        step()
    with profiled(sys.argv[1]):
        step()
    net.eval()
    with torch.inference_mode(), profiled(sys.argv[1]):
        net(torch.randn(1, 3, 64, 64))


main()
