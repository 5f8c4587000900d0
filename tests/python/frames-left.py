# SPDX-License-Identifier: GPL-2.0-only
"""The programs of frames-left.sh: usage: frames-left.py WHAT ARGUMENTS."""
import ctypes
import os
import signal
import sys
import threading
import time


def waits(threads, library):
    """Two threads compute a moment and wait, with the GIL; others wait without."""
    lib = ctypes.PyDLL(library)
    lib.computes_and_waits.restype = ctypes.c_double
    lib.computes_and_waits.argtypes = ctypes.c_double, ctypes.c_int
    threading.stack_size(64 << 10)
    over, counts = threading.Event(), []
    idle = [threading.Thread(target=over.wait) for _ in range(int(threads) - 2)]
    for thread in idle:
        thread.start()

    def work():
        end, bad, nr = time.monotonic() + 4, 0, 0
        while time.monotonic() < end:
            waited = lib.computes_and_waits(0.3, 20)
            # Later than that it had waited for a CPU, after its time was over.
            bad += 0.5 < waited < 19
            nr += 1
            time.sleep(0)
        counts.append((bad, nr))

    both = [threading.Thread(target=work) for _ in range(2)]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join()
    over.set()
    for thread in idle:
        thread.join()
    print(*map(sum, zip(*counts)))


def computes(seconds):
    """Takes CPU time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        sum(range(1000))


def chains(library):
    """Installs a handler that calls the one before, and raises the signal."""
    lib = ctypes.CDLL(library)
    computes(0.5)
    had = lib.takes(signal.SIGURG)
    for _ in range(3):
        os.kill(os.getpid(), signal.SIGURG)
        time.sleep(0.05)
    print(had, lib.called())


def stack(size, library):
    """Computes in a thread with an alternate stack."""
    lib = ctypes.CDLL(library)

    def work():
        lib.stack(int(size))
        computes(1)
        print(0, lib.below())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def audits():
    """Runs coroutines under an audit hook that refuses to compile."""
    import asyncio  # pylint: disable=import-outside-toplevel

    def hook(event, _args):
        if event == "compile":
            raise RuntimeError("refused: " + event)

    async def part():
        for _ in range(30):
            computes(0.02)
            await asyncio.sleep(0)

    async def both():
        await asyncio.gather(part(), part())

    sys.addaudithook(hook)
    asyncio.run(both())
    print("fine")


def deep(depth):
    """Computes at the end of a recursion."""
    sys.setrecursionlimit(2 * int(depth))
    threading.stack_size(256 << 20)
    apart = []

    def down(more):
        apart.append(bytearray(100))
        return down(more - 1) if more else computes(3)

    thread = threading.Thread(target=down, args=(int(depth),))
    thread.start()
    thread.join()


def forks(library):
    """Forks in threads that are to end: while it is recorded, and after that."""
    lib = ctypes.CDLL(library)
    print("ready", flush=True)
    counts = []
    for name in "go", "over":
        while not os.path.exists(name):
            time.sleep(0.02)
        counts.append("%d forks" % sum(lib.forks_cancelled() for _ in range(5)))
    print(*counts, sep=", ")


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
