#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# record --python-trace, with each installed Python: each call of a function is a range, as counted
# by Python's own profile hook in another run; selected modules; wrong arguments. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
. tests/torch/pythons.sh
. tests/python/start.sh

while read -r version python; do
	"$python" -c 'import sys; sys.exit(sys.version_info < (3, 9))' || continue
	rm -f data
	"$python" "$here/calls.py" count >counted 2>log &&
		"$xsprof" record -q --python-trace=calls -o data -- "$python" "$here/calls.py" run \
			>out 2>>log &&
		"$dump" -q -f ndjson data >events 2>>log &&
		"$python" "$here/calls.py" check events <counted >>log 2>&1
	result "$version: each call is a range, in its place" $?
	"$dump" -q -f kineto -o kineto data 2>log && "$python" - >>log 2>&1 <<-'END'
		import collections, json
		want = sum(json.load(open("counted")).values())
		events = json.load(open("kineto"))["traceEvents"]
		got = collections.Counter(e.get("cat") for e in events)
		assert got["python_function"] == want > 100, (got, want)
	END
	result "$version: kineto: as many python_function events as calls" $?
done < <(pythons)

# Recording is off while the innermost call runs: its end is not that of a call around it.
cat >paused.py <<'END'
import time
import xsprof
def inner(n):
    time.sleep(0.01)
    if n:
        inner(n - 1)
    else:
        xsprof.pause()
        off(2)
        xsprof.resume()
def off(n):
    time.sleep(0.01)
    if n:
        off(n - 1)
inner(3)
END
while read -r version python; do
	"$python" -c 'import sys; sys.exit(sys.version_info < (3, 9))' || continue
	rm -f data
	"$xsprof" record -q --python-trace=paused -o data -- "$python" paused.py >out 2>log &&
		"$dump" -q -f ndjson data >events 2>>log && python3 - >>log 2>&1 <<-'END'
		import json
		calls = [e for e in map(json.loads, open("events")) if e["type"] == "complete"]
		inner = sorted((e["begin_ns"], e["ns"]) for e in calls
		               if e["name"].endswith(": inner"))
		off = [e for e in calls if e["name"].endswith(": off")]
		assert len(inner) == 4 and not off, calls
		for (begin, end), (begin_inside, end_inside) in zip(inner, inner[1:]):
		    assert begin + 10e6 <= begin_inside and end_inside <= end, inner
		END
	result "$version: calls around calls that are not recorded keep their times" $?
done < <(pythons)

"$xsprof" record -q --python-trace -o data -- /usr/bin/python3 -c 'import json, tokenize
json.dumps(json.loads("[1]"))' >out 2>log && "$xsprof" report data >report 2>>log &&
	grep -qE 'json/decoder.py\([0-9]+\): .*decode$' report &&
	grep -q '<string>(1): <module>$' report
result "without a word: functions of all modules" $?

"$xsprof" record -q --python-trace=json.decoder,tokenize -o data -- /usr/bin/python3 -c 'import json
json.dumps(json.loads("[1]"))' >out 2>log && "$xsprof" report data >report 2>>log &&
	grep -q 'json/decoder.py' report && ! grep -q 'json/encoder.py\|json/__init__.py' report
result "of some modules: no others" $?

# With each Python: a module name that is in no file's path is reported, a valid one is not.
while read -r version python; do
	"$python" -c 'import sys; sys.exit(sys.version_info < (3, 9))' || continue
	"$xsprof" record --python-trace=none.such,json.decoder,calls.py,json -o data -- \
		"$python" -c '
import json
json.loads("[1]")' >out 2>log
	sed -n "s/^xsprof: --python-trace: no function of '\(.*\)' was called: .*/\1/p" log >told
	[ "$(paste -sd' ' told)" = "none.such calls.py" ] &&
		"$xsprof" report data 2>>log | grep -q 'json/decoder.py'
	result "$version: a module of which no function was called is named" $?
done < <(pythons)
"$xsprof" record -o data --python-trace=,json.decoder -- /usr/bin/python3 -c 'import json
json.loads("[1]")' >out 2>log && ! grep -q 'no function of' log &&
	"$xsprof" report data 2>>log | grep -q 'json/decoder.py'
result "an empty name is none" $?

# Up to 3.11 there is one hook: while another tool has it nothing is recorded, and xsprof says so.
cat >taken.py <<'END'
import cProfile, gc
def inner(): pass
def outer():
    for _ in range(10): inner()
outer()
other = cProfile.Profile()
other.enable(); outer(); other.disable()
gc.collect()
outer()
END
while read -r version python; do
	case $version in 3.9.*|3.10.*|3.11.*) ;; *) continue ;; esac
	"$xsprof" record -q --python-trace=taken -o data -- "$python" taken.py >out 2>log &&
		"$xsprof" report data >report 2>>log && cat report >>log &&
		grep -qE '^ +20 .* taken.py\(2\): inner$' report &&
		grep -qE '^ +1 +instant .*functions not recorded: another has the hook$' report &&
		grep -qE '^ +1 +instant .*functions recorded again$' report
	result "$version: another profiler takes the hook, and gives it back" $?
done < <(pythons)

cat >markers.py <<'END'
import os, time
import xsprof
class Around:
    """Its range begins in one function and ends in another."""
    def __enter__(self):
        self.range = xsprof.range("around")
        self.range.__enter__()
    def __exit__(self, *args):
        return self.range.__exit__(*args)
def short(): pass
def main():
    with Around():
        time.sleep(0.05)
    short()
    if not os.fork():
        short()
        os._exit(0)
    os.wait()
main()
END
while read -r version python; do
	"$python" -c 'import sys; sys.exit(sys.version_info < (3, 9))' || continue
	"$xsprof" record -q --python-trace=markers -o data -- "$python" markers.py >out 2>log &&
		"$xsprof" report --json data >report 2>>log &&
		"$python" - report >>log 2>&1 <<-'END'
			import json, sys
			rows = {r["name"].split(": ")[-1].split(".")[-1]: r
			        for r in json.load(open(sys.argv[1]))["ranges"]}
			around = rows["around"]
			assert around["min_ns"] >= 50_000_000 and not around["cut"], around
			assert rows["__enter__"]["count"] == rows["__exit__"]["count"] == 1, rows
			# One of them in the child, which has not its parent's calls.
			assert rows["short"]["count"] == 2 and rows["main"]["count"] == 1, rows
		END
	result "$version: ranges that begin in one function and end in another" $?
	"$xsprof" record -q --python-trace -o data -- "$python" -c 'import gc, threading
one = gc.callbacks[0]
for arguments in ((), ("start",), (5, 5), ("\udc80", {}), ("start", {"generation": "x"}),
                  ("stop", {"collected": None}), ("stop", 7)):
    one(*arguments)
hook = getattr(threading, "getprofile", lambda: None)()
for arguments in ((), (1, "call", 2), (None, None, None)):
    if hook:
        hook(*arguments)
print("done")' >out 2>log && grep -qx done out || ! cat out >>log
	result "$version: what is called back may be called by the program" $?
done < <(pythons)

(mkdir -p deep/train && cd deep/train && cp ../../taken.py job.py &&
	"$xsprof" record -q --python-trace=train -o ../../data -- /usr/bin/python3 ../train/job.py
) >out 2>log && "$xsprof" report data >report 2>>log && ! grep -q 'job.py' report &&
	"$xsprof" record -q --python-trace=job -o data -- \
		/usr/bin/python3 deep/../deep/train/job.py >out 2>>log &&
	"$xsprof" report data >report 2>>log &&
	grep -q ' job.py(2): inner$' report || ! cat report >>log
result "a module is called as an import finds it, wherever its folder is" $?

"$xsprof" record -q -o data -- /usr/bin/python3 "$here/calls.py" run >out 2>log &&
	"$xsprof" report data >report 2>>log && ! grep -q 'calls.py' report
result "without the option: no function" $?

"$xsprof" record --python-trace= -- true 2>log
[ $? = 2 ] && grep -q '^xsprof: --python-trace=: a module is missing' log
result "no word where one is announced" $?
finish
