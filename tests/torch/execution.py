#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A PyTorch program that writes an execution trace of itself, and a comparison of that trace with
the one of its recording.

usage: execution.py run THEIRS | execution.py compare THEIRS OURS

Compares each node: the op around it, its inputs and its attributes. Ids are different numbers with
the same relations. Documentation/torch.rst lists what a recording lacks.
"""
import json
import sys
import threading

MARKS = ["observed", "observed thread"]


def run(path):
    import torch
    from torch import nn, profiler
    # Its first name.
    observer = getattr(profiler, "ExecutionTraceObserver", None) or profiler.ExecutionGraphObserver

    net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 6 * 6, 10))

    def backward(loss):
        with profiler.record_function(MARKS[1]):
            loss.backward()

    def work():
        with profiler.record_function(MARKS[0]):
            net(torch.randn(4, 3, 8, 8)).sum().backward()
            a = torch.arange(12.0)
            a[3:].view(3, 3).t().mm(torch.ones(3, 3))
            torch.cat([a, a.clone()])
            torch.einsum("ij,jk->ik", torch.ones(2, 3), torch.ones(3, 4))
            nn.functional.gelu(a, approximate="tanh")
            a.to("cpu", torch.float64)
            torch.empty(2, 3, device="meta").t()
            torch.zeros((), dtype=torch.bfloat16)
            torch.ones(0, 2).sum()
            # Its forward ops are of this thread, which has the mark open.
            thread = threading.Thread(target=backward, args=[net(torch.randn(4, 3, 8, 8)).sum()])
            thread.start()
            thread.join()

    torch.set_num_threads(1)
    # Enough tensors and lists for the collector, which checks the first ones.
    for _ in range(5):
        work()
    observer = observer()
    observer.register_callback(path)
    observer.start()
    work()
    observer.stop()
    observer.unregister_callback()


def plain(node):
    """Returns a node, with PyTorch's first schema converted to the later ones."""
    if "attrs" not in node:
        node["ctrl_deps"] = node["parent"]
        node["inputs"] = {what: node["input_" + what] if what != "values" else node["inputs"]
                          for what in ("values", "shapes", "types")}
        node["attrs"] = [{"name": name, "value": value} for name, value in node.items()]
    return node


def attr(node, name):
    return next(a["value"] for a in node["attrs"] if a["name"] == name)


def observed(path):
    """Returns the nodes inside of the last marked ranges, and these, in the order of begins."""
    with open(path, encoding="utf-8") as f:
        nodes = sorted(map(plain, json.load(f)["nodes"]), key=lambda n: n["id"])
    inside = {[n["id"] for n in nodes if n["name"] == mark][-1] for mark in MARKS}
    for node in nodes:
        if node["ctrl_deps"] in inside:
            inside.add(node["id"])
    return [n for n in nodes if n["id"] in inside]


class Same:
    """Checks that ids correspond one to one; @finer: several of ours may be one of theirs."""
    def __init__(self, finer=False):
        self.ours, self.theirs, self.finer = {}, {}, finer

    def __call__(self, theirs, ours):
        return self.ours.setdefault(theirs, ours) == ours and \
            (self.finer or self.theirs.setdefault(ours, theirs) == theirs)


def own_storages(nodes):
    """
    Returns whether storage ids are numbered apart from node ids. If so, as of 2.9, new memory at an
    old address has a new id.
    """
    values = [v for n in nodes for v in n["inputs"]["values"]]
    return bool({v[1] for v in values if isinstance(v, list) and len(v) == 6 and
                 isinstance(v[5], str)} & {n["id"] for n in nodes})


def compare(theirs, ours):
    node, thread, tensor, storage = Same(), Same(), Same(), Same(own_storages(theirs))
    wrong = []

    def same_value(kind, a, b):
        if kind.startswith("GenericList[Tensor"):
            return len(a) == len(b) and all(same_value("Tensor(", x, y) for x, y in zip(a, b))
        if not kind.startswith("Tensor("):
            return a == b
        return tensor(a[0], b[0]) and storage(a[1], b[1]) and a[2:] == b[2:]

    def check(what, name, good, a, b):
        if not good:
            wrong.append("%s: its %s is %s, not %s" % (name, what, b, a))

    for a, b in zip(theirs, ours):
        name = a["name"]
        check("name", name, b["name"] == name, name, b["name"])
        check("node", name, node(a["id"], b["id"]), a["id"], b["id"])
        check("op around it", name, node(a["ctrl_deps"], b["ctrl_deps"]), a["ctrl_deps"],
              b["ctrl_deps"])
        for what in set(a["inputs"]) - {"values"}:
            check(what, name, a["inputs"][what] == b["inputs"][what], a["inputs"][what],
                  b["inputs"][what])
        for kind, x, y in zip(a["inputs"]["types"], a["inputs"]["values"], b["inputs"]["values"]):
            check(kind, name, same_value(kind, x, y), x, y)
        for what in "scope", "seq_id":
            check(what, name, attr(a, what) == attr(b, what), attr(a, what), attr(b, what))
        for what, same in ("tid", thread), ("fw_tid", thread), ("fw_parent", node):
            check(what, name, same(attr(a, what), attr(b, what)), attr(a, what), attr(b, what))
    if len(theirs) != len(ours) or len(theirs) < 150:
        wrong.append("%d nodes, not %d" % (len(ours), len(theirs)))
    # There must be something to compare.
    apart = [n for n in theirs if attr(n, "fw_tid") not in (0, attr(n, "tid"))]
    if len({n["name"] for n in apart}) < 5 or not all(attr(n, "fw_parent") for n in apart):
        wrong.append("few ops have their forward op in another thread")
    for line in wrong[:20]:
        print(line)
    print("%d nodes, %d tensors in %d storages" % (len(ours), len(tensor.ours), len(storage.ours)))
    return bool(wrong)


if sys.argv[1] == "run":
    run(sys.argv[2])
else:
    sys.exit(compare(observed(sys.argv[2]), observed(sys.argv[3])))
