#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Trains, and waits for data: two DataLoader workers, forked or spawned; one batch takes half a
second from when it is waited for. usage: loader.py OUT.json START

It writes how long it waited for each batch, by its own clock, and how many aten::mm each worker
called.
"""
import json
import os
import sys
import threading
import time

import torch
from torch.utils.data import DataLoader, Dataset

BATCH, BATCHES, SLOW = 4, 8, 3


class Data(Dataset):
    def __init__(self, awaited):
        self.awaited = awaited

    def __len__(self):
        return BATCH * BATCHES

    def __getitem__(self, i):
        if i == BATCH * SLOW:
            self.awaited.wait()
            time.sleep(0.5)
        a = torch.full((8, 8), float(i))
        return a.mm(a).flatten(), torch.tensor([i, os.getpid()])


def watch(main, wanted, awaited):
    """Waits until the main thread asks the workers for that batch."""
    wanted.wait()
    while not awaited.is_set():
        frame = sys._current_frames()[main]
        while frame and frame.f_code.co_name != "_try_get_data":
            frame = frame.f_back
        if frame:
            awaited.set()
        time.sleep(0.01)


def main():
    context = torch.multiprocessing.get_context(sys.argv[2])
    wanted, awaited = threading.Event(), context.Event()
    threading.Thread(target=watch, args=(threading.get_ident(), wanted, awaited)).start()
    net = torch.nn.Linear(64, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-9)
    waited, made = [], {}
    loader = iter(DataLoader(Data(awaited), batch_size=BATCH, num_workers=2,
                             multiprocessing_context=context))
    for i in range(BATCHES):
        if i == SLOW:
            wanted.set()
        begin = time.monotonic_ns()
        x, who = next(loader)
        waited.append(time.monotonic_ns() - begin)
        for _, pid in who.tolist():
            made[pid] = made.get(pid, 0) + 1
        optimizer.zero_grad()
        net(x).sum().backward()
        optimizer.step()
    with open(sys.argv[1], "w") as f:
        json.dump({"waited": waited, "made": made, "slow": SLOW, "pid": os.getpid()}, f)


if __name__ == "__main__":
    main()
