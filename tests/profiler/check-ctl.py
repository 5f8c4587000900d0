#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
Checks a file that `xsprof ctl` had written, to the op; overwrites a control page; makes files that
are named like a control page but are none.

    check-ctl.py FILE [NAME=COUNT...] [shapes] [memory=N] [trace=ID]
    check-ctl.py FILE.pickle allocs=N frees=N
    check-ctl.py scribble PID XSPROF TIER
    check-ctl.py decoy XSPROF	(in a mount namespace of its own)

Prints errors only.
"""
import collections
import ctypes
import gzip
import json
import mmap
import os
import pickle
import platform
import random
import subprocess
import sys


def check_memory(path, want):
    with open(path, "rb") as f:
        events = pickle.load(f)["device_traces"][0]
    kinds = collections.Counter(e["action"] for e in events)
    for key, kind in (("allocs", "alloc"), ("frees", "free_completed")):
        if kinds[kind] != int(want[key]):
            print("%s: %d %s, not %s" % (path, kinds[kind], kind, want[key]))


def check_trace(path, want):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as f:
        trace = json.load(f)
    events = trace["traceEvents"]
    ops = [e for e in events if e.get("cat") == "cpu_op"]
    names = collections.Counter(e["name"] for e in ops)
    if trace["traceName"] != os.path.realpath(path):
        print("%s: is called %s" % (path, trace["traceName"]))
    shapes = want.pop("shapes", None)
    memory = want.pop("memory", None)
    ident = want.pop("trace", None)
    if names != {k: int(v) for k, v in want.items()}:
        print("%s: %s, not %s" % (path, dict(names), want))
    if shapes and not all(e["args"]["Input Dims"] == [[2, 3]] for e in ops):
        print("%s: ops without their inputs" % path)
    if memory:
        got = sum(e.get("name") == "[memory]" for e in events)
        if got != int(memory):
            print("%s: %d records of memory, not %s" % (path, got, memory))
    if ident and trace.get("trace_id") != ident:
        print("%s: trace_id %s, not %s" % (path, trace.get("trace_id"), ident))


def open_page(pid):
    folder = "/proc/%d/fd" % pid
    for name in os.listdir(folder):
        if os.readlink("%s/%s" % (folder, name)) == "/memfd:xsprof-ctl (deleted)":
            fd = os.open("%s/%s" % (folder, name), os.O_RDWR)
            break
    for size in (0, 4096):
        try:
            os.ftruncate(fd, size)
            print("the page can be cut to %d bytes" % size)
        except PermissionError:
            pass
    return mmap.mmap(fd, os.fstat(fd).st_size)


def ask(xsprof, pid, args):
    """Any answer is fine, but not a crash or no answer."""
    try:
        run = subprocess.run([xsprof, "ctl", *args, "-p", str(pid), "-t", "200ms"],
                             capture_output=True, timeout=100)
    except subprocess.TimeoutExpired:
        print("xsprof ctl %s does not end" % args)
        return
    if run.returncode not in (0, 1):
        print("xsprof ctl %s: status %d: %s" % (args, run.returncode, run.stderr))
    if any(c < 32 and c != 10 or c == 127 for c in run.stdout + run.stderr):
        print("xsprof ctl %s: writes to the terminal: %r" % (args, run.stdout + run.stderr))


def ring(page, bell, asked):
    """Rings the bell as xsprof ctl does, with whatever the page contains."""
    futex = {"x86_64": 202, "aarch64": 98}.get(platform.machine())
    for at in (asked, bell):
        number = int.from_bytes(page[at:at + 4], "little") + 1
        page[at:at + 4] = (number & 0xffffffff).to_bytes(4, "little")
    if futex:
        libc = ctypes.CDLL(None)
        libc.syscall(futex, ctypes.byref(ctypes.c_uint32.from_buffer(page, bell)), 1, 1000, None,
                     None, 0)


def scribble(pid, xsprof, tier):
    page = open_page(pid)
    whole = bytes(page)
    dice = random.Random(1)
    bell, asked, length = 64, 68, 76
    kinds = [["status"], ["stop"], ["start", "-o", "scribbled.json"],
             ["snapshot", "-o", "scribbled.json"]]
    for i in range(400 if tier == "full" else 60):
        # Overwrite all after the owner's identity: random bytes, all ones, escapes, or a valid
        # text.
        rest = len(page) - bell
        fill = (dice.randbytes(rest), b"\xff" * rest, b"\x1b" * rest,
                b"ACTIVITIES_DURATION_MSECS=1\n" * (rest // 28) + b"\0" * (rest % 28))[i % 4]
        page[bell:] = fill
        page[length:length + 4] = dice.choice((b"\0\0\0\0", b"\xff\xff\xff\xff", b"\0\x18\0\0",
                                               b"\x01\x18\0\0", b"\x10\0\0\0"))
        page[asked + 4:asked + 8] = bytes((dice.randrange(6), 0, 0, 0))
        ring(page, bell, asked)
        ask(xsprof, pid, kinds[i % len(kinds)])
        # Also write while a request is read.
        run = subprocess.Popen([xsprof, "ctl", *kinds[i % len(kinds)], "-p", str(pid), "-t",
                                "100ms"], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
        for _ in range(50):
            at = dice.randrange(bell, len(page))
            page[at] = dice.randrange(256)
        if run.wait(100) not in (0, 1):
            print("xsprof ctl under fire: status %d" % run.returncode)
    page[bell:] = whole[bell:]


def decoy(xsprof):
    """A pipe and a file with the name of a control page, which are none, are not opened."""
    libc = ctypes.CDLL(None, use_errno=True)
    name = "memfd:xsprof-ctl (deleted)"
    for make in (os.mkfifo, lambda path: open(path, "w").close()):
        os.mkdir("decoy")
        subprocess.run(["mount", "-t", "tmpfs", "decoy", "decoy"], check=True)
        make("decoy/" + name)
        held = os.open("decoy/" + name, os.O_PATH)
        watch = libc.inotify_init1(os.O_NONBLOCK)
        if libc.inotify_add_watch(watch, ("decoy/" + name).encode(), 0x20) < 0:  # IN_OPEN
            print("inotify: %s" % os.strerror(ctypes.get_errno()))
        # A detached mount: its files' paths begin at its own root.
        subprocess.run(["umount", "-l", "decoy"], check=True)
        link = os.readlink("/proc/self/fd/%d" % held)
        if link != "/" + name:
            print("the decoy is called %s" % link)
        run = subprocess.run([xsprof, "ctl", "status", "-p", str(os.getpid())],
                             capture_output=True, text=True)
        if run.returncode != 1 or "does not listen" not in run.stderr:
            print("the decoy: status %d: %s" % (run.returncode, run.stderr))
        try:
            os.read(watch, 4096)
            print("the decoy was opened")
        except BlockingIOError:
            pass
        os.close(held)
        os.close(watch)
        os.rmdir("decoy")


def main():
    if sys.argv[1] == "decoy":
        decoy(sys.argv[2])
        return
    if sys.argv[1] == "scribble":
        scribble(int(sys.argv[2]), sys.argv[3], sys.argv[4])
        return
    want = dict(a.split("=", 1) if "=" in a else (a, "1") for a in sys.argv[2:])
    if sys.argv[1].endswith(".pickle"):
        check_memory(sys.argv[1], want)
    else:
        check_trace(sys.argv[1], want)


main()
