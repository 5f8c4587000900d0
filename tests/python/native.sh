#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Samples with C functions between Python's, with each installed Python: C that Python calls and
# that calls Python, in two threads, one with an alternate signal stack; libraries that come and go,
# also at the address of another; C that runs without the GIL; and C that waits, also for a CPU and
# with the GIL. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
. tests/torch/pythons.sh
. tests/python/start.sh

[ "$(uname -m)" = x86_64 ] || skip "frames of C are recorded on x86-64 alone"
ldd "$xsprof" 2>/dev/null | grep -q libdw || skip "built without elfutils"
library() # FILE OPTION...
{
	gcc -O2 -fno-optimize-sibling-calls -fPIC -shared "${@:2}" -o "$1" "$here/native.c" \
		2>>log
}

library native.so -g && library one.so -DNAME=of_one -DPAD=1024 &&
	library other.so -DNAME=of_other -DPAD=4096
result "libraries are built" $?

on=()
# On a busy machine threads run too little: try again, longer.
sampled() # CHECK PYTHON ARGUMENT...
{
	local check=$1 python=$2 seconds

	for seconds in 2 4 8; do
		rm -f data
		timeout -k 10 60 "$xsprof" record -q --python=$hz --python-native -o data -- \
			"${on[@]}" "$python" "$here/native.py" "${@:3}" $seconds >said \
			2>log && [ ! -s log ] &&
			"$dump" -q -f ndjson data >events 2>>log &&
			python3 "$here/native.py" "$check" events >>log 2>&1 && return
	done
	return 1
}

while read -r version python; do
	"$python" -c 'import sys; sys.exit(sys.version_info < (3, 9))' || continue
	hz=400 sampled check "$python" run ./native.so
	result "$version: C below the function that called it, and what it called below that" $?
done < <(pythons)

"$xsprof" report -q --json --by function data >out 2>log && python3 - <<-'END' 2>>log
	import json
	r = json.load(open("out"))
	rows = {f["name"]: f for f in r["functions"]}
	leaf, middle = rows["leaf (native.so)"], rows["middle (native.so)"]
	assert leaf["self"]["runs"] == leaf["total"]["runs"] > 0, leaf
	assert middle["total"]["runs"] >= leaf["total"]["runs"] > middle["self"]["runs"], middle
	assert sum(f["self"]["runs"] for f in r["functions"]) == r["samples"]["runs"]
	# computes() calls C alone, which calls nothing of Python.
	computes = next(f for f in r["functions"] if f.get("function") == "computes")
	assert computes["self"]["runs"] < computes["with_c"]["runs"] == computes["total"]["runs"]
	assert leaf["with_c"] == leaf["total"] and middle["with_c"] == middle["total"]
	END
result "report --by function: functions of C have rows" $?
"$dump" -q -f folded data >folded 2>log &&
	grep -qE 'called;([^;]*;)*[^;]*\): inner;[^;]*\): computes;.*;outermost \(native.so\);mid' \
		folded
result "-f folded: they stand in their places" $?
"$dump" -q -f ndjson data >events 2>>log && /usr/bin/python3 - <<-'END' 2>>log
	import json, xsprof
	want = [(e["ns"], e["frames"]) for e in map(json.loads, open("events"))
	        if e["type"] == "sample" and "frames" in e]
	with xsprof.open("data") as capture:
	    got = [(s.ns, list(s.stack)) for s in capture.samples() if s.how != "missed"]
	    assert got == want and any("leaf (native.so)" in frames for _, frames in got), got
	    assert got == [(s.ns, list(s.stack)) for s in capture.samples() if s.how != "missed"]
END
result "samples() of the package has their names" $?
for format in text chrome perfetto kineto; do
	"$dump" -q -f $format -o out data 2>>log && [ -s out ] || { format=; break; }
	[ $format != perfetto ] || grep -q 'middle (native.so)' out || { format=; break; }
done
[ -n "$format" ]
result "all formats take them" $?
mv native.so gone.so && "$dump" -q -f folded data 2>log | grep -q '/native\.so+0x[0-9a-f]*;' &&
	mv gone.so native.so
result "where the file is gone there is its path and the place in it" $?

hz=200 sampled check-come-and-go python3 come-and-go ./one.so ./other.so
result "while libraries come and go each has its own functions, and nothing crashes" $?
"$xsprof" record -q --python=1000 --python-native -o data -- python3 "$here/native.py" \
	come-and-go ./one.so ./other.so 2 >said 2>log && [ ! -s log ]
result "nor does it at 1000 Hz" $?
hz=400 sampled check-mislead python3 mislead ./native.so
result "a word that is no address is no function, and holds up nothing" $?

# The table has the waits of functions of Python, and of C inside of them.
waits_are_counted()
{
	"$xsprof" report -q --json --by function data >out 2>>log && python3 - <<-'END' 2>>log
	import json
	r = json.load(open("out"))
	off = {f.get("function", f["name"]): f["with_c"]["off"] for f in r["functions"]}
	assert off["rests"] + off["dozes"] >= off["naps (native.so)"] >= 20, off
	assert off["waits"] >= off["waits (native.so)"] >= 20, off
	# Their caller does not wait itself.
	assert not off["Thread.run" if "Thread.run" in off else "run"], off
	END
}

while read -r version python; do
	"$python" -c 'import sys; sys.exit(sys.version_info < (3, 9))' || continue
	hz=1000 sampled check-outside "$python" outside ./native.so
	result "$version: C that runs without the lock, and a thread that sleeps beside it" $?
	hz=1000 sampled check-asleep "$python" asleep ./native.so && waits_are_counted
	result "$version: C that waits" $?
	hz=200 sampled check-holds "$python" holds ./native.so
	result "$version: C that waits while it holds the GIL is not interrupted" $?
done < <(pythons)

# Threads that compute on one CPU, beside two other processes: each has less than half of it.
cpu=$(taskset -cp $$ | sed 's/.*: *//; s/[-,].*//')
for _ in 1 2; do
	taskset -c "$cpu" sh -c 'while :; do :; done' &
done
on=(taskset -c "$cpu")
hz=200 sampled check-crowded python3 outside ./native.so
result "a thread that runs C and waits for a CPU is not off it for another reason" $?
kill %1 %2
on=()

"$xsprof" record -q --python=400 -o data -- python3 "$here/native.py" run ./native.so 1 2>log &&
	"$dump" -q -f ndjson data >events 2>>log &&
	python3 "$here/native.py" check-none events 2>>log
result "without --python-native there are none" $?
"$xsprof" record -q --python-native -o data -p $$ -d 0.1 2>log
[ $? = 2 ] && grep -q -- '^xsprof: --python-native: ' log
result "--python-native with -p is refused" $?
finish
