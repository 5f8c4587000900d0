#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Two gloo ranks, recorded as one job: the outputs name each rank as the program does, their
# collectives are on one timeline, and a rank that waits for another is found. Usage: ranks.sh
# [torchrun] PYTHON; torchrun: tests only ranks that torchrun starts. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
only=
[ "${1:-}" != torchrun ] || { only=$1; shift; }
python=${1:-/usr/bin/python3}
compare=$PWD/tests/torch/compare.py
jobs=$PWD/tests/torch/jobs
unset XSPROF_TORCH LD_PRELOAD RANK WORLD_SIZE MASTER_ADDR MASTER_PORT
export OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1 GLOO_SOCKET_IFNAME=lo
cd "$dir" || exit 1
mkdir shm
export XSPROF_SHM_DIR=$dir/shm
recorder=
trap '[ -z "$recorder" ] || kill -KILL $recorder 2>/dev/null; rm -rf "$dir"' EXIT

[ -e "$BUILD/lib/libxsprof-torch.so" ] || skip "libxsprof-torch is for x86-64"
# Groups have names since 2.2; from then on backends are known by their classes.
said=$("$python" -c 'import torch, torch.distributed as d
assert d.is_gloo_available()
version = [int(n) for n in torch.__version__.split(".")[:2]]
print(version >= [2], version >= [2, 2])' 2>/dev/null) || skip "no PyTorch with gloo for $python"
read -r version backends <<<"$said"

# Each rank's ops equal torch.profiler's of that rank.
both_match()
{
	local rank pid

	for rank in 0 1; do
		pid=$(python3 -c "import json; print(json.load(open('job/told.$rank'))['pid'])") &&
			"$dump" -q -f kineto --pid "$pid" data -o "ours.$rank" 2>>log &&
			"$dump" -q -f ndjson --pid "$pid" data -o ndjson &&
			"$xsprof" info --json data >info.json 2>>log &&
			python3 "$compare" "job/rank.$rank" "ours.$rank" ndjson info.json \
				shapes >>log || return 1
	done
	! grep '^xsprof: PyTorch' log
}

# A collective ends when both ranks have come: the nth of one rank overlaps the nth of the other.
collectives_match()
{
	"$dump" -q -f ndjson data >events 2>>log && python3 - "$version" 2>>log <<-'END'
	import collections, json, sys
	told = [json.load(open("job/told.%d" % r)) for r in (0, 1)]
	ranks = {t["pid"]: t["rank"] for t in told}
	calls, ranges, open_ = collections.defaultdict(list), collections.defaultdict(list), {}
	for e in map(json.loads, open("events")):
	    if e["type"] not in ("begin", "end") or e["pid"] not in ranks:
	        continue
	    key = e["tid"], e["name"]
	    if e["type"] == "begin":
	        open_[key] = e["ns"]
	        if e["name"].startswith("c10d::"):
	            calls[ranks[e["pid"]]].append(e["name"])
	    elif e["name"].startswith("gloo:"):
	        ranges[ranks[e["pid"]], e["name"]].append((open_.pop(key), e["ns"]))
	assert calls[0] == calls[1], calls
	assert calls[0].count("c10d::broadcast_") >= told[0]["steps"], calls
	n = 0
	for name in {name for _, name in ranges}:
	    if name == "gloo:broadcast":
	        # The one that has it may go on.
	        continue
	    a, b = sorted(ranges[0, name]), sorted(ranges[1, name])
	    assert len(a) == len(b) > 0, (name, len(a), len(b))
	    for (begin, end), (other, last) in zip(a, b):
	        assert begin <= last and other <= end, (name, begin, end, other, last)
	    n += len(a)
	# A step has an all_reduce of gradients, two of its own, and an all_gather.
	assert len(ranges[0, "gloo:all_reduce"]) >= 3 * told[0]["steps"], ranges
	print(n, "collectives of each rank", file=sys.stderr)
	END
}

# Both ranks have their number, and with a new enough PyTorch their backend.
are_named()
{
	"$xsprof" info data >info 2>>log && "$xsprof" report --steps data >steps 2>>log &&
		"$dump" -q -f kineto data -o both 2>>log &&
		"$dump" -q -f chrome data -o chrome 2>>log &&
		"$dump" -q -f perfetto data -o pftrace 2>>log &&
		python3 - "$backends" 2>>log <<-'END'
	import json, re, sys
	backend = sys.argv[1] == "True"
	info, steps = open("info").read(), open("steps").read()
	labels = {n: {e["pid"]: e["args"]["labels"] for e in json.load(open(n))["traceEvents"]
	              if e.get("name") == "process_labels"} for n in ("both", "chrome")}
	for r in 0, 1:
	    told = json.load(open("job/told.%d" % r))
	    assert told["rank"] == r and told["size"] == 2
	    by = ", " + told["backend"] if backend else ""
	    assert re.search(r"^ +\d+ +%d .* rank %d of 2%s: /" % (told["pid"], r, by), info,
	                     re.M), info
	    assert re.search(r"^# .*-%d, rank %d of 2: %d steps" % (told["pid"], r, told["steps"]),
	                     steps, re.M), steps
	    assert labels["both"][told["pid"]] == "CPU, rank %d" % r, labels
	    assert labels["chrome"][told["pid"]].startswith("rank %d: " % r), labels
	    assert b"rank %d" % r in open("pftrace", "rb").read()
	    one = json.load(open("ours.%d" % r))["distributedInfo"]
	    want = {"rank": r, "world_size": 2}
	    if backend:
	        want["backend"] = told["backend"]
	    assert one == want, one
	assert "distributedInfo" not in json.load(open("both"))
	END
}

free_port()
{
	python3 -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])'
}

torchrun_ranks()
{
	rm -rf job
	mkdir job
	"$xsprof" record -o data --torch shapes -- "$python" -W ignore -m torch.distributed.run \
		--nproc_per_node 2 --standalone "$jobs/ddp.py" job shapes >out 2>log &&
		both_match && collectives_match && are_named || ! cat out >>log
	result "torchrun: the ops of each rank, their collectives and their names" $?
}

if [ -n "$only" ]; then
	[ "$version" = True ] || skip "torchrun of this version needs more than it says"
	torchrun_ranks
	finish
fi

mkdir job
"$xsprof" record -o data --torch shapes -- "$python" -W ignore "$jobs/ddp.py" job spawn shapes \
	>out 2>log && both_match || ! cat out >>log
status=$?
result "ranks that the program makes: the ops of each, $(tail -n 1 log)" $status
collectives_match
status=$?
result "their collectives: the same, and at the same time: $(tail -n 1 log)" $status
are_named
result "they are named as the program does, in all outputs" $?

# Debian's torchrun, of 1.13, does not work.
if [ "$version" = True ]; then
	torchrun_ranks
else
	skipped "torchrun: the same" "torchrun of this version needs more than it says"
fi

# One rank crashes in a range, which the other rank completes.
crash_is_told()
{
	"$xsprof" report --json data >report 2>>log && python3 - job log 2>>log <<-'END'
	import json, re, sys
	pid = open(sys.argv[1] + "/pid.1").read()
	said = re.findall(r"processes (?:were|was) killed \((.*?)\) \]", open(sys.argv[2]).read())
	assert said == ["SIGSEGV: " + pid], said
	report = json.load(open("report"))
	assert [r["count"] for r in report["ranges"] if r["name"] == "last"] == [1], report
	assert report["open_unsure"] == report["open"] == 1, report
	END
}

# Makes a script that runs its arguments as two ranks, and an empty job folder.
make_ranks()
{
	rm -rf job
	mkdir job
	port=$(free_port)
	cat >ranks <<-END
		export MASTER_ADDR=127.0.0.1 MASTER_PORT=$port WORLD_SIZE=2
		RANK=1 "\$@" & RANK=0 "\$@"; wait
	END
}

make_ranks
"$xsprof" record -o data -- sh ranks "$python" -W ignore "$jobs/crash.py" job >out 2>log &&
	crash_is_told || ! cat out report >>log
result "a rank that crashes: which, by what signal, and out of the totals" $?
if [ "$version" = True ]; then
	rm -rf job
	mkdir job
	"$xsprof" record -o data -- "$python" -W ignore -m torch.distributed.run \
		--nproc_per_node 2 --standalone "$jobs/crash.py" job >out 2>log
	[ $? = 1 ] && crash_is_told || ! cat out report >>log
	result "torchrun: the same of one that crashes" $?
fi

# One rank does not come to the last all_reduce.
make_ranks
"$xsprof" record -o flight --flight --watch 'gloo:*' --stall 1 -- sh ranks "$python" -W ignore \
	"$jobs/hung.py" 10 job >out 2>log &
recorder=$!
for ((i = 0; i < 900; i++)); do
	ls flight.1.stall-* >/dev/null 2>&1 && break
	sleep 0.1
done
touch job/enough
wait $recorder
status=$?
recorder=
pid=$(cat job/pid.0)
[ $status = 0 ] && "$xsprof" report "flight.1.stall-$pid" >table 2>>log &&
	grep -q "^Open at the end of process $pid (.*), rank 0:" table &&
	grep -qE ' was in gloo:all_reduce for [^ ]+ s when the snapshot was taken' table &&
	grep -qE "thread [0-9]+ of process $pid has been in gloo:all_reduce for at least " log &&
	[ "$(ls flight.*stall*)" = "flight.1.stall-$pid" ] || ! cat out table >>log
result "a hung all_reduce: who waits, in which rank, and a capture of it" $?
finish
