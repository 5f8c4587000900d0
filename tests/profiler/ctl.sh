#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# `xsprof ctl` with programs that run: traces that begin and end when it says, to the op; what it
# refuses, and what it says then; processes that fork, run another program, are killed, or have
# somebody write all over their control page. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=$(cd "${BUILD:-build}" && pwd) || exit 1
xsprof=$build/bin/xsprof
check=$PWD/tests/profiler/check-ctl.py
manual=$PWD/Documentation/man/xsprof-ctl.1
export LD_LIBRARY_PATH=$build/lib
unset XSPROF_ONDEMAND KINETO_USE_DAEMON KINETO_LOG_LEVEL KINETO_CONFIG XSPROF_BACKEND
dir=$(mktemp -d "${TMPDIR:-/tmp}/xsprof-ctl.XXXXXX") || exit 1
cd "$dir" || exit 1
mkdir shm
export XSPROF_SHM_DIR=$dir/shm
n=0
failed=0
pids=
wrong=

# Only what was begun here, by its number; and none of it twice.
finish()
{
	local p

	for p in $pids; do
		kill -KILL "$p" 2>/dev/null
	done
	rm -rf "$dir"
}
trap finish EXIT
# A program that has died is told of, and not died with.
trap '' PIPE

result() # $1 what was tested
{
	n=$((n + 1))
	if [ -z "$wrong" ]; then
		echo "ok $n $1"
	else
		sed 's/^/# /' <<<"${wrong%$'\n'}"
		echo "not ok $n $1"
		failed=1
	fi
	wrong=
}

bad() { wrong+="$*"$'\n'; }

# A program begins: $1 of the environment, a word; the rest is what runs it.  Sets pid.
begin()
{
	local word=$1

	shift
	rm -f in out
	mkfifo in out
	env "$word" "$@" "$build/tests/profiler/ctl-program" <in >out 2>complaints &
	pid=$!
	pids+=" $pid"
	exec 8>in 9<out
	hear ready
}

# The same, as the child of what runs it, which stays: the shell waits for that one.
begin_below()
{
	begin "$@"
	runner=$pid
	read -r pid _ </proc/$runner/task/$runner/children
	[ -n "$pid" ] || bad "$* has no child"
	pids+=" $pid"
}

# What it says, up to the word $1.
hear()
{
	local line

	said=
	while read -r -t 120 line <&9; do
		[ "$line" = "$1" ] && return
		said=$line
	done
	bad "the program said '$said' and not '$1'"
}

tell() { echo "$*" >&8 2>/dev/null; hear done; }

leave()
{
	echo quit >&8 2>/dev/null
	exec 8>&- 9<&-
	wait "${1:-$pid}" || bad "the program ended with $?"
}

slain()
{
	kill -KILL "$pid"
	exec 8>&- 9<&-
	wait "$pid" 2>/dev/null
}

# Runs it: $1 the status that it should have; sets output and errors.
ctl()
{
	local want=$1 status

	shift
	output=$("$xsprof" ctl "$@" 2>errors)
	status=$?
	errors=$(cat errors)
	[ $status = "$want" ] ||
		bad "xsprof ctl $*: status $status, not $want: $output $errors"
}

# The last one failed with words of this kind; a whole line of it.
says() { grep -qE -e "^xsprof: $1\$" <<<"$errors" || bad "said '$errors', not '$1'"; }

prints() { grep -qE -e "^$1\$" <<<"$output" || bad "printed '$output', not '$1'"; }

holds() { wrong+=$(python3 "$check" "$@" 2>&1) || wrong+=$'\n'; }

# Somebody starts a trace, and waits for its end.  Sets waiter; what it says goes to waited.
begin_waiting() # $1 the file
{
	local i

	"$xsprof" ctl start -p "$pid" -o "$1" -w >waited 2>&1 &
	waiter=$!
	for ((i = 0; i < 1200; i++)); do
		ctl 0 status -p "$pid"
		grep -q recording <<<"$output" && return
		sleep 0.05
	done
	bad "it does not record: $output"
}

until_there()
{
	local i

	for ((i = 0; i < 1200; i++)); do
		[ -e "$1" ] && return
		sleep 0.1
	done
	bad "$1 did not come"
}

# ---- what it does ----

begin XSPROF_ONDEMAND=1
# Once it has been heard it is there, and asleep next.
ctl 1 stop -p "$pid"
tell switches
before=$said
ctl 0 list
prints "  $pid +ctl-program +idle +- +-"
ctl 0 status -p "$pid"
prints "process $pid \(ctl-program\): idle; nothing was asked for yet"
sleep 1
tell switches
[ -n "$before" ] && [ "$said" = "$before" ] ||
	bad "its thread woke up: $before switches, then $said"
result "it listens, is found, and is never woken while nobody asks"

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
result "start, snapshot, snapshot, stop: every op of four threads, and no other"

# It works for as long as somebody waits.
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
result "by a time, and with what was asked for"

# Rings of 64 kB hold none of what four threads do while nobody has a CPU to read them.
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
# The next one lacks nothing: the one before is no concern of it.
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
result "records that were lost: which and how many, status 4, and 0 with --allow-lost"

empty="$dir/empty.json: the trace is empty: the program recorded no op: .*; no file is written"
ctl 1 start -p "$pid" -d 1ms --wait -o empty.json
grep -qE "^xsprof: process $pid: $empty\$" errors || bad "said $errors"
ctl 0 start -p "$pid" -o empty.json
ctl 1 snapshot -p "$pid" -o empty.json
says "process $pid: $empty"
ctl 1 stop -p "$pid"
says "process $pid: $empty"
[ ! -e empty.json ] || bad "empty.json is there"
result "a trace without any op: a failure, with its reason"

ctl 0 start -p "$pid" --memory-snapshot
tell alloc 4
ctl 0 snapshot -p "$pid" -o part.pickle
tell alloc 10
ctl 0 stop -p "$pid"
prints "$dir/xsprof-$pid.pickle"
holds part.pickle allocs=4 frees=2
holds "xsprof-$pid.pickle" allocs=14 frees=7
result "memory: start, export, export, stop"

ctl 1 start -p "$pid" -n 3
says "process $pid: the program has made no step yet: try again when it trains, .*duration"
tell steps 2
ctl 0 start -p "$pid" -n 3 -o steps.json
ctl 0 status -p "$pid"
prints "process $pid .*: waiting, asked for by xsprof ctl, into $dir/steps.json"
tell steps 8
until_there steps.json
holds steps.json work0=3
ctl 0 start -p "$pid" -n 3 -o never.json
ctl 1 stop -p "$pid"
says "process $pid: it had not begun: nothing was recorded"
ctl 0 start -p "$pid" -n 1000000 -o cut.json
tell steps 5
ctl 0 stop -p "$pid"
holds cut.json work0=5
[ ! -e never.json ] || bad "never.json is there"
result "by iterations, between two of them; and stopped before their number"

# The examples of the man page, as they are: its program is one that makes steps all the time.
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
result "the examples of the man page work"

# ---- what it refuses ----

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
says "process $pid: a session of the program itself is running: ask again .*"
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
result "one at a time; the program's own session is left alone"

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
says "stop: needs --pid: 'xsprof ctl list' shows who listens"
ctl 2 strat -p "$pid"
says "strat: no such request, did you mean 'start'\?"
ctl 2
ln -s . link
ctl 0 start -p "$pid" -o link/linked.json
tell ops 1
ctl 0 stop -p "$pid"
prints "$dir/linked.json"
holds linked.json work0=1 work1=1 work2=1 work3=1
result "files, words and times that cannot be"

ctl 1 status -p 999999999
says "process 999999999: does not exist, or has ended: 'xsprof ctl list' shows who listens"
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
says "process $pid: does not listen: start it with XSPROF_ONDEMAND=1, or let it call .*"
leave
ctl 1 status -p "$pid"
says "process $pid: does not exist, or has ended: .*"
result "processes that do not listen: each is told what to do"

# A program that uses PyTorch, as far as can be seen from outside: it has a library of that name.
if [ "${XSPROF_VARIANT:-}" = asan ]; then
	n=$((n + 1))
	echo "ok $n what PyTorch lacks is named # SKIP nothing can be preloaded before a sanitizer"
else
	ours=$(realpath "$build/lib/libxsprof-torch.so")
	theirs=$build/tests/profiler/libtorch_cpu.so
	outsider() # $@ its environment; its number in $other
	{
		env "$@" sleep 1000 & disown $!
		other=$!
		pids+=" $other"
		# The C library is mapped behind what is preloaded.
		until [ ! -d /proc/$other ] || { [ "$(cat /proc/$other/comm)" = sleep ] &&
			grep -q '/libc[.-]' /proc/$other/maps; }; do
			sleep 0.01
		done
		ctl 1 start -p $other -o none.json
	}
	outsider LD_PRELOAD="$theirs"
	says "process $other: does not listen: start it with XSPROF_ONDEMAND=1 LD_PRELOAD=$ours: .*"
	outsider XSPROF_ONDEMAND=1 LD_PRELOAD="$theirs"
	says "process $other: .* nothing that records PyTorch's ops: .* with LD_PRELOAD=$ours too"
	outsider XSPROF_ONDEMAND=1
	says "process $other: .* not libxsprof-user: .*; for PyTorch LD_PRELOAD=$ours"
	outsider XSPROF_ONDEMAND=1 LD_PRELOAD="$ours"
	says "process $other: has libxsprof-torch.so, but not PyTorch: .* its 'import torch' on"
	outsider XSPROF_ONDEMAND=1 LD_PRELOAD="$ours $theirs"
	says "process $other: has libxsprof-torch.so, which does not listen there yet: .*"
	# One that listens, and records no op: it is told at its end.
	begin XSPROF_ONDEMAND=1 env LD_PRELOAD="$theirs"
	ctl 0 start -p "$pid" -o none.json
	ctl 1 stop -p "$pid"
	grep -qxF "xsprof: process $pid: PyTorch's ops are recorded where it is started with\
 LD_PRELOAD=$ours" errors || bad "stop said $(cat errors)"
	ctl 1 start -p "$pid" -o none.json -d 1ms --wait
	grep -qF "LD_PRELOAD=$ours" errors || bad "start --wait said $(cat errors)"
	leave
	begin XSPROF_ONDEMAND=1
	ctl 0 start -p "$pid" -o none.json
	ctl 1 stop -p "$pid"
	! grep -q PyTorch errors || bad "of a program without PyTorch: $(cat errors)"
	leave
	result "what a program that uses PyTorch lacks is named, with its folder"
fi

begin XSPROF_RECORD="$dir/itself.data"
tell ops 3
leave
"$xsprof" info itself.data >info 2>&1 || bad "XSPROF_RECORD: $(cat info)"
grep -q "$pid" info || bad "XSPROF_RECORD: $(cat complaints info)"
result "threads of the library's own beside 3 MiB of the program's thread-local data"

plain="setpriv --clear-groups --bounding-set=-all"
as="$plain --reuid=65534 --regid=65534"
if [ "$(id -u)" = 0 ] &&
   $as test -x "$xsprof" 2>/dev/null; then
	begin XSPROF_ONDEMAND=1
	output=$($as "$xsprof" ctl start -p "$pid" 2>&1)
	[ $? = 1 ] || bad "another user's process: $output"
	grep -q "process $pid: may not be read" <<<"$output" || bad "said $output"
	output=$(setpriv --bounding-set=-sys_ptrace,-dac_override "$xsprof" ctl status \
		-p "$pid" 2>&1)
	grep -q "process $pid: may not be read" <<<"$output" || bad "limited root: $output"
	output=$($as "$xsprof" ctl list 2>&1)
	grep -q "$pid" <<<"$output" && bad "listed: $output"
	leave
	$as sleep 1000 & disown $!
	other=$!
	pids+=" $other"
	until [ "$(cat /proc/$other/comm)" = sleep ]; do sleep 0.01; done
	output=$($plain --reuid=65533 --regid=65533 "$xsprof" ctl start -p $other 2>&1)
	grep -q "process $other: belongs to user 65534: ask as that user, or as root" \
		<<<"$output" || bad "said $output"
	kill -KILL $other
	result "a process of another user"
else
	n=$((n + 1))
	echo "ok $n a process of another user # SKIP must be root, with the build readable to all"
fi

# The address sanitizer cannot be preloaded to what was built without it.
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
	result "a process that may have no thread more"
else
	n=$((n + 1))
	echo "ok $n a process that may have no thread more # SKIP not root, or with a sanitizer"
fi

begin_below XSPROF_ONDEMAND=1 "$xsprof" record --backend tmpfs -q -o record.data --
ctl 1 snapshot -p "$pid"
says "process $pid: records nothing on demand, but holds rings: 'xsprof snapshot --pid $pid' .*"
ctl 0 start -p "$pid" -o recorded.json
tell ops 11
ctl 0 stop -p "$pid"
holds recorded.json work0=11 work1=11 work2=11 work3=11
leave "$runner"
begin_below XSPROF_ONDEMAND=0 "$xsprof" record --backend tmpfs -q -o record.data --
ctl 1 snapshot -p "$pid"
says "process $pid: takes no requests, but holds rings: 'xsprof snapshot --pid $pid' .*"
leave "$runner"
result "a process that is being recorded: traces on demand as well, and where its rings are"

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
	result "a process in namespaces of its own, asked from outside"
else
	n=$((n + 1))
	echo "ok $n a process in namespaces of its own # SKIP namespaces cannot be made here"
fi

unshare="unshare --mount"
[ "$(id -u)" = 0 ] || unshare+=" --map-root-user"
if $unshare mount -t tmpfs none "$dir/shm" 2>/dev/null; then
	# shellcheck disable=SC2086
	wrong+=$($unshare python3 "$check" decoy "$xsprof" 2>&1)
	result "what is called as a control page, and is none: it is not opened"
else
	n=$((n + 1))
	echo "ok $n what is called as a control page # SKIP a mount namespace cannot be made here"
fi

# ---- processes that do not stay as they are ----

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
prints "process $late .*: idle; nothing was asked for yet"
# It sleeps: whatever were in its trace would be of its parent.
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
result "forked children: their own page, or none, and never their parent's"

tell close
ctl 1 status -p "$pid"
says "process $pid: has closed the descriptor of its control page: let it call .*"
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
result "a program that closes all descriptors, and says that it has"

echo exec >&8
hear ready
ctl 1 status -p "$pid"
says "process $pid: does not listen: .*"
leave
result "a process that runs another program"

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
result "a program that ends first: its trace is saved, and who waits is told"

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
result "kill -9 leaves nothing that listens, and nobody waiting"

# What a killed program had saved is not left in memory, and nobody is told to save it.
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
result "kill -9 after a trace leaves no memory; within one, all of it"

kill -STOP "$pid"
# One thread gets the signal, and stops the others when it has a CPU.
until [ -z "$(sed 's/.*) \(.\).*/\1/' /proc/$pid/task/*/stat | grep -v T)" ]; do
	sleep 0.01
done
ctl 1 start -p "$pid" -o late.json -t 300ms
says "process $pid: is stopped \(SIGSTOP, or a debugger\), and did not answer; .* is withdrawn"
kill -CONT "$pid"
tell steps 1
ctl 0 status -p "$pid"
prints "process $pid .*: idle; the last trace, asked for by xsprof ctl, is $dir/next.json"
[ ! -e late.json ] || bad "late.json is there"
result "a process that does not hear: what it is asked for is withdrawn"

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
result "a program with a client of its own"

# ---- somebody of the same user who means ill ----

begin XSPROF_ONDEMAND=1
holds scribble "$pid" "$xsprof" "${XSPROF_TIER:-quick}"
kill -0 "$pid" || bad "the program did not live through it"
tell ops 3
leave
[ ! -e core ] || bad "there is a core"
result "a control page that somebody writes all over: both sides live, and the program ends"

echo "1..$n"
exit $failed
