# SPDX-License-Identifier: GPL-2.0-only
#
# Records a program with the stand-in for libcupti: it replays records to the CUPTI collector.

import collections
import os

import gpulib
from gpulib import BUILD, CAPTURE, XSPROF

PROGRAM = os.path.join(BUILD, "tests", "gpu", "program")
OWN = {"without": ("CUDA_",), "XSPROF_CUPTI": os.path.join(BUILD, "tests", "gpu", "libcupti.so")}


def equal(got, want, name):
    gpulib.equal(got, want, f"{name} (replay)")


def run(*args, **more):
    return gpulib.run([XSPROF, *args], **{**OWN, **more})


def record(*options, what, **more):
    got, events, _ = gpulib.record([PROGRAM, *what], options, **{**OWN, **more})
    return got, [e for e in events if e["type"] == "gpu"], events


def args_of(event):
    return {a["key"]: a["value"] for a in event.get("args", [])}


def kinds(events):
    return collections.Counter(e["kind"] for e in events)
