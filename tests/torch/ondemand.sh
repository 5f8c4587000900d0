#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Traces of a running PyTorch job, unchanged: requested by `xsprof ctl` and by dynolog's daemon, for
# a number of iterations or a time, also while torch.profiler profiles it. Usage: ondemand.sh PYTHON
# [package]. TAP. With package nothing is preloaded: that Python has the package xsprof, and what
# the package loads must suffice.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
python=${1:-/usr/bin/python3} package=${2:-}
jobs=$PWD/tests/torch/jobs
unset LD_PRELOAD XSPROF_TORCH XSPROF_ONDEMAND KINETO_USE_DAEMON KINETO_LOG_LEVEL KINETO_CONFIG
export OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1
lib=$BUILD/lib/libxsprof-torch.so
cd "$dir" || exit 1
mkdir shm
export XSPROF_SHM_DIR=$dir/shm
preload=LD_PRELOAD=$lib
[ -z "$package" ] || preload=LD_PRELOAD=
pid=
trap '[ -z "$pid" ] || kill -KILL $pid 2>/dev/null; rm -rf "$dir"' EXIT

[ -e "$lib" ] || skip "libxsprof-torch is for x86-64"
"$python" -c 'import torch' 2>/dev/null || skip "no PyTorch for $python"

until_there() # $1 a file: waits until the running job has made it
{
	local i

	for ((i = 0; i < 1200; i++)); do
		[ -e "$1" ] && return
		kill -0 $pid 2>/dev/null || break
		sleep 0.1
	done
	echo "no $1: $(cat out)" >>log
	return 1
}

# begin WORDS -- [ARGUMENT]: starts the job with WORDS in its environment. Sets pid.
begin()
{
	local words=()

	while [ "$1" != -- ]; do
		words+=("$1")
		shift
	done
	shift
	rm -rf job
	mkdir job
	env "${words[@]}" "$python" -W ignore "$jobs/${job:-looping.py}" job "$@" >out 2>&1 &
	pid=$!
	until_there job/begun
}

end()
{
	local status

	touch job/enough
	wait $pid
	status=$?
	pid=
	[ $status = 0 ] || { echo "the job: status $status: $(cat out)" >>log; return 1; }
}

# holds FILE ITERATIONS: it has the ops of that many whole iterations; 0: of one at least
holds()
{
	python3 - "$@" 2>>log <<-'END'
	import collections, gzip, json, sys
	path, n = sys.argv[1], int(sys.argv[2])
	with (gzip.open if path.endswith(".gz") else open)(path, "rt") as f:
	    trace = json.load(f)
	assert trace["xsprof_lost_records"] == 0, trace["xsprof_lost_records"]
	ops = collections.Counter(e["name"] for e in trace["traceEvents"] if e["ph"] == "X")
	steps = ops["Optimizer.step#SGD.step"]
	# What is in an iteration, by the program's text; one that was cut has less.
	whole = {"Optimizer.step#SGD.step": 1, "Optimizer.step#Adam.step": 1,
	         "Optimizer.zero_grad#SGD.zero_grad": 1, "aten::linear": 4, "aten::relu": 2,
	         "AddmmBackward0": 4}
	assert steps == n if n else steps > 1, (steps, ops)
	for name, each in whole.items():
	    assert abs(ops[name] - each * steps) <= (0 if n else each), (name, steps, ops[name])
	assert trace["xsprof_ranges_unfinished"] == 0 or not n
	END
}

without_library()
{
	# Without the preloaded library PyTorch does not listen: an empty list names that library.
	name="ctl list: why a program that was to listen does not"
	begin XSPROF_ONDEMAND=1 -- && "$xsprof" ctl list >list 2>log
	if grep -q '^none of your processes listens: .* LD_PRELOAD=.*libxsprof-torch.so$' \
			list; then
		grep -q "process $pid: .* no library that records PyTorch's ops: .* LD_PRELOAD=" log
		result "$name" $?
	elif grep -q "^ *$pid " list; then
		result "$name" 1
	else
		skipped "$name" \
			"$(sed -n 's/^ *\([0-9]\+\) .*/process \1 listens/p' list | head -n 1)"
	fi
	end || result "that job ends" 1
}

[ -n "$package" ] || without_library

begin "$preload" XSPROF_ONDEMAND=1 -- && "$xsprof" ctl list >list 2>>log &&
	grep -q "^ *$pid " list || cat list >>log
"$xsprof" ctl start -p $pid -n 3 -w -o n.json >>log 2>&1 && holds n.json 3
result "ctl: three iterations, each with all of its ops" $?
"$xsprof" ctl start -p $pid -n 2 -w -o n.json.gz --shapes --memory >>log 2>&1 && holds n.json.gz 2
result "ctl: two more, with shapes and memory" $?
"$xsprof" ctl start -p $pid -d 200ms -w -o d.json >log 2>&1 && holds d.json 0
result "ctl: for a time" $?
"$xsprof" ctl start -p $pid -o s.json >log 2>&1 && sleep 0.2 &&
	[ "$("$xsprof" ctl stop -p $pid 2>>log)" = "$dir/s.json" ] && holds s.json 0
result "ctl: until it is enough" $?
if "$python" -W ignore -m torch.cuda._memory_viz trace -h >/dev/null 2>&1; then
	viz() { "$python" -W ignore -m torch.cuda._memory_viz "$@"; }
	"$xsprof" ctl start -p $pid -d 200ms -w -o m.pickle --memory-snapshot >log 2>&1 &&
		viz trace m.pickle >viz 2>>log && viz trace_plot m.pickle -o viz.html >>log 2>&1 &&
		[ -s viz.html ] && python3 - <<-'END' 2>>log
		import pickle, re
		with open("m.pickle", "rb") as f:
		    trace, = pickle.load(f)["device_traces"]
		took = [e for e in trace if e["action"] == "alloc"]
		# Each is a name of its own in what the viewer prints.
		told = re.findall(r"^\w+ = ", open("viz").read(), re.M)
		assert len(took) > 100 and len(told) == len(took), (len(told), len(took))
		names = {f["name"] for e in took for f in e["frames"]}
		assert {"aten::addmm", "aten::linear", "aten::relu"} <= names, names
		END
	result "ctl: a snapshot of memory, in PyTorch's memory viewer" $?
else
	skipped "ctl: a snapshot of memory, in PyTorch's memory viewer" "this version has none"
fi
end
result "the job goes on and ends" $?

begin "$preload" XSPROF_ONDEMAND=1 -- profile &&
	"$xsprof" ctl start -p $pid -n 5 -w -o n.json >log 2>&1 && holds n.json 5 &&
	touch job/profiled && until_there job/theirs && python3 - job/theirs 2>>log <<-'END'
	import json, sys
	theirs = json.load(open(sys.argv[1]))
	steps = theirs["Optimizer.step#SGD.step"]
	assert steps >= 5 and theirs["Optimizer.step#Adam.step"] == steps, theirs
	assert theirs["aten::linear"] == 4 * steps and theirs["AddmmBackward0"] == 4 * steps, theirs
	END
result "ctl: while torch.profiler profiles it: both have all ops" $?
# The job's own profile begins and ends during the trace.
"$xsprof" ctl start -p $pid -o a.json >log 2>&1 && touch job/again &&
	until_there job/theirs.again &&
	[ "$("$xsprof" ctl stop -p $pid 2>>log)" = "$dir/a.json" ] && holds a.json 0 &&
	python3 - job/theirs.again 2>>log <<-'END'
	import collections, json, sys
	theirs = json.load(open(sys.argv[1]))
	assert theirs["step of both"] == theirs["Optimizer.step#SGD.step"] == 5, theirs
	ours = [e for e in json.load(open("a.json"))["traceEvents"] if e["ph"] == "X"]
	both = [e for e in ours if e["name"] == "step of both"]
	begin, end = min(e["ts"] for e in both), max(e["ts"] + e["dur"] for e in both)
	during = collections.Counter(e["name"] for e in ours if begin <= e["ts"] < end)
	for name in "step of both", "aten::linear", "AddmmBackward0", "Optimizer.step#Adam.step":
	    assert during[name] == theirs[name], (name, during[name], theirs[name])
	END
result "ctl: while a profile of torch.profiler begins and ends: both have all ops" $?
end || result "that job ends" 1

# If each parameter's optimizer steps in the backward pass, each pass is one iteration.
name="optimizers in the backward pass"
if "$python" -c 'import torch; torch.Tensor.register_post_accumulate_grad_hook' 2>/dev/null; then
	job=passes.py
	begin LD_PRELOAD="$lib" XSPROF_ONDEMAND=1 -- &&
		"$xsprof" ctl start -p $pid -n 8 -w -o p.json >log 2>&1 && python3 - 2>>log <<-'END'
		import collections, json
		events = json.load(open("p.json"))["traceEvents"]
		ops = collections.Counter(e["name"] for e in events if e["ph"] == "X")
		assert ops["Optimizer.step#SGD.step"] == 32 and ops["aten::linear"] == 16, ops
		END
	result "$name: ctl records as many passes as it is asked for" $?
	end || result "that job ends" 1
	job=
	"$xsprof" record -q -o p.data -- "$python" -W ignore "$jobs/passes.py" 6 >log 2>&1
	"$xsprof" report --steps --json p.data 2>>log | python3 -c '
import json, sys
r = json.load(sys.stdin)
assert [s["ended"] for s in r["steps"]] == [True] * 5 + [False], r["steps"]
assert r["medians"][0]["until_after_pass_with"] == "Optimizer.step#SGD.step", r' 2>>log
	result "$name: report --steps has one for each" $?
else
	skipped "$name" "this version of PyTorch has no hooks for them"
fi

# lacks WORDS NAME SAID: tests a job with WORDS in its environment.
lacks()
{
	begin "$1" --
	"$xsprof" ctl start -p $pid -o none.json >log 2>&1
	[ $? = 1 ] && grep -q "^xsprof: process $pid: .*$3" log
	result "ctl: a job with $2 alone: what is missing, and where that is" $?
	end || result "that job ends" 1
}

if [ -z "$package" ]; then
	lacks "LD_PRELOAD=$lib" LD_PRELOAD 'does not listen: start it with XSPROF_ONDEMAND=1'
	lacks XSPROF_ONDEMAND=1 XSPROF_ONDEMAND \
		"no library that records PyTorch's ops: .* LD_PRELOAD=$lib too"

	# Without the collector there are no ops: ctl says so and writes nothing.
	begin LD_PRELOAD="$BUILD/lib/libxsprof-user.so.0" XSPROF_ONDEMAND=1 --
	"$xsprof" ctl start -p $pid -d 100ms -w -o none.json >log 2>&1
	[ $? = 1 ] && [ ! -e none.json ] &&
		grep -q 'the trace is empty: the program recorded no op' log
	result "ctl: a trace without ops is a failure that says why" $?
	end || result "that job ends" 1
fi

mkdir sockets traces
echo 'ON_DEMAND_CONFIG_UPDATE_INTERVAL_SECS=1' >config
mkfifo ask answer
"$BUILD/tests/torch/daemon" sockets <ask >answer &
exec 8>ask 9<answer
begin "$preload" XSPROF_ONDEMAND=dynolog KINETO_IPC_SOCKET_DIR="$dir/sockets" \
	KINETO_ONDEMAND_TRACE_DIR="$dir/traces" KINETO_CONFIG="$dir/config" --
# requested NAME ITERATIONS TEXT: tests a trace that the daemon requests
requested()
{
	echo "$3|ACTIVITIES_LOG_FILE=$dir/traces/$1.json" >&8
	read -r -t 60 word <&9 && [ "$word" = handed ] &&
		until_there "traces/$1_$pid.json" && holds "traces/$1_$pid.json" "$2"
}
read -r -t 60 word <&9 && [ "$word" = ready ] &&
	requested n 4 'PROFILE_START_ITERATION=0|ACTIVITIES_ITERATIONS=4'
result "dynolog: four iterations" $?
requested d 0 'ACTIVITIES_WARMUP_PERIOD_SECS=0|PROFILE_START_TIME=0|ACTIVITIES_DURATION_MSECS=200'
result "dynolog: for a time" $?
end || result "that job ends" 1
exec 8>&- 9<&-
finish
