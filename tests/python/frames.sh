#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Samples with each installed Python: stacks that the program can have, shares of its functions, a
# sleeping thread, a forked child. Also programs that a sampler must not disturb: calls that no
# signal may interrupt, forks, execve(), signals of their own. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
. tests/torch/pythons.sh
. tests/python/start.sh

# On a busy machine threads run too little: try again, longer.
sampled()
{
	local seconds

	: >tries
	for seconds in 2 4 8; do
		rm -f data
		"$xsprof" record -q --python=400 -o data -- "$1" "$here/frames.py" run $seconds \
			>said 2>log && [ ! -s log ] &&
			"$dump" -q -f ndjson data >events 2>>log &&
			python3 "$here/frames-check.py" events lossy <said >>log 2>&1 && return
		echo "# $seconds seconds:" | cat - log >>tries
	done
	mv tries log
	return 1
}

while read -r version python; do
	if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 9))'; then
		"$xsprof" record -q --python -o data -- "$python" -c 'print(1)' >said 2>log
		[ "$(cat said)" = 1 ] && grep -q '^xsprof: Python: .* frames are not recorded$' log
		result "$version: it is said that frames are not recorded" $?
		continue
	fi
	sampled "$python"
	result "$version: stacks that can be, shares, a sleeper, a child, no call interrupted" $?
done < <(pythons)

"$xsprof" report -q --json --by function data >out 2>log && python3 - <<-'END' 2>>log
	import json
	r = json.load(open("out"))
	rows = {f["function"]: f for f in r["functions"] if f.get("file", "").endswith("frames.py")}
	heavy = rows["heavy"]
	assert r["hz"] == 400 and heavy["line"] == 23, (r["hz"], heavy)
	assert heavy["self"] == heavy["total"], heavy
	ratio = rows["ratio"]
	assert ratio["total"]["runs"] >= heavy["total"]["runs"] > ratio["self"]["runs"], ratio
	# What calls itself counts once in each sample.
	assert rows["recurse"]["total"]["runs"] <= r["samples"]["runs"], rows["recurse"]
	assert sum(f["self"]["runs"] for f in r["functions"]) == r["samples"]["runs"], r["samples"]
	self = [f["self"]["runs"] + f["self"]["native"] for f in r["functions"]]
	assert self == sorted(self, reverse=True)
	END
result "report --by function: files, lines, sums" $?
"$xsprof" report -q --by function data >out 2>log &&
	grep -q '^# data: [0-9]* samples, 400 a second of each thread: ' out &&
	grep -qE '^ +[0-9]+ +[0-9.]+ % +[0-9]+ +[0-9.]+ % .*frames\.py\(23\): heavy$' out
result "report --by function: the table" $?
"$xsprof" report -q --json --by function data >all 2>log &&
	"$xsprof" report -q --json --by function,thread data >each 2>>log &&
	"$xsprof" report -q --by thread,function -n 3 data >table 2>>log &&
	python3 - 2>>log <<-'END'
	import collections, json
	rows = {f["name"]: f for f in json.load(open("all"))["functions"]}
	each = json.load(open("each"))["functions"]
	assert len({(f["name"], f["pid"], f["tid"]) for f in each}) == len(each) > len(rows)
	for what in "self", "total", "with_c":
	    sums = collections.defaultdict(collections.Counter)
	    for f in each:
	        sums[f["name"]].update(f[what])
	    assert sums == {name: f[what] for name, f in rows.items()}, what
	heavy = {f["thread"] for f in each if f.get("function") == "heavy"}
	assert len(heavy) == 1 and heavy.pop().startswith("Thread-"), each
	table = [line for line in open("table").read().splitlines() if line[:1] != "#"]
	first = "%s-%d" % (each[0]["thread"], each[0]["tid"])
	assert len(table) == 6 and table[-3].split("  ")[-2:][0].strip() == first, table
	END
result "report --by function,thread: rows of threads add up to those of functions" $?
"$xsprof" report --by function,name data >out 2>log
[ $? = 2 ] && grep -qx 'xsprof: --by: function can be combined with thread only' log
result "report --by: function with another than thread is refused" $?
for format in text chrome perfetto kineto; do
	"$dump" -q -f $format -o out data 2>>log && [ -s out ] || { format=; break; }
done
[ -n "$format" ]
result "all formats take samples" $?
"$dump" -q -f folded data >folded 2>>log &&
	"$xsprof" report -q --json --by function data >out 2>>log && python3 - <<-'END' 2>>log
	import json
	lines = [line.rsplit(" ", 1) for line in open("folded", encoding="utf-8")]
	report = json.load(open("out"))
	assert sum(int(n) for _, n in lines) == sum(report["samples"].values()) + report["missed"]
	assert any(stack.endswith("): ratio;" + stack.split(";")[-1]) for stack, _ in lines), lines
	END
result "-f folded: each sample is there" $?

"$xsprof" record -q --python=1000 -o data -- python3 "$here/frames.py" exec 30 2>log
result "execve(): no signal outlives the program" $?
new=$(pythons | tail -n 1 | cut -d' ' -f2)
"$xsprof" record -q --python=1000 -o data -- "$new" -W error "$here/frames.py" fork 2>log
result "a fork is not one of many threads" $?

urg=$(kill -l URG) winch=$(kill -l WINCH)
"$xsprof" record -q --python=500 -o data -- python3 "$here/frames.py" signals "$urg" 2>log &&
	[ ! -s log ] && "$dump" -q -f ndjson data 2>>log | grep -q '"how":"runs".*frames.py'
result "a signal that the program handles is left to it, and another one taken" $?
"$xsprof" record -q --python=500 -o data -- python3 "$here/frames.py" signals "$urg" "$winch" \
	2>log && grep -q '^xsprof: the program uses all signals' log &&
	"$dump" -q -f ndjson data 2>>log | grep -q '"how":"missed"'
result "where none is left it is said, and samples are counted as missed" $?

"$xsprof" record -q -o data -- python3 "$here/frames.py" alone >said 2>log &&
	[ "$(cat said)" = "1 0" ] && ! "$dump" -q -f ndjson data 2>>log | grep -q '"sample"' &&
	! "$xsprof" report -q --by function data 2>>log &&
	grep -q 'has no stack samples: record .* --python, and with the category python$' log
result "without --python: no thread, no handler, no sample" $?
"$xsprof" record -q --python -o data -- python3 "$here/frames.py" alone >said 2>log &&
	[ "$(cat said)" = "2 1" ]
result "with it: what is looked for without it" $?
"$xsprof" record -q --python -o data -- python3 -c 'import subprocess, sys
subprocess.run([sys.executable, "--version"], check=True)' >said 2>log && [ ! -s log ] &&
	"$xsprof" record -q --python -o data -- python3 -V >>said 2>log && [ ! -s log ] &&
	[ "$(grep -c '^Python 3' said)" = 2 ]
result "a Python that only prints its version is not one whose GIL was not found" $?
for hz in 0 1001 x 10x; do
	"$xsprof" record -q --python=$hz -o data -- true 2>log && hz= && break
	grep -q "^xsprof: --python: '$hz': expected samples per second, 1 to 1000" log ||
		{ hz=; break; }
done
[ -n "$hz" ]
result "--python=HZ: what makes no sense is refused" $?

# Each part of the program goes on until its file is there.
cat >parts.py <<-'END'
	import os, re, sys, time
	def until(name):
	    while not os.path.exists(name):
	        sum(range(1000))
	def first(): until("switched-off")
	def middle(): until("looked")
	def between(): until("switched-on")
	def last(): time.sleep(0.2); until("done")
	def wakeups():
	    for task in os.listdir("/proc/self/task"):
	        with open("/proc/self/task/%s/status" % task) as status:
	            text = status.read()
	        if text.startswith("Name:\txsprof-python\n"):
	            return int(re.search(r"\nvoluntary_ctxt_switches:\s*(\d+)", text)[1])
	    return 0  # It begins with the recording, which may be off by then.
	first()
	begin, at = wakeups(), time.monotonic()
	while time.monotonic() < at + 1:
	    middle()
	print((wakeups() - begin) / (time.monotonic() - at))
	if len(sys.argv) > 1:
	    between()
	    last()
	END
: >looked
rm -f data
"$xsprof" record -q --python=1000 -d 3 -o data -- python3 parts.py >said 2>log &
until "$xsprof" info -q data >out 2>&1 || ! kill -0 $! 2>>log; do sleep 0.1; done
: >switched-off
wait $! && "$dump" -q -f ndjson data 2>>log | grep -q 'parts.py([0-9]*): first"' &&
	awk '{ exit !($1 < 100) }' said
result "after --duration the program no longer pays for ticks" $?

rm -f looked data
: >looked
"$xsprof" record -q --python=1000 --categories=-python -o data -- python3 parts.py >said 2>log &&
	awk '{ exit !($1 < 100) }' said && ! "$dump" -q -f folded data 2>log &&
	grep -q 'with --python, and with the category python$' log
result "neither does it while only the category of samples is off" $?

rm -f data looked switched-off
"$xsprof" record -q --python=100 -o data -- python3 parts.py on >said 2>log &
command=$!
# Its rings exist when its category can be switched.
until "$xsprof" disable all >out 2>&1 || ! kill -0 $command 2>>log; do sleep 0.1; done
: >switched-off
sleep 1.2
: >looked
until [ -s said ] || ! kill -0 $command 2>>log; do sleep 0.1; done
"$xsprof" enable all >out 2>>log
: >switched-on
sleep 2
: >done
wait $command && "$dump" -q -f ndjson data >events 2>>log &&
	grep -q 'parts.py([0-9]*): last"' events && ! grep -q 'parts.py([0-9]*): middle"' events
result "categories switched off: no samples; switched on again: samples" $?
finish
