#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# `xsprof ctl` with processes that fork, execute another program, exit, are killed or stopped, or
# whose control page another process overwrites. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/profiler/ctl-tap.sh

begin XSPROF_ONDEMAND=1
ctl 0 start -p "$pid" -o parent.json
tell ops 5
echo "fork" >&8
hear "done"
read -r _ child <<<"$said"
[ -n "$child" ] || { read -r _ child <&9; }
pids+=" $child"
ctl 1 status -p "$child"
says "process $child: has XSPROF_ONDEMAND in its environment, but does not listen: a forked .*"
echo "fork step" >&8
hear "done"
read -r _ late <<<"$said"
[ -n "$late" ] || { read -r _ late <&9; }
pids+=" $late"
ctl 0 status -p "$late"
prints "process $late .*: idle; no request so far"
# The child sleeps: any op in its trace would be the parent's.
ctl 1 start -p "$late" -d 1ms -w -o child.json
grep -q "the trace is empty" errors || bad "the child's trace: $errors"
echo "raw page" >&8
hear "done"
read -r _ raw <<<"$said"
[ -n "$raw" ] || { read -r _ raw <&9; }
pids+=" $raw"
ctl 1 status -p "$raw"
says "process $raw: .* does not listen: .*"
[ ! -s complaints ] || bad "the child of a raw clone(): $(cat complaints)"
ctl 0 stop -p "$pid"
holds parent.json work0=5 work1=5 work2=5 work3=5
kill -KILL "$child" "$late" "$raw"
tested "forked children: their own page, or none, and never their parent's"

tell close
ctl 1 status -p "$pid"
says "process $pid: has closed the file descriptor of its control page: call .*"
tell init
[ "$said" = 0 ] || bad "xsprof_ondemand_init(): $said"
for ((i = 0; i < 600; i++)); do
	"$xsprof" ctl status -p "$pid" >/dev/null 2>&1 && break
	sleep 0.1
done
ctl 0 start -p "$pid" -o closed.json
tell ops 3
ctl 0 stop -p "$pid"
holds closed.json work0=3 work1=3 work2=3 work3=3
tested "a program that closes all descriptors, and says that it has"

echo exec >&8
hear ready
ctl 1 status -p "$pid"
says "process $pid: does not listen: .*"
leave
tested "a process that runs another program"

begin XSPROF_ONDEMAND=1
ctl 0 start -p "$pid" -o end.json
"$xsprof" ctl start -p "$pid" -o none.json -w >/dev/null 2>&1 && bad "two at a time"
ctl 0 status -p "$pid"
tell ops 20
leave
holds end.json work0=20 work1=20 work2=20 work3=20
begin XSPROF_ONDEMAND=1
begin_waiting waited.json
tell ops 2
leave
wait $waiter || bad "its waiter: status $?: $(cat waited)"
grep -qx "$dir/waited.json" waited || bad "its waiter said $(cat waited)"
holds waited.json work0=2 work1=2 work2=2 work3=2
tested "a program that ends first: its trace is saved, and who waits is told"

begin XSPROF_ONDEMAND=1
begin_waiting killed.json
slain
wait $waiter
[ $? = 1 ] || bad "its waiter ended with another status than 1: $(cat waited)"
grep -q "process $pid: has ended, and left no trace" waited || bad "said $(cat waited)"
ctl 0 list
grep -q "^ *$pid " <<<"$output" && bad "is listed still: $output"
ctl 1 stop -p "$pid"
begin XSPROF_ONDEMAND=1
ctl 0 start -p "$pid" -o next.json
tell ops 1
ctl 0 stop -p "$pid"
tested "kill -9 leaves nothing that listens, and no process that waits"

# If a killed program had saved its trace, no memory is left, and record does not advise to save it.
slain
ls shm/xsprof-*/s.* >/dev/null 2>&1 || bad "there was nothing in memory"
"$xsprof" record -q -o after.data -- true 2>said
grep 'left by' said && bad "record says it is left"
ls -d shm/xsprof-*/s."$pid".* 2>/dev/null && bad "it is left"
begin XSPROF_ONDEMAND=1
ctl 0 start -p "$pid" -o again.json
tell ops 1
slain
rm -f after.data
"$xsprof" record -q -o after.data -- true 2>said
grep -q 'left by' said && bad "quiet, and says something"
ls -d shm/xsprof-*/s.* >/dev/null 2>&1 || bad "what was not saved is gone"
rm -rf shm/xsprof-*/s.*
begin XSPROF_ONDEMAND=1
ctl 0 start -p "$pid" -o next.json
tell ops 1
ctl 0 stop -p "$pid"
tested "kill -9 after a trace leaves no memory; within one, all of it"

kill -STOP "$pid"
# One thread gets the signal, and stops the others only when it gets a CPU.
until [ -z "$(sed 's/.*) \(.\).*/\1/' /proc/$pid/task/*/stat | grep -v T)" ]; do
	sleep 0.01
done
ctl 1 start -p "$pid" -o late.json -t 300ms
says "process $pid: is stopped \(SIGSTOP, or a debugger\), and did not answer; .* is cancelled"
kill -CONT "$pid"
tell steps 1
ctl 0 status -p "$pid"
prints "process $pid .*: idle; the last trace, asked for by xsprof ctl, is $dir/next.json"
[ ! -e late.json ] || bad "late.json is there"
tested "a process that does not answer: the request is cancelled"

tell client
[ "$said" = 0 ] || bad "xsprof_register_client(): $said"
ctl 0 start -p "$pid" -o client.json
ctl 1 snapshot -p "$pid"
says "process $pid: the program's own client writes no snapshots"
ctl 0 stop -p "$pid"
[ "$(cat client.json)" = "{}" ] || bad "client.json is not the client's"
ctl 1 start -p "$pid" --memory-snapshot
says "process $pid: PROFILE_MEMORY: the program's client does not record memory"
leave
tested "a program with a client of its own"

begin XSPROF_ONDEMAND=1
holds scribble "$pid" "$xsprof" "${XSPROF_TIER:-quick}"
kill -0 "$pid" || bad "the program did not live through it"
tell ops 3
leave
[ ! -e core ] || bad "there is a core"
tested "a control page that is overwritten: both sides live, and the program ends"

finish
