# SPDX-License-Identifier: GPL-2.0-only
#
# Shared by the tests of the OpenCL collector: runs programs that print what they did, like
# opencl.c, and compares that with the trace.

import collections
import os

import gpulib
from gpulib import DIR, equal, of

# Without the user's own layers; PoCL compiles everything anew.
OWN = {"without": ("OPENCL_",), "POCL_CACHE_DIR": os.path.join(DIR.name, "pocl")}


def run(args, **more):
    return gpulib.run(args, **{**OWN, **more})


def record(command, options=("--gpu",), **more):
    return gpulib.record(command, options, **{**OWN, **more})


def said(stdout):
    """Parses a program's output: calls, [number, bytes] per kind of work, [number, ns] per
    kernel."""
    calls = collections.Counter()
    work = collections.defaultdict(lambda: [0, 0])
    kernels = collections.defaultdict(lambda: [0, 0])
    queues = 0
    for line in stdout.splitlines():
        what, *rest = line.split()
        if what == "call":
            calls[rest[0]] += int(rest[1])
        elif what in ("work", "kernel"):
            to = (work if what == "work" else kernels)[rest[0]]
            to[0] += int(rest[1])
            to[1] += int(rest[2])
        elif what == "queues":
            queues = int(rest[0])
    return calls, dict(work), dict(kernels), queues


def seen(events):
    calls = collections.Counter(e["name"] for e in of(events, "runtime"))
    work = collections.defaultdict(lambda: [0, 0])
    for e in of(events, "memcpy", "memset", "sync"):
        work[e["kind"]][0] += 1
        work[e["kind"]][1] += e["bytes"]
    kernels = collections.Counter(e["name"] for e in of(events, "kernel"))
    return calls, dict(work), kernels


def check_same(name, *command, **more):
    got, events, path = record(list(command), **more)
    calls, work, kernels, _ = said(got.stdout)
    seen_calls, seen_work, seen_kernels = seen(events)
    equal((got.returncode, seen_calls, seen_work, dict(seen_kernels)),
          (0, calls, work, {k: v[0] for k, v in kernels.items()}), name)
    return events, path
