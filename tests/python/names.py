# SPDX-License-Identifier: GPL-2.0-only
"""Threads with names: names.py run >SAID, names.py late >SAID, or
names.py check EVENTS INFO <SAID.

run: threads that are named in all ways, in this process and in a forked child. late: some threads,
and others once a recorder has attached. Each records an event. SAID has lines of process id, thread
id and expected name. check: the events have these names, and no others; INFO is that of info
--json.
"""
import _thread
import atexit
import concurrent.futures
import ctypes
import gc
import json
import os
import sys
import threading
import time

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
    """The program computes what it is: none of its functions may be called for us."""
    asked = []

    def __getattribute__(self, name):
        if name in ("_native_id", "native_id", "name"):
            Odd.asked.append(name)
        return super().__getattribute__(name)

    @property
    def _name(self):
        if sys._getframe(1).f_code.co_filename != threading.__file__:
            Odd.asked.append("_name")
        return self.__dict__["_name"]

    @_name.setter
    def _name(self, name):
        self.__dict__["_name"] = name


def waiting(go, name=None):
    """The main thread runs functions meanwhile."""
    go.wait(60)
    here(name)


def inner():
    here()
    # The main thread waits, and runs no function.
    gc.collect()


def named_itself(go):
    xsprof.thread_name("named itself")
    go.wait(60)
    here("named itself")


def quiet():
    """A forked child that records nothing is no process of the recording."""
    gc.collect()
    gc.disable()
    child = os.fork()
    if not child:
        os._exit(sum(range(1000)) != 499500)
    gc.enable()
    os.write(1, b"%d 0 quiet\n" % child)
    assert not os.waitpid(child, 0)[1]


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


def interpreted():
    """A thread runs another interpreter, with threads of its own, and no main thread."""
    try:
        import _xxsubinterpreters as interpreters
    except ImportError:
        import _interpreters as interpreters
    try:
        other = interpreters.create(isolated=False)
    except TypeError:
        other = interpreters.create("legacy")
    interpreters.run_string(other, "import threading\n"
                            "for _ in range(3):\n"
                            "    thread = threading.Thread(target=lambda: None)\n"
                            "    thread.start()\n"
                            "    thread.join()\n")
    interpreters.destroy(other)


def foreign_before(go):
    """Up to 3.12 the table keeps a thread that Python did not start, and its place is used again:
    the newest thread is not the last one."""
    lock = _thread.allocate_lock()
    lock.acquire()

    def foreigner():
        threading.current_thread()
        lock.acquire()

    _thread.start_new_thread(foreigner, ())
    time.sleep(0.05)
    threads = [threading.Thread(target=waiting, args=(go,), name="keeper")]
    threads[0].start()
    time.sleep(0.05)
    lock.release()
    time.sleep(0.05)
    threads.append(threading.Thread(target=waiting, args=(go,), name="in its place"))
    threads[1].start()
    return threads


def at_the_end():
    """Threads may still be started, unless Python refuses it."""
    try:
        thread = threading.Thread(target=here, args=("any",))
        thread.start()
        thread.join()
    except RuntimeError:
        pass


def run():
    atexit.register(at_the_end)
    go = threading.Event()
    others = [threading.Thread(target=interpreted)]
    others[0].start()
    others[0].join()
    others = foreign_before(go)
    threads = [threading.Thread(target=waiting, args=(go,)) for _ in range(3)]
    threads += [threading.Thread(target=waiting, args=(go,), name=LONG % i) for i in range(2)]
    threads.append(threading.Thread(target=waiting, args=(go,), name="\u540d\u524d"))
    threads.append(Odd(target=waiting, args=(go, "odd"), name="odd"))
    threads.append(threading.Thread(target=outer))
    threads.append(threading.Thread(target=named_itself, args=(go,)))
    for thread in threads:
        thread.start()
        others[0].name = "renamed"
    barrier = threading.Barrier(2)
    with concurrent.futures.ThreadPoolExecutor(2, thread_name_prefix="pool") as pool:
        list(pool.map(lambda _: (barrier.wait(60), here()), range(2)))
    foreign()
    quiet()
    go.set()
    for thread in threads + others:
        thread.join()
    assert not Odd.asked, Odd.asked
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
    """Threads that compute until stdin ends, two of them from before the recorder attaches."""
    goes_on = [True]

    def compute():
        here()
        while goes_on[0]:
            sum(range(100000))
            xsprof.instant("computed")

    def add(name):
        threads.append(threading.Thread(target=compute, name=name))
        threads[-1].start()

    threads = []
    add("before")
    add(LONG % 1)
    os.write(1, b"ready\n")
    # Only a child that is forked when all is in place looks for names.
    for _ in range(6000):
        if xsprof.enabled() and gc.callbacks:
            break
        time.sleep(0.01)
    else:
        os._exit(1)
    add("after")
    gc.collect()
    child = os.fork()
    if not child:
        # Others may collect before there is a thread.
        gc.collect(0)
        go = threading.Event()
        thread = threading.Thread(target=waiting, args=(go,), name="in a child")
        thread.start()
        gc.collect()
        go.set()
        thread.join()
        os._exit(0)
    assert not os.waitpid(child, 0)[1]
    # Each has recorded something.
    time.sleep(0.2)
    os.write(1, b"done\n")
    sys.stdin.read()
    goes_on[0] = False
    for thread in threads:
        thread.join()


def check(path, info):
    told, seen = {}, set()
    with open(info, encoding="utf-8") as f:
        recorded = {process["pid"] for process in json.load(f)["processes"]}
    with open(path, encoding="utf-8") as f:
        # Python itself may wait for its lock, or collect, in any child.
        active = {e["pid"] for e in map(json.loads, f) if e.get("cat") == "python"}
    for line in sys.stdin:
        pid, tid, name = line.rstrip("\n").split(" ", 2)
        assert (int(pid) in recorded) == (name != "quiet" or int(pid) in active), (line, recorded)
        if name != "quiet":
            told[int(pid), int(tid)] = name
    with open(path, encoding="utf-8") as f:
        for event in map(json.loads, f):
            who = event.get("pid"), event.get("tid")
            # Python may not look any more at the end.
            if told.get(who, "any") != "any":
                assert event["thread"] == told[who], (event, told[who])
                seen.add(who)
    assert told and seen == {who for who in told if told[who] != "any"}, (told, seen)


if __name__ == "__main__":
    if sys.argv[1] == "check":
        check(*sys.argv[2:])
    else:
        {"run": run, "late": late}[sys.argv[1]]()
