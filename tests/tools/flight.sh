#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Snapshots, the flight recorder, and categories switched in running programs. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
beat=$BUILD/tests/tools/beat
open=$BUILD/tests/tools/open
export XSPROF_SHM_DIR=$dir/shm XSPROF_BACKEND=tmpfs
mkdir -p "$XSPROF_SHM_DIR"
cd "$dir" || exit 1
pids=()
trap 'kill -9 "${pids[@]}" 2>/dev/null; rm -rf "$dir"' EXIT

wait_for() # waits until the command succeeds
{
	local i

	for ((i = 0; i < 1000; i++)); do
		"$@" && return
		sleep 0.02
	done
	echo "waited in vain: $*" >>log
	return 1
}

# A file has its name while it is still being written; it is complete when the recorder says so.
wrote() # $1 capture, $2 what the recorder printed
{
	grep -q ", wrote $1 \]" "$2"
}

# Runs in the background; sets $recorder and $program to the process ids.
start() # options and command of `xsprof record`
{
	rm -f pid
	"$xsprof" record "$@" >rec.out 2>rec.err &
	recorder=$!
	pids+=("$recorder")
	wait_for test -s pid
	program=$(cat pid)
	pids+=("$program")
}

stop()
{
	kill -9 "$program"
	wait "$recorder" 2>/dev/null
	pids=()
}

events() # $1 capture, $2 name: how many ranges of that name begin, or counters there are
{
	"$dump" -q -f ndjson "$1" 2>/dev/null |
		grep -cE "\"type\":\"(begin|counter)\".*\"name\":\"$2\""
}

# Counters "n" without a gap, except where the capture has a loss; prints their count and the last.
whole() # $1 capture
{
	"$dump" -q -f ndjson "$1" 2>>log | python3 -c '
import json, sys
last = None
count = 0
for line in sys.stdin:
    e = json.loads(line)
    if e["type"] == "lost":
        last = None
    if e["type"] == "counter" and e.get("name") == "n":
        assert last is None or e["i64"] == last + 1, (last, e)
        last = e["i64"]
        count += 1
print(count, last)' 2>>log
}

# ---- snapshots -------------------------------------------------------------------------------

status 1 "$xsprof" snapshot -o none.data && grep -q 'none of your processes has rings' log &&
	[ ! -e none.data ]
result "snapshot: nobody to be asked is an error, and no file" $?
if [ "$(id -u)" = 0 ]; then
	mkdir -p "$XSPROF_SHM_DIR/xsprof-4711/s.1"
	hint="^xsprof: $XSPROF_SHM_DIR/xsprof-4711 holds recordings of the user who called sudo"
	status 1 env SUDO_UID=4711 "$xsprof" snapshot -o none.data && grep -q "$hint" log &&
		status 0 env SUDO_UID=4711 "$xsprof" list && grep -q "$hint" log &&
		status 0 env SUDO_UID=4712 "$xsprof" list && [ ! -s log ]
	result "snapshot, list: by sudo they say whose recordings there are" $?
	rm -r "$XSPROF_SHM_DIR/xsprof-4711"
fi
status 2 "$xsprof" snapshot --pid x && status 2 "$xsprof" snapshot -l 0 &&
	status 2 "$xsprof" snapshot file
result "snapshot: wrong usage" $?

start -b 16M -o rec.data -- "$beat" pid count 50000
"$xsprof" snapshot -o s.data 2>log && [ "$(whole s.data)" = "50000 49999" ] &&
	[ "$(events s.data step)" -ge 10 ]
result "snapshot: what a recorder has read is still there" $?
"$xsprof" snapshot -o s.data 2>&1 |
	grep -q '^\[ xsprof snapshot: [0-9]* events from 1 process, .*, 0 lost, wrote s.data \]'
result "snapshot: one line tells of it" $?
"$xsprof" info s.data 2>log | grep -q '^ended .*a snapshot of the rings in memory' &&
	"$xsprof" info --json s.data 2>>log | python3 -c '
import json, sys
i = json.load(sys.stdin)
assert i["processes"][0]["how"] == "running", i
assert i["clock"]["sync_points"] >= 3 and i["clock"]["error_ns"] < 100000, i["clock"]' 2>>log
result "snapshot: info says what it is, and its clock is good" $?
"$xsprof" snapshot -q -p "$program" -o p.data 2>log && [ ! -s log ] &&
	status 1 "$xsprof" snapshot -p 1 -o none.data && grep -q 'process 1: has no rings' log
result "snapshot --pid" $?
"$xsprof" snapshot -q -p "$program,$program" -o p2.data 2>log && [ ! -s log ] &&
	status 1 "$xsprof" snapshot -p "$program,1" -o none.data &&
	grep -q 'process 1: has no rings' log && [ ! -e none.data ]
result "snapshot --pid: several" $?
"$xsprof" snapshot -q -p "$program" -o - 2>log | cat >piped.data &&
	[ "$(whole piped.data)" = "50000 49999" ] && [ ! -e ./- ]
result "snapshot -o -: to standard output" $?
for i in 1 2 3; do "$xsprof" snapshot -q -o s.data; done
stop
[ "$(whole rec.data)" = "50000 49999" ] && [ "$(events rec.data step)" -ge 10 ] &&
	grep -q ' 0 lost' rec.err
result "snapshot: the recorder's file has everything all the same" $?

start -b 16M -o rec.data -- "$beat" pid count 50000
wait_for test "$(stat -c %s rec.data)" -gt 100000
kill -9 "$recorder"
wait "$recorder" 2>/dev/null
sleep 0.1
"$xsprof" snapshot -z -o s.data 2>log
[ "$(events s.data step)" -ge 10 ]
result "snapshot: of a program whose recorder was killed" $?
kill -9 "$program"
wait_for eval "! kill -0 $program 2>/dev/null"
"$xsprof" snapshot -o s.data 2>log && [ "$(whole s.data)" = "50000 49999" ] &&
	"$xsprof" report --json s.data 2>log >json
result "snapshot: of a program that has ended" $?
sleep 0.2
"$xsprof" snapshot -l 100ms -o l.data 2>log
grep -q '^xsprof: --last: 1 of 1 processes wrote nothing in that time: ' log
result "snapshot --last: of one that ended before says so" $?
"$xsprof" recover >>log 2>&1 && [ "$(whole rec.data)" = "50000 49999" ]
result "snapshot: no tail was moved: recover finds the rest" $?
start -b 16k -o rec.data -- "$beat" pid count 50000
kill -9 "$recorder"
wait "$recorder" 2>/dev/null
sleep 0.3
status 4 "$xsprof" snapshot -o s.data && grep -q ', [1-9][0-9]* lost, wrote s.data \]$' log &&
	status 0 "$xsprof" snapshot --allow-lost -o s.data
result "snapshot: of one that has lost records: 4, and 0 with --allow-lost" $?
kill -9 "$program"
wait_for eval "! kill -0 $program 2>/dev/null"
"$xsprof" recover --delete 2>>log
pids=()

# The ring is overwritten several hundred times a second while it is read.
start -b 256k -m overwrite -o rec.data -- taskset -c 0 "$beat" pid noise
failed_at=
for ((i = 0; i < 20 && ${#failed_at} == 0; i++)); do
	"$xsprof" snapshot -q -o s.data 2>>log
	"$xsprof" info --json s.data >json 2>>log
	python3 -c '
import json
i = json.load(open("json"))
assert i["bad_slots"] == 0 and not i["truncated"], i
p = i["processes"][0]
assert p["streams"][0]["read"] > 0, p' 2>>log && whole s.data >out || failed_at=$i
done
[ -z "$failed_at" ]
result "snapshot: of a ring that is being overwritten: whole records in order, 20 times" $?
stop

# ---- the flight recorder ---------------------------------------------------------------------

for bad in "--flight=1" "--flight=0 true" "--flight=5x true" "--flight=1k true" \
	"--watch a true" "--stall 5 true" "--flight --stall 5 true" "--flight -m discard true" \
	"--flight -d 5 true" "--flight=1M -b 1M true" "--flight --flight-files 0 true" \
	"--flight --sched -a"; do
	# shellcheck disable=SC2086 # these are words
	status 2 "$xsprof" record -o f.data $bad || break
done
result "flight: wrong usage" $?

rm -f pid
status 7 "$xsprof" record -o f.data --flight=64k -- sh -c "$beat pid count 100000 &
	until [ -s pid ]; do sleep 0.02; done; kill -9 \$!; wait; sleep 0.5; exit 7"
cp log said
set -- $(whole f.data)
# 2,048 slots per ring, and it may have run on any CPU.
[ "$1" -gt 100 ] && [ "$1" -le $((2048 * $(nproc --all))) ] && [ "$2" = 99999 ]
result "flight=SIZE: the last part, whole, and the command's exit status" $?
"$xsprof" info --json f.data 2>log | python3 -c '
import json, sys
i = json.load(sys.stdin)
assert i["lost_slots"] > 90000 and i["bad_slots"] == 0, i
p = i["processes"][0]
assert (p["how"], p["ring_size"]) == ("killed", 65536), p' 2>>log
result "flight=SIZE: what was overwritten is counted" $?
"$xsprof" info f.data 2>log | grep -qE '^whole +the last [0-9.]+ [mun]?s, from .*: nothing' &&
	"$xsprof" report f.data 2>>log | grep -qE '^# whole: the last [0-9.]+ [mun]?s, --from ' &&
	grep -qE '^\[ xsprof flight: complete for the last [0-9.]+ [mun]?s, and some' said
result "flight=SIZE: and said how far it reaches back" $?
ls f.data.1.killed-* >log 2>&1 && [ "$(whole f.data.1.killed-*)" = "$1 $2" ]
result "flight: a file when a process was killed, and its command went on" $?
[ -z "$(ls -A "$XSPROF_SHM_DIR"/xsprof-*)" ]
result "flight: the session is gone" $?

rm -f f.data*
status 137 "$xsprof" record -o f.data --flight -- "$open" tids kill
"$xsprof" report f.data 2>>log | grep -q \
	'(stand-0) was in conv "2d" for .* (in step > forward) when killed by SIGKILL' &&
	grep -q 'flight: process [0-9]* was killed by SIGKILL: .* wrote f.data \]' log &&
	[ "$(ls f.data*)" = f.data ]
result "flight: the command itself was killed: one file, at the end, says where it was" $?
"$xsprof" info --json f.data 2>log | python3 -c '
import json, re, sys
notes = json.load(sys.stdin)["notes"]
assert re.match("process [0-9]* was killed by SIGKILL", notes[0]), notes' 2>>log
result "flight: the file itself says why it was taken" $?

rm -f f.data*
"$xsprof" record --flight -o none/f.data -- touch ran >log 2>&1
[ $? = 2 ] && [ ! -e ran ] && grep -q "none/f.data: cannot be written: No such file" log
result "a place that cannot be written is refused before the command runs" $?
start -o f.data --flight --watch 'nccl:*' --stall 300ms -- "$beat" pid
for i in 1 2 3 4 5; do
	kill -USR2 "$program"
	sleep 0.15
done
[ "$(ls f.data* 2>/dev/null)" = "" ]
result "watch: ranges that end in time are nobody's business" $?
kill -USR1 "$program"
wait_for wrote "f.data.1.stall-$program" rec.err
"$xsprof" report "f.data.1.stall-$program" 2>log | grep -q \
	"was in nccl:all_reduce for .* (in step) when the snapshot was taken"
result "watch: one that stays open makes a file that says so" $?
! "$xsprof" report "f.data.1.stall-$program" 2>log | grep 'not counted in any row' >>log
result "watch: its process lives at that moment, which is exact" $?
stalled="has been in nccl:all_reduce for at least [0-9.]* m\?s: "
grep -q "flight: thread $program of process $program $stalled" rec.err
result "watch: a line tells which" $?
sleep 1
[ "$(ls f.data.*)" = "f.data.1.stall-$program" ]
result "watch: told of once" $?
kill -USR2 "$program"
sleep 0.3
kill -USR1 "$program"
wait_for wrote "f.data.2.stall-$program" rec.err
result "watch: and again when it happens again" $?
stop
[ -s f.data ]
result "watch: the file at the end" $?

rm -f f.data*
start -o f.data --flight --watch 'nccl:*' --stall 300ms -- "$beat" pid op
kill -USR1 "$program"
wait_for wrote "f.data.1.stall-$program" rec.err &&
	"$xsprof" report "f.data.1.stall-$program" 2>log | grep -q \
		"was in nccl:all_reduce for .* (in step) when the snapshot was taken"
result "watch: an op" $?
stop

"$xsprof" record -o f.data --flight --watch all_reduce --watch 'gloo:*' -- "$open" tids exit \
	>out 2>log
[ "$(grep 'no process had' log)" = "xsprof: --watch: no process had a range named 'gloo:*':\
 'xsprof report' lists the names" ]
result "watch: a name that no process has is told at the end" $?

if [ "$(nproc)" -gt 1 ]; then
	rm -f f.data*
	start -o f.data --flight=64k --watch nccl:all_reduce --stall 300ms -- "$beat" pid noise
	# If the noise had no CPU all the time, nothing was overwritten: try again.
	for ((i = 1; i <= 20; i++)); do
		kill -USR1 "$program"
		wait_for wrote "f.data.$i.stall-$program" rec.err || break
		kill -USR2 "$program"
		grep -q 'has been in nccl:all_reduce .*(uncertain: some records' rec.err && break
		sleep 0.3
	done
	grep -q 'has been in nccl:all_reduce .*(uncertain: some records' rec.err
	result "watch: found beside a CPU whose ring is overwritten, and said to be uncertain" $?
	stop
fi

rm -f f.data*
start -o f.data --flight -- "$beat" pid
before=$(grep ctxt_switches "/proc/$recorder/status")
count=$(grep -c . <<<"$before")
sleep 0.5
[ "$count" = 2 ] && [ "$(grep ctxt_switches "/proc/$recorder/status")" = "$before" ]
result "flight: the recorder sleeps while the program writes" $?
"$xsprof" snapshot -q -o s.data 2>log && [ "$(events s.data step)" -ge 10 ]
result "flight: a snapshot can be had at any time" $?
kill -9 "$recorder"
wait "$recorder" 2>/dev/null
kill -9 "$program"
"$xsprof" recover >log 2>&1
[ "$(events f.data.recovered step)" -ge 10 ]
result "flight: of a killed flight recorder recover saves the rings" $?
pids=()

rm -f f.data*
status 0 "$xsprof" record -o f.data --flight --flight-files 2 -- sh -c "
	for i in 1 2 3 4; do rm -f pid; $beat pid & until [ -s pid ]; do sleep 0.02; done
	kill -9 \$!; wait; sleep 0.3; done"
[ "$(ls f.data.* | wc -l)" = 2 ] && grep -q 'later triggers write no file' log
result "flight: --flight-files bounds them" $?

rm -f f.data*
rm -f pid
status 0 "$xsprof" record -o f.data --flight=200ms -- sh -c "$beat pid count 20000 &
	until [ -s pid ]; do sleep 0.02; done; sleep 1; kill -9 \$!; wait; true"
"$dump" -q -f ndjson f.data | python3 -c '
import json, sys
ns = [json.loads(l)["ns"] for l in sys.stdin if "\"name\":\"step\"" in l]
assert len(ns) > 20, len(ns)
# A block of 128 slots is kept as a whole: some 20 beats more, however slow the machine.
blocks = 256
early = [t for t in ns if t < ns[-1] - 200_000_000]
assert len(early) <= blocks, len(early)' 2>>log && [ "$(events f.data n)" -le 128 ]
result "flight=TIME: only the last part of the rings" $?

# ---- categories ------------------------------------------------------------------------------

status 2 "$xsprof" enable && status 2 "$xsprof" disable --pid 0 io &&
	status 1 "$xsprof" disable io && grep -q 'none of your processes is being recorded' log
result "enable, disable: wrong usage, and nobody there" $?
start -b 16M -o rec.data -- "$beat" pid
status 1 "$xsprof" disable disk && grep -q 'disk: no process has this category' log &&
	grep -q '^known: default, io, net$' log
result "disable: an unknown category, and which are known" $?
status 0 "$xsprof" disable io net && [ "$(cat out)" = "disabled in 1 process" ] &&
	status 0 "$xsprof" disable -p "$program" io &&
	[ "$(cat out)" = "disabled in 0 processes, 1 unchanged" ]
result "disable: says how many were changed" $?
status 1 "$xsprof" disable net -p "1,$program" && grep -q 'process 1: has no rings' log &&
	[ "$(cat out)" = "disabled in 0 processes, 1 unchanged" ]
result "disable: of several, one that there is not" $?
status 1 "$xsprof" enable net --pid 1 && grep -q 'process 1: has no rings' log && [ ! -s out ] &&
	status 2 "$xsprof" recover session --list
result "enable, recover: options after what they are for" $?
sleep 0.1
"$xsprof" snapshot -q -o a.data
sleep 0.2
"$xsprof" snapshot -q -o b.data
[ "$(events a.data read)" = "$(events b.data read)" ] && [ "$(events a.data read)" -gt 0 ] &&
	[ "$(events a.data send)" = "$(events b.data send)" ] &&
	[ "$(events a.data step)" -lt "$(events b.data step)" ]
result "disable: their markers end, others go on" $?
status 0 "$xsprof" enable io -p "$program" && [ "$(cat out)" = "enabled in 1 process" ]
sleep 0.2
"$xsprof" snapshot -q -o c.data
[ "$(events b.data read)" -lt "$(events c.data read)" ] &&
	[ "$(events b.data send)" = "$(events c.data send)" ]
result "enable: one of them comes back" $?
status 0 "$xsprof" disable all && sleep 0.1 && "$xsprof" snapshot -q -o a.data && sleep 0.2 &&
	"$xsprof" snapshot -q -o b.data && [ "$(events a.data step)" = "$(events b.data step)" ]
result "disable all" $?
stop
finish
