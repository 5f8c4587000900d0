# SPDX-License-Identifier: GPL-2.0-only
"""Ranges that do not nest: across an await, in a generator, into another thread.

Prints, as JSON, for each range's name the least and the most ns that it can have been open."""
import asyncio
import json
import threading
import time

import torch

now = time.monotonic_ns
times = {}


class Range:
    def __init__(self, name):
        self.name = name
        self.range = torch.autograd.profiler.record_function(name)

    def __enter__(self):
        self.before = now()
        self.range.__enter__()
        self.begun = now()

    def __exit__(self, *why):
        ends = now()
        self.range.__exit__(None, None, None)
        least, most = times.get(self.name, (0, 0))
        times[self.name] = (least + ends - self.begun, most + now() - self.before)


async def request(name, seconds):
    with Range(name):
        torch.ones(2)
        await asyncio.sleep(seconds)
        torch.zeros(2)


async def requests():
    await asyncio.gather(request("fast", 0.05), request("slow", 0.2), request("middle", 0.1))


def batches():
    with Range("batches"):
        for _ in range(3):
            time.sleep(0.01)
            yield torch.ones(1)


def end_elsewhere(moved, worker):
    """Ends it in a thread that is in a range of its own, which also ends."""
    def work():
        with Range(worker):
            moved.__exit__(None, None, None)
            time.sleep(0.05)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def begin_moved(name):
    moved = torch.autograd.profiler.record_function(name)
    moved.__enter__()
    return moved


def ends_elsewhere():
    """Ends in another thread: within another range, within one of the same name, within none."""
    with Range("outer"):
        end_elsewhere(begin_moved("moved"), "first")
    with Range("after"):
        time.sleep(0.01)
    outer = Range("same")
    with outer:
        end_elsewhere(begin_moved("same"), "second")
        time.sleep(0.01)
    end_elsewhere(begin_moved("alone"), "third")
    with Range("behind"):
        time.sleep(0.01)


def thread_ends():
    """Ends a thread's last range elsewhere; then the thread ends."""
    moved, begun, ended = [], threading.Event(), threading.Event()

    def work():
        moved.append(begin_moved("last"))
        begun.set()
        ended.wait()

    thread = threading.Thread(target=work)
    thread.start()
    begun.wait()
    moved[0].__exit__(None, None, None)
    ended.set()
    thread.join()


with Range("warm"):
    torch.ones(1)
asyncio.run(requests())
iterator = batches()
next(iterator)
with Range("consumer"):
    for _ in iterator:
        time.sleep(0.01)
ends_elsewhere()
thread_ends()
print(json.dumps(times))
