# SPDX-License-Identifier: GPL-2.0-only
"""
A program to attach to: attach.py KIND STOP. It creates the file STOP.begun and works until the file
STOP exists. It verifies each of its results, and at the end that its threads, signal handlers,
callbacks of the garbage collector and hooks are as before. It prints whether it did any work.
"""
import ctypes
import errno
import gc
import hashlib
import os
import select
import signal
import sys
import threading
import time

kind, stop = sys.argv[1:3]
libc = ctypes.CDLL(None, use_errno=True)
rounds = 0


parent = os.getppid()


# Also when the test is gone, because nothing else would end the program.
def ended():
    return os.path.exists(stop) or os.getppid() != parent


def number(n):
    s = 0
    for i in range(n):
        s += i * i
    return s


def cpu():
    assert number(1000) == 332833500


def threads():
    def work():
        while not ended():
            data = b"x" * 100000
            assert hashlib.md5(data).hexdigest() == want
            cpu()

    want = hashlib.md5(b"x" * 100000).hexdigest()
    all_of_them = [threading.Thread(target=work) for _ in range(6)]
    for t in all_of_them:
        t.start()
    while not ended():
        cpu()
        one = threading.Thread(target=cpu)
        one.start()
        one.join()
        yield
    for t in all_of_them:
        t.join()


def memory():
    while not ended():
        lists = [[str(i) * (i % 50 + 1)] for i in range(2000)]
        big = bytearray(b"z" * (1 << 20))
        assert sum(len(x) for x, in lists) > 0 and big[-1] == ord("z")
        ring = [lists]
        ring.append(ring)
        yield


def forks():
    while not ended():
        pid = os.fork()
        if not pid:
            os._exit(number(100) % 200)
        assert os.WEXITSTATUS(os.waitpid(pid, 0)[1]) == number(100) % 200
        yield


def signals():
    count = [0]

    def handler(sig, frame):
        count[0] += 1
        number(20)

    signal.signal(signal.SIGALRM, handler)
    signal.signal(signal.SIGPROF, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
    signal.setitimer(signal.ITIMER_PROF, 0.002, 0.002)
    while not ended():
        before = count[0]
        while count[0] < before + 3:
            cpu()
        yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)


SLEPT = {"all": 0, "early": 0}


def slept(call, seconds):
    """Makes a call that must last that long. The signal of a sample interrupts it very rarely: when
    the thread has only just released the GIL. Attaching that interrupts would do so each time."""
    begin = time.monotonic()
    got = call()
    lasted = time.monotonic() - begin
    SLEPT["all"] += 1
    if got == -1 and ctypes.get_errno() == errno.EINTR:
        SLEPT["early"] += 1
        assert SLEPT["early"] <= 1 + SLEPT["all"] // 100, (call, SLEPT)
        return
    assert got == 0, (call, got, ctypes.get_errno())
    assert lasted >= seconds * 0.999, (call, lasted)


def calls():
    """Calls the C library directly: Python hides interrupted calls."""
    spec = (ctypes.c_long * 2)(0, 20000000)
    futex_at = ctypes.c_int(0)
    end = [0.0]
    r, w = os.pipe()
    buffer = ctypes.create_string_buffer(8)

    def feed():
        while not ended():
            time.sleep(0.013)
            os.write(w, b"12345678")
        os.write(w, b"12345678")

    def futex():
        got = libc.syscall(202, ctypes.byref(futex_at), 0, 0, spec, None, 0)
        return 0 if got == -1 and ctypes.get_errno() == 110 else got

    feeder = threading.Thread(target=feed)
    feeder.start()
    while not ended():
        slept(lambda: libc.nanosleep(spec, None), 0.02)
        slept(lambda: libc.poll(None, 0, 20), 0.02)
        slept(futex, 0.02)
        assert libc.read(r, buffer, 8) == 8, ctypes.get_errno()
        assert buffer.raw == b"12345678"
        yield
    feeder.join()


def waits():
    """All threads wait; none runs Python code for long."""
    done = threading.Event()
    poll = select.epoll()

    def other():
        while not ended():
            poll.poll(0.05)
        done.set()

    t = threading.Thread(target=other)
    t.start()
    while not done.wait(0.5):
        yield
    t.join()
    yield


def emptied():
    """Clears the collector's callbacks, the recorder's too, and reuses the memory."""
    while not ended():
        if gc.callbacks:
            gc.callbacks.clear()
            kept = [{i: [i]} for i in range(2000)]
            assert kept[7] == {7: [7]}
        cpu()
        yield


def spawns():
    """A thread waits in the kernel: the child of its vfork() does not reach its execve()."""
    actions = ctypes.create_string_buffer(256)
    argv = (ctypes.c_char_p * 2)(b"true", None)
    pid = ctypes.c_int()
    assert not libc.posix_spawn_file_actions_init(actions)
    assert not libc.posix_spawn_file_actions_addopen(actions, 0, b"pipe", os.O_RDONLY, 0)

    def spawn():
        assert not libc.posix_spawn(ctypes.byref(pid), b"/bin/true", actions, None, argv, None)
        assert not os.waitpid(pid.value, 0)[1]
        open(stop + ".back", "w").close()

    t = threading.Thread(target=spawn)
    t.start()
    while not ended():
        cpu()
        yield
    t.join()
    libc.posix_spawn_file_actions_destroy(actions)


def once():
    while not ended():
        cpu()
        yield


def tasks():
    names = []
    for task in os.listdir("/proc/self/task"):
        try:
            names.append(open("/proc/self/task/%s/comm" % task).read())
        except OSError:
            pass
    return sorted(names)


def state():
    monitoring = getattr(sys, "monitoring", None)
    tools = [monitoring.get_tool(i) for i in range(6)] if monitoring else []
    lines = [l for l in open("/proc/self/status") if l.startswith(("Sig", "Threads"))]
    lines = [l for l in lines if not l.startswith(("SigQ", "SigPnd"))]
    return lines, gc.callbacks[:], sys.getprofile(), sys.gettrace(), tools, tasks()


# Starting a thread has the C library install a signal handler of its own.
threading.Thread(target=cpu).start()
while threading.active_count() > 1 or len(tasks()) > 1:
    time.sleep(0.01)
if kind == "mute":
    # Callbacks cannot be added to this: the recorder must say so, not our standard error.
    gc.callbacks = ()
before = state()
open(stop + ".begun", "w").close()
for _ in {"cpu": once, "threads": threads, "memory": memory, "forks": forks, "signals": signals,
          "calls": calls, "waits": waits, "emptied": emptied, "mute": once,
          "spawns": spawns}[kind]():
    rounds += 1
# The recorder may still be detaching.
for _ in range(100):
    after = state()
    if after == before:
        break
    time.sleep(0.05)
assert after == before, (before, after)
print("ok", kind, rounds > 0)
