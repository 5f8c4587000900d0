# SPDX-License-Identifier: GPL-2.0-only
"""
attach-hard.py KIND [LIBRARY]: a program that is hard to attach to: it is in a long call, filters
its system calls, has a thread near the end of its stack (by a function of LIBRARY), or has mapped a
file made to harm its readers. It prints a line, then runs until it is killed, for a minute at most.
"""
import ctypes
import mmap
import os
import struct
import sys
import threading
import time

end = time.monotonic() + 60
NAME = "libc.so.bad"


def filter_calls():
    """Makes each munmap() fail, by a seccomp filter (allowed with no_new_privs)."""
    libc = ctypes.CDLL(None, use_errno=True)
    code = [(0x20, 0, 0, 0), (0x15, 0, 1, 11), (0x06, 0, 0, 0x00050001), (0x06, 0, 0, 0x7fff0000)]
    text = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *c) for c in code))

    class Program(ctypes.Structure):
        _fields_ = [("len", ctypes.c_ushort), ("code", ctypes.c_void_p)]

    program = Program(len(code), ctypes.cast(text, ctypes.c_void_p))
    assert not libc.prctl(38, 1, 0, 0, 0)
    assert not libc.prctl(22, 2, ctypes.byref(program), 0, 0)


def head(sections, at):
    elf = bytearray(b"\x7fELF\x02\x01\x01".ljust(64, b"\0"))
    struct.pack_into("<HHIQQQIHHHHHH", elf, 16, 3, 62, 1, 0, 64, at, 0, 64, 56, 1, 64, sections, 0)
    return bytes(elf)


def segment(size):
    return struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, size, size, 4096)


def mapped(size):
    with open(NAME, "rb") as f:
        return mmap.mmap(f.fileno(), size, prot=mmap.PROT_READ, flags=mmap.MAP_SHARED)


def sections():
    """A file with hundreds of symbol tables, all of the same three million symbols."""
    nr, size = 500, 24 * 3000000
    with open(NAME, "wb") as f:
        f.write(head(nr, 4096 + size) + segment(4096))
        f.seek(1024)
        f.write(b"dlopen\0")
        f.seek(4096)
        f.write(struct.pack("<IBBHQQ", 0, 0, 0, 1, 0, 0) * (size // 24))
        f.write(struct.pack("<IIQQQQIIQQ", 0, 3, 0, 0, 1024, 7, 0, 0, 0, 0))
        f.write(struct.pack("<IIQQQQIIQQ", 0, 11, 0, 0, 4096, size, 0, 0, 8, 24) * (nr - 1))
    return mapped(4096), lambda: time.sleep(0.01)


def shrinks():
    """A file that is truncated and extended again and again."""
    size = 1 << 28

    def shrink():
        os.truncate(NAME, 4096)
        time.sleep(0.0005)
        os.truncate(NAME, size)
        time.sleep(0.005)

    with open(NAME, "wb") as f:
        f.write(head(1, 0) + segment(size - 4096))
    os.truncate(NAME, size)
    return mapped(4096), shrink


def pipe():
    """A mapped file whose name in /proc/PID/maps is a link to a pipe that has no writer."""
    with open(NAME, "wb") as f:
        f.write(b"x" * 8192)
    at = mapped(4096)
    os.unlink(NAME)
    os.mkfifo("never")
    os.symlink(os.path.abspath("never"), NAME + " (deleted)")

    def opened():
        os.close(os.open("never", os.O_WRONLY))
        print("somebody has opened it", file=sys.stderr, flush=True)

    # This open() blocks until the pipe has a reader, and that must not happen.
    threading.Thread(target=opened, daemon=True).start()
    return at, lambda: time.sleep(0.01)


kind = sys.argv[1]
if kind == "filter":
    filter_calls()
    kept, step = None, lambda: time.sleep(0.01)
elif kind == "calls":
    # The main thread runs no Python code for a long time.
    kept, step = None, lambda: sum(range(10**12))
elif kind == "low":
    kept, step = ctypes.CDLL(sys.argv[2]), lambda: sum(range(10**4))
    assert not kept.low()
    time.sleep(0.1)
else:
    kept, step = {"sections": sections, "shrinks": shrinks, "pipe": pipe}[kind]()
print("ready", flush=True)
while time.monotonic() < end:
    step()
