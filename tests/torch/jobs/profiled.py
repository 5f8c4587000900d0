#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Writes torch.profiler's data of parts of a job, for compare.py to compare with the recording.

	with profiled("theirs.json"):
	    step()

A row for each op, in the order of begins, joins all of its event tree and Kineto's events of the
same correlation id. What this version lacks is None. With several profiled parts the file has all
ops.
"""
import collections
import contextlib
import json
import sys

import torch
from torch.profiler import ProfilerActivity, profile, record_function

SHAPES = "shapes" in sys.argv
parts = []


def inputs_of(node, event):
    """Returns types, sizes, strides and values of the inputs, from its events or its tree."""
    own = node.extra_fields.inputs
    sizes = getattr(event, "structured_input_shapes", event.shapes)()
    strides = getattr(event, "structured_input_strides", lambda: None)()
    values = getattr(event, "concrete_inputs", lambda: None)()
    if values is None:
        # Before 2.1 only numbers and bools.
        values = own.ivalues if hasattr(own, "ivalues") else [
            one if isinstance(one, (int, float)) else None for one in own]
    if strides is None:
        # 1.13 has lists side by side; later versions have strides per tensor, or a list of these.
        strides = own.strides if hasattr(own, "strides") else [
            [getattr(i, "strides", []) for i in one] if isinstance(one, list) else
            getattr(one, "strides", []) for one in own]
    return {"types": event.dtypes(), "sizes": sizes, "strides": strides, "values": values}


def row(node, parent, events, args):
    # Correlation ids are unique, except for ops without inputs that continue in another thread.
    event = next(e for e in events[node.correlation_id] if e.name() == node.name)
    out = {
        "name": node.name, "parent": parent, "scope": event.scope(),
        "sequence": event.sequence_nr(), "forward": event.fwd_thread_id(),
        "thread": event.start_thread_id(), "begin": node.start_time_ns, "end": node.end_time_ns,
        "args": args.get(node.correlation_id),
    }
    if SHAPES:
        out.update(inputs_of(node, event))
    return out


def json_of(prof, path):
    """Returns the JSON of each op, by correlation id; nothing if it is built without Kineto."""
    if not torch.profiler.kineto_available():
        return {}
    prof.export_chrome_trace(path)
    with open(path) as f:
        events = [e for e in json.load(f)["traceEvents"] if "Ev Idx" in e.get("args", {})]
    return {e["args"]["External id"]: e["args"] for e in events}


def add_rows(out, prof, path):
    """Appends @prof's rows to @out; overwrites @path."""
    results, args = prof.profiler.kineto_results, json_of(prof, path)
    events = collections.defaultdict(list)
    for e in results.events():
        events[e.correlation_id()].append(e)

    def walk(node, parent):
        at = len(out)
        out.append(row(node, parent, events, args))
        for child in node.children:
            walk(child, at)

    for top in results.experimental_event_tree():
        if top.name == "profiled":
            for child in top.children:
                walk(child, -1)


@contextlib.contextmanager
def profiled(path):
    with profile(activities=[ProfilerActivity.CPU], record_shapes=SHAPES) as prof:
        with record_function("profiled"):
            yield
    add_rows(parts, prof, path)
    with open(path, "w") as f:
        json.dump({"ops": parts}, f)
