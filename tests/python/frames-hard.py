#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Programs whose threads' stacks are hard to read, for frames-hard.sh.

Usage: frames-hard.py WHAT [LIBRARY]

WHAT is one of the functions below that take no argument; LIBRARY is one of frames-hard.sh's, with
functions that fork, jump, install a filter, or handle signals.
"""
import _thread
import array
import ctypes
import hashlib
import itertools
import os
import platform
import resource
import signal
import struct
import sys
import threading
import time


def spin(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        sum(range(100))


# ---- forks ---------------------------------------------------------------------------------------

def forks():
    """Two threads that Python does not know fork at once, while Python's threads hand on the
    GIL."""
    library = ctypes.CDLL(sys.argv[2])

    def yields():
        end = time.monotonic() + 1
        while time.monotonic() < end:
            time.sleep(0)
    if library.start():
        sys.exit("no threads")
    threads = [threading.Thread(target=yields) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print("forks" if library.finish() > 0 else "none")


def clone():
    """A child made by a raw clone(), without fork handlers, and a child of its own."""
    library = ctypes.PyDLL(sys.argv[2])
    spin(0.2)
    pid = library.raw()
    if not pid:
        spin(0.1)
        child = os.fork()
        if not child:
            spin(0.1)
            os._exit(3)
        os._exit(os.waitpid(child, 0)[1] >> 8)
    print(os.waitpid(pid, 0)[1] >> 8)


# ---- names ---------------------------------------------------------------------------------------

SOURCE = "def %s(t):\n x = 0\n while time.perf_counter() < t: x += 1\n"


def call(file, function, seconds):
    scope = {"time": time}
    exec(compile(SOURCE % function, file, "exec"), scope)
    scope[function](time.perf_counter() + seconds)


def reuse():
    """New code objects at the addresses of freed ones: prints when each had ended."""
    end = array.array("q", [0] * 500)
    for i in range(500):
        scope = {}
        exec(compile(SOURCE % ("stage_%d" % (10000 + i)), "cell_%d.py" % (10000 + i), "exec"),
             {"time": time}, scope)
        scope["stage_%d" % (10000 + i)](time.perf_counter() + 0.002)
        end[i] = time.perf_counter_ns()
    print(list(end))


def at_the_end_of_memory(text):
    """Copies a string to the end of a page that has no memory after it."""
    size = sys.getsizeof(text)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    # Readable and writable; private and anonymous.
    pages = libc.mmap(None, ctypes.c_size_t(8192), 3, 0x22, -1, ctypes.c_long(0))
    assert not libc.mprotect(ctypes.c_void_p(pages + 4096), ctypes.c_size_t(4096), 0)
    at = pages + 4096 - (size + 7 & ~7)
    ctypes.memmove(at, id(text), size)
    return ctypes.cast(at, ctypes.py_object).value


def names():
    call(at_the_end_of_memory("".join(["at", "_end.py"])), "at_end", 0.3)
    call("", "in_none", 0.3)
    call("/a" + "/directory" * 100 + "/é.py", "in_long", 0.3)
    call("long.py", "f" * 70000 + "_end", 0.3)


def deep():
    def recurse(n):
        if n:
            recurse(n - 1)
        else:
            spin(0.3)
    sys.setrecursionlimit(7000)
    recurse(6000)


# ---- threads -------------------------------------------------------------------------------------

def counts():
    """Threads that take and release the GIL often, and one that only waits."""
    end = time.monotonic() + 1.5

    def yields():
        while time.monotonic() < end:
            time.sleep(0)

    def writes():
        null = os.open("/dev/null", os.O_WRONLY)
        while time.monotonic() < end:
            os.write(null, b"x")

    def hashes():
        data = b"x" * (1 << 20)
        while time.monotonic() < end:
            hashlib.sha256(data)

    def works():
        while time.monotonic() < end:
            sum(range(50))

    def idles():
        threading.Event().wait(2)
    threads = [threading.Thread(target=f) for f in (idles, yields, writes, works, hashes)]
    for thread in threads:
        thread.start()
    for thread in threads:
        print(thread.native_id, flush=True)
        thread.join()


def ends():
    """A thread that ends without Python's knowledge: prints its id, and when."""
    number = {"x86_64": 60, "aarch64": 93}[platform.machine()]

    def last():
        spin(0.2)
        print(threading.get_native_id(), time.perf_counter_ns(), flush=True)
        ctypes.CDLL(None).syscall(ctypes.c_long(number), ctypes.c_long(0))
    _thread.start_new_thread(last, ())
    time.sleep(1)


def share():
    """Many threads that wake often: a tick that looks at all of them takes long."""
    done = threading.Event()

    def wakes():
        while not done.is_set():
            time.sleep(0.001)

    def ticker():
        for task in os.listdir("/proc/self/task"):
            with open("/proc/self/task/%s/comm" % task, encoding="ascii") as f:
                if f.read() == "xsprof-python\n":
                    return "/proc/self/task/%s/schedstat" % task
        sys.exit("no ticking thread")

    begin = time.monotonic_ns()
    threads = [threading.Thread(target=wakes) for _ in range(300)]
    for thread in threads:
        thread.start()
    time.sleep(4)
    with open(ticker(), encoding="ascii") as f:
        print(f.read().split()[0], time.monotonic_ns() - begin)
    done.set()
    for thread in threads:
        thread.join()


def many():
    threading.stack_size(65536)
    done = threading.Event()
    threads = [threading.Thread(target=done.wait) for _ in range(1100)]
    for thread in threads:
        thread.start()

    # A tick that looks at so many is a rare one: it may take a twentieth of a CPU.
    def last():
        spin(4)
    thread = threading.Thread(target=last)
    thread.start()
    thread.join()
    done.set()
    for thread in threads:
        thread.join()


def raises():
    """A handler of a signal raises in a function of the library, which Python runs in it."""
    import asyncio  # pylint: disable=unused-import,import-outside-toplevel
    count = {"raised": 0, "arrived": 0}

    class Late(Exception):
        pass

    def handler(_number, frame):
        if frame.f_code.co_filename == "<xsprof>":
            count["raised"] += 1
            raise Late

    async def works():
        end = time.monotonic() + 2
        while True:
            try:
                spin(end - time.monotonic())
                break
            except Late:
                count["arrived"] += 1

    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
    try:
        works().send(None)
    except StopIteration:
        pass
    signal.setitimer(signal.ITIMER_REAL, 0)
    time.sleep(0.1)
    signal.signal(signal.SIGALRM, before)
    print(count["raised"], count["arrived"])


def derived():
    """Names that are not plain strings but of a class derived from str."""
    class Text(str):
        pass

    def body():
        spin(0.5)

    names = {"co_filename": Text("/a/folder/of-derived.py"), "co_name": Text("of_derived")}
    if sys.version_info >= (3, 11):
        names["co_qualname"] = Text("of_derived")
    body.__code__ = body.__code__.replace(**names)
    body()


def trampoline():
    """A function at the address of one that was named like Python's own trampoline."""
    names = {"co_name": "<interpreter trampoline>"}
    if sys.version_info >= (3, 11):
        names["co_qualname"] = names["co_name"]
    source = "def again%d():\n    spin(0.5)\n"
    place = {"spin": spin}
    exec(source % 0, place)  # pylint: disable=exec-used
    first = place.pop("again0")
    first.__code__ = first.__code__.replace(**names)
    at = id(first.__code__)
    first()
    del first
    others = []
    for i in range(1, 2000):
        exec(source % i, place)  # pylint: disable=exec-used
        others.append(place.pop("again%d" % i))
        if id(others[-1].__code__) == at:
            others[-1]()
            print(others[-1].__name__)
            return
    print("none")


def winds():
    """A thread blocks the second signal, and the program takes the first one."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGWINCH})
    spin(0.3)
    for _ in range(5):
        signal.signal(signal.SIGURG, lambda *_: None)
        spin(0.1)
        signal.signal(signal.SIGURG, signal.SIG_DFL)
        spin(0.2)
    print(len(signal.sigpending()))


def loads():
    """Loads a library with a constructor that forks, when the first coroutine is seen."""
    import asyncio  # pylint: disable=import-outside-toplevel
    begins = threading.Event()

    def load():
        begins.wait()
        ctypes.CDLL(sys.argv[2])
        print("loaded")

    async def works():
        begins.set()
        time.sleep(0.05)
        spin(1)

    thread = threading.Thread(target=load)
    thread.start()
    asyncio.run(works())
    thread.join()


def interpreters():
    try:
        import _xxsubinterpreters as module
    except ImportError:
        import _interpreters as module
    kind = {"isolated": False} if sys.version_info[:2] == (3, 12) else {}
    made = module.create("legacy") if sys.version_info >= (3, 13) else module.create(**kind)
    module.run_string(made, "import time\ndef inside(t):\n while time.time() < t: sum(range(9))\n"
                            "inside(time.time() + 2)\n")


# ---- signals -------------------------------------------------------------------------------------

def blocks():
    """No sampling signal is pending in a thread that blocks them, or after execve()."""
    if os.environ.get("AGAIN"):
        sys.exit("signals: %s" % signal.sigpending() if signal.sigpending() else 0)
    # A thread that was sampled before, and blocks all signals from time to time.
    for _ in range(10):
        spin(0.03)
        before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        spin(0.03)
        if signal.sigpending():
            sys.exit("signals: %s" % signal.sigpending())
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    spin(0.3)
    os.environ["AGAIN"] = "1"
    os.execv(sys.executable, [sys.executable, "-S", "-E", __file__, "blocks"])


def flushes():
    """Another consumer takes the signals: sigtimedwait(), until none is pending."""
    numbers = {signal.SIGURG, signal.SIGWINCH}
    for _ in range(100):
        signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
        spin(0.003)
        while signal.sigtimedwait(numbers, 0):
            pass
        signal.pthread_sigmask(signal.SIG_UNBLOCK, numbers)

    def after():
        spin(0.5)
    after()


def limit():
    """The kernel has no room for a signal's siginfo."""
    resource.setrlimit(resource.RLIMIT_SIGPENDING, (0, 0))

    def after():
        spin(0.5)
    after()


def jumps():
    """Signal handlers that jump out of the code that they interrupt."""
    library = ctypes.PyDLL(sys.argv[2])
    assert library.jumps(3) > 100

    def after():
        spin(0.5)
    after()


def takes():
    """Installs handlers while the sampler checks whether the signals are free: are they kept?"""
    library = ctypes.CDLL(sys.argv[2])
    spin(0.3)
    print(library.kept(signal.SIGURG), library.kept(signal.SIGWINCH))


def stack():
    """Prints how much of a thread's alternate signal stack is used."""
    size = 1 << 16
    memory = ctypes.create_string_buffer(b"\xaa" * size, size)

    class Stack(ctypes.Structure):
        _fields_ = [("sp", ctypes.c_void_p), ("flags", ctypes.c_int), ("size", ctypes.c_size_t)]
    if ctypes.CDLL(None).sigaltstack(
            ctypes.byref(Stack(ctypes.addressof(memory), 0, size)), None):
        sys.exit("sigaltstack")
    spin(0.5)
    print(size - sum(1 for _ in itertools.takewhile(lambda b: b == 0xaa, memory.raw)))


def forbids():
    """A seccomp filter makes process_vm_readv() fail."""
    number = {"x86_64": 310, "aarch64": 270}.get(platform.machine())
    if not number:
        print("skip")
        return

    def op(code, yes, no, value):
        return struct.pack("HBBI", code, yes, no, value)
    code = ctypes.create_string_buffer(op(0x20, 0, 0, 0) + op(0x15, 0, 1, number) +
                                       op(0x06, 0, 0, 0x50001) + op(0x06, 0, 0, 0x7fff0000))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", 4, ctypes.addressof(code)))
    libc = ctypes.CDLL(None)
    spin(0.2)
    if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, program, 0, 0):
        print("skip")
        return
    spin(0.3)


def traps():
    """A seccomp filter for all threads: a SIGSYS handler answers in place of the kernel."""
    spin(0.2)
    print("skip" if ctypes.CDLL(sys.argv[2]).traps() else "traps", flush=True)
    # The thread rarely has the GIL, so it is sampled from outside.
    for _ in range(50):
        time.sleep(0.004)


globals()[sys.argv[1]]()
