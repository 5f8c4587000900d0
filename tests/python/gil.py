#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Threads that wait for each other, for gil.sh.

Usage: gil.py run, gil.py steps, gil.py yields, gil.py check EVENTS, gil.py table REPORT EVENTS,
gil.py yielded EVENTS OPEN, or gil.py why REASONS.

run: prints a JSON line for each process: its pid, and the tids of the thread that holds the GIL and
of the one that waits for it. steps: a program with nine "turn", of which the fifth has a long wait.
yields: prints a JSON line, of threads that yield the GIL and do not want it back, and kills itself.
check, table and why: read run's output from stdin, yielded: that of yields. EVENTS: the capture as
NDJSON. REPORT: the output of report --json --gil. OPEN: that of report --json --open. REASONS: that
of report --json --why 'GIL wait'.
"""
import collections
import ctypes
import functools
import gc
import json
import os
import signal
import sys
import threading
import time

import xsprof

HOLDS = 5
HOLDER = "a name longer than the kernel's"
HELD_MS = 60
TURNS = 5
ENDS = 25


class Keeper:
    """Makes a thread wait for the GIL for at least HELD_MS, even on a busy machine."""
    def __init__(self):
        self.ends = os.pipe()
        os.set_inheritable(self.ends[1], True)
        # PyDLL does not release the GIL. The shell wakes the other thread, waits until that sleeps,
        # waiting for the GIL, and then sleeps itself.
        self.system = ctypes.PyDLL(None).system
        self.command = ("echo >&%d; state=; until [ \"$state\" = S ]; do "
                        "read -r state </proc/%d/task/%%d/stat || exit 1; state=${state##*) }; "
                        "state=${state%%%% *}; done; sleep %.3f" %
                        (self.ends[1], os.getpid(), HELD_MS / 1000))

    def keep(self, waiter):
        if self.system(self.command.replace("%d", str(waiter)).encode()):
            sys.exit("gil.py: the shell failed")

    def wait(self):
        """Called by the thread that is to wait."""
        os.read(self.ends[0], 1)


def hold(keeper, waiter, go):
    """Holds the GIL HOLDS times."""
    for _ in range(HOLDS):
        go.acquire()
        with xsprof.range("keeps it"):
            keeper.keep(waiter)


def waits():
    """Waits for the GIL each time that the other thread holds it for long."""
    keeper, go, waiter = Keeper(), threading.Semaphore(0), threading.get_native_id()
    other = threading.Thread(target=hold, args=(keeper, waiter, go), name=HOLDER)
    other.start()
    for _ in range(HOLDS):
        go.release()
        keeper.wait()
    other.join()
    print(json.dumps({"pid": os.getpid(), "holder": other.native_id, "waiter": waiter}),
          flush=True)


def turns(seconds):
    """Three threads take turns; a fourth wakes now and then."""
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
    keeper, waiter = Keeper(), threading.get_native_id()
    for turn in range(9):
        with xsprof.range("turn"):
            if turn == 4:
                other = threading.Thread(target=keeper.keep, args=(waiter,))
                other.start()
                keeper.wait()
            time.sleep(0.001)
    other.join()


def read():
    """A thread yields and reads from a pipe. Returns its tid."""
    ends, reads = os.pipe(), []
    # C code all the way to read(), which releases the GIL: the main thread asks for it meanwhile.
    calls = [functools.partial(reads.append, 1), functools.partial(sum, range(8_000_000)),
             functools.partial(os.read, ends[0], 1)]
    reader = threading.Thread(target=lambda: collections.deque(
        map(functools.partial.__call__, calls), maxlen=0))
    reader.start()
    while not reads:
        pass
    with xsprof.range("alone"):
        time.sleep(0.2)
    os.write(ends[1], b".")
    reader.join()
    return reader.native_id


def end():
    """A thread yields when it ends. Returns its tid."""
    local = threading.local()

    def fill():
        # To free this takes more than a switch interval: then the main thread asks for the GIL.
        local.lists = [[] for _ in range(200_000)]
    thread = threading.Thread(target=fill)
    thread.start()
    while thread.is_alive():
        pass
    return thread.native_id


def yields():
    sys.setswitchinterval(0.001)
    # A thread does not yield if another has the GIL by then: several tries.
    said = {"pid": os.getpid(), "readers": [read() for _ in range(TURNS)],
            "ended": [end() for _ in range(ENDS)]}
    print(json.dumps(said), flush=True)
    with xsprof.range("killed"):
        time.sleep(0.1)
        os.kill(os.getpid(), signal.SIGKILL)


# ---- check ---------------------------------------------------------------------------------------

def values(event):
    return {arg["key"]: arg["value"] for arg in event.get("args", ())}


def ranges(events, pid, name):
    """Returns (tid, begin, end, arguments of the begin, of the end), in the order of ends."""
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
    """Returns (tid, begin, end)."""
    return sorted((e["begin_ns"], e["end_ns"], e["tid"]) for e in events
                  if e["type"] == "span" and e["name"] == "GIL held, wanted" and e["pid"] == pid)


def untaken(end):
    """A wait with these arguments at its end has ended without the GIL."""
    return end.get("taken") == 0


def check_process(events, said):
    waits_ = ranges(events, said["pid"], "GIL wait")
    long = [w for w in waits_ if w[0] == said["waiter"] and w[2] - w[1] > HELD_MS * 1_000_000 and
            w[3].get("held_by") == said["holder"]]
    assert len(long) == HOLDS, (waits_, said)
    for tid, begin, end, args, _ in waits_:
        assert begin <= end and args.get("held_by") != tid, (tid, begin, end, args)
    spans = held(events, said["pid"])
    for one, other in zip(spans, spans[1:]):
        assert one[1] <= other[0], ("two threads had it", one, other)
    # A thread that has waited holds the GIL now, so no other thread does.
    for tid, _, end, _, args in waits_:
        others = [s for s in spans if s[0] < end < s[1] and s[2] != tid]
        assert untaken(args) or not others, (tid, end, others)
    kept = [s for s in spans if s[2] == said["holder"] and s[1] - s[0] > HELD_MS * 1_000_000]
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


def shares(events, pid):
    """Returns what is known of the GIL: {(holder, waiter): ns}, {holder: ns in which others
    waited}, and those holders for which two threads waited at a time."""
    pairs, kept, crowded = {}, {}, set()
    waiting, holder, now = {}, None, 0
    for e in events:
        if e.get("pid") != pid or not str(e.get("name")).startswith("GIL "):
            continue
        ns = max(now, e["end_ns"] if e["type"] == "span" else e["ns"])
        for tid in waiting:
            pairs[holder, tid] = pairs.get((holder, tid), 0) + ns - now
        if waiting and holder:
            kept[holder] = kept.get(holder, 0) + ns - now
        if len(waiting) > 1:
            crowded.add(holder)
        now, name, tid = ns, e.get("name"), e.get("tid")
        if e["type"] == "begin" and name == "GIL wait":
            holder = values(e).get("held_by")
            waiting[tid] = ns
        elif e["type"] == "end" and name == "GIL wait":
            del waiting[tid]
            if not untaken(values(e)):
                holder = tid
        elif name == "GIL taken":
            holder = tid
        elif name == "GIL held, wanted":
            holder = None
    return pairs, kept, crowded


def table(report, path):
    with open(report, encoding="utf-8") as f:
        got = json.load(f)
    with open(path, encoding="utf-8") as f:
        events = [json.loads(line) for line in f]
    said = [json.loads(line) for line in sys.stdin]
    assert not got["open"] and not got["doubtful"] and not got["left_out"], got
    rows = {t["tid"]: t for t in got["threads"]}
    want, exact = {}, 0
    for pid in {one["pid"] for one in said}:
        pairs, kept, crowded = shares(events, pid)
        for tid, begin, end, _, args in ranges(events, pid, "GIL wait"):
            want.setdefault(tid, []).append((end - begin, untaken(args)))
        of_pid = [p for p in got["pairs"] if p["pid"] == pid]
        assert {(p["holder"], p["waiter"]): p["waited_ns"]
                for p in of_pid} == pairs, (of_pid, pairs)
        for tid, row in rows.items():
            if row["pid"] != pid:
                continue
            waited = sum(p["waited_ns"] for p in of_pid if p["holder"] == tid)
            assert row["held_ns"] == kept.get(tid, 0) <= waited, (row, kept, waited)
            assert tid in crowded or row["held_ns"] == waited, (row, waited)
            exact += tid not in crowded and waited > 0
            assert row["longest_hold_ns"] <= row["held_ns"], row
            assert (row["holds"] > 0) == (tid in kept), (row, kept)
    assert exact >= 1, "no thread was waited for by one thread at a time"
    assert set(want) <= set(rows), set(want) - set(rows)
    for tid, row in rows.items():
        waited = [ns for ns, _ in want.get(tid, ())]
        assert (row["waits"], row["waited_ns"], row["longest_wait_ns"]) == (
            len(waited), sum(waited), max(waited, default=0)), (row, waited)
        pairs = [p for p in got["pairs"] if p["waiter"] == tid]
        assert sum(p["waited_ns"] for p in pairs) == sum(waited), (pairs, waited)
        taken = [ns for ns, without in want.get(tid, ()) if not without]
        assert sum(p["handed"] for p in pairs) == len(taken), (pairs, taken)
        assert all(p["holder"] != tid and p["longest_ns"] <= p["waited_ns"] for p in pairs), pairs
    assert got["waits"] == sum(len(w) for w in want.values())
    assert got["waited_ns"] == sum(ns for w in want.values() for ns, _ in w)
    for one in said:
        pair, = [p for p in got["pairs"] if p["waiter"] == one["waiter"] and
                 p["holder"] == one["holder"]]
        assert pair["handed"] >= HOLDS and pair["pid"] == one["pid"], pair
        # In each hold the shell sleeps for HELD_MS, and the other thread waits.
        assert pair["waited_ns"] > HOLDS * HELD_MS * 1_000_000, pair
        assert pair["longest_ns"] > HELD_MS * 1_000_000, pair
    print("# %d pairs, %d threads for which one thread at a time waited" %
          (len(got["pairs"]), exact))


def yielded(path, open_path):
    with open(path, encoding="utf-8") as f:
        events = [json.loads(line) for line in f]
    with open(open_path, encoding="utf-8") as f:
        open_ = json.load(f)["open_at_end"]
    said = json.loads(sys.stdin.read())
    names = [(t["tid"], r["name"]) for t in open_ for r in t["ranges"]]
    assert names == [(said["pid"], "killed")], names
    waits_ = ranges(events, said["pid"], "GIL wait")
    alone = ranges(events, said["pid"], "alone")
    for _, begin, end_, _, _ in alone:
        assert not [w for w in waits_ if w[1] < begin and w[2] > end_], (waits_, begin, end_)
    last = [[w for w in waits_ if w[0] == tid and w[1] < one[2]][-1:]
            for tid, one in zip(said["readers"], alone)]
    assert [w for w in last if w and untaken(w[0][4])], ("no reader yielded", last)
    last = [[w for w in waits_ if w[0] == tid][-1:] for tid in said["ended"]]
    # Other versions' threads do not yield at their end.
    if (3, 9) <= sys.version_info < (3, 12):
        assert [w for w in last if w and untaken(w[0][4])], ("no thread yielded at its end", last)
    print("# %d waits, of which %d without the GIL at their end" %
          (len(waits_), len([w for w in waits_ if untaken(w[4])])))


def why(path):
    with open(path, encoding="utf-8") as f:
        windows = json.load(f)["ranges"]
    said = {one["waiter"]: one["holder"] for one in map(json.loads, sys.stdin)}
    found = 0
    for window in windows:
        assert sum(c["ns"] for c in window["causes"]) == window["wall_ns"], window
        if window["tid"] not in said or window["wall_ns"] < HELD_MS * 1_000_000:
            continue
        held_by = [c for c in window["causes"] if c["class"] == "gil" and c.get("by")]
        if not held_by or held_by[0]["by"]["tid"] != said[window["tid"]]:
            continue
        assert held_by[0]["range"] == "keeps it", window
        assert held_by[0]["by"]["comm"] == HOLDER, window
        found += held_by[0]["ns"] > window["wall_ns"] / 2
    # On a busy machine threads also wait for a CPU.
    assert found, windows


if sys.argv[1] == "run":
    run()
elif sys.argv[1] == "steps":
    steps()
elif sys.argv[1] == "yields":
    yields()
elif sys.argv[1] == "yielded":
    yielded(*sys.argv[2:])
elif sys.argv[1] == "table":
    table(*sys.argv[2:])
elif sys.argv[1] == "why":
    why(sys.argv[2])
else:
    check(sys.argv[2])
