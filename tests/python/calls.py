#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Calls Python functions, for trace.sh.

Usage: calls.py run, calls.py count, or calls.py check EVENTS.

run: makes the calls. count: makes them and counts them with Python's own profile hook, prints JSON.
check: compares that, from stdin, with EVENTS, the events of a capture of run as NDJSON.
"""
import asyncio
import collections
import contextlib
import json
import os
import sys
import threading

MODULE = sys._getframe().f_code
FILE = os.path.basename(__file__)


def leaf(n):
    return n + 1


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def numbers(n):
    for i in range(n):
        yield leaf(i)


def outer():
    yield from numbers(3)
    yield 7


def echo():
    with contextlib.suppress(GeneratorExit):
        while True:
            yield


def fails(n):
    if n:
        fails(n - 1)
    raise ValueError(n)


def catches():
    try:
        fails(5)
    except ValueError:
        return leaf(0)
    finally:
        leaf(1)


class Thing:
    made = 0

    def __init__(self):
        Thing.made += 1

    def __enter__(self):
        return self

    def __exit__(self, *args):
        return True

    @property
    def size(self):
        return leaf(2)

    @staticmethod
    def static():
        return [leaf(i) for i in range(3)]


async def sleeper(n):
    for _ in range(n):
        await asyncio.sleep(0)
    return leaf(n)


async def gather():
    return await asyncio.gather(*(sleeper(n) for n in range(4)))


def deep(n):
    return deep(n - 1) if n else 0


def work():
    for _ in range(50):
        leaf(1)
    fib(6)


def main():
    fib(10)
    list(outer())
    part = echo()
    next(part)
    part.close()
    catches()
    with Thing() as thing:
        fails(thing.size)
    Thing.static()
    asyncio.run(gather())
    deep(200)
    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    exec(compile("def made():\n    return 5\nmade()\nmade()\n", __file__, "exec"), {})


def name_of(code):
    return "%d: %s" % (code.co_firstlineno, code.co_name)


def count():
    calls = collections.Counter()

    def hook(frame, event, _):
        if event == "call" and frame.f_code.co_filename == __file__:
            calls[name_of(frame.f_code)] += 1
    threading.setprofile(hook)
    sys.setprofile(hook)
    main()
    sys.setprofile(None)
    # What ran before the hook: the module, and in it the body of a class.
    calls[name_of(MODULE)] += 1
    calls.update(name_of(c) for c in MODULE.co_consts if getattr(c, "co_name", "") == "Thing")
    print(json.dumps(calls))


def nested(calls):
    """Yields each call of a thread with the name of its caller, "" for none."""
    stack = []
    for begin, end, name in sorted(calls, key=lambda c: (c[0], -c[1])):
        while stack and stack[-1][0] <= begin and stack[-1][0] < end:
            stack.pop()
        assert not stack or end <= stack[-1][0], ("calls overlap", name, stack[-1])
        yield name, stack[-1][1] if stack else ""
        stack.append((end, name))


def check(path):
    expected = json.load(sys.stdin)
    threads, calls = collections.defaultdict(list), collections.Counter()
    with open(path, encoding="utf-8") as f:
        for event in map(json.loads, f):
            if event.get("cat") != "python_function":
                continue
            assert event["type"] == "complete", event
            where, function = event["name"].rsplit(": ", 1)
            file, line = where.rstrip(")").rsplit("(", 1)
            assert file == FILE, event
            name = "%s: %s" % (line, function.rsplit(".", 1)[-1])
            calls[name] += 1
            threads[event["tid"]].append((event["begin_ns"], event["ns"], name))
    for own in threads.values():
        for name, around in nested(own):
            if name.endswith(": fib"):
                assert around.split()[-1] in ("fib", "main", "work"), (name, around)
    differ = {k: (calls.get(k), expected.get(k)) for k in {*calls, *expected}
              if calls.get(k) != expected.get(k)}
    assert not differ, differ
    print("# %d calls of %d functions" % (sum(calls.values()), len(calls)))


if sys.argv[1] == "check":
    check(sys.argv[2])
elif sys.argv[1] == "count":
    count()
else:
    main()
