# SPDX-License-Identifier: GPL-2.0-only
"""Trains a small PyTorch model; markers of the package tell its steps."""
import torch

import xsprof

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for number in range(5):
    xsprof.step(number)
    with xsprof.range("forward"):
        loss = model(torch.ones(8, 16)).sum()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    xsprof.counter("loss", float(loss))
