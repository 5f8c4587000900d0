#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Realistic PyTorch jobs, recorded unchanged, compared with torch.profiler's events of the same run
# and with the job's own output. Usage: jobs.sh PYTHON. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
. tests/torch/start.sh
compare=$here/compare.py
jobs=$here/jobs

# record DETAIL JOB ARGUMENT...: records to data; writes the ops as JSON to ours
record()
{
	local detail=$1 job=$2 status

	shift 2
	rm -f data ours
	"$xsprof" record -o data --torch "$detail" -- "$python" -W ignore "$jobs/$job.py" "$@" \
		>out 2>log
	status=$?
	"$dump" -q -f kineto data -o ours 2>>log || echo "no ops: $(cat out)" >>log
	return $status
}

silent() { ! grep '^xsprof: PyTorch' log; }

for job in conv transformer; do
	record shapes $job theirs shapes && silent &&
		"$dump" -q -f ndjson data -o ndjson && "$xsprof" info --json data >info 2>>log &&
		python3 "$compare" theirs ours ndjson info shapes >>log
	status=$?
	result "$job: the ops that torch.profiler has, $(tail -n 1 log)" $status
done

# The transformer: joins each op with Kineto's JSON by the record function id.
"$dump" -q -f execution-trace -o trace data 2>log &&
	! "$dump" -q -f memory-snapshot -o snapshot data 2>>log && python3 - 2>>log <<-'END'
	import json, math
	nodes = {}
	for n in json.load(open("trace"))["nodes"]:
	    rf_id = next(a["value"] for a in n["attrs"] if a["name"] == "rf_id")
	    for value, shape in zip(n["inputs"]["values"], n["inputs"]["shapes"]):
	        if type(value) is list and len(value) == 6 and type(value[5]) is str:
	            assert value[5] == "cpu", n
	            assert not shape or value[3] == math.prod(shape), n
	    if rf_id:
	        nodes[rf_id] = n["name"]
	events = json.load(open("ours"))["traceEvents"]
	ops = {e["args"]["Record function id"]: e["name"] for e in events
	       if e.get("cat") in ("cpu_op", "user_annotation") and
	       e["args"].get("Record function id")}
	assert len(ops) > 1000 and nodes == ops, (len(nodes), len(ops),
	                                          sorted(set(nodes.items()) ^ set(ops.items()))[:5])
	END
result "transformer: the execution trace has the ops of Kineto's JSON, by their ids" $?

for start in fork spawn; do
	record names loader told $start &&
		"$xsprof" report --steps --json data >steps 2>>log &&
		"$dump" -q -f ndjson data >events 2>>log && python3 - <<-'END' 2>>log
	import collections, json
	told = json.load(open("told"))
	made = collections.Counter()
	for e in map(json.loads, open("events")):
	    if e["type"] == "begin" and e["name"] == "aten::mm":
	        made[e["pid"]] += 1
	# Those of the trainer's are of its net.
	made.pop(told["pid"], None)
	assert made == {int(k): n for k, n in told["made"].items()} and len(made) == 2, (made, told)
	steps = [s for s in json.load(open("steps"))["steps"] if s["ended"]]
	assert len(steps) == len(told["waited"]) and all(s["pid"] == told["pid"] for s in steps)
	for s, waited in zip(steps, told["waited"]):
	    assert 0 < s["data_ns"] <= waited, (s, waited)
	# It was in there before its batch was begun.
	assert steps[told["slow"]]["data_ns"] >= 500000000, steps[told["slow"]]
	END
	result "loader: workers by $start have their ops, the trainer its wait for each batch" $?
done

record all killed 20
[ $? = 137 ] && "$xsprof" report --json data >report 2>>log &&
	"$xsprof" report data >table 2>>log && "$xsprof" info data >>table 2>>log &&
	python3 - <<-'END' 2>>log
	import json, re
	counts = {r["name"]: r["count"] for r in json.load(open("report"))["ranges"]}
	assert counts["aten::linear"] == 41 and counts["AddmmBackward0"] == 40, counts
	assert counts["Optimizer.step#SGD.step"] == 20, counts
	table = open("table").read()
	stuck = re.findall(r"thread (\d+) \(.*?\) was in (\S+) (?:\((?:module|line) .*?\) )?"
	                   r"for (?:at most|.*? to) .*? ((?:\(in .*\) )?)when killed by SIGKILL",
	                   table)
	assert len(stuck) == 6 and len({t for t, *_ in stuck}) == 3, table
	assert {name for _, name, _ in stuck} == {"jobs::stay"}, stuck
	backward = "evaluate_function: SlowBackward > SlowBackward"
	assert sum(backward in around for _, _, around in stuck) == 2, stuck
	END
result "killed: all ops up to then, and where each thread was" $?

record all memory 16 limit &&
	"$dump" -q -f memory-snapshot -o snapshot data 2>>log &&
	"$dump" -q -f memory-timeline -o timeline data 2>>log && python3 - out ours 2>>log <<-'END'
	import json, pickle, sys
	assert len(pickle.load(open("snapshot", "rb"))["device_traces"][0]) > 16
	assert json.load(open("timeline"))[0]
	held = int(open(sys.argv[1]).read().split()[0])
	events = json.load(open(sys.argv[2]))["traceEvents"]
	failed = [e["args"] for e in events if e.get("name") == "[OutOfMemory]"]
	assert held > 2 and len(failed) == 1, (held, failed)
	assert failed[0]["Bytes"] == 16 << 20, failed
	assert failed[0]["Total Allocated"] >= held * (16 << 20), (held, failed)
	taken = sum(e["args"]["Bytes"] == 16 << 20 for e in events if e.get("name") == "[memory]")
	assert taken == held, (taken, held)
	END
result "memory: what could not be had is said, and what was" $?
"$python" "$here/memory.py" viz ours snapshot >log 2>&1
status=$?
result "memory: the snapshot has each allocation, $(tail -n 1 log)" $status
group=
for root in /sys/fs/cgroup/memory$(sed -n 's/.*:memory://p' /proc/self/cgroup) \
	/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup); do
	if [ -z "$group" ] && mkdir "$root/xsprof-test-$$" 2>/dev/null; then
		group=$root/xsprof-test-$$
		echo 600M >"$group/memory.limit_in_bytes" || echo 600M >"$group/memory.max" ||
			{ rmdir "$group"; group=; }
	fi 2>/dev/null
done
if [ -n "$group" ]; then
	record all memory 16 "$group"
	[ $? = 137 ] && "$xsprof" report data >table 2>>log &&
		grep -q 'in aten::fill_ (line .*) for .* (in aten::ones) when killed by SIGKILL' \
			table || ! cat table >>log
	result "memory: killed for too much of it: the op that took it" $?
	rmdir "$group"
else
	skipped "memory: killed for too much of it" "no memory cgroup can be made here"
fi
finish
