#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# PyTorch programs, recorded unchanged: the same ops as in torch.profiler for the same run, and
# facts that are known of them. Usage: ops.sh PYTHON. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
. tests/torch/start.sh
lib=$BUILD/lib/libxsprof-torch.so
echo "# PyTorch $("$python" -W ignore -c 'import torch; print(torch.__version__)' 2>/dev/null)"

# record OPTIONS... -- COMMAND...: records to $dir/data; writes the ops as JSON to $dir/ours
record()
{
	rm -f data
	"$xsprof" record -o data "$@" >out 2>log || { echo "exit status $?" >>log; return 1; }
	"$dump" -q -f kineto data -o ours 2>>log
}

for detail in names shapes all; do
	shapes= strings=
	[ $detail = names ] || shapes=shapes strings='ij,jk->ik tanh'
	# shellcheck disable=SC2086 # split into words on purpose
	record --torch "$detail" -- "$python" -W ignore "$here/work.py" theirs $shapes &&
		"$dump" -q -f ndjson data -o ndjson && "$xsprof" info --json data >info 2>>log &&
		python3 "$here/compare.py" theirs ours ndjson info $shapes $strings >>log 2>&1
	status=$?
	result "--torch $detail: what torch.profiler says of each op, $(tail -n 1 log)" $status
done
"$xsprof" report --json data 2>log | python3 -c '
import json, sys
json.load(sys.stdin)' 2>>log
result "the report of it" $?

# Rows by shape equal the Kineto trace, which was compared with torch.profiler's.
"$xsprof" report --by shape --json data >rows 2>log && python3 - <<'END' 2>>log
import collections, json, re
rows, ops = collections.Counter(), collections.Counter()
for row in json.load(open("rows"))["ranges"]:
    inputs = re.split(r", (?![^\[]*\])", row["inputs"]) if "inputs" in row else []
    dims = [re.findall(r"\d+", re.search(r"\[(.*)\]", i)[1]) if "[" in i else [] for i in inputs]
    if not re.search(r"(^|, )\[", row.get("inputs", "")):
        rows[row["name"], json.dumps([[int(d) for d in ds] for ds in dims])] += row["count"]
for e in json.load(open("ours"))["traceEvents"]:
    if e.get("cat") in ("cpu_op", "user_annotation") and e["ph"] == "X":
        dims = e["args"].get("Input Dims", [])
        if not any(d and isinstance(d[0], list) for d in dims):
            ops[e["name"], json.dumps(dims)] += 1
assert sum(len(json.loads(k[1])) > 1 for k in ops) > 50, ops
known = {k: n for k, n in rows.items() if k in ops}
assert known == dict(ops), [(k, n, rows.get(k)) for k, n in ops.items() if rows.get(k) != n][:5]
END
result "report --by shape: a row for each op and the shapes of its inputs" $?
# The counts of each op equal those that were compared.
"$xsprof" report --by op --json data >rows.op 2>log && "$xsprof" report --by name --json data \
	>rows.name 2>>log && python3 - <<'END' 2>>log
import collections, json
by = {what: json.load(open("rows." + what))["ranges"] for what in ("op", "name")}
assert by["op"] == by["name"], "other rows than by name"
rows = collections.Counter()
for r in by["op"]:
    # A name in several categories has a row in each.
    rows[r["name"]] += r["count"]
ops = collections.Counter(e["name"] for e in json.load(open("ours"))["traceEvents"]
                          if e.get("cat") in ("cpu_op", "user_annotation") and e["ph"] == "X")
assert len(ops) > 50 and ops["aten::mm"] > 8, ops
wrong = {n: (rows.get(n), c) for n, c in ops.items() if rows.get(n) != c}
assert not wrong, wrong
END
result "report --by op: a row for each op, with its calls" $?
# A list of tensors is one input, and so is a list of numbers or bools.
python3 - <<'END' 2>log
import json
rows = {(r["name"], r.get("inputs")) for r in json.load(open("rows"))["ranges"]}
assert ("aten::cat", "[float[2], float[3]], -") in rows, rows
backward = [i for name, i in rows if name == "aten::convolution_backward"]
assert backward and all(i.startswith("float[4, 8, 6, 6], ") and i.count("-") == 8
                        for i in backward), backward
END
result "report --by shape: lists" $?

record -- "$python" -W ignore -c 'import torch, threading
def work():
    a = torch.ones(2, 2, requires_grad=True)
    a.mm(a).sum().backward()
work()
thread = threading.Thread(target=work)
thread.start()
thread.join()' && python3 - ours 2>>log <<-'END'
	import json, sys
	ops, ends = {}, {}
	for e in json.load(open(sys.argv[1]))["traceEvents"]:
	    if e.get("cat") == "cpu_op":
	        ops[e["tid"], e["ts"]] = e["name"]
	    elif e.get("cat") == "fwdbwd":
	        ends.setdefault(e["id"], []).append(e)
	got = []
	for pair in ends.values():
	    assert [e["ph"] for e in pair] == ["s", "f"] and pair[0]["tid"] == pair[1]["tid"], pair
	    got.append(tuple(ops[e["tid"], e["ts"]] for e in pair))
	want = [("aten::mm", "MmBackward0"), ("aten::sum", "SumBackward0")]
	assert sorted(got) == sorted(2 * want), got
END
result "each backward op has an arrow from its forward op, on its thread" $?

# A training with two threads, each with its own net: the second net gets another name.
record --torch all -- "$python" -W ignore "$here/places.py" &&
	"$xsprof" report --by module --json data >rows 2>>log &&
	"$xsprof" report --by line --json data >lines 2>>log &&
	"$xsprof" report --by module,name --json data >both 2>>log && python3 - ours <<-'END' 2>>log
	import collections, json, re, sys
	rows = {r.get("module"): r["count"] for r in json.load(open("rows"))["ranges"]}
	both = {(r.get("module"), r["name"]): r["count"] for r in json.load(open("both"))["ranges"]}
	inner = ["stem", "blocks.0.conv", "blocks.0.norm", "blocks.0", "blocks.1.conv",
	         "blocks.1.norm", "blocks.1", "head.0", "head.1"]
	for root, steps in ("Net", 3), ("Net#2", 2):
	    for name in inner:
	        assert rows[root + "." + name] >= steps, (root, name, rows)
	        assert rows[root + "." + name + " (backward)"] >= steps, (root, name, rows)
	    assert both[root + ".stem", "aten::conv2d"] == steps, both
	    assert both[root + ".blocks.1", "aten::relu"] == steps, both
	    assert both[root + ".blocks.0.norm", "aten::batch_norm"] == steps, both
	    back = [n for (m, n) in both if m == root + ".head.1 (backward)"]
	    assert "AddmmBackward0" in back, back
	    assert any(n.startswith("autograd::engine") for n in back), back
	known = {None} | {r + n + e for r in ("Net", "Net#2") for e in ("", " (backward)")
	                  for n in ["", ".blocks", ".head"] + ["." + i for i in inner]}
	assert set(rows) == known, set(rows) ^ known
	# The time of a module is that of those in it, and of what it calls itself.
	total = {r.get("module"): r["total_ns"] for r in json.load(open("rows"))["ranges"]}
	own = {r.get("module"): r["self_ns"] or 0 for r in json.load(open("rows"))["ranges"]}
	for m in filter(None, total):
	    name, back = re.fullmatch(r"(.*?)( \(backward\))?", m).groups()
	    parts = [p for p in total if p and re.fullmatch(
	        re.escape(name) + r"\.[^. ]+" + re.escape(back or ""), p)]
	    assert total[m] == own[m] + sum(total[p] for p in parts), (m, parts)
	    assert total[m] > 0
	assert total["Net"] > total["Net.blocks"] > total["Net.blocks.1"] > own["Net.blocks.1"] > 0
	places = json.load(open("places"))
	# The innermost line of the program, where PyTorch's own code runs the op.
	lines = {r.get("line"): r["count"] for r in json.load(open("lines"))["ranges"]}
	def line(kind, at, back=""):
	    found = [n for n in lines if n and re.fullmatch(
	        r"\S*/places\.py\(%d\): (%s\.)?forward%s" % (places[kind][at[0]] + at[1], kind,
	                                                  re.escape(back)), n)]
	    assert len(found) == 1, (kind, at, back, list(lines))
	    return lines[found[0]]
	for back in "", " (backward)":
	    assert line("Block", (0, 1), back) >= 10 and line("Block", (0, 2), back) >= 10
	    assert line("Net", (0, 1), back) >= 5 and line("Net", (1, 0), back) >= 5
	assert not any("site-packages" in n or "dist-packages" in n for n in filter(None, lines))
	assert sum(lines.values()) == sum(rows.values()), (lines, rows)
	seen = collections.Counter()
	for e in json.load(open(sys.argv[1]))["traceEvents"]:
	    if e.get("cat") != "cpu_op":
	        continue
	    stack = e["args"].get("Call stack", "")
	    module = e["args"].get("Module Hierarchy", "")
	    # Of ops that a forward() calls itself the innermost frame is one of its lines.
	    if e["name"] in ("aten::relu", "aten::add") and ".blocks." in module:
	        frame = re.match(r".*places\.py\((\d+)\): (Block\.)?forward", stack.split(";")[0])
	        assert frame and int(frame[1]) == places["Block"][1], stack
	        seen[e["name"]] += 1
	    if e["name"] == "aten::convolution" and module.endswith(".stem"):
	        assert re.search(r"torch/nn/modules/conv\.py\(\d+\): ", stack), stack
	        line = places["Net"][0] + 1
	        assert re.search(r"places\.py\(%d\): (Net\.)?forward" % line, stack), stack
	        assert re.search(r"places\.py\(\d+\): train", stack), stack
	        seen["stem"] += 1
	assert seen["aten::relu"] == 10 and seen["aten::add"] == 10 and seen["stem"] == 5, seen
END
result "--torch all: lines and modules of ops, forward and backward" $?
"$xsprof" report --by module --name aten::conv2d --json data >rows 2>log &&
	python3 - <<-'END' 2>>log
	import json
	rows = json.load(open("rows"))["ranges"]
	assert rows and all(r["total_ns"] >= r["self_ns"] for r in rows if r["count"]), rows
END
result "report --by module --name: what is inside of others is counted" $?
# Python calls a specialized __init__ from code of its own, which has no line.
cat >made.py <<-'END'
	import torch
	class Made:
	    def __init__(self):
	        self.t = torch.ones(3).tanh()
	for i in range(100):
	    Made()
END
record --torch all -- "$python" -W ignore made.py &&
	"$xsprof" report --by line,name --json data >lines 2>>log && python3 - <<-'END' 2>>log
	import json, re
	events = json.load(open("ours"))["traceEvents"]
	tanh = [e["args"]["Call stack"].split(";") for e in events if e.get("name") == "aten::tanh"]
	assert len(tanh) == 100, len(tanh)
	for stack in tanh:
	    own = [re.search(r"made\.py\((-?\d+)\): (.*)", frame) for frame in stack]
	    assert [(f[1], f[2].split(".")[-1]) for f in own if f] == [
	        ("4", "__init__"), ("6", "<module>")], stack
	rows = [r for r in json.load(open("lines"))["ranges"] if r["name"] == "aten::tanh"]
	assert len(rows) == 1 and rows[0]["count"] == 100 and "made.py(4)" in rows[0]["line"], rows
END
result "objects made over and over: the lines of their program alone" $?
# An operator defined at the address of the one before; then several with one name.
cat >defined.py <<-'END'
	import torch
	def define(name, more):
	    lib = torch.library.Library("own", "FRAGMENT")
	    lib.define(f"{name}(Tensor x{''.join(f', int a{i}' for i in range(more))}) -> Tensor")
	    lib.impl(name, lambda x, *more: x.clone(), "CPU")
	    getattr(torch.ops.own, name)(torch.ones(3), *range(more))
	    if hasattr(torch.ops.own, name):
	        delattr(torch.ops.own, name)
	    lib._destroy()
	for i in range(800):
	    torch.ones(3).tanh()
	for i in range(6):
	    define(f"number_{i}", i)
	for i in range(6):
	    define("again", i)
END
if "$python" -W ignore -c 'import torch; torch.library.Library._destroy' 2>/dev/null; then
	record --torch shapes -- "$python" -W ignore defined.py && python3 - <<-'END' 2>>log
	import json
	ops = [e for e in json.load(open("ours"))["traceEvents"]
	       if e.get("name", "").startswith("own::")]
	ops.sort(key=lambda e: e["ts"])
	got = [(e["name"], e["args"]["Concrete Inputs"]) for e in ops]
	names = [f"own::number_{i}" for i in range(6)] + ["own::again"] * 6
	assert got == [(name, ["", *map(str, range(at % 6))]) for at, name in enumerate(names)], got
	END
	result "operators that are defined where others were: their own names and inputs" $?
else
	skipped "operators that are defined where others were" "PyTorch keeps what it has defined"
fi
# Each element type of this version: the names are torch.profiler's.
cat >elements.py <<-'END'
	import sys, torch
	from torch.profiler import profile, ProfilerActivity
	names = [n for n in dir(torch) if isinstance(getattr(torch, n), torch.dtype)]
	def work():
	    for n in names:
	        try:
	            torch.empty((2, 3), dtype=getattr(torch, n)).t()
	        except (RuntimeError, NotImplementedError):
	            pass
	for i in range(300):
	    torch.ones(3, 4).t()
	if len(sys.argv) > 1:
	    with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as p:
	        work()
	    p.export_chrome_trace("theirs.json")
	else:
	    work()
END
if "$python" -c 'import torch; assert torch.profiler.kineto_available()' 2>/dev/null &&
	"$python" -W ignore elements.py theirs >out 2>&1; then
	record --torch shapes -- "$python" -W ignore elements.py && python3 - <<-'END' 2>>log
	import json
	def types(path):
	    ops = [e for e in json.load(open(path))["traceEvents"] if e.get("name") == "aten::t"]
	    return [e["args"]["Input type"] for e in sorted(ops, key=lambda e: e["ts"])]
	theirs = types("theirs.json")
	ours = types("ours")[-len(theirs):]
	assert len(theirs) > 12 and ours == theirs, (ours, theirs)
	# Of ops with tensors and without, where this version writes them.
	def strides(path):
	    ops = [e for e in json.load(open(path))["traceEvents"]
	           if e.get("name") in ("aten::t", "aten::empty")]
	    return [e["args"].get("Input Strides") for e in sorted(ops, key=lambda e: e["ts"])]
	theirs = strides("theirs.json")
	ours = strides("ours")[-len(theirs):]
	assert set(map(str, theirs)) == {"None"} or ours == theirs, (ours, theirs)
	END
	result "each type of elements: $(python3 -c 'import json
print(sum(e.get("name") == "aten::t" for e in json.load(open("theirs.json"))["traceEvents"]))')" $?
else
	skipped "each type of elements" "this PyTorch is built without Kineto"
fi
record --torch all -- "$python" -W ignore -c 'import torch
from torch import nn
from torch.utils.checkpoint import checkpoint
class Part(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 4)
    def forward(self, x):
        return torch.tanh(self.inner(x))
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.again, self.saved = Part(), Part()
    def forward(self, x):
        x = checkpoint(self.again, x, use_reentrant=True)
        return checkpoint(self.saved, x, use_reentrant=False)
class Twice(nn.Module):
    def forward(self, x):
        return x.mm(x).sum()
x = torch.ones(4, 4, requires_grad=True)
net, twice = Net(), Twice()
for i in range(3):
    net(x).sum().backward()
    grad, = torch.autograd.grad(twice(x), x, create_graph=True)
    grad.sum().backward()' && "$xsprof" report --by module,name --json data >both 2>>log &&
	python3 - <<-'END' 2>>log
	import json
	report = json.load(open("both"))
	rows = {(r.get("module"), r["name"]): r["count"] for r in report["ranges"]}
	assert report["modules_left_out"] == 0
	for part in "Net.again", "Net.saved":
	    assert rows[part, "aten::tanh"] == rows[part + ".inner", "aten::linear"] == 6, rows
	    assert rows[part + " (backward)", "TanhBackward0"] == 3, rows
	    assert rows[part + ".inner (backward)", "AddmmBackward0"] == 3, rows
	assert rows["Twice", "aten::mm"] == 3 and rows["Twice (backward)", "MmBackward0"] >= 6, rows
	assert not any("(backward) (backward)" in (m or "") for m, _ in rows), rows
END
result "modules of what is computed again, and of the backward of a backward" $?
"$xsprof" report --by line,module data >out 2>log
[ $? = 2 ] && grep -q -- '--by: module and line cannot be combined' log
result "report --by line,module is refused" $?
record --torch shapes -- "$python" -W ignore "$here/places.py" &&
	"$xsprof" report --by module data 2>>log | grep -qxF "... no modules were recorded: $(
		)use record --torch=all for ops called by Python; $(
	)for a C++ program, record --torch=cstack records stacks, for dump -f kineto"
result "report --by module without modules says what to do" $?

# On demand the request decides what is recorded, not XSPROF_TORCH.
mkdir ctl
# Rings that hold everything even on a busy machine.
LD_PRELOAD=$lib XSPROF_ONDEMAND=1 XSPROF_BUFFER_SIZE=32M "$python" -W ignore -c 'import os, torch
net = torch.nn.Linear(8, 8)
open("ctl/looping", "w").close()
while not os.path.exists("ctl/enough"):
    net(torch.ones(2, 8)).sum().backward()' >ctl/out 2>&1 &
pid=$!
for ((i = 0; i < 600; i++)); do
	[ -e ctl/looping ] && break
	sleep 0.1
done
"$xsprof" ctl start -p $pid -d 200ms -w -o ctl/plain.json >log 2>&1 &&
	"$xsprof" ctl start -p $pid -d 200ms -w -o ctl/full.json --shapes --memory --stack \
		--modules >>log 2>&1
status=$?
touch ctl/enough
wait $pid
[ $status = 0 ] && python3 - <<-'END' 2>>log
	import json
	for name in "plain", "full":
	    events = json.load(open("ctl/%s.json" % name))["traceEvents"]
	    linear = [e["args"] for e in events if e.get("name") == "aten::linear"]
	    assert linear
	    # Where it begins and ends, some ops are without what is asked for.
	    args, full = linear[len(linear) // 2], name == "full"
	    assert ("Input Dims" in args) == full, args
	    assert (args.get("Module Hierarchy") == "Linear") == full, args
	    assert args.get("Call stack", "").endswith("<string>(5): <module>") == full, args
	    assert any(e.get("name") == "[memory]" for e in events) == full
END
result "xsprof ctl start: with what is asked for, and no more" $?

# Threads that all start before the collector knows where inputs are: each has its ops' inputs from
# its first tensor on. PyTorch looks for numpy once, to parse an argument; threads that do so at
# once can deadlock, so a call that is refused looks for it first.
record --torch shapes -- "$python" -W ignore -c 'import torch, threading
try:
    torch.ones([object()])
except TypeError:
    pass
start = threading.Barrier(8)
def work():
    start.wait()
    for i in range(200):
        x = torch.ones(4)
        x.add(x)
threads = [threading.Thread(target=work) for _ in range(8)]
[t.start() for t in threads]
[t.join() for t in threads]' && python3 - <<-'END' 2>>log
	import json
	ops = {}
	for e in json.load(open("ours"))["traceEvents"]:
	    if e.get("cat") == "cpu_op":
	        ops.setdefault(e["tid"], []).append(e)
	assert len(ops) == 8, ops.keys()
	for own in ops.values():
	    own.sort(key=lambda e: e["ts"])
	    first = [e["name"] for e in own].index("aten::fill_")
	    assert 0 < first < 5 and len(own) >= 800, own[:5]
	    without = [e for e in own[first:] if not e["args"].get("Input Dims")]
	    assert not without, (len(without), without[:3])
	    adds = [e["args"]["Input Dims"] for e in own if e["name"] == "aten::add"]
	    assert adds == [[[4], [4], []]] * 200, adds
END
result "threads that begin at the same time have the inputs of their ops" $?

# A tensor whose layout does not follow from its sizes has strides, in every format.
record --torch=shapes -- "$python" -W ignore -c 'import torch
for _ in range(20):
    torch.ones(2, 3).t().mm(torch.ones(2, 4))'
want='float[3, 2] strides [1, 3]'
missing=
for format in text ndjson chrome perfetto; do
	"$dump" -q -f $format data >shown 2>>log
	grep -aqF "$want" shown || missing="$missing $format"
done
[ -z "$missing" ] || ! echo "$want is missing in:$missing" >>log
result "strides of inputs" $?
# An unchanged training: as many steps as it made, each with all phases.
cat >train.py <<-'END'
	import time
	import torch

	net = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 4))
	optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
	data = torch.utils.data.TensorDataset(torch.randn(56, 64), torch.randn(56, 4))
	for i, (x, y) in enumerate(torch.utils.data.DataLoader(data, batch_size=8)):
	    optimizer.zero_grad()
	    loss = (net(x) - y).square().sum()
	    if i == 4:
	        time.sleep(0.5)
	    loss.backward()
	    optimizer.step()
END
record -- "$python" -W ignore train.py && "$xsprof" report --steps --json data >steps 2>>log &&
	"$xsprof" report --steps data >table 2>>log && cat table >>log && python3 - 2>>log <<-'END'
	import json
	steps = [s for s in json.load(open("steps"))["steps"] if s["ended"]]
	assert all(s["begin_known"] for s in steps), steps
	assert [s["step"] for s in steps] == list(range(1, 8)), steps
	for s in steps:
	    ns = {k[:-3]: v for k, v in s.items() if k.endswith("_ns") and k[0] not in "bew"}
	    ns["backward"] = s["backward_ns"]
	    assert sum(ns.values()) == s["wall_ns"] and not s["uncertain"], s
	    assert all(ns[k] for k in ("forward", "backward", "optimizer", "data")), s
	    assert not ns["communication"], s
	for a, b in zip(steps, steps[1:]):
	    assert a["end_ns"] == b["begin_ns"], (a, b)
	assert steps[4]["no_op_ns"] >= 500000000, steps[4]
	END
[ $? = 0 ] && grep -qE '^step 5: .* more in no op; ' table
result "report --steps of a training" $?
printf '%s\n' 'RANK=1 WORLD_SIZE=2 "$@" & RANK=0 WORLD_SIZE=2 "$@" & wait' >ranks
record -- sh ranks "$python" -W ignore train.py && "$xsprof" report --steps data >table 2>>log &&
	cat table >>log && [ "$(grep -cE '^# .*, rank [01] of 2: 7 steps' table)" = 2 ]
result "steps of ranks" $?
finish
