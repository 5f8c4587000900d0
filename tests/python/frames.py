#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Threads with a known call graph, for frames.sh; frames-check.py has the graph.

Usage: frames.py run SECONDS, frames.py shares SECONDS, frames.py fork, frames.py exec N,
frames.py signals NUMBER..., or frames.py alone.

run: prints a JSON line for each process. shares: two functions with known shares. fork, exec and
signals: fail if a sampler interferes. alone: prints what a sampler would leave behind.
"""
import ctypes
import errno
import json
import os
import signal
import sys
import threading
import time

END = [0.0]


def heavy():
    x = 0
    for i in range(6000):
        x ^= i * i
    return x


def light():
    x = 0
    for i in range(2000):
        x ^= i * i
    return x


def ratio():
    while time.monotonic() < END[0]:
        heavy()
        light()


def numbers(n):
    for i in range(n):
        yield i * i


def consume():
    return sum(numbers(300)) + max(x for x in numbers(20))


def raises(n):
    if n:
        raises(n - 1)
    raise ValueError(n)


def catches():
    try:
        raises(5)
    except ValueError:
        pass


def recurse(n):
    if n:
        return recurse(n - 1)
    catches()
    return consume()


def deep():
    while time.monotonic() < END[0]:
        recurse(3)
        recurse(200)


def größe():
    return sum(numbers(100))


def имя():
    return größe() + größe()


SOURCE = "def made_%d(n):\n    x = 0\n    for i in range(n):\n        x += i\n    return x\n"


def makes():
    """Code objects that are freed at once, so that new ones get their addresses."""
    i = 0
    while time.monotonic() < END[0]:
        scope = {}
        exec(compile(SOURCE % i, "made_%d_\U0001f40d.py" % i, "exec"), scope)
        scope["made_%d" % i](200)
        имя()
        i += 1


def blocked():
    time.sleep(max(0, END[0] - time.monotonic()))


def waits(counts):
    """Calls that a signal would end early: none may."""
    libc = ctypes.CDLL(None, use_errno=True)
    while time.monotonic() < END[0]:
        ctypes.set_errno(0)
        counts[0] += 1
        if libc.usleep(2000) and ctypes.get_errno() == errno.EINTR:
            counts[1] += 1


def brief():
    light()


def rounds():
    while time.monotonic() < END[0]:
        thread = threading.Thread(target=brief)
        thread.start()
        thread.join()
        time.sleep(0.002)


def child():
    while time.monotonic() < END[0]:
        child_spins()


def child_spins():
    return sum(i * i for i in range(500))


def run(seconds):
    END[0] = time.monotonic() + seconds
    counts = [0, 0]
    threads = [threading.Thread(target=f) for f in (ratio, deep, makes, blocked, rounds)]
    threads.append(threading.Thread(target=waits, args=(counts,)))
    for thread in threads:
        thread.start()
    tids = {f.__name__: t.native_id for f, t in
            zip((ratio, deep, makes, blocked, rounds, waits), threads)}
    for thread in threads:
        thread.join()
    # Python 3.12 and later warn of a fork while the kernel still ends a thread that was joined.
    for tid in tids.values():
        while os.path.exists("/proc/self/task/%d" % tid):
            time.sleep(0.001)
    print(json.dumps({"pid": os.getpid(), "tids": tids, "calls": counts[0],
                      "interrupted": counts[1]}), flush=True)
    pid = os.fork()
    if not pid:
        END[0] = time.monotonic() + seconds / 3
        child()
        print(json.dumps({"pid": os.getpid(), "child": True}), flush=True)
        os._exit(0)
    if os.waitpid(pid, 0)[1]:
        sys.exit("the child failed")


def shares(seconds):
    END[0] = time.monotonic() + seconds
    ratio()


# ---- what a sampler must not do ------------------------------------------------------------------

def spin(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        light()


def fork():
    """Python 3.12 and later warn of a fork with several threads: -W error makes that fail."""
    for _ in range(10):
        spin(0.02)
        pid = os.fork()
        if not pid:
            spin(0.02)
            os._exit(7)
        if os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) != 7:
            sys.exit("a child failed")


def exec_(n):
    """A signal that arrives during execve() would kill the new program."""
    spin(0.005)
    if n:
        os.execv(sys.executable, [sys.executable, "-S", "-E", __file__, "exec", str(n - 1)])


def signals(numbers_):
    got = []
    for number in numbers_:
        signal.signal(number, lambda number, frame: got.append(number))
    spin(0.3)
    if got:
        sys.exit("signals that nobody sent: %s" % got)


def alone():
    spin(0.2)
    with open("/proc/self/status", encoding="ascii") as f:
        status = dict(line.split(":", 1) for line in f)
    print(len(os.listdir("/proc/self/task")), int(status["SigCgt"], 16) >> (signal.SIGURG - 1) & 1)


what = sys.argv[1]
if what == "run":
    run(float(sys.argv[2]))
elif what == "shares":
    shares(float(sys.argv[2]))
elif what == "fork":
    fork()
elif what == "exec":
    exec_(int(sys.argv[2]))
elif what == "signals":
    signals([int(n) for n in sys.argv[2:]])
else:
    alone()
