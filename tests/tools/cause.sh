#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Where the time of ranges went, in captures of this machine's kernel: compares report's sums with
# sums that python3 makes from the same capture's text; and runs programs that are late for a known
# reason. Tests do not judge durations, only what took most of one. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
planted=$BUILD/tests/tools/planted

# plant ARG...: makes the capture $dir/$1.data of planted $1; 77: not possible here, $why says why.
plant()
{
	local what=$1 i rc

	# Losses of the kernel's tracer on a busy machine prove nothing: try again with larger
	# buffers.
	for i in 1 4 16; do
		timeout -s KILL 100 "$xsprof" record -q -e sched --irq --syscalls --faults \
			--trace-buffer ${i}0m -o "$dir/$what.data" -- "$planted" "$@" \
			>"$dir/out" 2>"$dir/log"
		rc=$?
		case $rc in
		0 | 4) ;;
		77) why=$(tail -n 1 "$dir/out"); return 77 ;;
		*) return 1 ;;
		esac
		"$xsprof" report --json "$dir/$what.data" >"$dir/$what.json" 2>>"$dir/log"
		rc=$?
		[ $rc = 0 ] || [ $rc = 4 ] || return 1
		grep -q '"losses":0,' "$dir/$what.json" && return 0
		echo "kernel events were lost with a buffer of ${i}0 MB" >>"$dir/log"
	done
	return 1
}

"$make_capture" big "$dir/plain.data" 1000 || exit 1
status 1 "$xsprof" report --why op "$dir/plain.data" && grep -q 'record with -e sched' "$dir/log"
result "--why of a capture without the scheduler's events says what to record" $?
status 1 "$xsprof" report --gaps "$dir/plain.data" && grep -q 'record with -e sched' "$dir/log"
result "--gaps as well" $?
status 2 "$xsprof" report --gaps --why op "$dir/plain.data"
result "--why and --gaps at once are refused" $?
"$xsprof" report "$dir/plain.data" 2>"$dir/log" | grep -q 'On-CPU'
[ $? = 1 ] && "$xsprof" report --json "$dir/plain.data" 2>>"$dir/log" | grep -q '"cause"'
[ $? = 1 ]
result "report of it has no such columns" $?

# By hand: alpha runs from 5 us on, is in a system call from 22 to 22.9, sleeps from 25 to 50, and
# waits until 55 for the CPU that kworker/0:1 has. "wait" is from 20 to 60, "step" from 10 to 80.
# From 61.3 to 90 its CPU's events are lost.
"$make_capture" kernel "$dir/kernel.data" &&
	"$xsprof" report --json "$dir/kernel.data" 2>"$dir/log" | python3 -c '
import json, sys
rows = {r["name"]: r["cause"] for r in json.load(sys.stdin)["ranges"]}
rest = {"runnable_ns": 5000, "blocked_ns": 25000, "gil_ns": 0, "io_ns": 0, "syscall_ns": 900,
        "fault_ns": 0, "irq_ns": 0, "softirq_ns": 0, "faults": 0}
assert rows == {"step": dict(wall_ns=70000, on_cpu_ns=20400, unknown_ns=18700, **rest),
                "wait": dict(wall_ns=40000, on_cpu_ns=9100, unknown_ns=0, **rest)}, rows
' 2>>"$dir/log"
result "report of a capture made by hand" $?
# The same with only the kernel's entries: what is only entered has no times.
"$make_capture" entries "$dir/entries.data" &&
	"$xsprof" report --json "$dir/entries.data" 2>"$dir/log" | python3 -c '
import json, sys
rows = {r["name"]: r["cause"] for r in json.load(sys.stdin)["ranges"]}
rest = {"runnable_ns": 5000, "blocked_ns": 25000, "gil_ns": 0, "io_ns": 0, "syscall_ns": 0,
        "fault_ns": 0, "irq_ns": 0, "softirq_ns": 0, "faults": 0}
assert rows == {"step": dict(wall_ns=70000, on_cpu_ns=21300, unknown_ns=18700, **rest),
                "wait": dict(wall_ns=40000, on_cpu_ns=10000, unknown_ns=0, **rest)}, rows
' 2>>"$dir/log" && "$xsprof" report "$dir/entries.data" 2>>"$dir/log" |
	grep -q 'sources of thread times: sched; not recorded: irq softirq syscalls'
result "entries alone, without the exits, are not recorded" $?
"$xsprof" report -q --why '*' "$dir/kernel.data" 2>"$dir/log" | sed '/^#/d' >"$dir/why.txt"
# System call numbers are those of this machine's architecture.
[ "$(uname -m)" = x86_64 ] || sed -i 's/ in [a-z0-9_]*;/ in futex;/; s/ in [a-z0-9_]*$/ in futex/' \
	"$dir/why.txt"
[ "${XSPROF_GOLDEN:-}" != update ] || cp "$dir/why.txt" "$here/golden/why.txt"
diff -u "$here/golden/why.txt" "$dir/why.txt" >>"$dir/log"
result "--why of it" $?

# The recorder was killed: the tracer's events are complete until 40 us, within the sleep.
"$make_capture" kernel "$dir/until.data" 40 &&
	"$xsprof" report --json "$dir/until.data" 2>"$dir/log" | python3 -c '
import json, sys
report = json.load(sys.stdin)
rows = {r["name"]: r["cause"] for r in report["ranges"]}
rest = {"runnable_ns": 0, "blocked_ns": 15000, "gil_ns": 0, "io_ns": 0, "syscall_ns": 900,
        "fault_ns": 0, "irq_ns": 0, "softirq_ns": 0, "faults": 0}
assert rows == {"step": dict(wall_ns=70000, on_cpu_ns=14100, unknown_ns=40000, **rest),
                "wait": dict(wall_ns=40000, on_cpu_ns=4100, unknown_ns=20000, **rest)}, rows
assert report["cause"]["after_ns"] == 60000, report["cause"]
' 2>>"$dir/log"
result "report of a capture whose kernel's events end early: the time after that is unknown" $?
"$xsprof" report -q --why '*' "$dir/until.data" 2>"$dir/log" | grep -A 99 '^1' >"$dir/out"
diff -u - "$dir/out" >>"$dir/log" <<-'END'
	1. step, thread 100 (alpha), at 0.000010000 s
	    70.000 us:
	        40.000 us (57.1 %) unknown;
	        15.000 us (21.4 %) blocked;
	        14.100 us (20.1 %) on CPU, 2 times;
	        900 ns (1.3 %) on CPU in futex

	2. wait, thread 100 (alpha), at 0.000020000 s
	    40.000 us:
	        20.000 us (50.0 %) unknown;
	        15.000 us (37.5 %) blocked;
	        4.100 us (10.2 %) on CPU, 2 times;
	        900 ns (2.2 %) on CPU in futex
END
result "--why of it" $?

# Twelve causes are shown; those left out may be as long, and are not summed.
"$make_capture" behind "$dir/behind.data" &&
	"$xsprof" report -q --why step "$dir/behind.data" 2>"$dir/log" | tail -n 2 >"$dir/out"
diff -u - "$dir/out" >>"$dir/log" <<-'END'
	        24.000 us of other causes, each at most 6.0 %;
	        in all 90.0 % runnable, 10.0 % on CPU
END
result "--why of more causes than it shows" $?
"$xsprof" report -q --gaps "$dir/behind.data" 2>"$dir/log" | tail -n 1 >"$dir/out"
grep -q '^\.\.\. no gap: a gap is between two outermost ranges' "$dir/out"
result "--gaps of one range says that there is none" $?

"$xsprof" record -q -e sched -o "$dir/try.data" -- true >"$dir/out" 2>"$dir/log"
if [ $? != 0 ] || grep -q 'no kernel events are recorded' "$dir/log"; then
	why=$(grep 'no kernel events' "$dir/log")
	skipped "the time of ranges" "${why:-$(tail -n 1 "$dir/log")}"
	finish
fi

plant mix
good=$?
[ $good = 0 ] && "$dump" -f text -o "$dir/mix.text" "$dir/mix.data" 2>>"$dir/log" &&
	python3 "$here/check-cause.py" sums "$dir/mix.text" "$dir/mix.json" >>"$dir/log" 2>&1
result "nested and complete ranges: every class to the nanosecond" $?
if [ $good = 0 ]; then
	"$xsprof" report --why '*' -n 1000 --json "$dir/mix.data" >"$dir/why.json" 2>"$dir/log" &&
		python3 "$here/check-cause.py" why "$dir/why.json" sum >>"$dir/log" 2>&1
	result "causes of every range add up to it" $?
	"$xsprof" report --gaps -n 1000 --json "$dir/mix.data" >"$dir/why.json" 2>"$dir/log" &&
		python3 "$here/check-cause.py" why "$dir/why.json" sum >>"$dir/log" 2>&1
	result "causes of every gap add up to it" $?
	for by in op thread process category; do
		"$xsprof" report --by $by --json "$dir/mix.data" 2>"$dir/log" |
			python3 -c '
import json, sys
rows = json.load(sys.stdin)["ranges"]
assert rows
for r in rows:
    c = r["cause"]
    assert c["wall_ns"] == r["total_ns"] == sum(
        v for k, v in c.items() if k not in ("wall_ns", "faults")), r
assert sum(r["cause"]["unknown_ns"] for r in rows) * 10 < sum(r["total_ns"] for r in rows), rows
' >>"$dir/log" 2>&1
		result "report --by $by: the columns add up" $?
	done
	status 1 "$xsprof" report --why 'no such' "$dir/mix.data" && grep -q 'no such' "$dir/log"
	result "--why of a name that there is not" $?
	"$xsprof" report "$dir/mix.data" 2>"$dir/log" | grep -q 'On-CPU  *Runnable  *Blocked'
	result "report has the columns" $?
fi

# The recorder is killed between "before" and "after": the time of "after" is unknown.
XSPROF_SHM_DIR=$(mktemp -d /dev/shm/xsprof-cause.XXXXXX) || exit 1
export XSPROF_SHM_DIR
trap 'rm -rf "$dir" "$XSPROF_SHM_DIR"' EXIT
"$xsprof" record -q -e sched -o "$dir/late.data" -- "$planted" late "$dir/go" 2>"$dir/log" &
recorder=$!
for _ in $(seq 300); do
	[ "$(grep -a -o 'until=' "$dir/late.data" 2>/dev/null | wc -l)" -ge 2 ] && break
	sleep 0.1
done
kill -KILL $recorder
wait $recorder 2>/dev/null
: >"$dir/go"
while pgrep -f "^$planted late $dir/go" >/dev/null; do
	sleep 0.1
done
"$xsprof" recover >>"$dir/log" 2>&1
"$xsprof" report --json "$dir/late.data" >"$dir/late.json" 2>>"$dir/log"
python3 - "$dir/late.json" 2>>"$dir/log" <<-'END'
	import json, sys
	rows = {r["name"]: r["cause"] for r in json.load(open(sys.argv[1]))["ranges"]}
	assert rows["after"]["unknown_ns"] == rows["after"]["wall_ns"] > 0, rows
	# A hundred sleeps of 1 ms; on a busy machine it waits for a CPU for longer than that.
	assert rows["before"]["blocked_ns"] > 50e6, rows
END
result "recovered: what the thread did after the recorder was killed is unknown" $?
"$xsprof" report "$dir/late.data" 2>>"$dir/log" |
	grep -q "^# kernel events end .* before the program's"
result "recovered: and that is said" $?

for what in cpu lock chain fault io softirq gap; do
	file=
	[ $what = io ] && file=$dir/io.file
	plant $what $file
	case $? in
	77)
		skipped "--why of $what" "$why"
		continue ;;
	0)
		ask="--why op"
		[ $what = gap ] && ask=--gaps
		# shellcheck disable=SC2086
		"$xsprof" report $ask "$dir/$what.data" >"$dir/log" 2>&1 &&
			"$xsprof" report $ask --json "$dir/$what.data" >"$dir/why.json" \
				2>>"$dir/log" &&
			python3 "$here/check-cause.py" why "$dir/why.json" $what >>"$dir/log" 2>&1
		good=$?
		first=$(sed -n '/^1\. /,$s/^        //p' "$dir/log" | head -n 1)
		result "--why of $what: $first" $good ;;
	*)
		result "--why of $what" 1 ;;
	esac
done
finish
