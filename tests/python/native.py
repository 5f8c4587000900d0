#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""C functions that call Python and are called by it, for native.sh.

Usage: native.py run LIBRARY SECONDS, native.py come-and-go ONE OTHER SECONDS,
native.py mislead LIBRARY SECONDS, native.py outside LIBRARY SECONDS,
native.py asleep LIBRARY SECONDS, native.py holds LIBRARY SECONDS, native.py check EVENTS,
native.py check-come-and-go EVENTS, native.py check-mislead EVENTS, native.py check-outside EVENTS,
native.py check-asleep EVENTS, native.py check-holds EVENTS, native.py check-crowded EVENTS,
native.py check-none EVENTS.

run: two threads, one with an alternate signal stack. come-and-go: libraries are loaded in turn at
the same address, while another thread does so with copies of them. mislead: unwind information
finds the program's own word in place of a return address: doubles have high bits set, which
addresses do not. outside: C that runs without the GIL, beside a thread that holds it, and one that
sleeps in C. asleep: threads that wait in C: for long, briefly again and again, and in a function
that the library replaces. holds: C that sleeps while it holds the GIL. check: checks samples of
run; the other checks likewise; check-crowded: of outside with too few CPUs.
"""
import ctypes
import errno
import faulthandler
import json
import shutil
import struct
import sys
import threading
import time

END = [0.0]
CALL = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int)


# ---- the program -----------------------------------------------------------------------------

def computes(library):
    return library.outermost(30000)


def inner(library):
    return computes(library)


def turns(library):
    # C calls this Python function, which calls C.
    def called(n):
        return inner(library) > n

    call = CALL(called)
    while time.monotonic() < END[0]:
        asks(library, call)
        computes(library)


def asks(library, call):
    return library.takes_call(call, 1)


def run(path, seconds):
    # faulthandler gives this thread an alternate signal stack.
    faulthandler.enable()
    END[0] = time.monotonic() + seconds
    library = ctypes.PyDLL(path)
    library.outermost.argtypes = [ctypes.c_long]
    library.outermost.restype = ctypes.c_long
    thread = threading.Thread(target=turns, args=(library,), name="second")
    thread.start()
    turns(library)
    thread.join()


def in_one(function):
    return function(20000)


def in_other(function):
    return function(20000)


def close(library):
    # pylint: disable=protected-access
    dlclose = ctypes.CDLL(None).dlclose
    dlclose.argtypes = [ctypes.c_void_p]
    if dlclose(library._handle):
        sys.exit("native.py: dlclose() failed")


def churn(paths):
    """Loads and unloads libraries in another thread, without the GIL held meanwhile."""
    while time.monotonic() < END[0]:
        for path in paths:
            close(ctypes.CDLL(path))
        # Samples during an unloading have no C frames.
        time.sleep(0.01)


def come_and_go(one, other, seconds):
    END[0] = time.monotonic() + seconds
    copies = [shutil.copy(path, path + ".copy.so") for path in (one, other)]
    thread = threading.Thread(target=churn, args=(copies,))
    thread.start()
    places = set()
    while time.monotonic() < END[0]:
        for path, name, caller in ((one, "of_one", in_one), (other, "of_other", in_other)):
            library = ctypes.PyDLL(path)
            function = getattr(library, name)
            places.add(ctypes.cast(function, ctypes.c_void_p).value)
            for _ in range(400):
                caller(function)
            close(library)
    thread.join()
    print("places:", len(places))


def misled(function, word):
    for _ in range(100):
        function(30000, word)


def mislead(path, seconds):
    library = ctypes.PyDLL(path)
    library.misleads.argtypes = [ctypes.c_long, ctypes.c_uint64]
    library.misleads.restype = None
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for number in 3.0, -3.0, -1e300:
            misled(library.misleads, struct.unpack("<Q", struct.pack("<d", number))[0])
        misled(library.misleads, 1 << 63 | 1)


def frees(library):
    while time.monotonic() < END[0]:
        library.outermost(100000000)


def sleeps(counts):
    """Sleeps. The sampler interrupts it rarely: only just after it has released the GIL."""
    usleep = ctypes.CDLL(None, use_errno=True).usleep
    while time.monotonic() < END[0]:
        ctypes.set_errno(0)
        counts[1] += 1
        if usleep(5000) and ctypes.get_errno() == errno.EINTR:
            counts[0] += 1


def outside(path, seconds):
    END[0] = time.monotonic() + seconds
    library, counts = ctypes.CDLL(path), [0, 0]
    library.outermost.argtypes = [ctypes.c_long]
    library.outermost.restype = ctypes.c_long
    threads = [threading.Thread(target=frees, args=(library,)),
               threading.Thread(target=sleeps, args=(counts,))]
    for thread in threads:
        thread.start()
    while time.monotonic() < END[0]:
        sum(range(1000))
    for thread in threads:
        thread.join()
    if counts[0] > counts[1] / 50:
        sys.exit("native.py: %d of %d sleeps were interrupted" % tuple(counts))


def rests(library):
    while time.monotonic() < END[0]:
        library.naps(1, 300000)


def dozes(library):
    while time.monotonic() < END[0]:
        library.naps(1000, 100)


def waits(library):
    while time.monotonic() < END[0]:
        library.waits(100)


def sleeps_in_python():
    while time.monotonic() < END[0]:
        time.sleep(0.2)


def asleep(path, seconds):
    END[0] = time.monotonic() + seconds
    library = ctypes.CDLL(path)
    library.waits.argtypes = [ctypes.c_long]
    threads = [threading.Thread(target=wait, args=(library,)) for wait in (rests, dozes, waits)]
    for thread in threads:
        thread.start()
    sleeps_in_python()
    for thread in threads:
        thread.join()


def keeps(library, seconds):
    """A system call that a signal ends returns early."""
    ended = calls = 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        ctypes.set_errno(0)
        calls += 1
        ended += library.usleep(50000) != 0
    if ended > calls / 20:
        sys.exit("native.py: %d of %d sleeps with the GIL were interrupted" % (ended, calls))


def holds(seconds):
    keeps(ctypes.PyDLL(None, use_errno=True), seconds)


# ---- what was recorded -----------------------------------------------------------------------

def stacks(path, how="runs"):
    with open(path, encoding="utf-8") as events:
        for line in events:
            event = json.loads(line)
            if event.get("type") == "sample" and event.get("how") == how:
                yield [name_of(frame) for frame in event["frames"]], event["of"]


def name_of(frame):
    """Returns "turns" for "native.py(41): turns", "leaf" for "leaf (native.so)"."""
    if "): " in frame:
        frame = frame.split("): ", 1)[1]
    return frame.split(" (")[0].split(".")[-1]


def follow(stack, *names):
    """Are the names in the stack in this order, innermost first?"""
    at = -1
    for name in names:
        if name not in stack[at + 1:]:
            return False
        at = stack.index(name, at + 1)
    return True


def check(path):
    by_thread, merged, called = {}, 0, 0
    for stack, thread in stacks(path):
        if stack[0] == "leaf":
            assert stack[:3] == ["leaf", "middle", "outermost"], stack
            assert follow(stack, "outermost", "computes"), stack
            assert "computes" not in stack[:stack.index("outermost")], stack
            by_thread[thread] = by_thread.get(thread, 0) + 1
        if "computes" in stack and "inner" in stack and stack[0] == "leaf":
            called += 1
            merged += follow(stack, "leaf", "middle", "outermost", "computes", "inner",
                             "called", "calls_back", "takes_call", "asks", "turns")
        for outer in "_start", "__libc_start_call_main", "start_thread", "clone3":
            assert outer not in stack, stack
    assert len(by_thread) == 2, by_thread
    assert min(by_thread.values()) >= 10, by_thread
    # A few samples fall into the middle of a call.
    assert called >= 10 and merged >= 0.9 * called, (merged, called)


def check_come_and_go(path):
    found = {"of_one": 0, "of_other": 0}
    for stack, _ in stacks(path):
        mine = [name for name in stack if name in found or name == "spins"]
        caller = [name for name in stack if name in ("in_one", "in_other")]
        for name in set(mine) - {"spins"}:
            assert caller and caller[0] == "in_" + name[3:], stack
            found[name] += 1
        if mine[:1] == ["spins"]:
            assert len(mine) == 2, stack
        # The other library's unwind rules would not find its caller.
        assert not mine or "[no unwind information]" not in stack, stack
    assert min(found.values()) >= 10, found


def check_mislead(path):
    found = right = 0
    for stack, _ in stacks(path):
        if stack[0] != "misleads":
            continue
        # Before its first instruction, and before its last, the word is not there.
        at_edge = stack[1] != "[no unwind information]"
        assert at_edge or stack[2:4] == ["misled", "mislead"], stack
        assert follow(stack, "misleads", "misled", "mislead"), stack
        right += at_edge
        found += 1
    assert found >= 10 and right < found / 10, (found, right)


def check_outside(path):
    """A call's first samples lack its C frames: the sampler still thinks that it waits."""
    found = without = 0
    for stack, _ in stacks(path, "native"):
        if "frees" not in stack:
            continue
        if stack[0] == "leaf":
            assert stack[:3] == ["leaf", "middle", "outermost"], stack
            assert follow(stack, "outermost", "frees", "run"), stack
            found += 1
        without += stack[0] == "frees"
    print("# %d with their functions of C, %d without" % (found, without))
    assert found >= 20 and found > without / 2, (found, without)


def check_asleep(path):
    with open(path, encoding="utf-8") as events:
        assert "(libxsprof" not in events.read()
    found = dict.fromkeys(["rests", "waits", "sleeps_in_python", "nap", "nap_with_room"], 0)
    without = 0
    for stack, _ in stacks(path, "off"):
        outer = [name for name in stack if name in ("rests", "dozes", "waits", "sleeps_in_python")]
        if not outer:
            continue
        if stack[0] in found or stack[0] == "dozes":
            without += 1
        elif outer[-1] == "sleeps_in_python":
            assert stack.index("sleeps_in_python") <= 2, stack
            found["sleeps_in_python"] += 1
        elif outer[-1] == "waits":
            assert stack.count("waits") == 2 and "_cond_" in "".join(stack), stack
            found["waits"] += 1
        else:
            nap = [name for name in stack if name in ("nap", "nap_with_room")]
            assert len(nap) == 1 and follow(stack, nap[0], "naps", outer[0], "run"), stack
            found["rests" if outer[0] == "rests" else nap[0]] += 1
    print("# %r with their functions of C, %d without" % (found, without))
    assert min(found.values()) >= 20 and sum(found.values()) > without, (found, without)


def check_holds(path):
    found = without = 0
    for stack, _ in stacks(path):
        if "keeps" in stack:
            found += follow(stack, "usleep", "keeps", "holds")
            without += stack[0] == "keeps"
    print("# %d with their functions of C, %d without" % (found, without))
    assert found >= 20 and found > without, (found, without)


def check_crowded(path):
    """A thread that waits for a CPU does not wait for anything else."""
    number = {}
    for how in "native", "off":
        number[how] = sum("frees" in stack for stack, _ in stacks(path, how))
    print("#", number)
    assert number["native"] >= 50 and number["off"] < number["native"] / 10, number


def check_none(path):
    known = {"leaf", "middle", "outermost", "calls_back", "takes_call"}
    assert not any(known & set(stack) for stack, _ in stacks(path))


def main():
    what, arguments = sys.argv[1], sys.argv[2:]
    if what == "run":
        run(arguments[0], float(arguments[1]))
    elif what == "come-and-go":
        come_and_go(arguments[0], arguments[1], float(arguments[2]))
    elif what == "outside":
        outside(arguments[0], float(arguments[1]))
    elif what == "asleep":
        asleep(arguments[0], float(arguments[1]))
    elif what == "holds":
        holds(float(arguments[1]))
    elif what == "mislead":
        mislead(arguments[0], float(arguments[1]))
    else:
        {"check": check, "check-come-and-go": check_come_and_go,
         "check-mislead": check_mislead, "check-outside": check_outside,
         "check-asleep": check_asleep, "check-holds": check_holds,
         "check-crowded": check_crowded, "check-none": check_none}[what](*arguments)


if __name__ == "__main__":
    main()
