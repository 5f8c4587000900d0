#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What `xsprof ctl` refuses, and its messages: processes that do not listen, lack a library, belong
# to another user, are being recorded, or are in other namespaces. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/profiler/ctl-tap.sh

begin XSPROF_ONDEMAND=1
ctl 0 start -p "$pid" -o busy.json
ctl 1 start -p "$pid" -o other.json
says "process $pid: another trace is running, requested by 'xsprof ctl'; it goes to $dir/b.*"
tell ops 1
ctl 0 stop -p "$pid"
ctl 1 stop -p "$pid"
says "process $pid: nothing is being recorded"
ctl 1 snapshot -p "$pid"
says "process $pid: nothing is being recorded"
tell session
[ "$said" = 0 ] || bad "the program's own session: $said"
ctl 1 start -p "$pid" -o other.json
says "process $pid: a session of the program itself is running: try again .*"
tell end
[ "$said" = 0 ] || bad "the end of the program's own session: $said"
ctl 0 start -p "$pid" -o busy.json
tell session
[ "$said" = -16 ] || bad "a session of the program's own beside one on demand: $said"
tell ops 1
ctl 0 stop -p "$pid"
begin_waiting other.json
tell cancel
[ "$said" = 0 ] || bad "xsprof_ondemand_cancel(): $said"
wait $waiter
[ $? = 1 ] || bad "the waiter of one that was cancelled ended with another status than 1"
grep -q "process $pid: the request was cancelled" waited || bad "its waiter said $(cat waited)"
[ ! -e other.json ] || bad "other.json is there"
tested "one at a time; the program's own session is left alone"

ctl 1 start -p "$pid" -o none/a.json
says "none/: No such file or directory"
ctl 1 start -p "$pid" -o /none/a.json
says "process $pid: /none/a.json: No such file or directory; the program must be able .*"
ctl 1 start -p "$pid" -s ACTIVITIES_ENABLED=maybe
says "process $pid: line 3 of the request: neither true nor false"
ctl 1 start -p "$pid" -s ACTIVITIES_ENABLED=false
says "process $pid: ACTIVITIES_ENABLED is false"
ctl 2 start -p "$pid" -o 'a#b'
ctl 2 start -p "$pid" -s nonsense
ctl 2 start -p "$pid" -d 25h
ctl 2 start -p "$pid" -d 1 -n 1
ctl 2 stop -p "$pid" --duration 1
says "--duration: cannot be used with 'stop'"
ctl 2 stop
says "stop: needs --pid: 'xsprof ctl list' shows the processes that listen"
ctl 2 strat -p "$pid"
says "strat: no such request, did you mean 'start'\?"
ctl 2
ln -s . link
ctl 0 start -p "$pid" -o link/linked.json
tell ops 1
ctl 0 stop -p "$pid"
prints "$dir/linked.json"
holds linked.json work0=1 work1=1 work2=1 work3=1
tested "files, words and times that cannot be"

ctl 1 status -p 999999999
says "process 999999999: does not exist, or has ended: 'xsprof ctl list' shows the processes .*"
sleep 1000 & disown $!
plain=$!
pids+=" $plain"
XSPROF_ONDEMAND=1 sleep 1000 & disown $!
told=$!
pids+=" $told"
until [ "$(cat /proc/$told/comm)" = sleep ] && [ "$(cat /proc/$plain/comm)" = sleep ]; do
	sleep 0.01
done
ctl 1 start -p $plain
says "process $plain: does not listen: start it with XSPROF_ONDEMAND=1 and libxsprof-user, .*"
ctl 1 start -p $told
says "process $told: has XSPROF_ONDEMAND in its environment, but not libxsprof-user: .*"
kill -KILL $plain $told
leave
begin XSPROF_ONDEMAND=0
ctl 1 start -p "$pid"
says "process $pid: does not listen: start it with XSPROF_ONDEMAND=1, or call .*"
leave
ctl 1 status -p "$pid"
says "process $pid: does not exist, or has ended: .*"
tested "processes that do not listen: each is told what to do"

# From outside a process uses PyTorch if it has mapped a library of that name.
if [ "${XSPROF_VARIANT:-}" = asan ]; then
	skipped "what PyTorch lacks is named" "nothing can be preloaded before a sanitizer"
else
	ours=$(realpath "$build/lib/libxsprof-torch.so")
	theirs=$build/tests/profiler/libtorch_cpu.so
	outsider() # $@ its environment; sets $other to its pid
	{
		env "$@" sleep 1000 & disown $!
		other=$!
		pids+=" $other"
		# The C library is mapped after the preloaded ones.
		until [ ! -d /proc/$other ] || { [ "$(cat /proc/$other/comm)" = sleep ] &&
			grep -q '/libc[.-]' /proc/$other/maps; }; do
			sleep 0.01
		done
		ctl 1 start -p $other -o none.json
	}
	outsider LD_PRELOAD="$theirs"
	says "process $other: does not listen: start it with XSPROF_ONDEMAND=1 LD_PRELOAD=$ours; .*"
	outsider XSPROF_ONDEMAND=1 LD_PRELOAD="$theirs"
	says "process $other: .* no library that records PyTorch's ops: .* LD_PRELOAD=$ours too"
	outsider XSPROF_ONDEMAND=1
	says "process $other: .* not libxsprof-user: .*; for PyTorch LD_PRELOAD=$ours"
	outsider XSPROF_ONDEMAND=1 LD_PRELOAD="$ours"
	says "process $other: has libxsprof-torch.so, but not PyTorch: .* after 'import torch'"
	outsider XSPROF_ONDEMAND=1 LD_PRELOAD="$ours $theirs"
	says "process $other: has libxsprof-torch.so, which does not listen there yet: .*"
	# A program that listens but records no op: ctl prints that at the end.
	begin XSPROF_ONDEMAND=1 env LD_PRELOAD="$theirs"
	ctl 0 start -p "$pid" -o none.json
	ctl 1 stop -p "$pid"
	grep -qxF "xsprof: process $pid: to record PyTorch's ops, start it with\
 LD_PRELOAD=$ours" errors || bad "stop said $(cat errors)"
	ctl 1 start -p "$pid" -o none.json -d 1ms --wait
	grep -qF "LD_PRELOAD=$ours" errors || bad "start --wait said $(cat errors)"
	leave
	begin XSPROF_ONDEMAND=1
	ctl 0 start -p "$pid" -o none.json
	ctl 1 stop -p "$pid"
	! grep -q PyTorch errors || bad "of a program without PyTorch: $(cat errors)"
	leave
	tested "what a program that uses PyTorch lacks is named, with its folder"
fi

begin XSPROF_RECORD="$dir/itself.data"
tell ops 3
leave
"$xsprof" info itself.data >info 2>&1 || bad "XSPROF_RECORD: $(cat info)"
grep -q "$pid" info || bad "XSPROF_RECORD: $(cat complaints info)"
tested "threads of the library's own beside 3 MiB of the program's thread-local data"

plain="setpriv --clear-groups --bounding-set=-all"
as="$plain --reuid=65534 --regid=65534"
if [ "$(id -u)" = 0 ] &&
   $as test -x "$xsprof" 2>/dev/null; then
	begin XSPROF_ONDEMAND=1
	output=$($as "$xsprof" ctl start -p "$pid" 2>&1)
	[ $? = 1 ] || bad "another user's process: $output"
	grep -q "process $pid: cannot be read" <<<"$output" || bad "said $output"
	output=$(setpriv --bounding-set=-sys_ptrace,-dac_override "$xsprof" ctl status \
		-p "$pid" 2>&1)
	grep -q "process $pid: cannot be read" <<<"$output" || bad "limited root: $output"
	output=$($as "$xsprof" ctl list 2>&1)
	grep -q "$pid" <<<"$output" && bad "listed: $output"
	leave
	$as sleep 1000 & disown $!
	other=$!
	pids+=" $other"
	until [ "$(cat /proc/$other/comm)" = sleep ]; do sleep 0.01; done
	output=$($plain --reuid=65533 --regid=65533 "$xsprof" ctl start -p $other 2>&1)
	grep -q "process $other: belongs to user 65534: run xsprof as that user, or as root" \
		<<<"$output" || bad "said $output"
	kill -KILL $other
	tested "a process of another user"
else
	skipped "a process of another user" "must be root, with the build readable to all"
fi

# The address sanitizer cannot be preloaded into a program built without it.
if [ "$(id -u)" = 0 ] && [ "${XSPROF_VARIANT:-}" != asan ] && $as test -x "$xsprof"; then
	rm -f complaints
	$as prlimit --nproc=1 env LD_PRELOAD="$build/lib/libxsprof-user.so" XSPROF_ONDEMAND=1 \
		KINETO_LOG_LEVEL=0 sleep 1000 2>complaints & disown $!
	other=$!
	pids+=" $other"
	until [ -s complaints ] || [ ! -d /proc/$other ]; do sleep 0.01; done
	grep -q "on-demand: its thread cannot be created: Resource temporarily unavailable" \
		complaints || bad "a process without threads: $(cat complaints)"
	ctl 1 status -p $other
	says "process $other: has XSPROF_ONDEMAND in its environment, but does not listen: .*"
	kill -KILL $other
	tested "a process that may have no thread more"
else
	skipped "a process that may have no thread more" "not root, or with a sanitizer"
fi

begin_below XSPROF_ONDEMAND=1 "$xsprof" record --backend tmpfs -q -o record.data --
ctl 1 snapshot -p "$pid"
says "process $pid: does not trace on demand, but has rings: 'xsprof snapshot --pid $pid' .*"
ctl 0 start -p "$pid" -o recorded.json
tell ops 11
ctl 0 stop -p "$pid"
holds recorded.json work0=11 work1=11 work2=11 work3=11
leave "$runner"
begin_below XSPROF_ONDEMAND=0 "$xsprof" record --backend tmpfs -q -o record.data --
ctl 1 snapshot -p "$pid"
says "process $pid: takes no requests, but has rings: 'xsprof snapshot --pid $pid' .*"
leave "$runner"
tested "a process that is being recorded: traces on demand as well, and where its rings are"

unshare="unshare --pid --fork --kill-child --mount-proc"
[ "$(id -u)" = 0 ] || unshare+=" --map-root-user"
if $unshare true 2>/dev/null; then
	# shellcheck disable=SC2086
	begin_below XSPROF_ONDEMAND=1 $unshare
	ctl 0 list
	prints "  $pid +ctl-program +idle +- +-"
	ctl 0 start -p "$pid" -o inside.json
	tell ops 6
	ctl 0 stop -p "$pid"
	holds inside.json work0=6 work1=6 work2=6 work3=6
	leave "$runner"
	tested "a process in namespaces of its own, asked from outside"
else
	skipped "a process in namespaces of its own" "namespaces cannot be made here"
fi

unshare="unshare --mount"
[ "$(id -u)" = 0 ] || unshare+=" --map-root-user"
if $unshare mount -t tmpfs none "$dir/shm" 2>/dev/null; then
	# shellcheck disable=SC2086
	wrong+=$($unshare python3 "$check" decoy "$xsprof" 2>&1)
	tested "what is called as a control page, and is none: it is not opened"
else
	skipped "what is called as a control page" "a mount namespace cannot be made here"
fi

finish
