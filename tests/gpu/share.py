#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
#
# xsprof record --gpu-share: CUPTI with other users. A stand-in for libcupti, which fails if
# single-user functions are called while there are several, replays it to the collector; no GPU is
# used.

import collections
import os

import gpulib
from gpulib import BUILD, finish

PROGRAM = os.path.join(BUILD, "tests", "gpu", "program")
OWN = {"without": ("CUDA_",), "XSPROF_CUPTI": os.path.join(BUILD, "tests", "gpu", "libcupti.so")}


def equal(got, want, name):
    gpulib.equal(got, want, f"{name} (replay)")


def record(what, *options, version=1305):
    got, events, _ = gpulib.record([PROGRAM, what], options,
                                   **{**OWN, "STAND_IN_VERSION": str(version)})
    return got, events


def kinds(events):
    return collections.Counter((e["kind"], e["name"]) for e in events if e["type"] == "gpu" and
                               not e["name"].startswith("Start of"))


def check_shared():
    _, alone = record("each", "--gpu")
    got, events = record("shared", "--gpu-share")
    equal(kinds(events), kinds(alone), "beside another user all is recorded that is recorded alone")
    equal([kinds(events)["kernel", "axpy(float const*, float*, int)"], "mixed: 0" in got.stdout,
           "CUPTI" in got.stderr, "subscribed: 39" in got.stdout],
          [2, True, False, True], "by the functions for several users alone")
    equal(gpulib.missed(events), gpulib.missed(alone), "and nothing else is missed")
    _, events = record("details", "--gpu-share", "--gpu=queued,memory")
    equal([len([e for e in events if e["type"] == "gpu" and e["kind"] == "alloc"]),
           any("before start" in a["key"] for e in events for a in e.get("args", []))],
          [3, True], "and what is recorded on request")
    got, _ = record("unified", "--gpu-share", "--gpu=managed")
    equal(["not recorded with --gpu-share: moves of unified memory\n" in got.stderr,
           "counters" in got.stderr, "mixed: 0" in got.stdout],
          [True, False, True], "what is not recorded because of the others is told")
    got, events = record("shared", "--gpu")
    equal([kinds(events), "another tool already uses CUPTI" in got.stderr],
          [collections.Counter(), True], "without --gpu-share there is one user")


def check_refused():
    got, events = record("subscribed", "--gpu-share")
    equal([kinds(events), "CUPTI for Another already uses CUPTI, and does not share it" in
           got.stderr], [collections.Counter(), True], "a user that shares with none is named")
    got, events = record("alone", "--gpu-share")
    equal(["this driver cannot share CUPTI: it is not shared" in got.stderr,
           "another tool" in got.stderr, kinds(events)["kernel", "plain_kernel"],
           "mixed: 0" in got.stdout], [True, False, 1, True],
          "a driver that cannot share: CUPTI is used alone")
    got, events = record("each", "--gpu-share", version=1204)
    equal(["sharing needs CUDA 13.3 or newer: it is not shared" in got.stderr,
           kinds(events)["kernel", "plain_kernel"]], [True, 1],
          "an older CUPTI is not shared, and used alone")


check_shared()
check_refused()
finish()
