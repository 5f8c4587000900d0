#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# xsprof.profile(): programs without PyTorch, with each installed Python; and the steps of PyTorch's
# profiler recipe with both profilers: the same ops, counts, bytes and FLOPs. Usage: profile.sh
# alone | PYTHON. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
. tests/torch/pythons.sh
python=${1:-alone}
[ "$python" = alone ] || case $python in /*) ;; *) python=$PWD/$python ;; esac
. tests/python/start.sh

if [ "$python" = alone ]; then
	while read -r version interpreter; do
		"$interpreter" -c 'import sys; sys.exit(sys.version_info < (3, 6))' || continue
		rm -rf work
		mkdir work
		(cd work && "$interpreter" "$here/alone.py") >log 2>&1
		result "$version: sessions, schedules, exports and errors" $?
	done < <(pythons)
	finish
fi

version=$("$python" -c 'import torch; print(torch.__version__)' 2>/dev/null) ||
	skip "no PyTorch for $python"
[ -e "$BUILD/lib/libxsprof-torch.so" ] || skip "libxsprof-torch is not built for this machine"

# tutorial NAME MODULE: runs the recipe in the folder NAME
tutorial()
{
	rm -rf "$1"
	mkdir "$1"
	(cd "$1" && "$python" -W ignore "$here/tutorial.py" "$2" out.json) >"$1.log" 2>&1
}

tutorial ours xsprof.profiler
status=$?
cp ours.log log
result "the recipe runs with xsprof.profiler" $status
tutorial theirs torch.profiler
status=$?
cp theirs.log log
result "and with torch.profiler" $status
"$python" "$here/same.py" ours/out.json theirs/out.json "$version" >same 2>log
status=$?
result "both say the same: $(tail -n 1 same)" $status
[ "$(find ours/board -name '*.pt.trace.json' | wc -l)" = 2 ] && [ -s ours/stacks.txt ] &&
	grep -q 'forward.* [0-9]*$' ours/stacks.txt
result "traces for TensorBoard, and stacks" $?

cat >both.py <<'END'
import collections, sys, warnings
warnings.simplefilter("ignore")
order = sys.argv[1]
if order == "first":
    import xsprof
    xsprof.profile()
import torch, torch.profiler
import xsprof

def counts(prof):
    return collections.Counter(e.name for e in prof.events() if e.name.startswith("aten::"))

model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Tanh())
model(torch.ones(2, 8))
for _ in range(3):
    with torch.profiler.profile() as theirs, xsprof.profile(record_shapes=True) as ours:
        with xsprof.record_function("named"):
            model(torch.ones(2, 8)).sum().backward()
    inner = counts(ours)
    assert inner["aten::linear"] == inner["aten::tanh"] == 1, inner
    assert counts(theirs)["aten::linear"] == 1, counts(theirs)
    assert sum(e.name == "named" for e in theirs.events()) == 1
    named, = [e for e in ours.events() if e.name == "named"]
    assert named.is_user_annotation
    linear, = [e for e in ours.events() if e.name == "aten::linear"]
    assert linear.input_shapes == [[2, 8], [8, 8], [8]], linear.input_shapes
    assert linear.cpu_parent is named
    back, = [e for e in ours.events() if e.name == "TanhBackward0"]
    assert back.scope == 1 and back.sequence_nr >= 0 and back.fwd_thread, back
# Without a session nothing observes ops, and nothing is kept.
model(torch.ones(2, 8))
with xsprof.profile(with_modules=True, with_stack=True) as prof:
    model(torch.ones(2, 8))
assert {e.module_hierarchy for e in prof.events() if e.name == "aten::tanh"} == {"Sequential.1"}
assert all("both.py" in e.stack[-1] for e in prof.events() if e.name == "aten::tanh")

# Ranges have stacks as well; the package's own frames are in none.
@xsprof.record_function("decorated")
def inner():
    with xsprof.range("in it", n=1):
        torch.ones(3).sum()

def outer():
    with xsprof.range("outermost"):
        inner()

with xsprof.profile(with_stack=True, schedule=lambda step: xsprof.ProfilerAction.RECORD) as prof:
    outer()
stacks = {e.name: [f.rpartition(": ")[2] for f in e.stack if "both.py" in f]
          for e in prof.events()}
assert stacks["outermost"] == ["outer", "<module>"], stacks
assert stacks["decorated"] == stacks["outermost"], stacks
assert stacks["in it"] == stacks["aten::sum"] == ["inner", "outer", "<module>"], stacks
frames = {f for e in prof.events() for f in e.stack}
assert not [f for f in frames if "/xsprof/" in f or "contextlib" in f], frames
table = prof.key_averages(group_by_stack_n=3).table()
assert "_session.py" not in table and ": inner" in table, table
END
for order in last first; do
	"$python" both.py $order >log 2>&1
	result "beside torch.profiler; imported $order" $?
done
"$python" -W ignore - >log 2>&1 <<'END'
import json
import torch.profiler, xsprof.profiler
new = tuple(int(n) for n in torch.__version__.split(".")[:2]) >= (2, 13)

def both(what):
    said = []
    for module in torch.profiler, xsprof.profiler:
        try:
            got = what(module, module.ProfilerActivity)
        except Exception as err:
            said.append(type(err).__name__)
        else:
            said.append({a.name for a in got})
    assert said[0] == said[1], said

both(lambda module, kinds: module.supported_activities())
both(lambda module, kinds: module.profile().activities)
has = "use_cuda" in torch.profiler.profile.__init__.__code__.co_varnames
for cuda in (True, False) if has else ():
    for names in ["CPU"], ["CUDA"], ["CPU", "CUDA"]:
        both(lambda module, kinds: module.profile(
            activities=[getattr(kinds, name) for name in names], use_cuda=cuda).activities)
both(lambda module, kinds: module.profile().stop() or [])
traces = []
for module in torch.profiler, xsprof.profiler:
    with module.profile(activities=[module.ProfilerActivity.CPU]) as prof:
        (torch.ones(3) + 1).sum()
    prof.events().export_chrome_trace("events.json")
    with open("events.json") as f:
        traces.append([(e["name"], e["ph"], e["pid"], sorted(e)) for e in json.load(f)
                       if e["name"].startswith("aten::")])
if new:
    both(lambda module, kinds: module.profile(activities=[]).activities)
    both(lambda module, kinds: module.profile(activities=[kinds.CPU, kinds.CPU]).activities)
    assert traces[0] == traces[1], traces
    assert (torch.autograd.profiler_util.EventList([]).supported_export_stacks_metrics() ==
            xsprof.profiler.EventList().supported_export_stacks_metrics())
assert len(traces[1]) >= 5, traces
END
result "the same activities, errors and exports of events" $?
XSPROF_TORCH=off "$python" - >log 2>&1 <<'END'
import warnings
import torch
import xsprof
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    with xsprof.profile() as prof:
        torch.ones(3)
    assert not prof.events()
assert any("XSPROF_TORCH=off" in str(w.message) for w in caught), caught
END
result "switched off: a warning says so" $?
rm -f data
"$xsprof" record --torch shapes -o data -- "$python" both.py last >log 2>&1 &&
	"$xsprof" report --json data >report 2>>log && "$python" - >>log 2>&1 <<'END'
import json
import xsprof
rows = {r["name"]: r["count"] for r in json.load(open("report"))["ranges"]}
assert rows["aten::linear"] == 1 + 3 + 2, rows["aten::linear"]
prof = xsprof.open("data").profile()
ops = {row.key: row for row in prof.key_averages(group_by_input_shape=True)}
assert ops["aten::linear"].input_shapes == [[2, 8], [8, 8], [8]], ops["aten::linear"]
assert ops["aten::linear"].count >= 5, ops["aten::linear"]
END
result "beside a recorder, whose capture is a profile too" $?
rm -f data
"$xsprof" record -o data -- "$python" both.py last >log 2>&1 && ! grep -q 'without their inputs' log
result "beside a recorder without inputs, of which the profile has them" $?
finish
