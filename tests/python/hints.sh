#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What `xsprof report` and `record` tell a user of Python: which options show the rest of a
# capture, why a capture lacks samples or waits for the GIL, and that samples were missed. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
readme=$PWD/README.md
page=$PWD/Documentation/python-record.rst
. tests/tools/tap.sh
. tests/python/start.sh
python=/usr/bin/python3
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 9))' || skip "$python is older than 3.9"

# Two threads take turns with the GIL; the main thread collects garbage meanwhile.
cat >turns.py <<-'END'
	import gc, threading, time
	END = time.monotonic() + 1
	def turns():
	    while time.monotonic() < END:
	        sum(i * i for i in range(2000))
	threads = [threading.Thread(target=turns) for _ in range(2)]
	for t in threads:
	    t.start()
	gc.collect()
	for t in threads:
	    t.join()
END
"$xsprof" record -q --python -o data -- "$python" turns.py 2>log
"$xsprof" report data >out 2>>log && cat out >>log
grep -qE '^# samples: [0-9]+ stack samples, [0-9]+ missed: --by function' out &&
	grep -qE '^# GIL: threads waited for it [0-9]+ times: --gil' out
result "report: samples and waits for the GIL have options of their own" $?
"$xsprof" report --json data 2>>log | "$python" -c 'import json, sys; json.load(sys.stdin)' &&
	! "$xsprof" report --json data 2>>log | grep -q 'stack samples'
result "report --json: no hints" $?
"$xsprof" report --by function data >table 2>log &&
	"$xsprof" report --by function --json data >json 2>>log && cat out table >>log &&
	"$python" - 2>>log <<-'END'
	import json, re
	r = json.load(open("json"))
	taken, missed = sum(r["samples"].values()), r["missed"]
	text, table = open("out").read(), open("table").read()
	assert "# samples: %d stack samples, %d missed:" % (taken, missed) in text
	assert ": %d samples, " % taken in table
	assert "# missed: %d samples, %d of them ticks" % (missed, r["missed_ticks"]) in table
	assert (" of the samples were missed," in table) == (10 * missed > taken + missed), table
	END
result "report, --by function and its JSON count the same samples" $?
grep -A 1 '^  On CPU  *Self, not on CPU$' table | grep -q '^    Self .* GIL wait   Off CPU  Func'
result "report --by function: which columns are of the innermost function" $?
"$xsprof" report --by line data >out 2>log
[ $? = 1 ] && grep -q '^\.\.\. stack samples have no lines .*: --by function shows them$' out
result "report --by line of samples: the option that shows them, and status 1" $?
"$xsprof" report --by function -s p50 data >out 2>log
[ $? = 2 ] && grep -q '^xsprof: --sort p50: --by function can be sorted by self .*name$' log &&
	{ "$xsprof" report --sort foo --by function data >out 2>log; [ $? = 2 ]; } &&
	grep -q '^xsprof: --sort foo: --by function can be sorted by self .*name$' log
result "report --by function: the keys that it can be sorted by" $?
"$xsprof" report --why turns data >out 2>log
[ $? = 1 ] && grep -q "record with -e sched (as root).* 'xsprof dump -r --name NAME'.* --gil' " log
result "report --why without scheduler events: what it needs, and what does without" $?
# The examples of the page
"$dump" -r --name 'garbage collection' data >out 2>log && cat out >>log &&
	grep -qE '^ +python3-[0-9]+ .* begin: +garbage collection \{generation=2\}$' out
result "dump -r: when the garbage collector ran" $?
sed -n '/cat held\.py$/,/^[^ ]/{/^    [^$]/s/^    //p}' "$page" >held.py
sed -i 's/xsprof\.data/data/' held.py
"$python" held.py >out 2>log && cat out >>log && [ -s held.py ] &&
	grep -qE '^[0-9]+ [0-9]+ .* 2$' out && grep -q "turns.py(.*): turns" out
result "xsprof.open(): collections, and which functions held the GIL" $?
tid=$("$xsprof" report --gil --json data | sed -n 's/^{"pid":[0-9]*,"tid":\([0-9]*\),.*/\1/p' |
	head -n 1)
"$dump" -q -f folded data >all 2>log && "$dump" -q -f folded --tid "$tid" data >one 2>>log &&
	[ -s one ] && ! cmp -s all one
result "dump -f folded --tid: the stacks of one thread" $?

"$xsprof" record -q -o data -- "$python" turns.py 2>log
"$xsprof" report data >out 2>>log && cat out >>log
grep -q '^# samples: none: record --python ' out && grep -q '^# GIL: .*: --gil' out
result "report without samples: how to record them" $?

# The program handles all signals that a sampler could use: its samples are missed.
"$xsprof" record -q --python=500 -o data -- "$python" "$here/frames.py" signals "$(kill -l URG)" \
	"$(kill -l WINCH)" 2>log
"$xsprof" report --by function data >out 2>>log && cat out >>log
grep -qE '^# [0-9]+ % of the samples were missed, .*: shares are uncertain$' out
result "report --by function: whether many samples were missed" $?

"$xsprof" record --python -o none -- true 2>log
grep -q '^xsprof: nothing was recorded: the command ran no Python that xsprof can record' log &&
	! grep -q 'NVTX' log
result "record --python of another program: no Python" $?
"$xsprof" record --python=1 -o none -- "$python" -S -c '' 2>log
grep -qE '^xsprof: (nothing was recorded: no Python ran until its first|--python: no stack)' log
result "record --python of one that ends before the first sample" $?
"$xsprof" record --python -o none -- sh -c "XSPROF_PYTHON= $python -c 'import gc; gc.collect()'" \
	2>log
grep -q '^xsprof: --python: no stack was sampled' log
result "record --python of one with collections and no samples" $?

"$python" turns.py &
if "$xsprof" record -p $! -o data >out 2>log; then
	"$xsprof" report --gil data >out 2>>log
	[ $? = 1 ] && grep -q "waits for the GIL: record -p records none, .*'xsprof record COMM" log
	result "report --gil of record -p: why it has no waits" $?
	"$xsprof" info data | grep -qx 'ended  *the processes ended'
	result "info of record -p: what ended" $?
else
	why=$(grep '^xsprof: process' log)
	skipped "report --gil of record -p: why it has no waits" "$why"
	skipped "info of record -p: what ended" "$why"
fi
wait

XSPROF_ONDEMAND=1 "$python" -c 'import ctypes, os
ctypes.CDLL(os.environ["XSPROF_LIBDIR"] + "/libxsprof-torch.so", ctypes.RTLD_GLOBAL)
print(flush=True); input()' >out < <(sleep 600 & echo $! >sleeper; wait) 2>log &
program=$!
until [ -s out ] || ! kill -0 $program 2>>log; do sleep 0.1; done
"$xsprof" ctl list >list 2>log
grep -q "^none of your processes listens: .* has imported PyTorch" list &&
	grep -q "^xsprof: process $program: .*, but not PyTorch: it listens after" log ||
	grep -q '^ *PID' list
result "ctl list: a Python without PyTorch does not listen" $?
kill $program "$(cat sleeper)"
wait $program 2>>log

for words in 'record --python -- ' 'record --python -p PID -d 10' 'report --by function' \
	     'report --gil'; do
	grep -qF "\$ xsprof $words" "$readme" || { words=; break; }
done
[ -n "$words" ]
result "README.md names the commands for a Python program" $?
finish
