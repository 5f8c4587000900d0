# SPDX-License-Identifier: GPL-2.0-only
"""
moved.py KIND BUILD: ranges that end in other threads, mixed with the program's own markers.
"""
import ctypes
import os
import sys
import threading
import time

import torch

Range = torch.autograd.profiler.record_function
user = ctypes.CDLL(os.path.join(sys.argv[2], "lib", "libxsprof-user.so.0"))
user.xsprof_name_in.restype = ctypes.c_uint32
user.xsprof_name_in.argtypes = [ctypes.c_int, ctypes.c_char_p]


def begin_all(names):
    ranges = [Range(name) for name in names]
    for r in ranges:
        r.__enter__()
    return ranges


def end_elsewhere(ranges):
    def work():
        for r in reversed(ranges):
            r.__exit__(None, None, None)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def marker():
    """A marker around an op."""
    user.xsprof_emit_begin(ctypes.c_uint32(user.xsprof_name_in(0, b"A")))
    torch.zeros(1)
    time.sleep(0.03)
    user.xsprof_emit_end()


def inside():
    end_elsewhere(begin_all(["moved"]))
    marker()


def pause():
    ranges = begin_all(["moved"])
    user.xsprof_pause()
    end_elsewhere(ranges)
    user.xsprof_resume()
    marker()


def fork():
    end_elsewhere(begin_all(["moved"]))
    pid = os.fork()
    if not pid:
        marker()
        os._exit(0)
    os.waitpid(pid, 0)


def many():
    for _ in range(3):
        end_elsewhere(begin_all(["request"] * 1000))
        with Range("after"):
            pass


def deep():
    ranges = begin_all(f"r{i}" for i in range(66))
    ranges.pop(3).__exit__(None, None, None)
    for r in reversed(ranges):
        r.__exit__(None, None, None)
    for _ in range(3):
        with Range("later"):
            torch.zeros(1)


torch.ones(1)
globals()[sys.argv[1]]()
torch.ones(2)
