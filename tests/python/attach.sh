#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# record -p without the module: attach.sh COUNT. Programs of several kinds are attached to COUNT
# times each: each has the right results, and is as it was afterwards. What is recorded; a recorder
# that is killed, at any moment; and each refusal with its reason. TAP.
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

begin "${newest:-python3}" threads
"$xsprof" record --python=200 -p $pid -d 1 -o data >out 2>log
status=$?
[ $status = 0 ] && grep -q 'not who waits for the GIL' log && ended threads &&
	"$xsprof" report -q --json --by function data >table 2>>log && python3 - 2>>log <<-'END'
	import json
	r = json.load(open("table"))
	rows = {f["function"]: f for f in r["functions"] if f.get("file", "").endswith("attach.py")}
	assert r["hz"] == 200 and rows["number"]["self"]["runs"] > 10, rows
	assert rows["threads.<locals>.work" if "threads.<locals>.work" in rows else
		    "work"]["total"]["runs"] > 10, rows
	END
result "samples of the functions that ran, and a word on the GIL" $?

# ---- a recorder that is killed ----

for kind in threads calls; do
	kill_often "${newest:-python3}" $kind "$count" 2>/dev/null
	result "$kind: the recorder is killed $count times: the program runs on" $?
done

# ---- refusals ----

# $1 the reason, a pattern, $2 of which process
refuses()
{
	refused "$@"
	result "refused: $1" $?
}
sleep 60 &
other=$!
sleep 0.3
refuses 'there is no Python in it' $other
kill $other
wait $other 2>/dev/null
refuses 'there is no such process' $other
begin "${newest:-python3}" cpu
"$xsprof" record -q -p $pid -d 20 -o data >out 2>&1 &
recorder=$!
sleep 1
refuses 'it is being recorded in this way already' $pid
kill -INT $recorder
wait $recorder
ended cpu
result "the first one goes on, and ends with Ctrl-C" $?
"$xsprof" record -q -o data -- /usr/bin/python3 -c 'import time; time.sleep(5)' >out 2>&1 &
recorder=$!
sleep 1.5
refuses 'it was started by .xsprof record.' "$(pgrep -P $recorder)"
kill -INT $recorder
wait $recorder 2>/dev/null
# What is recorded of programs that xsprof starts alone
for option in --torch=shapes --python-trace --gpu; do
	"$xsprof" record -q $option -p $$ -d 0.1 -o none >out 2>log
	[ $? = 2 ] && grep -q -- "${option%%=*}: .*not with --pid" log && [ ! -e none ]
	result "refused: $option" $?
done
if [ "$(id -u)" = 0 ]; then
	setpriv --reuid=65534 --clear-groups /usr/bin/python3 -c 'import time; time.sleep(20)' &
	other=$!
	sleep 1
	refuses 'it is of another user \(65534\)' $other
	kill $other
	wait $other 2>/dev/null
else
	skipped "refused: another user" "root only"
fi
# Not refused before: only the process knows that its library has rings already.
"${newest:-python3}" - >said 2>err <<-'END' &
	import time, xsprof
	with xsprof.profile(activities=[xsprof.ProfilerActivity.CPU]):
	    pass
	print("done", flush=True)
	time.sleep(20)
END
other=$!
for _ in $(seq 400); do
	grep -q done said && break
	sleep 0.05
done
"$xsprof" record -p $other -d 0.3 -o none >out 2>log
[ $? = 1 ] && grep -q 'nothing was recorded: the processes could not be' log &&
	grep -q "^xsprof: process $other: .*keeps the rings .*or start it by 'xsprof record" log
result "after a profile of its own: what to do instead" $?
kill $other
wait $other 2>/dev/null
rm -f none
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
