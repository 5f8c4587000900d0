# SPDX-License-Identifier: GPL-2.0-only
"""Threads with names: names.py run >SAID, names.py late >SAID, or names.py check EVENTS <SAID.

run: threads that are named in all ways, in this process and in a forked child. late: some threads,
and others after a line from stdin. Each records an event. SAID has lines of process id, thread id
and expected name. check: the events have these names, and no others.
"""
import concurrent.futures
import ctypes
import gc
import json
import os
import sys
import threading

if sys.argv[1] != "check":
    import xsprof

LONG = "loader number %d, longer than the kernel's names"


def here(name=None):
    """The calling thread records an event, and tells its name."""
    xsprof.instant("here")
    # One call: other threads write too.
    os.write(1, ("%d %d %s\n" % (os.getpid(), threading.get_native_id(), name or
                                 threading.current_thread().name)).encode())


class Odd(threading.Thread):
    """The program computes its name: none of its functions may be called for us."""
    asked = 0

    @property
    def name(self):
        Odd.asked += 1
        return "computed"


def waiting(go, name=None):
    """The main thread runs functions meanwhile."""
    go.wait(60)
    here(name)


def inner():
    here()
    # The main thread waits, and runs no function.
    gc.collect()


def outer():
    thread = threading.Thread(target=inner, name="started by another")
    thread.start()
    thread.join()


def foreign():
    """A thread that Python did not start has the name that the kernel knows."""
    libc = ctypes.CDLL(None)

    @ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
    def entered(_):
        assert threading.current_thread().name.startswith("Dummy-")
        with open("/proc/thread-self/comm", encoding="utf-8") as f:
            here(f.read().strip())
        gc.collect()

    thread = ctypes.c_ulong()
    assert not libc.pthread_create(ctypes.byref(thread), None, entered, None)
    libc.pthread_join(thread, None)


def run():
    go = threading.Event()
    threads = [threading.Thread(target=waiting, args=(go,)) for _ in range(3)]
    threads += [threading.Thread(target=waiting, args=(go,), name=LONG % i) for i in range(2)]
    threads.append(threading.Thread(target=waiting, args=(go,), name="\u540d\u524d"))
    threads.append(Odd(target=waiting, args=(go, "odd"), name="odd"))
    threads.append(threading.Thread(target=outer))
    for thread in threads:
        thread.start()
    barrier = threading.Barrier(2)
    with concurrent.futures.ThreadPoolExecutor(2, thread_name_prefix="pool") as pool:
        list(pool.map(lambda _: (barrier.wait(60), here()), range(2)))
    foreign()
    go.set()
    for thread in threads:
        thread.join()
    assert not Odd.asked
    # In the child there is none of these threads, and another has one of their names.
    child = os.fork()
    go.clear()
    thread = threading.Thread(target=waiting, args=(go,), name="pool_0")
    thread.start()
    go.set()
    thread.join()
    if not child:
        os._exit(0)
    assert not os.waitpid(child, 0)[1]


def late():
    """Threads that compute until stdin ends, two of them from the start."""
    goes_on = [True]

    def compute():
        here()
        while goes_on[0]:
            sum(range(1000))

    def add(name):
        threads.append(threading.Thread(target=compute, name=name))
        threads[-1].start()

    threads = []
    add("before")
    add(LONG % 1)
    print("ready", flush=True)
    sys.stdin.readline()
    add("after")
    gc.collect()
    sys.stdin.read()
    goes_on[0] = False
    for thread in threads:
        thread.join()


def check(path):
    told, seen = {}, set()
    for line in sys.stdin:
        pid, tid, name = line.rstrip("\n").split(" ", 2)
        told[int(pid), int(tid)] = name
    with open(path, encoding="utf-8") as f:
        for event in map(json.loads, f):
            who = event.get("pid"), event.get("tid")
            if who in told:
                assert event["thread"] == told[who], (event, told[who])
                seen.add(who)
    assert told and seen == set(told), (told, seen)


if __name__ == "__main__":
    if sys.argv[1] == "check":
        check(sys.argv[2])
    else:
        {"run": run, "late": late}[sys.argv[1]]()
