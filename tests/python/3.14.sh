#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Python 3.14, from Debian's newest packages: waits for the GIL, collections, calls of functions,
# samples of threads, and record -p. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
. tests/viewers/packages.sh
. tests/python/attached.sh
. tests/python/start.sh

package_python314 || skip "$why"
python=$python314
"$python" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 14))' 2>log
result "it is Python 3.14" $?

"$xsprof" record -q -o data -- "$python" "$here/gil.py" run >said 2>log && [ ! -s log ] &&
	"$dump" -q -f ndjson data >events 2>>log &&
	"$python" "$here/gil.py" check events <said >>log 2>&1
result "who waited for whom, who had it meanwhile, and collections" $?

"$python" "$here/calls.py" count >counted 2>log &&
	"$xsprof" record -q --python-trace=calls -o data -- "$python" "$here/calls.py" run \
		>out 2>>log && [ ! -s log ] && "$dump" -q -f ndjson data >events 2>>log &&
	"$python" "$here/calls.py" check events <counted >>log 2>&1
result "each call is a range, in its place" $?

# ---- samples ----

# On a busy machine threads run too little: try again, longer.
sampled=1
for seconds in 2 4 8; do
	"$xsprof" record -q --python=400 -o data -- "$python" "$here/frames.py" run $seconds \
		>said 2>log && [ ! -s log ] &&
		"$dump" -q -f ndjson data >events 2>>log &&
		python3 "$here/frames-check.py" events lossy <said >>log 2>&1 && sampled=0 && break
done
result "stacks that can be, shares, a sleeper, a child, no call interrupted" $sampled
"$xsprof" record -q --python=1000 -o data -- "$python" -W error "$here/frames.py" fork 2>log &&
	[ ! -s log ]
result "a fork is not one of many threads" $?
"$xsprof" record -q --python=500 -o data -- "$python" "$here/frames.py" signals "$(kill -l URG)" \
	2>log && [ ! -s log ] && "$dump" -q -f ndjson data 2>>log |
		grep -q '"how":"runs".*frames.py'
result "a signal that the program handles is left to it, and another one taken" $?

# ---- record -p ----

need_attach
for kind in cpu threads memory forks signals calls waits; do
	attach_often "$python" $kind 2
	result "$kind: attached to, and as before" $?
done
begin "$python" threads
"$xsprof" record --python=200 -p $pid -d 1 -o data >out 2>log
status=$?
[ $status = 0 ] && grep -q 'waits for the GIL are recorded only in' log && ended threads &&
	"$xsprof" report -q --json --by function data >table 2>>log && python3 - 2>>log <<-'END'
	import json
	r = json.load(open("table"))
	rows = {f["function"]: f for f in r["functions"] if f.get("file", "").endswith("attach.py")}
	assert r["hz"] == 200 and rows["number"]["self"]["runs"] > 10, rows
	assert rows["threads.<locals>.work"]["total"]["runs"] > 10, rows
	END
result "samples of the functions that ran" $?
kill_often "$python" threads 5 2>/dev/null
result "the recorder is killed: the program runs on" $?
finish
