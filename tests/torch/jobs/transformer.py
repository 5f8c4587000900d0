#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Trains a small transformer with autocast to bfloat16 and a scaled loss: usage: transformer.py
OUT.json [shapes]."""
import sys

import torch
from torch import nn

from profiled import profiled


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(50, 32)
        layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(32, 50)

    def forward(self, tokens):
        return self.head(self.encoder(self.words(tokens)))


def scaler():
    """Returns a scaler, or None: PyTorch before 2.3 has none for CPUs."""
    try:
        return torch.amp.GradScaler("cpu")
    except AttributeError:
        return torch.cuda.amp.GradScaler(enabled=False)


def main():
    torch.manual_seed(0)
    net, scale = Model(), scaler()
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)

    def step():
        tokens = torch.randint(50, (4, 12))
        optimizer.zero_grad()
        with torch.autocast("cpu", torch.bfloat16):
            out = net(tokens)
            loss = nn.functional.cross_entropy(out.flatten(0, 1), tokens.flatten())
        scale.scale(loss).backward()
        scale.unscale_(optimizer)
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        scale.step(optimizer)
        scale.update()

    for _ in range(4):
        step()
    with profiled(sys.argv[1]):
        step()
    net.eval()
    with torch.inference_mode(), profiled(sys.argv[1]):
        net(torch.randint(50, (4, 12)))


main()
