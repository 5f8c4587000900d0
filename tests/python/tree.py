#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Call trees of one program from two tracers, for viztracer.sh.

Usage: tree.py run, or tree.py compare EVENTS VIZTRACER.

run: calls that nest, return early, raise and repeat, in two threads, the same each time. compare:
EVENTS are a capture's events as NDJSON, VIZTRACER is viztracer's output; both must have the same
trees.
"""
import json
import os
import sys
import threading

FILE = os.path.basename(__file__)


# ---- the program -----------------------------------------------------------------------------

def leaf(n):
    return n + 1


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def fails(n):
    if n:
        fails(n - 1)
    raise ValueError(n)


def catches():
    try:
        fails(4)
    except ValueError:
        return leaf(0)
    return 0


class Shape:
    def __init__(self, size):
        self.size = leaf(size)

    def area(self):
        return leaf(self.size) * leaf(self.size)


def sorts():
    # Called by C.
    return sorted(range(5), key=leaf)


def first():
    fib(8)
    catches()
    sorts()


def second():
    for size in range(10):
        Shape(size).area()
        catches()


def run():
    for function in first, second:
        thread = threading.Thread(target=function)
        thread.start()
        thread.join()


# ---- both trees ------------------------------------------------------------------------------

def nested(calls):
    """Builds trees (name, trees) from (begin, end, name), only of calls in first() and second()."""
    roots, opened = [], []
    # Of two that begin at once the outer ends later.
    for begin, end, name in sorted(calls, key=lambda call: (call[0], -call[1])):
        while opened and opened[-1][0] < end:
            opened.pop()
        node = (name, [])
        if opened:
            opened[-1][1][1].append(node)
        elif name in ("first", "second"):
            roots.append(node)
        else:
            continue
        opened.append((end, node))
    return roots


def ours(path):
    threads = {}
    with open(path, encoding="utf-8") as events:
        for line in events:
            event = json.loads(line)
            if event["type"] == "complete" and event["name"].startswith(FILE + "("):
                name = event["name"].split("): ")[1].split(".")[-1]
                threads.setdefault(event["tid"], []).append(
                    (event["begin_ns"], event["end_ns"], name))
    return threads


def theirs(path):
    threads = {}
    with open(path, encoding="utf-8") as file:
        for event in json.load(file)["traceEvents"]:
            if event["ph"] == "X" and FILE in event["name"]:
                # Nanoseconds: the file has microseconds with decimals.
                begin = round(event["ts"] * 1000)
                name = event["name"].split(" (")[0].split(".")[-1]
                threads.setdefault(event["tid"], []).append(
                    (begin, begin + round(event["dur"] * 1000), name))
    return threads


def trees(threads):
    return sorted((tree for calls in threads.values() for tree in nested(calls)),
                  key=lambda tree: tree[0])


def count(tree):
    return 1 + sum(count(inner) for inner in tree[1])


def compare(mine, other):
    one, two = trees(ours(mine)), trees(theirs(other))
    assert [tree[0] for tree in one] == ["first", "second"], [tree[0] for tree in one]
    assert one == two, (one, two)
    print("# %d calls in the same places" % sum(count(tree) for tree in one))


def main():
    if sys.argv[1] == "run":
        run()
    else:
        compare(*sys.argv[2:4])


if __name__ == "__main__":
    main()
