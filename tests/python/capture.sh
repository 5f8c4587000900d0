#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# xsprof.open(): compares its tables with what xsprof report, dump and info print for the same
# captures: markers of each kind, a killed program, lost records, a PyTorch program, kernel events.
# Usage: capture.sh [kinds]. With kinds: captures made for the tests of the tools. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
. tests/viewers/packages.sh
. tests/python/start.sh
python=/usr/bin/python3
frames=
# The readers' environment has pandas.
package_readers && { readers=$venv/bin/python; frames=FRAMES; }

# Runs a tool on the capture; status 3 means that the file is cut, and passes too.
reads() { "$@" 2>>log || [ $? = 3 ]; }

# holds NAME [PYTHON [FRAMES]]: compares what is in $dir/data
holds()
{
	rm -f compared
	reads "$xsprof" report --json --allow-lost data >report &&
		reads "$dump" -q --allow-lost -f ndjson data >events &&
		reads "$xsprof" info --json --allow-lost data >info &&
		"${2:-$python}" "$here/capture.py" data report events info ${3:-} >compared 2>>log
	status=$?
	result "$1: $([ ! -e compared ] || tail -n 1 compared)" $status
}

if [ "${1:-}" = kinds ]; then
	for kind in all keys full long empty cover together lost rows links tasks async kernel \
			left-out crowded threads exits exec programs steps hung late switched \
			parts usage numbers old-ledger 'deep 300' 'many 5'; do
		rm -f data
		# shellcheck disable=SC2086 # a word and a number
		set -- $kind
		"$make_capture" "$1" data ${2:+"$2"} >log 2>&1
		holds "$1"
	done
	finish
fi
cat >many.py <<'END'
import os, sys, xsprof
for i in range(int(sys.argv[1])):
    with xsprof.range("outer %d" % (i % 7), n=i):
        with xsprof.range("inner"):
            xsprof.counter("i", i)
xsprof.range("left open").__enter__()
if sys.argv[2:]:
    os.kill(os.getpid(), 9)
END
RECORDED=1 "$xsprof" record -o data -- "$python" "$here/markers.py" >log 2>&1
holds "each kind of marker"
if [ -n "$frames" ]; then
	holds "the same, with pandas" "$readers" FRAMES
else
	skipped "the same, with pandas" "$why"
fi
rm -f data
cat >calls.py <<'END'
import threading, time
def inner(end):
    while time.monotonic() < end:
        sum(range(500))
def outer(seconds):
    inner(time.monotonic() + seconds)
thread = threading.Thread(target=outer, args=(0.3,))
thread.start()
outer(0.3)
thread.join()
END
"$xsprof" record --python=500 -o data -- "$python" calls.py >log 2>&1
holds "samples of Python"
"$python" - >>log 2>&1 <<'END'
import xsprof
samples = xsprof.open("data").samples()
ran = [s for s in samples if s.function.endswith("calls.py(2): inner") and
       s.stack[0] == s.function and s.stack[1].endswith("calls.py(5): outer")]
assert len({s.tid for s in ran}) == 2 and len(ran) > len(samples) / 2, (len(ran), len(samples))
assert {"runs", "lock"} <= {s.how for s in ran}, ran
END
result "its samples are of both threads, with what called their function" $?
# Waits for the GIL: the same rows as in the tool; none for a program with one thread.
"$xsprof" record -q -o data -- "$python" "$here/gil.py" run >said 2>log &&
	"$xsprof" report --gil --json -n 100000 data >report 2>>log &&
	"$xsprof" record -q -o alone -- "$python" -c 'import xsprof; xsprof.instant("x")' 2>>log &&
	"$python" - >>log 2>&1 <<'END'
import json, xsprof
with xsprof.open("data") as capture:
    gil = capture.gil()
report = json.load(open("report"))
assert gil.waits == report["waits"] > 0 and gil.waited_ns == report["waited_ns"], gil
assert (gil.open, gil.doubtful, gil.left_out) == tuple(
    report[key] for key in ("open", "doubtful", "left_out")), gil
assert gil.threads.to_dicts() == report["threads"], gil.threads
assert gil.pairs.to_dicts() == report["pairs"], gil.pairs
assert len(gil.threads) >= 4 and gil.threads.columns[0] == "pid", len(gil.threads)
alone = xsprof.open("alone").gil()
prof = xsprof.open("data").profile()
assert not [e for e in prof.events() if "GIL" in e.name], prof.key_averages().table()
assert alone.waits == 0 and alone.threads == [] and alone.pairs == [], alone
END
result "gil() has what report --gil has" $?
PATH=/nowhere XSPROF_LIBDIR=$dir/none "$python" - >>log 2>&1 <<END
import sys
import xsprof._lib
xsprof._lib.find = lambda name: "$BUILD/lib/" + name
try:
    xsprof.open("data").gil()
    sys.exit(1)
except RuntimeError as err:
    assert "bin/xsprof: No such file" in str(err) and "PATH" in str(err), err
END
result "where the tool is not there, it is said" $?
"$python" - >log 2>&1 <<'END'
import xsprof
try:
    xsprof.open("data").ops(as_frame=True)
    raise SystemExit(0 if __import__("pandas") else 1)
except ImportError as err:
    assert "pip install pandas" in str(err), err
END
result "without pandas: what to do" $?
rm -f data
"$xsprof" record -o data -- "$python" many.py 2000 killed >log 2>&1
holds "a program that was killed"
rm -f data
"$xsprof" record -b 16K -o data -- "$python" many.py 60000 >log 2>&1
if grep -q ', 0 lost' log; then
	skipped "lost records" "none were lost"
else
	holds "lost records"
fi
rm -f data
if "$python" -c 'import torch' 2>/dev/null; then
	"$xsprof" record --torch all -o data -- "$python" -W ignore "$here/model.py" >log 2>&1
	holds "a PyTorch program"
	# Steps that the program marks, and steps taken from its optimizer.
	grep -v xsprof.step "$here/model.py" >untold.py
	for program in "$here/model.py" untold.py; do
		rm -f data
		"$xsprof" record -o data -- "$python" -W ignore "$program" >log 2>&1 &&
			"$xsprof" report --steps --json data >steps 2>>log || break
		"$python" - >>log 2>&1 <<-'END' || break
		import json, xsprof
		want = [(s["step"], s["begin_ns"], s["end_ns"] if s["ended"] else None)
		        for s in json.load(open("steps"))["steps"]]
		got = [(s.number, s.begin_ns, s.end_ns) for s in xsprof.open("data").steps()]
		assert got == want and len(got) > 4, (got, want)
		END
		program=
	done
	[ -z "$program" ]
	result "its steps, told and untold" $?
else
	skipped "a PyTorch program" "no PyTorch for $python"
fi
rm -f data
if "$xsprof" record -e sched -o data -- "$python" many.py 500 >log 2>&1 &&
	grep -q ' kernel events' log; then
	holds "kernel events"
else
	skipped "kernel events" "they are not to be had: $(tail -n 1 log)"
fi
finish
