#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Realistic programs, and checks of their samples, for real.sh.

Usage: real.py serve SECONDS, real.py table SECONDS, real.py tasks SECONDS: a web server with four
clients in a process of their own; a pandas and numpy job; asyncio tasks. Then real.py
check-serve|check-table|check-tasks EVENTS [GIL].
"""
import asyncio
import collections
import http.server
import json
import subprocess
import sys
import threading
import time
import urllib.request

CLIENTS = 4
END = [0.0]


# ---- a web server ----------------------------------------------------------------------------

def render(n):
    rows = []
    for i in range(n):
        rows.append("<tr><td>%d</td><td>%x</td></tr>" % (i, i * i))
    return "".join(rows).encode()


class Pages(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = render(20000)
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format, *args):
        pass


CLIENT = """
import sys, threading, time, urllib.request
end = time.monotonic() + float(sys.argv[2])
def ask():
    while time.monotonic() < end:
        urllib.request.urlopen("http://127.0.0.1:" + sys.argv[1]).read()
threads = [threading.Thread(target=ask) for _ in range(%d)]
for thread in threads: thread.start()
for thread in threads: thread.join()
""" % CLIENTS


def serve(seconds):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    subprocess.run([sys.executable, "-S", "-c", CLIENT, str(server.server_port), str(seconds)],
                   env={}, check=True)
    server.shutdown()
    thread.join()
    server.server_close()


# ---- a job of pandas and numpy ---------------------------------------------------------------

def score(row):
    return sum(range(int(row["a"]))) + row["b"]


def scores(frame):
    return frame.apply(score, axis=1).groupby(frame["key"]).sum()


def convert(numpy, numbers):
    # Holds the GIL: it reads a list of Python objects.
    return numpy.array(numbers).sum()


def multiply(numpy, matrix):
    # Releases the GIL.
    return numpy.dot(matrix, matrix)


def multiplies(numpy, matrix):
    while time.monotonic() < END[0]:
        multiply(numpy, matrix)


def table(seconds):
    import numpy
    import pandas

    END[0] = time.monotonic() + seconds
    frame = pandas.DataFrame({"a": range(200), "b": range(200), "key": [i % 7 for i in range(200)]})
    numbers = [float(i) for i in range(100000)]
    thread = threading.Thread(target=multiplies, args=(numpy, numpy.ones((600, 600))))
    thread.start()
    while time.monotonic() < END[0]:
        scores(frame)
        for _ in range(5):
            convert(numpy, numbers)
    thread.join()


# ---- tasks of asyncio ------------------------------------------------------------------------

def spins(n):
    return sum(i * i for i in range(n))


async def inner(n):
    spins(n)
    await asyncio.sleep(0)


class Fetcher:
    async def fetch(self):
        while time.monotonic() < END[0]:
            await inner(3000)


async def parse():
    while time.monotonic() < END[0]:
        await asyncio.sleep(0.001)
        spins(6000)


async def tasks():
    await asyncio.gather(Fetcher().fetch(), parse())


# ---- what is known of their samples ----------------------------------------------------------

def samples(path):
    with open(path, encoding="utf-8") as events:
        for line in events:
            event = json.loads(line)
            if event.get("type") == "sample" and event["how"] != "missed":
                yield event["how"], [name_of(f) for f in event.get("frames", ())], event


def name_of(frame):
    """Before 3.11 a name is only the last part."""
    return frame.split("): ", 1)[1].split(".")[-1] if "): " in frame else frame


def follow(stack, *names):
    at = -1
    for name in names:
        if name not in stack[at + 1:]:
            return False
        at = stack.index(name, at + 1)
    return True


def check_serve(path, gil_path):
    ran, threads, accepting, idle = collections.Counter(), set(), set(), 0
    for how, stack, event in samples(path):
        if "render" in stack:
            assert follow(stack, "render", "do_GET", "handle_one_request",
                          "process_request_thread"), stack
            threads.add(event["of"])
        if how == "runs" and "do_GET" in stack:
            ran[stack[0]] += 1
        if "serve_forever" in stack:
            accepting.add(event["of"])
            idle += how == "off"
    # The server mostly renders pages; its accepting thread waits for connections.
    assert ran.most_common(1)[0][0] == "render", ran
    assert ran["render"] > 0.5 * sum(ran.values()) > 50, ran
    assert len(threads) > CLIENTS and idle > 50, (len(threads), idle)
    with open(gil_path, encoding="utf-8") as file:
        gil = json.load(file)
    # Each request has a thread of its own, often too short for a sample: the workers are all
    # threads but the main one and the one that accepts.
    assert len(accepting) == 1, accepting
    workers = {t["tid"] for t in gil["threads"] if t["tid"] != t["pid"]} - accepting
    assert threads <= workers, threads - workers
    # Who waits, waits for a worker; who accepts hardly holds it. The workers wait for each other:
    # how much of all waiting that is, depends on how long the accepting thread waits for them.
    held = sum(p["waited_ns"] for p in gil["pairs"] if p["holder"] in workers)
    among = sum(p["waited_ns"] for p in gil["pairs"]
                if p["holder"] in workers and p["waiter"] in workers)
    assert held > 0.8 * gil["waited_ns"] > 0, (held, gil["waited_ns"])
    assert among > 0.25 * gil["waited_ns"], (among, gil["waited_ns"])


def check_table(path, _):
    by_state = collections.defaultdict(collections.Counter)
    native = applied = 0
    for how, stack, _ in samples(path):
        for name in {"score", "convert", "multiply"} & set(stack):
            by_state[name][how] += 1
        if "score" in stack:
            assert follow(stack, "score", "apply_series_generator", "apply", "scores", "table"), \
                stack
            applied += 1
        # C called by convert(): frames inside of it in the stack.
        if how == "runs" and "convert" in stack:
            native += any("_multiarray_umath" in f for f in stack[:stack.index("convert")])
    assert applied >= 20, applied
    assert by_state["score"]["native"] == 0, by_state
    assert by_state["multiply"]["native"] >= 20, by_state
    assert by_state["multiply"]["native"] > 2 * by_state["multiply"]["runs"], by_state
    assert native >= 20 and native > 0.5 * by_state["convert"]["runs"], (native, by_state)


def check_tasks(path, _):
    """Checks that the innermost task in the stack is the one that the event loop's handle runs."""
    found, names = collections.Counter(), collections.defaultdict(set)
    for how, stack, _ in samples(path):
        if how == "runs" and "spins" in stack:
            assert "_run" in stack, stack
            inside = stack[:stack.index("_run")]
            task = [f for f in inside if f.startswith("asyncio task: ")]
            # The first samples have no task yet.
            assert task in ([], inside[-1:]), stack
            coroutine = inside[-1 - len(task)]
            found[coroutine] += 1
            names[coroutine].update(task)
    assert set(found) == {"fetch", "parse"} and min(found.values()) >= 10, found
    assert sorted(map(sorted, names.values())) == [["asyncio task: Task-2"],
                                                   ["asyncio task: Task-3"]], names


def main():
    what = sys.argv[1]
    if what == "tasks":
        END[0] = time.monotonic() + float(sys.argv[2])
        asyncio.run(tasks())
    elif what in ("serve", "table"):
        {"serve": serve, "table": table}[what](float(sys.argv[2]))
    else:
        {"check-serve": check_serve, "check-table": check_table,
         "check-tasks": check_tasks}[what](*sys.argv[2:4])


if __name__ == "__main__":
    main()
