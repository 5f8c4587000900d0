#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What report and info say of ranges that were open when their process ended: exact names of
# known threads, and doubt where records were lost or markers paused. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
prog=$BUILD/tests/tools/open
cap=$dir/t.data
export XSPROF_SHM_DIR=$dir/shm XSPROF_BACKEND=tmpfs
mkdir -p "$XSPROF_SHM_DIR"

# Starts it, and waits until its threads are where they stay.
start() # COMMAND...
{
	rm -f "$dir/tids"
	"$xsprof" record -q -o "$cap" -- "$@" >"$dir/log" 2>&1 &
	recorder=$!
	until [ -s "$dir/tids" ] || ! kill -0 $recorder 2>/dev/null; do
		sleep 0.02
	done
}

record() # $1 what the program does
{
	start "$prog" "$dir/tids" "$1"
	if [ "$1" = exec ]; then
		# It lives until the recorder has seen the other program.
		until "$xsprof" report --open "$cap" 2>/dev/null | grep -q replaced ||
			! kill -0 $recorder 2>/dev/null; do
			sleep 0.1
		done
		kill -KILL "$(tid main)"
	fi
	wait $recorder
	"$xsprof" report "$cap" >"$dir/report" 2>>"$dir/log"
	cat "$dir/tids" "$dir/report" >>"$dir/log"
}

tid() # $1 thread name
{
	sed -n "s/ $1\$//p" "$dir/tids"
}

# The lines about open ranges, without times: "stand-0 was in ... when ..."
lines()
{
	sed -n 's/^  thread [0-9]* (\([^)]*\)) \(.*\)/\1 \2/p' "$dir/report" |
		sed 's/ for \(at most \)\{0,1\}[0-9.]* [a-z]*\( to [0-9.]* [a-z]*\)\{0,1\}/ for T/'
}

record kill
[ "$(lines)" = "open was in main for T when killed by SIGKILL
stand-0 was in conv \"2d\" for T (in step > forward) when killed by SIGKILL
stand-2 was in all_reduce for T when killed by SIGKILL
stand-2 began request with id 0x77, open for T when killed by SIGKILL" ]
result "killed: the ranges of each thread, and no thread that was in none" $?
for i in 0 2; do
	grep -q "^  thread $(tid stand-$i) (stand-$i) " "$dir/report"
	result "killed: thread $i by its id" $?
done
grep -q "^Open at the end of process $(tid main) (open):" "$dir/report"
result "killed: the process" $?
"$xsprof" report --json "$cap" >"$dir/json" 2>"$dir/log" &&
	python3 - "$dir/json" "$(tid stand-0)" >>"$dir/log" 2>&1 <<-'END'
		import json, sys
		r = json.load(open(sys.argv[1]))
		threads = {t["thread"] + t["ranges"][0]["name"]: t for t in r["open_at_end"]}
		assert len(threads) == 4, threads
		t = threads["stand-0step"]
		assert (t["how"], t["signal"], t["tid"]) == ("killed", 9, int(sys.argv[2])), t
		names = [x["name"] for x in t["ranges"]]
		assert names == ["step", "forward", 'conv "2d"'], names
		assert all(x["uncertain"] is None for x in t["ranges"]), t
		assert all(x["open_ns"] >= 200_000_000 for x in t["ranges"]), t
		# All run to the same moment, the end of the process.
		ends = {x["begin_ns"] + x["open_ns"] for t in threads.values() for x in t["ranges"]}
		assert len(ends) == 1, ends
		assert threads["stand-2request"]["ranges"][0]["id"] == 0x77, threads
	END
result "killed: --json, with durations to the process' end" $?
"$xsprof" info "$cap" 2>"$dir/log" | grep -q \
	"^  thread $(tid stand-0) (stand-0) was in conv \"2d\" for .* (in step > forward) when kill"
result "killed: info says it too" $?
"$xsprof" info --json "$cap" 2>"$dir/log" | python3 -c \
	'import json, sys; assert len(json.load(sys.stdin)["open_at_end"]) == 4' 2>>"$dir/log"
result "killed: info --json" $?
"$xsprof" report --no-open "$cap" >"$dir/report" && [ -z "$(lines)" ]
result "killed: --no-open" $?
"$xsprof" report --tid "$(tid stand-2)" "$cap" >"$dir/report"
[ "$(lines | cut -d' ' -f1 | sort -u)" = stand-2 ]
result "killed: --tid" $?
# Nothing is recorded in its last 200 ms.
to=@$("$xsprof" dump -f ndjson "$cap" | python3 -c '
import json, sys
kinds = ("begin", "end", "async-begin", "async-end")
print(max(e["ns"] for e in map(json.loads, sys.stdin) if e["type"] in kinds) / 1e9 + 0.1)')
"$xsprof" report --to "$to" "$cap" >"$dir/report" && [ -z "$(lines)" ] &&
	"$xsprof" report --to "$to" --open "$cap" >"$dir/report" &&
	lines | grep -q '^stand-0 was in .* at the end of the time shown$'
result "killed: a window of time that ends before" $?

for how in "exit:when it exited with status 3" "exec:when another program replaced it"; do
	record "${how%%:*}"
	[ -z "$(lines)" ] && "$xsprof" report --open "$cap" >"$dir/report" &&
		[ "$(lines | grep -c "${how#*:}\$")" = 4 ]
	result "${how%%:*}: told with --open only" $?
done

record many
[ "$(lines | wc -l)" = 16 ] && grep -q '^  \.\.\. and 25 more: --open shows all$' "$dir/report" &&
	"$xsprof" report --open "$cap" >"$dir/report" && [ "$(lines | wc -l)" = 41 ]
result "many threads: the first ones, and all on demand" $?

record deep
seven='deep > deep > deep > deep > deep > deep > deep'
lines | grep -qx "open was in deep for T (in main > $seven > 14 more > deep > $seven) when .*"
result "many around one: the outermost and the innermost" $?

record pause
off="when its markers were disabled: later events are unknown"
[ "$(lines)" = "open was in after for T when killed by SIGKILL
stand-0 was in conv \"2d\" for T (in step? > forward?) $off
stand-2 was in all_reduce for T $off
stand-2 began request with id 0x77, open for T $off" ]
result "paused: what it hid is uncertain, and what ended after it is not open" $?

record lose
[ "$(lines | grep -c 'uncertain: records after its begin are missing$')" = 4 ] &&
	lines | grep -q '(in step? > forward?)'
result "lost: uncertain from there on" $?
for option in "" --include-uncertain; do
	"$xsprof" report --allow-lost --json $option "$cap" 2>>"$dir/log" | python3 -c '
import json, sys
r = json.load(sys.stdin)
assert r["uncertain"] > 0 and r["open_unsure"] == 0, r
print(sorted((x["name"], x["count"], x["uncertain"]) for x in r["ranges"]))' 2>>"$dir/log"
done >"$dir/counts"
cat "$dir/counts" >>"$dir/log"
[ "$(wc -l <"$dir/counts")" = 2 ] && [ "$(sort -u "$dir/counts" | wc -l)" = 1 ]
result "lost, and open at an end that is not known: counted with and without its times" $?

# The kernel frees the memory of a killed process while that is still there.
start "$prog" "$dir/tids" fat
sleep 0.5
python3 -c '
import os, sys, time
PF_EXITING = 4
os.kill(int(sys.argv[1]), 9)
killed = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
while True:
    try:
        flags = int(open(f"/proc/{sys.argv[1]}/stat").read().rpartition(")")[2].split()[6])
    except (FileNotFoundError, ProcessLookupError):
        break
    if flags & PF_EXITING:
        break
print(killed, time.clock_gettime_ns(time.CLOCK_MONOTONIC))' "$(tid main)" >"$dir/killed"
wait
"$xsprof" report --json "$cap" 2>>"$dir/log" | python3 -c '
import json, sys
killed, ending = map(int, open(sys.argv[1]).read().split())
for t in json.load(sys.stdin)["open_at_end"]:
    end = t["ranges"][0]["begin_ns"] + t["ranges"][0]["open_ns"]
    # The latest look that saw it run was before one that saw it end.
    assert end - t["end_within_ns"] < ending, (end, t, ending)
    assert end > killed, (end, killed)' "$dir/killed" 2>>"$dir/log"
result "killed with much memory: nothing is said to have lasted until that was free" $?

# One that ends by exit() says when, whatever its memory takes then.
"$xsprof" record -q -o "$cap" -- "$prog" "$dir/tids" fat-exit >"$dir/log" 2>&1
"$xsprof" report --json --open "$cap" 2>>"$dir/log" | python3 -c '
import json, sys
r = json.load(sys.stdin)
within = {t["end_within_ns"] for t in r["open_at_end"]}
assert within == {0} and r["open_unsure"] == 0, (within, r["open_unsure"])
assert {t["how"] for t in r["open_at_end"]} == {"exited"}, r["open_at_end"]
names = {row["name"]: row["count"] for row in r["ranges"]}
assert names.get("main") == 1, names' 2>>"$dir/log"
result "exit() with much memory: when it ended is known, and so is what was open" $?

start sh -c "$prog $dir/tids wait & until [ -s $dir/tids ]; do sleep 0.02; done"
wait $recorder
kill -KILL "$(tid main)"
"$xsprof" report "$cap" >"$dir/report" 2>>"$dir/log"
lines | grep -q '^stand-0 was in conv "2d" for T (in step > forward) when the recording ended$'
result "running: open when the recording ended" $?

# A process that hung in no range at all.
"$make_capture" hung "$cap" && "$xsprof" report --open "$cap" >"$dir/report" 2>"$dir/log"
cat "$dir/report" >>"$dir/log"
line='  the latest record, the step train in thread 100, was 900.000 us old when killed by SIGKILL'
grep -qx 'No range was open at the end of process 100:' "$dir/report" &&
	grep -qx "$line" "$dir/report" && "$xsprof" report "$cap" | grep -qx "$line" &&
	"$make_capture" kernel "$dir/exited.data" &&
	! "$xsprof" report "$dir/exited.data" 2>>"$dir/log" | grep -q 'latest record' &&
	"$xsprof" report --open --json "$cap" 2>>"$dir/log" | python3 -c '
import json, sys
r = json.load(sys.stdin)
assert r["open_at_end"] == [], r
got = [(s["pid"], s["silent_ns"], s["type"], s["name"]) for s in r["silent_at_end"]]
assert got == [(100, 900000, "step", "train")], got' 2>>"$dir/log"
result "no range open: the latest record, and how old it was" $?

# The file of a recorder that was killed: the end of the process is in none of its chunks.
"$xsprof" record -q -o "$cap" -- "$prog" "$dir/tids" kill >"$dir/log" 2>&1
python3 - "$cap" "$dir/cut.data" <<-'END'
	import struct, sys
	data = open(sys.argv[1], "rb").read()
	EXIT = struct.pack("<4sH", b"ChnK", 7)
	open(sys.argv[2], "wb").write(data[:data.index(EXIT)])
END
"$xsprof" report "$dir/cut.data" >"$dir/report" 2>"$dir/log"
lines | grep '^stand-0 was in conv "2d" for T (in step > forward) ' |
	grep -q ' at the end of the recording$'
result "a cut file: open at its end" $?
finish
