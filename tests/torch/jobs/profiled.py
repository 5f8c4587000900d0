#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What torch.profiler says of a part of a job, for compare.py to hold the recording against.

	with profiled("theirs.json"):
	    step()

Of several parts of a job the file has all ops.
"""
import contextlib
import json
import sys

from torch.profiler import ProfilerActivity, profile, record_function

SHAPES = "shapes" in sys.argv
parts = []


def parts_of(prof):
    """Of each op of that thread: its name, its parent's, the shapes of its inputs, its sequence
    number and, where this version has them, the values of inputs that are no tensors. The parent
    is left out where times are whole microseconds, by which nobody knows it."""
    events = [e for e in prof.events() if e.name != "profiled" and not e.is_async]
    whole = all(float(e.time_range.start).is_integer() for e in events)
    out = []
    for e in events:
        top = e
        while top.cpu_parent is not None:
            top = top.cpu_parent
        if top.name != "profiled":
            continue
        out.append([e.name, None if whole else e.cpu_parent.name,
                    e.input_shapes if SHAPES else None, e.sequence_nr,
                    getattr(e, "concrete_inputs", None) if SHAPES else None])
    return out


@contextlib.contextmanager
def profiled(path):
    with profile(activities=[ProfilerActivity.CPU], record_shapes=SHAPES) as prof:
        with record_function("profiled"):
            yield
    parts.extend(parts_of(prof))
    with open(path, "w") as f:
        json.dump(parts, f)
