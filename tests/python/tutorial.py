# SPDX-License-Identifier: GPL-2.0-only
"""The steps of PyTorch's recipe "PyTorch Profiler", with the profiler of the given module.

usage: tutorial.py torch.profiler|xsprof.profiler OUT

Uses its own residual network in place of torchvision's, to need nothing else. Writes the profiles'
results to OUT, as JSON, and the rest to files in the current folder.
"""
import collections
import gzip
import importlib
import json
import sys
import warnings

import torch
from torch import nn

prof_module = sys.argv[1]
module = importlib.import_module(prof_module)
profile, record_function = module.profile, module.record_function
ProfilerActivity, schedule = module.ProfilerActivity, module.schedule
said = {}


class Block(nn.Module):
    def __init__(self, inside, outside, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inside, outside, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outside)
        self.conv2 = nn.Conv2d(outside, outside, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outside)
        self.relu = nn.ReLU(inplace=True)
        self.down = None
        if stride != 1 or inside != outside:
            self.down = nn.Sequential(nn.Conv2d(inside, outside, 1, stride, bias=False),
                                      nn.BatchNorm2d(outside))

    def forward(self, x):
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        return self.relu(out + (x if self.down is None else self.down(x)))


def resnet():
    return nn.Sequential(
        nn.Conv2d(3, 8, 7, 2, 3, bias=False), nn.BatchNorm2d(8), nn.ReLU(inplace=True),
        nn.MaxPool2d(3, 2, 1), Block(8, 8, 1), Block(8, 16, 2), Block(16, 32, 2),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10))


def rows(averages, *columns):
    return sorted([row.key] + [str(getattr(row, c)) for c in columns] for row in averages)


def trace(path):
    """Counts a trace's events by name, for ops and the program's ranges."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as f:
        events = json.load(f)
    # A PyTorch without Kineto writes another format.
    if isinstance(events, list):
        return None
    events = events["traceEvents"]
    return dict(collections.Counter(
        e["name"] for e in events if e.get("cat") in ("cpu_op", "user_annotation")))


torch.manual_seed(0)
model = resnet()
inputs = torch.randn(5, 3, 64, 64)

# Execution time, by operators, and by their inputs.
with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as prof:
    with record_function("model_inference"):
        model(inputs)
table = prof.key_averages().table(sort_by="cpu_time_total", row_limit=10)
print(table)
said["table"] = [len(table.splitlines()), table.splitlines()[1].split("  ")[-2].strip(),
                 sum("aten::" in line or "model_inference" in line for line in table.splitlines())]
said["inference"] = rows(prof.key_averages(), "count")
said["by shape"] = rows(prof.key_averages(group_by_input_shape=True), "input_shapes", "count")
print(prof.key_averages(group_by_input_shape=True).table(sort_by="cpu_time_total", row_limit=10))
prof.export_chrome_trace("trace.json")
said["trace"] = trace("trace.json")
said["events"] = len(prof.events())

# Memory.
with profile(activities=[ProfilerActivity.CPU], profile_memory=True, record_shapes=True) as prof:
    model(inputs)
print(prof.key_averages().table(sort_by="self_cpu_memory_usage", row_limit=10))
print(prof.key_averages().table(sort_by="cpu_memory_usage", row_limit=10))
said["memory"] = rows(prof.key_averages(), "count", "cpu_memory_usage", "self_cpu_memory_usage")

# FLOPs.
with profile(activities=[ProfilerActivity.CPU], with_flops=True) as prof:
    model(inputs)
said["flops"] = rows((r for r in prof.key_averages() if r.flops), "count", "flops")

# Stacks.
with profile(activities=[ProfilerActivity.CPU], with_stack=True,
             record_shapes=prof_module == "xsprof.profiler") as prof:
    model(inputs)
print(prof.key_averages(group_by_stack_n=5).table(sort_by="self_cpu_time_total", row_limit=2))
prof.export_stacks("stacks.txt", "self_cpu_time_total")
said["stacked"] = [r for r in rows(prof.key_averages(), "count") if r[0].startswith("aten::")]
said["frames"] = sum(1 for e in prof.events() if any("forward" in f for f in e.stack))

# A long-running job: training, its steps by a schedule, with a handler.
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
cycles = []


def trace_handler(p):
    print(p.key_averages().table(sort_by="self_cpu_time_total", row_limit=3))
    p.export_chrome_trace("trace_%d.json.gz" % p.step_num)
    cycles.append([p.step_num, rows(p.key_averages(), "count"),
                   trace("trace_%d.json.gz" % p.step_num)])


with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    plan = schedule(skip_first=2, wait=1, warmup=1, active=2, repeat=2)
with profile(activities=[ProfilerActivity.CPU], schedule=plan, on_trace_ready=trace_handler) as p:
    for index in range(12):
        optimizer.zero_grad()
        model(inputs).sum().backward()
        optimizer.step()
        p.step()
said["cycles"] = cycles
with profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=0, warmup=1, active=1),
             on_trace_ready=module.tensorboard_trace_handler("board")) as p:
    for index in range(4):
        model(inputs)
        p.step()

with open(sys.argv[2], "w") as f:
    json.dump(said, f, indent=1)
