#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# `xsprof ctl` with running programs: traces begin and end when requested, to the op. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/profiler/ctl-tap.sh

begin XSPROF_ONDEMAND=1
# After its first answer the thread exists, and sleeps next.
ctl 1 stop -p "$pid"
tell switches
before=$said
ctl 0 list
prints "  $pid +ctl-program +idle +- +-"
ctl 0 status -p "$pid"
prints "process $pid \(ctl-program\): idle; no request so far"
sleep 1
tell switches
[ -n "$before" ] && [ "$said" = "$before" ] ||
	bad "its thread woke up: $before switches, then $said"
tested "it listens, is found, and is not woken without a request"

tell ops 7
ctl 0 start -p "$pid" --shapes -o one.json
says "process $pid \(ctl-program\): records into $dir/one.json until 'xsprof ctl stop -p $pid'"
ctl 0 status -p "$pid"
prints "process $pid \(ctl-program\): recording, asked for by xsprof ctl, into $dir/one.json"
tell ops 100
ctl 0 snapshot -p "$pid" -o part.json
prints "$dir/part.json"
tell ops 50
ctl 0 snapshot -p "$pid"
prints "$dir/xsprof-$pid-snapshot.json"
ctl 0 stop -p "$pid"
prints "$dir/one.json"
tell ops 9
ctl 0 status -p "$pid"
prints "process $pid .*: idle; the last trace, asked for by xsprof ctl, is $dir/one.json"
holds part.json work0=100 work1=100 work2=100 work3=100 shapes
holds "xsprof-$pid-snapshot.json" work0=150 work1=150 work2=150 work3=150 shapes
holds one.json work0=150 work1=150 work2=150 work3=150 shapes
tested "start, snapshot, snapshot, stop: every op of four threads, and no other"

# The program makes ops as long as ctl waits.
"$xsprof" ctl start -p "$pid" -d 200ms --wait -o two.json.gz >waited 2>errors &
waiter=$!
tell ops 1
while [ -d /proc/$waiter ] && ! grep -q '^State:.Z' /proc/$waiter/status; do
	tell ops 1
done
wait $waiter || bad "the waiter ended with $?: $(cat errors)"
[ "$(cat waited)" = "$dir/two.json.gz" ] || bad "the waiter printed $(cat waited)"
gzip -dc two.json.gz | grep -q '"work3"' || bad "no op in two.json.gz"
ctl 0 start -p "$pid" --stack --memory --flops --modules -s REQUEST_TRACE_ID=id7
prints ""
tell alloc 10
ctl 0 stop -p "$pid"
prints "$dir/xsprof-$pid.json"
holds "xsprof-$pid.json" work0=10 memory=15 trace=id7
ctl 0 start -p "$pid" -s ACTIVITIES_DURATION_SECS=60 -o set.json
says "process $pid \(ctl-program\): records into $dir/set.json, for as long as --set says"
tell ops 1
ctl 0 stop -p "$pid"
tested "by a time, and with what was asked for"

# Rings of 64 kB overflow when four threads run and nothing gets a CPU to read the rings.
calm=$pid
exec 6>&8 7<&9
begin XSPROF_BUFFER_SIZE=64k XSPROF_ONDEMAND=1
lost="process $pid: $dir/lossy.json: lost [0-9]+ records, [0-9]+ slots overwritten unread, .*"
until_lost() # a snapshot that lacks something
{
	local i

	for ((i = 0; i < 100; i++)); do
		tell ops 20000
		"$xsprof" ctl snapshot --allow-lost -p "$pid" -o lossy.json >output 2>errors ||
			bad "snapshot: $(cat output errors)"
		grep -q " slots overwritten" errors && return
	done
	bad "nothing is lost"
}
ctl 0 start -p "$pid" -o all.json
until_lost
errors=$(cat errors)
says "$lost"
grep -q '"xsprof_lost_slots": [1-9]' lossy.json || bad "lossy.json: nothing is lost"
ctl 4 snapshot -p "$pid" -o lossy.json
prints "$dir/lossy.json"
lost=${lost/lossy/all}
ctl 4 stop -p "$pid"
prints "$dir/all.json"
says "$lost"
ctl 4 status -p "$pid"
prints "process $pid .*: idle; the last trace, asked for by xsprof ctl, is $dir/all.json"
says "$lost"
ctl 0 status -p "$pid" --allow-lost
says "$lost"
# The next trace is complete: earlier losses do not count.
ctl 0 start -p "$pid" -o few.json
tell ops 3
ctl 0 stop -p "$pid"
ctl 0 status -p "$pid"
[ -z "$errors" ] || bad "a trace that lacks nothing: $errors"
begin_waiting waited.json
until_lost
ctl 4 stop -p "$pid"
wait $waiter
[ $? = 4 ] || bad "the waiter of one that lacks something ended with another status than 4"
grep -qE "^xsprof: ${lost/all/waited}\$" waited || bad "its waiter said $(cat waited)"
leave
pid=$calm
exec 8>&6 9<&7 6>&- 7<&-
tested "records that were lost: which and how many, status 4, and 0 with --allow-lost"

empty="$dir/empty.json: the trace is empty: the program recorded no op: .*; no file is written"
ctl 1 start -p "$pid" -d 1ms --wait -o empty.json
grep -qE "^xsprof: process $pid: $empty\$" errors || bad "said $errors"
ctl 0 start -p "$pid" -o empty.json
ctl 1 snapshot -p "$pid" -o empty.json
says "process $pid: $empty"
ctl 1 stop -p "$pid"
says "process $pid: $empty"
[ ! -e empty.json ] || bad "empty.json is there"
tested "a trace without any op: a failure, with its reason"

ctl 0 start -p "$pid" --memory-snapshot
tell alloc 4
ctl 0 snapshot -p "$pid" -o part.pickle
tell alloc 10
ctl 0 stop -p "$pid"
prints "$dir/xsprof-$pid.pickle"
holds part.pickle allocs=4 frees=2
holds "xsprof-$pid.pickle" allocs=14 frees=7
tested "memory: start, export, export, stop"

ctl 1 start -p "$pid" -n 3
says "process $pid: the program has executed no step yet: try again when it trains, .*duration"
tell steps 2
ctl 0 start -p "$pid" -n 3 -o steps.json
ctl 0 status -p "$pid"
prints "process $pid .*: waiting, asked for by xsprof ctl, into $dir/steps.json"
tell steps 8
until_there steps.json
holds steps.json work0=3
ctl 0 start -p "$pid" -n 1 -o never.json
says "process $pid \(ctl-program\): will record 1 iteration into $dir/never.json"
ctl 1 stop -p "$pid"
says "process $pid: it had not started: nothing was recorded"
ctl 0 start -p "$pid" -n 1000000 -o cut.json
tell steps 5
ctl 0 stop -p "$pid"
holds cut.json work0=5
[ ! -e never.json ] || bad "never.json is there"
tested "by iterations, between two of them; and stopped before their number"

# The examples of the man page, unchanged: its program makes steps all the time.
cat >train <<-END
	#!/bin/bash
	exec "$build/tests/profiler/ctl-program" < <(while echo "steps 5"; do sleep 0.05; done)
END
chmod +x train
awk '/^\.SH/ { on = /EXAMPLES/ } on && /^\.fi/ { text = 0 } on && text
	on && /^\.nf/ { text = 1 }' "$manual" | sed 's/\\-/-/g' >examples
grep -c '^[^#]*xsprof ctl' examples | grep -qx 6 || bad "six examples: $(cat examples)"
cat >prelude <<-'END'
	set -eu
	# It is there after a second, unless the machine is busy.
	sleep()
	{
		until xsprof ctl status -p $!; do command sleep 0.1; done >/dev/null 2>&1
		command sleep "$1"
	}
END
PATH=$build/bin:$PATH bash -c '. ./prelude; . ./examples; echo "$! $file" >last' >told 2>errors ||
	bad "the examples: $(cat examples told errors)"
read -r train file <last
pids+=" $train"
kill -KILL "$train"
[ "$file" = "$dir/long.json" ] || bad "file=$file"
for file in "xsprof-$train.json" long.json; do
	grep -q '"work0"' "$file" || bad "no op in $file: $(cat told errors)"
done
gzip -dc second.json.gz | grep -q '"work0"' || bad "no op in second.json.gz"
grep -q "^ *$train +ctl-program" -E told || bad "not listed: $(cat told)"
leave
tested "the examples of the man page work"

finish
