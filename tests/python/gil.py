#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Threads that make each other wait, for gil.sh.

Usage: gil.py run, gil.py steps, gil.py check EVENTS, or gil.py why REASONS.

run: prints a JSON line for each process: its number, and those of the thread that keeps the GIL
and of the one that waits for it. steps: in the fifth of nine "turn" it waits for long. check and
why: read these from stdin. EVENTS: the capture as NDJSON. REASONS: what report --json --why
'GIL wait' prints.
"""
import ctypes
import gc
import json
import os
import sys
import threading
import time

import xsprof

HOLDS = 5
HELD_MS = 40


def hold(keep, go, done):
    """Keeps the GIL over and over: a call through PyDLL does not leave it."""
    for _ in range(HOLDS):
        go.wait()
        go.clear()
        with xsprof.range("keeps it"):
            keep(HELD_MS * 1000)
        done.set()


def waits():
    """This thread wants the GIL each time that the other has just taken it for long."""
    keep = ctypes.PyDLL(None).usleep
    go, done = threading.Event(), threading.Event()
    other = threading.Thread(target=hold, args=(keep, go, done))
    other.start()
    for _ in range(HOLDS):
        go.set()
        # Until the other one is in its call this one gets the GIL back at once.
        while not done.is_set():
            time.sleep(0.0005)
        done.clear()
    other.join()
    print(json.dumps({"pid": os.getpid(), "holder": other.native_id,
                      "waiter": threading.get_native_id()}), flush=True)


def turns(seconds):
    """Three threads take turns, and a fourth comes and goes."""
    end = time.monotonic() + seconds

    def spin():
        while time.monotonic() < end:
            sum(range(1000))

    def sleep():
        while time.monotonic() < end:
            time.sleep(0.003)
    threads = [threading.Thread(target=f) for f in (spin, spin, sleep)]
    for thread in threads:
        thread.start()
    spin()
    for thread in threads:
        thread.join()


def run():
    gc.disable()
    waits()
    for generation in range(3):
        gc.collect(generation)
    turns(0.5)
    pid = os.fork()
    if not pid:
        waits()
        turns(0.2)
        os._exit(0)
    if os.waitpid(pid, 0)[1]:
        sys.exit("the child failed")


def steps():
    keep = ctypes.PyDLL(None).usleep
    for turn in range(9):
        with xsprof.range("turn"):
            if turn == 4:
                other = threading.Thread(target=keep, args=(200_000,))
                other.start()
            time.sleep(0.01)
    other.join()


# ---- check ---------------------------------------------------------------------------------------

def values(event):
    return {arg["key"]: arg["value"] for arg in event.get("args", ())}


def ranges(events, pid, name):
    """(tid, begin, end, arguments of the begin, of the end) in the order of their ends."""
    opened, found = {}, []
    for e in events:
        if e.get("pid") != pid or e.get("name") != name:
            continue
        if e["type"] == "begin":
            assert e["tid"] not in opened, e
            opened[e["tid"]] = e
        elif e["type"] == "end":
            begin = opened.pop(e["tid"])
            found.append((e["tid"], begin["ns"], e["ns"], values(begin), values(e)))
    assert not opened, opened
    return found


def held(events, pid):
    """(tid, begin, end)"""
    return sorted((e["begin_ns"], e["end_ns"], e["tid"]) for e in events
                  if e["type"] == "span" and e["name"] == "GIL held, wanted" and e["pid"] == pid)


def check_process(events, said):
    waits_ = ranges(events, said["pid"], "GIL wait")
    # One may begin a moment after the call does.
    long = [w for w in waits_ if w[0] == said["waiter"] and w[2] - w[1] > HELD_MS * 900_000 and
            w[3].get("held_by") == said["holder"]]
    assert len(long) == HOLDS, (waits_, said)
    for tid, begin, end, args, _ in waits_:
        assert begin <= end and args.get("held_by") != tid, (tid, begin, end, args)
    spans = held(events, said["pid"])
    for one, other in zip(spans, spans[1:]):
        assert one[1] <= other[0], ("two threads had it", one, other)
    # Who has waited has it now, so nobody else does.
    for tid, _, end, _, _ in waits_:
        assert not [s for s in spans if s[0] < end < s[1] and s[2] != tid], (tid, end)
    kept = [s for s in spans if s[2] == said["holder"] and s[1] - s[0] > HELD_MS * 900_000]
    assert len(kept) == HOLDS, kept
    print("# process %d: %d waits, %d spans" % (said["pid"], len(waits_), len(spans)))


def check(path):
    with open(path, encoding="utf-8") as f:
        events = [json.loads(line) for line in f]
    said = [json.loads(line) for line in sys.stdin]
    assert len(said) == 2, said
    for one in said:
        check_process(events, one)
    passes = ranges(events, said[0]["pid"], "garbage collection")
    got = [p[3].get("generation") for p in passes]
    assert got[-3:] == [0, 1, 2], got
    assert all("collected" in p[4] for p in passes), passes


def why(path):
    with open(path, encoding="utf-8") as f:
        windows = json.load(f)["ranges"]
    said = {one["waiter"]: one["holder"] for one in map(json.loads, sys.stdin)}
    found = 0
    for window in windows:
        assert sum(c["ns"] for c in window["causes"]) == window["wall_ns"], window
        if window["tid"] not in said or window["wall_ns"] < HELD_MS * 900_000:
            continue
        held_by = [c for c in window["causes"] if c["class"] == "gil" and c.get("by")]
        if not held_by or held_by[0]["by"]["tid"] != said[window["tid"]]:
            continue
        assert held_by[0]["range"] == "keeps it", window
        found += held_by[0]["ns"] > window["wall_ns"] / 2
    # On a busy machine threads wait for a CPU as well.
    assert found, windows


if sys.argv[1] == "run":
    run()
elif sys.argv[1] == "steps":
    steps()
elif sys.argv[1] == "why":
    why(sys.argv[2])
else:
    check(sys.argv[2])
