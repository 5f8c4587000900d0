#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Compares the numbers of xsprof report and info with sums that python3 makes from the same
# capture's NDJSON, without sharing code with the report. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh

"$make_capture" big "$dir/big.data" 200000 && "$make_capture" all "$dir/all.data" || exit 1
"$dump" -f ndjson -o "$dir/big.ndjson" "$dir/big.data" || exit 1

for by in name thread name,thread category; do
	"$xsprof" report --json --by $by "$dir/big.data" >"$dir/report" 2>"$dir/log" &&
		python3 "$here/check-report.py" "$dir/big.ndjson" "$dir/report" $by \
			>>"$dir/log" 2>&1
	result "report --by $by: count, total, self, min, p50, p99, max" $?
done

# NaN is in no minimum, but is not lost: counted here, an instant in Kineto's format.
"$make_capture" all "$dir/all.data"
"$xsprof" report --json "$dir/all.data" 2>"$dir/log" | grep -o '"count":3,"min.*"name":"ratio"' |
	grep -q '"min":2.5,"max":2.5,"last":"Infinity","not_finite":2,' &&
	"$xsprof" dump -f kineto "$dir/all.data" 2>>"$dir/log" | python3 -c '
import json, sys
e = [e for e in json.load(sys.stdin)["traceEvents"] if e["name"] == "ratio"]
want = [("C", 2.5), ("i", "NaN"), ("i", "Infinity")]
assert [(i["ph"], i["args"]["value"]) for i in e] == want, e' 2>>"$dir/log"
result "counters with values that are not finite" $?

"$xsprof" report --name 'aten::conv*' "$dir/big.data" >"$dir/out" 2>"$dir/log"
[ "$(grep -c 'aten::' "$dir/out")" = 2 ] && grep -q 'aten::conv2d$' "$dir/out" &&
	grep -q 'aten::convolution$' "$dir/out"
result "report --name" $?
[ "$("$xsprof" report --limit 3 "$dir/big.data" | grep -c 'aten::\|autograd')" = 3 ]
result "report --limit" $?
"$xsprof" report --sort name "$dir/big.data" | sed -n 's/.*  \(a[a-z]*::.*\)/\1/p' >"$dir/out"
[ "$(wc -l <"$dir/out")" = 8 ] && LC_ALL=C sort -c "$dir/out" 2>"$dir/log"
result "report --sort name" $?
"$xsprof" report "$dir/big.data" | grep -q '^# lost: 0 records, 0 slots'
result "report tells that nothing was lost" $?
! "$xsprof" report "$dir/big.data" | grep -q "$(printf '\033')"
result "report has no colours in a pipe" $?
if command -v script >/dev/null; then
	TERM=xterm NO_COLOR='' script -qec "$xsprof report $dir/big.data" /dev/null </dev/null |
		grep -q "$(printf '\033')\[1m"
	result "report has colours on a terminal" $?
	! TERM=xterm NO_COLOR=1 script -qec "$xsprof report $dir/big.data" /dev/null </dev/null |
		grep -q "$(printf '\033')\[1m"
	result "report has none where NO_COLOR is set" $?
fi

"$xsprof" info --json --allow-lost "$dir/all.data" >"$dir/info" 2>"$dir/log" &&
	python3 - "$dir/info" >>"$dir/log" 2>&1 <<-'END'
		import json, sys
		i = json.load(open(sys.argv[1]))
		a, b = i["processes"]
		assert (a["pid"], a["how"], a["threads"]) == (100, "exec", 3), a
		assert a["lost_records"] == 3, a
		assert (b["pid"], b["how"], b["signal"], b["threads"]) == (100, "killed", 9, 1), b
		assert a["facts"]["exe"] == "/usr/bin/alpha" and a["facts"]["env.RANK"] == "3", a
		rings = {r["ring"]: r for r in a["streams"]}
		assert rings[0]["drops"] == 3 and rings[1]["read"] == 2, rings
		assert i["lost_records"] == 3 and not i["truncated"] and i["notes"] == ["a note"], i
		assert i["clock"]["kind"] == "tsc" and abs(i["clock"]["frequency_hz"] - 1e9) < 1, i
		assert i["host"]["hostname"] == "box", i
	END
result "info --json" $?

# Rows: a recursive function, and names that differ in a number.
"$make_capture" rows "$dir/rows.data"
"$xsprof" report --json "$dir/rows.data" 2>"$dir/log" | python3 -c '
import json, sys
r = {x["name"]: x for x in json.load(sys.stdin)["ranges"]}
f = r["fib"]
assert (f["count"], f["total_ns"], f["self_ns"]) == (3, 100000, 100000), f
assert (f["mean_ns"], f["max_ns"]) == (190000 // 3, 100000), f' 2>>"$dir/log"
result "report: recursive ranges count once in the total" $?
"$xsprof" report --json --name copy "$dir/rows.data" 2>"$dir/log" | python3 -c '
import json, sys
r = json.load(sys.stdin)["ranges"]
assert [(x["count"], x["total_ns"], x["self_ns"]) for x in r] == [(2, 30000, None)], r' \
	2>>"$dir/log" && "$xsprof" report --name copy "$dir/rows.data" |
	grep -qE '^ *2 +30\.000 us +- +15\.000 us .* copy$'
result "report: what is on no thread has no time of its own" $?
"$xsprof" report --why copy "$dir/rows.data" >"$dir/out" 2>&1
[ $? = 1 ] && grep -q "'copy' are async ranges, GPU activities or calls, or spans" "$dir/out"
result "report --why: says so of ranges that are on no thread" $?
"$xsprof" report --allow-lost --why mutex "$dir/all.data" >"$dir/out" 2>&1
[ $? = 1 ] && grep -q "'mutex' names waits for an object, not a range: " "$dir/out"
result "report --why: nor is a mutex a range" $?
"$xsprof" report "$dir/rows.data" >"$dir/out" 2>"$dir/log" &&
	grep -q '^# 1 row above is of async ranges, GPU activities or spans without ' "$dir/out"
result "report: and that they have no times of a thread" $?
"$xsprof" report --by thread --json "$dir/rows.data" 2>"$dir/log" | python3 -c '
import json, sys
r = json.load(sys.stdin)["ranges"][0]
assert r["total_ns"] == 230000, r' 2>>"$dir/log"
result "report: in the row of a thread the outermost ones count" $?
# Overlapping spans, in the order of their ends: each moment counts once. Of a hundred separate
# spans 36 are forgotten.
"$make_capture" cover "$dir/cover.data" || exit 1
"$xsprof" report -q --by thread --json "$dir/cover.data" 2>"$dir/log" | python3 -c '
import json, sys
got = {x["tid"]: (x["count"], x["total_ns"]) for x in json.load(sys.stdin)["ranges"]}
assert got == {90: (8, 150000), 91: (101, 1036000)}, got' 2>>"$dir/log" &&
	"$xsprof" report -q --by process --json "$dir/cover.data" 2>>"$dir/log" |
		grep -q '"total_ns":1186000,'
result "report: the row of a thread has each moment once, also of spans" $?
"$xsprof" report --by pattern --sort name "$dir/rows.data" 2>"$dir/log" |
	sed -n 's/^ *\([0-9]*\)  .* us  \([a-z0].*\)$/\1 \2/p' >"$dir/out"
cat "$dir/out" >>"$dir/log"
[ "$(cat "$dir/out")" = "1 0x
1 conv2d
2 copy
3 fib
2 layer.*.weight_*
2 region *
3 step *
1 worker1" ]
result "report --by pattern: names that differ in a number are one row" $?
"$xsprof" report --name 'step *' "$dir/rows.data" | grep -cE '^ *1 .* step ' |
	grep -qx 3
result "report: whose name is a pattern for --name" $?

# Tasks of one name in two categories have two rows, and their instants one.
"$make_capture" waits "$dir/waits.data"
"$xsprof" report --by thread --json "$dir/waits.data" 2>"$dir/log" | python3 -c '
import json, sys
rows = json.load(sys.stdin)["others"]
keys = "waits", "wait_ns", "wait_min_ns", "wait_max_ns"
got = {(r["name"], r["tid"]): [r.get(k) for k in keys] for r in rows}
assert got == {("gate", 90): [1, 10000, 10000, 10000], ("gate", 91): [1, 20000, 20000, 20000],
               ("door", 90): [None] * 4}, got' 2>>"$dir/log" &&
	"$xsprof" report "$dir/waits.data" | grep -qE \
		'^ +2 +30\.000 us +15\.000 us +10\.000 us +20\.000 us  gate$'
result "report: waits for synchronization objects" $?
"$make_capture" tasks "$dir/tasks.data"
"$xsprof" report --json "$dir/tasks.data" 2>"$dir/log" | python3 -c '
import json, sys
r = json.load(sys.stdin)
got = [(x["name"], x["category"], x["count"], x["total_ns"]) for x in r["ranges"]]
assert got == [("convolution", "execute", 4, 22000), ("convolution", "create", 3, 6000)], got
assert [(x["count"], "category" in x) for x in r["others"]] == [(2, False)], r' 2>>"$dir/log" &&
	"$xsprof" report "$dir/tasks.data" | grep -qE '^ *4 +22.000 us .* execute +convolution$'
result "report: a name in two categories is two rows, with the category" $?
# The row that -n leaves out has longer times.
"$xsprof" report -s name -n 1 "$dir/tasks.data" 2>"$dir/log" |
	grep -qE '^    3  6\.000 us  6\.000 us  .*  create    convolution$'
result "report -n: columns are as wide as the rows that are shown" $?
! "$xsprof" report "$dir/rows.data" 2>"$dir/log" | grep -q Category
result "report: no other has that column" $?

# Without ranges: what the scheduler's events tell of the command's threads.
"$make_capture" threads "$dir/threads.data"
"$xsprof" report --json "$dir/threads.data" 2>"$dir/log" | python3 -c '
import json, sys
r = json.load(sys.stdin)
want = [("child-601", "child-601", 40000, 35000, 5000, 0, 2),
        ("prog-600", "prog-600", 60000, 28000, 2000, 30000, 2)]
keys = ("process", "thread", "wall_ns", "on_cpu_ns", "runnable_ns", "blocked_ns", "switches")
assert [tuple(t[k] for k in keys) for t in r["threads"]] == want, r
assert r["other_threads"] == 1 and not r["ranges"], r' 2>>"$dir/log"
result "report of a program without markers: its threads' time" $?
"$xsprof" report "$dir/threads.data" >"$dir/out" 2>"$dir/log"
cat "$dir/out" >>"$dir/log"
row='^ *60.000 us +28.000 us +2.000 us +30.000 us( +-){6} +2 +prog-600 +prog-600$'
grep -qE "$row" "$dir/out" &&
	grep -q '^... and 1 thread of other programs ran for 5.000 us: ' "$dir/out"
result "report of a program without markers: a table" $?
"$xsprof" report --tid 7 "$dir/threads.data" 2>"$dir/log" |
	grep -qE '^ *35.000 us +5.000 us +- +30.000 us .* 1 +kworker/0:1-7 +kworker/0:1-7$'
result "report of a program without markers: other threads by --tid" $?
"$xsprof" report --from 0.00002 --to 0.00004 --tid 600-601 --json "$dir/threads.data" |
	python3 -c '
import json, sys
r = json.load(sys.stdin)["threads"]
got = [(t["tid"], t["wall_ns"], t["on_cpu_ns"]) for t in r]
assert got == [(601, 20000, 15000), (600, 20000, 0)], got' 2>"$dir/log"
result "report of a program without markers: a part of the time" $?
"$xsprof" report --from 1 "$dir/threads.data" >"$dir/out" 2>"$dir/log"
grep -q 'nothing matches the filters' "$dir/out" && ! grep -q prog-600 "$dir/out" &&
	"$xsprof" report --from 0.0000301 --to 0.0000302 --tid 601 --json "$dir/threads.data" |
	python3 -c '
import json, sys
r = json.load(sys.stdin)
assert r["events"] == 0 and [t["wall_ns"] for t in r["threads"]] == [100], r' 2>>"$dir/log"
result "report of a program without markers: a time after it, and one without events" $?
"$xsprof" report --name x "$dir/threads.data" 2>"$dir/log" | grep -q 'nothing matches'
result "report of a program without markers: threads have no names" $?

"$make_capture" all-lost "$dir/all-lost.data" &&
	"$xsprof" report --allow-lost "$dir/all-lost.data" >"$dir/out" 2>"$dir/log" &&
	grep -q '^# lost: 737 records' "$dir/out" && ! grep -q 'nothing was recorded' "$dir/out" &&
	grep -q '^\.\.\. all records were lost' "$dir/out"
result "report of a capture without an event: whether all were lost" $?

# All outputs count the same events: without continuation records, and without the reader's marks.
for kind in rows all; do
	events=$("$dump" -q -f ndjson "$dir/$kind.data" | grep -vcE \
		'"type":"(args|producer|exit|lost|open)"')
	{
		"$xsprof" report "$dir/$kind.data" | sed -n '1s/.*: \([0-9]*\) events in .*/\1/p'
		"$xsprof" report --json "$dir/$kind.data" | sed -n 's/^{"events":\([0-9]*\),.*/\1/p'
		"$xsprof" info "$dir/$kind.data" | sed -n 's/^span .*, \([0-9]*\) events, .*/\1/p'
		"$xsprof" info --json "$dir/$kind.data" | python3 -c '
import json, sys
i = json.load(sys.stdin)
print(i["events"], sum(p["events"] for p in i["processes"]), sep="\n")'
		"$dump" -q -f chrome "$dir/$kind.data" | sed -n 's/^"events":\([0-9]*\),*$/\1/p'
	} >"$dir/out" 2>"$dir/log"
	cat "$dir/out" >>"$dir/log"
	[ "$(wc -l <"$dir/out")" = 6 ] && [ "$(sort -u "$dir/out")" = "$events" ]
	result "$kind: report, info and chrome count $events events alike" $?
done

# A full disk: losses belong to a process as far as the file says.
"$make_capture" full "$dir/full.data"
"$xsprof" info --allow-lost "$dir/full.data" >"$dir/out" 2>"$dir/log" &&
	cat "$dir/out" >>"$dir/log" &&
	grep -qE '^     0 +70 exited 0 +discard +1 +1 +7 +0 ' "$dir/out" &&
	grep -qE '^     1 +71 exited 0 +discard +1 +1 +0 +0 ' "$dir/out" &&
	grep -qE '^     - .* 3 +-  \(did not fit' "$dir/out" &&
	"$xsprof" info --json --allow-lost "$dir/full.data" 2>>"$dir/log" | python3 -c '
import json, sys
i = json.load(sys.stdin)
assert [p["lost_records"] for p in i["processes"]] == [7, 0], i
assert (i["lost_records"], i["lost_of_unknown"]) == (10, 3), i' 2>>"$dir/log"
result "info: what found no room is lost to whom it was" $?
! grep -q '^     - ' tests/tools/golden/all.info
result "info: and there is no such line where all is known" $?

# One sync point, as after a recorder that was killed at once: the tick's length is unknown.
"$make_capture" names "$dir/names.data" 1
python3 - "$here" "$dir/names.data" >"$dir/point.data" <<'END'
import struct, sys
sys.path.insert(0, sys.argv[1])
import fuzz

data = bytearray(open(sys.argv[2], "rb").read())
at, stored = next((at, stored) for at, kind, stored in fuzz.chunks(data) if kind == 2)
body = at + fuzz.CHUNK
struct.pack_into("<Q", data, body + stored // 2, 0)
struct.pack_into("<I", data, at + 48, fuzz.crc32c(data[body:body + stored]))
struct.pack_into("<I", data, at + 52, fuzz.crc32c(data[at:at + 52]))
sys.stdout.buffer.write(data)
END
for verb in report info; do
	"$xsprof" $verb "$dir/point.data" >"$dir/out" 2>"$dir/log"
	grep -q 'error unknown' "$dir/out" && ! grep -q 18446744073709551615 "$dir/out"
	result "$verb: the error of a clock that is not known" $?
done
"$make_capture" lock "$dir/lock.data"
"$xsprof" report --gil --json --allow-lost -n 10000 "$dir/lock.data" >"$dir/out" 2>"$dir/log" &&
	python3 - "$dir/out" 2>>"$dir/log" <<-'END'
		import json, sys
		r = json.load(open(sys.argv[1]))
		assert (r["waits"], r["waited_ns"], r["open"]) == (4098, 4150000, 1), r["waits"]
		assert (r["doubtful"], r["left_out"]) == (1, 6), (r["doubtful"], r["left_out"])
		rows = {(t["tid"], t["lock"]): t for t in r["threads"]}
		assert (rows[7, 0]["waits"], rows[7, 0]["waited_ns"]) == (2, 15000), rows[7, 0]
		nine = rows[9, 0]
		assert (nine["waits"], nine["longest_wait_ns"]) == (1, 40000), nine
		locks = sorted(lock for tid, lock in rows if tid == 8)
		assert locks == list(range(1, 4096)), len(rows)
	END
result "report --gil: a wait with a loss inside, one without an end, too many locks" $?
"$xsprof" report --gil --json --allow-lost --from @1000.000015 --to @1000.000062 \
	"$dir/lock.data" 2>"$dir/log" | python3 -c '
import json, sys
r = json.load(sys.stdin)
(row,), (pair,) = r["threads"], r["pairs"]
assert (r["waits"], r["waited_ns"], r["open"]) == (2, 7000, 1), r
assert (row["tid"], row["waits"], row["longest_wait_ns"]) == (7, 2, 5000), row
assert (pair["waited_ns"], pair["longest_ns"]) == (7000, 5000), pair' 2>>"$dir/log" &&
	"$xsprof" report --gil --json --allow-lost --from @1000.0001005 --to @1000.0001025 \
		"$dir/lock.data" 2>>"$dir/log" | python3 -c '
import json, sys
got = {t["lock"]: (t["holds"], t["held_ns"]) for t in json.load(sys.stdin)["threads"]
       if t["tid"] == 8}
assert got == {1: (1, 500), 2: (1, 1000), 3: (1, 500)}, got' 2>>"$dir/log"
result "report --gil: the parts that lie between --from and --to" $?
"$xsprof" report --gil --allow-lost -n 1 "$dir/lock.data" >"$dir/out" 2>"$dir/log" &&
	grep -q "^# .*: threads waited for the GIL 4098 times, 4.150 ms in total; 1 waits had no\
 end$" \
		"$dir/out" &&
	grep -q '^# 1 waits are in no row: records were lost inside them$' "$dir/out" &&
	grep -q '^# 6 records are in no row: too many threads or locks$' "$dir/out"
result "report --gil: lines that say so" $?
"$make_capture" handover "$dir/handover.data"
"$xsprof" report --gil --json "$dir/handover.data" >"$dir/out" 2>"$dir/log" &&
	python3 - "$dir/out" 2>>"$dir/log" <<-'END'
		import json, sys
		r = json.load(open(sys.argv[1]))
		keys = ("waits", "waited_ns", "longest_wait_ns", "holds", "held_ns",
		        "longest_hold_ns")
		rows = {t["tid"]: [t[k] for k in keys] for t in r["threads"]}
		pairs = {(p["holder"], p["waiter"]): (p["handed"], p["waited_ns"])
		         for p in r["pairs"]}
		# While thread 2 held it, thread 3 waited 20 us, and thread 1 all that time too.
		assert rows == {1: [2, 61000, 40000, 2, 65000, 45000],
		                2: [2, 61000, 40000, 1, 49000, 49000],
		                3: [2, 36000, 21000, 1, 9000, 9000],
		                4: [1, 8000, 8000, 0, 0, 0]}, rows
		assert pairs == {(1, 2): (1, 60000), (None, 2): (0, 1000),
		                 (2, 1): (0, 49000), (3, 1): (1, 9000), (None, 1): (0, 3000),
		                 (2, 3): (1, 20000), (1, 3): (0, 5000), (None, 3): (0, 11000),
		                 (2, 4): (0, 8000)}, pairs
		assert (r["waits"], r["open"]) == (7, 1), r
	END
result "report --gil: a thread was waited for as long in both tables" $?
for key in waited:9,7,10 held:8,8,8 mine:; do
	first=$("$xsprof" report --gil --json --allow-lost --sort "${key%:*}" "$dir/lock.data" \
		2>"$dir/log" | python3 -c 'import json, sys
print(*(t["tid"] for t in json.load(sys.stdin)["threads"][:3]), sep=",")' 2>>"$dir/log")
	[ "$first" = "${key#*:}" ] || break
done && grep -q "^xsprof: --sort mine: --gil can be sorted by waited (default)" "$dir/log" &&
	! "$xsprof" report --sort held "$dir/lock.data" 2>"$dir/log" >&2 &&
	grep -q "held with --gil" "$dir/log"
result "report --gil: sorted by how long threads waited, or had the lock" $?
"$xsprof" report --json --why 'GIL wait' -n 1 --tid 1 "$dir/handover.data" 2>"$dir/log" |
	python3 -c '
import json, sys
(wait,) = json.load(sys.stdin)["ranges"]
causes = {c["by"]["tid"]: c["ns"] for c in wait["causes"] if c["class"] == "gil" and c.get("by")}
assert causes == {2: 29000, 3: 9000}, wait' 2>>"$dir/log"
result "--why: a thread whose wait ends without the GIL is not its holder" $?
"$make_capture" hostile "$dir/hostile.data"
for verb in report info; do
	"$xsprof" $verb "$dir/hostile.data" 2>"$dir/log" | LC_ALL=C tr -d '\n\200-\377' |
		LC_ALL=C grep -q '[^[:print:]]'
	[ $? = 1 ] && "$xsprof" $verb --json "$dir/hostile.data" 2>>"$dir/log" |
		python3 -m json.tool >"$dir/out" 2>>"$dir/log"
	result "$verb of hostile names: nothing drives a terminal, JSON is valid" $?
done
finish
