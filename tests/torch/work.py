#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A PyTorch program that profiles itself: usage: work.py OUT.json [shapes].

It writes what torch.profiler says of the parts under the mark "profiled", a row for each op in the
order of their begins: all that its event tree and Kineto's events say, those of the same
correlation id together. What this version lacks is None. A thread does a part as well, under
"thread": torch.profiler does not see it.
"""
import collections
import json
import sys
import threading

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function

SHAPES = "shapes" in sys.argv
net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 6 * 6, 10))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)


def step():
    optimizer.zero_grad()
    loss = net(torch.randn(4, 3, 8, 8)).sum()
    loss.backward()
    optimizer.step()


def others():
    torch.ones(1, 2, 1, 2, 1, 2, 1).sum()
    torch.cat([torch.ones(2), torch.zeros(3)])
    torch.einsum("ij,jk->ik", torch.ones(2, 3), torch.ones(3, 4))
    nn.functional.gelu(torch.ones(4), approximate="tanh")
    torch.zeros((), dtype=torch.bfloat16) + torch.ones(3, dtype=torch.bfloat16)
    torch.arange(6).view(2, 3).t().contiguous().bool().any()
    for text in ("first text", "second text", "first text"):
        with record_function(text):
            torch.ones(2, 2).mm(torch.ones(2, 3)).abs_()
    with torch.inference_mode():
        net(torch.randn(1, 3, 8, 8))


# A loss of a thread, whose backward ops are of another one.
forward = {}


def forward_part():
    forward["thread"] = threading.get_native_id()
    forward["loss"] = net(torch.randn(4, 3, 8, 8)).sum()


def backward_part():
    forward["loss"].backward()


def in_thread(work, *args):
    thread = threading.Thread(target=work, args=args)
    thread.start()
    thread.join()


def part(mark, work):
    with record_function(mark):
        work()


def inputs_of(node, event):
    """Types, sizes, strides and values of its inputs, as its events or else its tree have them."""
    own = node.extra_fields.inputs
    sizes = getattr(event, "structured_input_shapes", event.shapes)()
    strides = getattr(event, "structured_input_strides", lambda: None)()
    values = getattr(event, "concrete_inputs", lambda: None)()
    if values is None:
        # Before 2.1 numbers and bools alone.
        values = own.ivalues if hasattr(own, "ivalues") else [
            one if isinstance(one, (int, float)) else None for one in own]
    if strides is None:
        # 1.13 has them in lists side by side, later ones by tensor, as one of them is a list.
        strides = own.strides if hasattr(own, "strides") else [
            [getattr(i, "strides", []) for i in one] if isinstance(one, list) else
            getattr(one, "strides", []) for one in own]
    return {"types": event.dtypes(), "sizes": sizes, "strides": strides, "values": values}


def row(node, parent, events, args):
    # One number is of one op, but for those that go on in another thread, which have no inputs.
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


def json_of(prof):
    """Its JSON of each op, by correlation id; nothing, where it is built without Kineto."""
    if not torch.profiler.kineto_available():
        return {}
    prof.export_chrome_trace(sys.argv[1])
    with open(sys.argv[1]) as f:
        events = [e for e in json.load(f)["traceEvents"] if "Ev Idx" in e.get("args", {})]
    return {e["args"]["External id"]: e["args"] for e in events}


def rows_of(prof):
    results, args = prof.profiler.kineto_results, json_of(prof)
    events, out = collections.defaultdict(list), []
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
    return out


def main():
    torch.set_num_threads(1)
    # Enough tensors for whoever looks at the first ones with care.
    for _ in range(3):
        step()
        others()
    with profile(activities=[ProfilerActivity.CPU], record_shapes=SHAPES) as prof:
        part("profiled", step)
        part("profiled", others)
        in_thread(part, "thread", others)
        in_thread(forward_part)
        part("profiled", backward_part)
    ops = rows_of(prof)
    with open(sys.argv[1], "w") as f:
        json.dump({"ops": ops, "thread": forward["thread"]}, f)


main()
