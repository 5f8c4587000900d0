#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# record -p without the module: attach.sh COUNT. Attaches COUNT times to programs of several kinds:
# each must compute the right results and be in the same state afterwards. Also: what is recorded; a
# recorder that is killed at any moment; each refusal and its reason. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
. tests/torch/pythons.sh
. tests/python/attached.sh
. tests/python/start.sh

count=${1:-10}
need_attach

[ "$count" -gt 0 ] && while read -r version python; do
	for kind in cpu waits calls forks; do
		attach_often "$python" $kind 3
		result "$version: $kind: attached to, and as before" $?
	done
	newest=$python
done < <(attachable)

for kind in cpu threads memory forks signals calls waits emptied; do
	attach_often "${newest:-python3}" $kind "$count"
	result "$kind: attached to $count times: right results, and as before" $?
done

# ---- what is recorded ----

sampled()
{
	"$xsprof" report -q --json --by function data >table 2>>log && python3 - 2>>log <<-'END'
	import json
	r = json.load(open("table"))
	rows = {f["function"]: f for f in r["functions"] if f.get("file", "").endswith("attach.py")}
	assert r["hz"] == 200 and rows["number"]["self"]["runs"] > 10, rows
	assert rows["threads.<locals>.work" if "threads.<locals>.work" in rows else
		    "work"]["total"]["runs"] > 10, rows
	END
}
begin "${newest:-python3}" threads
# Longer on a busy machine, where the program hardly runs.
for seconds in 1 5 25; do
	"$xsprof" record --python=200 -p $pid -d $seconds -o data >out 2>log
	status=$?
	sampled && break
done
[ $status = 0 ] && grep -q 'waits for the GIL are recorded only in' log && ended threads && sampled
result "samples of the functions that ran, and a word on the GIL" $?

# ---- a recorder that is killed ----

for kind in threads calls; do
	kill_often "${newest:-python3}" $kind "$count" 2>/dev/null
	result "$kind: the recorder is killed $count times: the program runs on" $?
done

# ---- refusals ----

# $1 a pattern for the reason, $2 the process
refuses()
{
	refused "$@"
	result "refused: $1" $?
}
sleep 60 &
other=$!
sleep 0.3
refuses 'it contains no Python' $other
kill $other
wait $other 2>/dev/null
refuses 'there is no such process' $other
begin "${newest:-python3}" cpu
# The shell's commands in the background would ignore SIGINT.
env --default-signal=INT "$xsprof" record -q -p $pid -d 20 -o data >out 2>&1 &
recorder=$!
sleep 1
refuses 'it is already being recorded by' $pid
kill -INT $recorder
wait $recorder
ended cpu
result "the first one goes on, and ends with Ctrl-C" $?
env --default-signal=INT "$xsprof" record -q -o data -- \
	/usr/bin/python3 -c 'import time; time.sleep(5)' >out 2>&1 &
recorder=$!
sleep 1.5
refuses 'it was started by .xsprof record.' "$(pgrep -P $recorder)"
kill -INT $recorder
wait $recorder 2>/dev/null
# What record can only record of programs that it starts itself
for option in --torch=shapes --python-trace --gpu; do
	"$xsprof" record -q $option -p $$ -d 0.1 -o none >out 2>log
	[ $? = 2 ] && grep -q -- "${option%%=*}: .*not with --pid" log && [ ! -e none ]
	result "refused: $option" $?
done
if [ "$(id -u)" = 0 ]; then
	setpriv --reuid=65534 --clear-groups /usr/bin/python3 -c 'import time; time.sleep(20)' &
	other=$!
	sleep 1
	refuses 'it belongs to another user \(65534\)' $other
	kill $other
	wait $other 2>/dev/null
else
	skipped "refused: another user" "root only"
fi
# ---- a child that was forked meanwhile ----

cat >child.py <<-'END'
	import gc, os, time
	import xsprof
	while not gc.callbacks:
	    time.sleep(0.01)
	pid = os.fork()
	if pid:
	    os.waitpid(pid, 0)
	else:
	    recorded = xsprof.enabled() and len(gc.callbacks) == 1
	    open("forked", "w").close()
	    while not os.path.exists("over"):
	        time.sleep(0.01)
	    for _ in range(400):
	        gc.collect()
	        if not gc.callbacks and not xsprof.enabled():
	            break
	        time.sleep(0.05)
	    slots = xsprof.stats()["slots"]
	    gc.collect()
	    more = xsprof.stats()["slots"] - slots
	    print(recorded, gc.callbacks, xsprof.enabled(), more, flush=True)
	END
for signal in INT KILL; do
	rm -f forked over
	"${newest:-python3}" child.py >said 2>log &
	pid=$!
	sleep 1
	"$xsprof" record -q -p $pid -d 50 -o data >out 2>&1 &
	recorder=$!
	for _ in $(seq 400); do
		[ ! -e forked ] || break
		sleep 0.05
	done
	kill -$signal $recorder
	wait $recorder 2>/dev/null
	: >over
	wait $pid && [ "$(cat said)" = "True [] False 0" ]
	result "a child forked meanwhile is left too (SIG$signal)" $?
done
"$xsprof" recover --delete >out 2>&1
# ---- a program that profiles itself ----

# $1 a file: waits until it exists
until_there()
{
	for _ in $(seq 400); do
		[ -e "$1" ] && return
		sleep 0.05
	done
	return 1
}
cat >profiles.py <<-'END'
	import os, sys, time
	import xsprof
	def wait(name):
	    open(name + ".here", "w").close()
	    while not os.path.exists(name):
	        time.sleep(0.02)
	def profile(what, name=None):
	    with xsprof.profile(activities=[xsprof.ProfilerActivity.CPU]) as p:
	        with xsprof.record_function(what):
	            if name:
	                wait(name)
	    return sorted(e.key for e in p.key_averages() if e.key.startswith("my "))
	def busy(seconds):
	    end = time.monotonic() + seconds
	    while time.monotonic() < end:
	        sum(range(1000))
	print(profile("my first"), profile("my running", "running"))
	wait("stopped")
	print(profile("my recorded"))
	busy(1)
	wait("left")
	print(profile("my last"))
END
rm -f running* stopped* left*
"${newest:-python3}" profiles.py >said 2>err &
other=$!
until_there running.here
"$xsprof" record -p $other -d 0.3 -o none >out 2>log
[ $? = 1 ] && grep -q 'nothing was recorded: all processes failed' log &&
	grep -q "^xsprof: process $other: .*of its own is running .*when it has ended" log
result "refused: while a profile of its own is running" $?
: >running
until_there stopped.here
env --default-signal=INT "$xsprof" record -p $other -d 20 -o data >out 2>log &
recorder=$!
for _ in $(seq 200); do
	grep -q libxsprof-python /proc/$other/maps && break
	sleep 0.05
done
sleep 1
: >stopped
until_there left.here
kill -INT $recorder
wait $recorder
status=$?
: >left
wait $other
[ $status = 0 ] && [ ! -s err ] && "$xsprof" report -q --json --by function data >table 2>>log &&
	grep -q '"function": *"busy"' table && "$xsprof" dump -q data >text 2>>log &&
	grep -q 'my recorded' text && ! grep -q -e 'my first' -e 'my running' -e 'my last' text
result "when it has ended the process is recorded" $?
cat err >>log
[ "$(tr -d ' ' <said | tr '\n' ' ')" = "['myfirst']['myrunning'] ['myrecorded'] ['mylast'] " ]
result "its profiles before, beside and after have what is theirs" $?
if command -v strace >/dev/null; then
	begin "${newest:-python3}" waits
	strace -qq -o /dev/null -p $pid &
	other=$!
	sleep 1
	refuses 'process [0-9]+ traces it' $pid
	kill $other
	wait $other
	ended waits
	result "it goes on" $?
else
	skipped "refused: traced" "no strace"
fi
finish
