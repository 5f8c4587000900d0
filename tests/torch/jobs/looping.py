#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Trains until a file "enough" is in FOLDER: usage: looping.py FOLDER [profile]
Two optimizers take turns; each step uses one. Makes the file "begun" after the first step. With
"profile" torch.profiler records until there is a file "profiled"; FOLDER/theirs has its counts of
ops. When there is a file "again", it makes five more steps, each in a range "step of both":
FOLDER/theirs.again.
"""
import collections
import json
import os
import sys
import time

import torch
from torch.profiler import ProfilerActivity, profile, record_function


def there(name):
    return os.path.exists(os.path.join(sys.argv[1], name))


def write(name, what):
    path = os.path.join(sys.argv[1], name)
    with open(path + ".part", "w") as f:
        json.dump(what, f)
    os.rename(path + ".part", path)


def main():
    net, critic = torch.nn.Linear(8, 8), torch.nn.Linear(8, 1)
    first = torch.optim.SGD(net.parameters(), lr=1e-9)
    second = torch.optim.Adam(critic.parameters(), lr=1e-9)

    def step():
        for optimizer in first, second:
            optimizer.zero_grad()
            critic(torch.relu(net(torch.ones(2, 8)))).sum().backward()
            optimizer.step()
        # Limits the number of steps.
        time.sleep(0.001)

    step()
    write("begun", os.getpid())
    if sys.argv[2:] == ["profile"]:
        with profile(activities=[ProfilerActivity.CPU]) as prof:
            while not there("profiled"):
                step()
        write("theirs", collections.Counter(e.name for e in prof.events()))
        while not there("again") and not there("enough"):
            step()
        with profile(activities=[ProfilerActivity.CPU]) as prof:
            for _ in range(5):
                with record_function("step of both"):
                    step()
        write("theirs.again", collections.Counter(e.name for e in prof.events()))
    while not there("enough"):
        step()


main()
