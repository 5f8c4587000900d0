#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
#
# OpenCL programs that are difficult for a collector, on a real device (PoCL's, which is the CPU):
# recording does not change what they do, and all that they did is recorded or counted.

import os
import sys

sys.dont_write_bytecode = True
from gpulib import DIR, equal, failed, finish, missed, of, result, skipped
from opencllib import record, run, said, seen

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.join(DIR.name, "hostile")
ERRORS = "not recorded: commands that ended with an error"
AT_END = "not recorded: commands, because the program ended"


def check(name, what, missing, *more, graphs=0):
    """The same output, and @missing commands counted as having no times."""
    alone = run([PROGRAM, what, *more])
    got, events, _ = record([PROGRAM, what, *more])
    if "\nnone: " in alone.stdout:
        skipped(name, "this runtime has no " + alone.stdout.split("\nnone: ")[1].strip())
        return
    equal([got.returncode, got.stdout, alone.returncode], [0, alone.stdout, 0],
          f"{name}: the program does as without a recording")
    calls, work, kernels, _ = said(got.stdout)
    seen_calls, seen_work, seen_kernels = seen(events)
    equal([seen_calls, seen_work, dict(seen_kernels), len(of(events, "graph")), missed(events)],
          [calls, work, {k: v[0] for k, v in kernels.items()}, graphs, missing],
          f"{name}: calls, work and what is missing")


def check_buffers():
    check("command buffers", "buffers", {}, "20", graphs=20)
    got, events, _ = record([PROGRAM, "buffers", "3"])
    if "\nnone: " in got.stdout:
        return
    calls = {e["value"]: e for e in of(events, "runtime") if e["value"]}
    graphs = of(events, "graph")
    equal([{e["name"] for e in graphs}, {calls[e["value"]]["name"] for e in graphs},
           all(e["begin_ns"] >= calls[e["value"]]["begin_ns"] for e in graphs),
           len({(e["device"], e["context"], e["stream"]) for e in graphs})],
          [{"Command buffer"}, {"clEnqueueCommandBufferKHR"}, True, 1],
          "command buffers: each is of its call, in its queue")


got = run([os.environ.get("CC", "cc"), "-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-o",
           PROGRAM, os.path.join(HERE, "opencl-hostile.c"), "-lOpenCL"])
result(not got.returncode, "the program is built", got.stderr)
if not failed():
    check_buffers()
    check("a user event that is set to an error", "chain", {ERRORS: 3})
    check("a user event that is never set", "never", {AT_END: 3})
    check("a queue that is released with work under way", "outstanding", {}, "200")
    check("releases and commands in callbacks", "callbacks", {}, "300")
finish()
