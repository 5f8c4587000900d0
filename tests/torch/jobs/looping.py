#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A training that goes on until a file "enough" is in FOLDER: usage: looping.py FOLDER [profile]

Two optimizers take turns within a step: each is of one. "begun" is there after the first step. With
"profile" torch.profiler has everything up to a file "profiled" meanwhile; FOLDER/theirs is how
often it has each op then. With a file "again" it has five more steps, each in a range "step of
both": FOLDER/theirs.again.
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
        # Not so many that there is no end of them.
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
