#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Loads an execution trace as Chakra's tools do, and compares it with the capture.

usage: chakra.py NDJSON KINETO TRACE

The loader is et_replay's, as HolisticTraceAnalysis ships it. It joins its nodes with the events of
Kineto's JSON by record function ids, once its parser knows where these are. Prints a line for each
difference, and exits with 1 if there is any.
"""
import collections
import json
import logging
import math
import os
import shutil
import sys
import tempfile
import warnings

sys.dont_write_bytecode = True
import param_bench
from ours import Comparison

# HolisticTraceAnalysis looks for it here.
sys.path[1:1] = param_bench.__path__
os.environ["HTA_DISABLE_NS_ROUNDING"] = "1"
from et_replay.execution_trace import ExecutionTrace
from et_replay.tools.validate_trace import TraceValidator
from hta.common.execution_trace import add_et_column, correlate_execution_trace
from hta.configs.parser_config import ParserConfig
from hta.trace_analysis import TraceAnalysis

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)
same = (comparison := Comparison()).same


def recorded(ndjson):
    """Returns ops that ended, with the names of their parents and of their forward ops."""
    stacks, ops = collections.defaultdict(list), []
    with open(ndjson, encoding="utf-8") as f:
        for e in map(json.loads, f):
            stack = stacks[e.get("tid")]
            if e["type"] == "begin":
                around = [o for o in stack if "op" in o]
                stack.append(e)
                if "op" not in e:
                    continue
                e["around"] = around[-1]["name"] if around else None
                if e.get("forward_thread") == e["tid"]:
                    e["forward"] = e["around"]
            elif e["type"] == "end" and stack:
                op = stack.pop()
                if "op" in op:
                    ops.append(op)
    return ops


def lists_of(values, types, shapes):
    """Yields elements of lists of numbers that the loader finds beside their types."""
    for value, kind, shape in zip(values, types, shapes):
        if kind.startswith("GenericList[Int") or kind.startswith("GenericList[Double"):
            yield len(value), len(list(zip(kind[12:-1].split(","), value, shape)))


def compare(ndjson, kineto, path):
    ops = recorded(ndjson)
    with open(path, encoding="utf-8") as f:
        trace = ExecutionTrace(json.load(f))
    frames = {i for i, n in trace.nodes.items() if n.name.startswith("[pytorch|")}
    nodes = {i: n for i, n in trace.nodes.items() if i not in frames}
    same("ops", collections.Counter(n.name for n in nodes.values()),
         collections.Counter(op["name"] for op in ops))
    same("parents", collections.Counter(
        (n.name, None if n.parent_id in frames else n.parent.name) for n in nodes.values()),
        collections.Counter((op["name"], op["around"]) for op in ops))
    # A tree with one root: threads are below the process, and children come after their parents.
    same("no parent", [n.name for i, n in trace.nodes.items() if i != 1 and not n.parent], [])
    same("parents behind", [n.name for n in nodes.values() if n.parent_id >= n.id], [])
    same("threads", {trace.nodes[i].tid for i in frames if i != 1}, {op["tid"] for op in ops})
    same("ops in the forward thread", collections.Counter(
        (n.name, trace.nodes[n.fw_parent_id].name) for n in nodes.values()
        if n.fw_parent_id and n.fw_tid == n.tid and n.fw_parent_id not in frames),
        collections.Counter((op["name"], op["forward"]) for op in ops if op.get("forward")))
    same("valid", TraceValidator(trace).validate(), True)
    # Each tensor knows the ops that use it.
    taken = {i for t in trace.tensors.values() for i in t.sinks}
    same("ops with tensors", taken, {i for i, n in nodes.items() if n.get_input_tensors()})
    wrong = [(n.name, shape, t) for n in nodes.values() for _, t, shape in n.get_input_tensors()
             if t[3] != math.prod(shape)]
    same("elements of tensors", wrong, [])
    lists = [x for n in nodes.values()
             for x in lists_of(n.inputs, n.input_types, n.input_shapes)]
    same("elements of lists", [x for x in lists if x[0] != x[1]][:5], [])
    same("tensors and lists", [len(trace.tensors) > 100, len(lists) > 50], [True, True])

    config = ParserConfig.get_default_cfg()
    config.set_args([a._replace(raw_name="Record function id") if a.name == "external_id" else a
                     for a in config.get_args()])
    ParserConfig.set_default_cfg(config)
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(kineto, os.path.join(folder, "rank.json"))
        analysis = TraceAnalysis(trace_dir=folder, include_last_profiler_step=True).t
    correlate_execution_trace(analysis, 0, trace)
    df, names = analysis.get_trace(0), analysis.symbol_table.get_sym_table()
    add_et_column(df, trace, "et_node_name")
    joined = df[df["et_node"].notna()]
    same("events with a node", len(joined), len(nodes))
    same("of another name", [(names[event], node) for event, node in
                             zip(joined["name"], joined["et_node_name"])
                             if names[event] != node][:5], [])


compare(*sys.argv[1:])
sys.exit(1 if comparison.wrong else 0)
