#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What xsprof report and info count, against sums made by python3 from the same capture's
# NDJSON: they share no code with the report. TAP.
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

# A value that is no number is in no minimum, and not lost: counted here, an instant for Kineto.
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

# Ranges across a loss: they are counted, but what they seem to have taken is not.
"$make_capture" lost "$dir/lost.data"
lost() # $1 what of it, options...
{
	local what=$1

	shift
	"$xsprof" report --json "$@" "$dir/lost.data" 2>>"$dir/log" | python3 -c "
import json, sys
r = json.load(sys.stdin)
row = {x['name']: x for x in r.get('ranges', [])}
$what" 2>>"$dir/log"
}
# Ranges of both threads: the other one may have been on the CPU whose ring lost records.
lost "assert r['uncertain'] == 9 and r['open'] == 3, r
a, s = row['add'], row['step']
assert (a['count'], a['uncertain'], a['total_ns'], a['max_ns']) == (19, 4, 150000, 10000), a
assert a['mean_ns'] == 10000 and a['p99_ns'] == 10000, a
assert (s['count'], s['uncertain'], s['max_ns']) == (21, 5, 90000), s
assert s['cause']['wall_ns'] == s['total_ns'] == 14 * 90000 + 2 * 40000, s
assert [o['ranges'][-1]['uncertain'] for o in r['open_at_end']] == [None, None], r
assert r['open_at_end'][0]['ranges'][0]['uncertain'] == 'lost', r"
result "report: ranges across a loss are counted without their times" $?
lost "assert r['uncertain'] == 9, r
assert (row['add']['max_ns'], row['add']['total_ns']) == (110000, 290000), r
assert row['step']['max_ns'] == 340000, r" --include-uncertain
result "report --include-uncertain: and with them" $?
# Of a recorder that was killed: what it wrote of losses is older than what it wrote of records.
"$make_capture" old-ledger "$dir/old.data" && "$xsprof" report --json "$dir/old.data" 2>"$dir/log" |
	python3 -c '
import json, sys
r = {x["name"]: x for x in json.load(sys.stdin)["ranges"]}["step"]
assert (r["count"], r["uncertain"], r["max_ns"]) == (4, 4, None), r' 2>>"$dir/log"
result "report: a hole that the ledger does not know is one" $?
"$make_capture" late "$dir/late.data" && status 0 "$xsprof" report --steps "$dir/late.data"
result "report --steps: records behind the end of their process" $?
"$xsprof" report --from 0.0004 --to 0.00052 --name add --tid 80 "$dir/lost.data" >"$dir/out" 2>&1
grep -q '^# uncertain: 1 range, ' "$dir/out" &&
	grep -qE '^ *1( +-){7} +1  add$' "$dir/out"
result "report: a row of nothing else has no times" $?
"$xsprof" report --from 0.0004 --to 0.0005 "$dir/lost.data" >"$dir/out" 2>&1
grep -q '^# .* events in 100\.000 us, ' "$dir/out" &&
	"$xsprof" report --from 100 "$dir/lost.data" 2>&1 | grep -q '^# .*: 0 events in 0 ns, '
result "report: --from and --to: the time that is shown" $?
# "step" is open from 10 to 80 us, "wait" from 20 to 60.
"$make_capture" kernel "$dir/window.data" || exit 1
"$xsprof" report --allow-lost --from 15us --to 41us --open --json "$dir/window.data" 2>"$dir/log" |
	python3 -c '
import json, sys
r = json.load(sys.stdin)
got = {x["name"]: (x["total_ns"], x["cause"]["blocked_ns"]) for x in r["ranges"]}
assert got == {"step": (26000, 16000), "wait": (21000, 16000)}, got' 2>>"$dir/log" &&
	"$xsprof" report --allow-lost --from 15us --to 41us --open "$dir/window.data" \
		2>>"$dir/log" |
	grep -q ' was in wait for 21.000 us (in step) when the time shown was over$' &&
	"$xsprof" report --allow-lost --to 41us --why step "$dir/window.data" 2>>"$dir/log" |
	grep -q '16.000 us (51.6 %) blocked;$'
result "report: what is open at --to was open until then" $?
"$xsprof" report --allow-lost --from 25us --to 41us --open "$dir/window.data" 2>"$dir/log" |
	grep -q ' was in wait for 21.000 us (in step) when the time shown was over$' &&
	"$xsprof" report --allow-lost --from 25us --why step "$dir/window.data" >"$dir/out" \
		2>>"$dir/log" &&
	grep -q '^1\. step, .*, at 0.000025000 s$' "$dir/out" &&
	grep -q '^    55.000 us:$' "$dir/out"
result "report: what was open at --from counts from then on, and is open since it began" $?
# Of a range that BEGIN and END tell each nanosecond is in one of two parts of the time.
"$make_capture" steps "$dir/steps.data" && python3 - "$xsprof" "$dir" 2>"$dir/log" <<'END'
import collections, json, subprocess, sys
xsprof, folder = sys.argv[1:]

def rows(name, *options):
    out = subprocess.run([xsprof, "report", "-q", "--allow-lost", "--json", *options,
                          f"{folder}/{name}.data"], stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, check=True).stdout
    sums = collections.Counter()
    for row in json.loads(out)["ranges"]:
        for key in "total_ns", "self_ns":
            sums[row["name"], key] += row[key] or 0
        for key, ns in (row.get("cause") or {}).items():
            sums[row["name"], key] += ns
    return sums

for name, last in (("window", 90), ("steps", 600), ("lost", 700)):
    whole = rows(name)
    assert whole, name
    for us in range(7, last, last // 8):
        # An instant belongs to both: what is in it has no length.
        parts = rows(name, "--to", f"{us}us") + rows(name, "--from", f"{us}us")
        assert parts == +whole, (name, us, parts - whole, whole - parts)
END
result "report: parts of the time add up to all of it: total, own, and causes" $?

# Ranges that do not nest are in parts, and one each in the report.
"$make_capture" parts "$dir/parts.data" || exit 1
"$xsprof" report --json --from 60us "$dir/parts.data" 2>"$dir/log" | python3 -c '
import json, sys
got = {x["name"]: (x["count"], x["total_ns"], x["max_ns"])
       for x in json.load(sys.stdin)["ranges"]}
assert got == {"request": (2, 40000, 30000), "lone": (1, 40000, 40000)}, got' 2>>"$dir/log"
result "report: of ranges in parts as well" $?
"$xsprof" report --json "$dir/parts.data" 2>"$dir/log" | python3 -c '
import json, sys
r = json.load(sys.stdin)
keys = "count", "total_ns", "self_ns", "min_ns", "max_ns", "cut", "open"
got = {x["name"]: tuple(x[k] for k in keys) for x in r["ranges"]}
assert got["request"] == (2, 110000, 76000, 50000, 60000, 0, 0), got
assert got["lone"] == (2, 66000, 66000, 8000, 58000, 1, 1), got
assert got["outer"][:2] == (4, 65000), got
assert r["unmatched_ends"] == 0, r' 2>>"$dir/log"
result "report: a range that outlives the one around it counts once, with all of its time" $?
"$xsprof" report --by thread --json "$dir/parts.data" 2>"$dir/log" | python3 -c '
import json, sys
got = {x["tid"]: x["total_ns"] for x in json.load(sys.stdin)["ranges"]}
assert got == {100: 80000, 101: 11000, 102: 60000}, got' 2>>"$dir/log"
result "report --by thread: and covers its thread once" $?
"$xsprof" report --open "$dir/parts.data" 2>"$dir/log" | grep -q 'was in lone for 58.000 us'
result "report --open: it is open since its first part began" $?
"$xsprof" report --steps=request "$dir/parts.data" >"$dir/out" 2>"$dir/log"
[ $? = 1 ] && grep -q '^... and 2 ranges of that name that are in no row: another was' "$dir/out"
result "report --steps: no row is of requests that are open at a time" $?
[ "$("$dump" -q "$dir/parts.data" 2>"$dir/log" | grep -c ': end: .* continued$')" = 6 ]
result "dump: their ends say so" $?
status 1 "$xsprof" report -q --why step --name wait "$dir/window.data" &&
	grep -q "none of the 1 ranges called 'step' matches the other options: leave out" "$dir/log"
result "report --why: the other options leave out what there is" $?
"$xsprof" report --allow-lost --name wait "$dir/window.data" 2>"$dir/log" |
	grep -q '^# .*, 1 process, of which the options choose a part$'
result "report: the first line is of the whole file, and says so" $?
lost "assert r['found'] == 15 and r['uncertain'] == 4, r
assert r['ranges'][0]['wall_ns'] == 10000, r" --why add &&
	lost "assert r['found'] == 19 and r['ranges'][0]['wall_ns'] == 110000, r" --why add \
		--include-uncertain
result "report --why: likewise" $?
"$xsprof" report --why add --from 0.0004 --to 0.00052 --tid 80 "$dir/lost.data" >"$dir/out" 2>&1
[ $? = 1 ] && grep -q 'lost inside all .*: --include-uncertain shows them$' "$dir/out"
result "report --why: says how to see those that it leaves out" $?
for format in text chrome ndjson kineto perfetto; do
	"$xsprof" dump -q -f $format "$dir/lost.data" 2>>"$dir/log" | grep -ao uncertain >"$dir/out"
	[ "$(wc -l <"$dir/out")" = 9 ]
	result "dump -f $format: marks them" $?
done

# Async ranges without an end: one rule for all, read from each output.
"$make_capture" async "$dir/async.data"
for format in chrome kineto ndjson perfetto; do
	"$dump" -q -f $format -o "$dir/async.$format" "$dir/async.data"
done 2>"$dir/log"
python3 - "$dir" >>"$dir/log" 2>&1 <<'END'
import json, sys
t0, out = 1000000000000, {}
def ends(events, base):
    return sorted((round(e["ts"] * 1000) - base, bool(e["args"].get("cut")),
                   bool(e["args"].get("unfinished") or e["args"].get("finished") is False))
                  for e in events if e["ph"] == "e")
want = sorted(2 * [(20000, True, False), (30000, False, False), (40000, True, False)] +
              [(60000, False, True), (100000, False, True)])
c = json.load(open(sys.argv[1] + "/async.chrome"))
for e in c["traceEvents"]:
    e.setdefault("args", {})
assert ends(c["traceEvents"], 0) == want, c
assert sum(e["ph"] == "n" for e in c["traceEvents"]) == 2, c
assert (c["otherData"]["ranges_cut"], c["otherData"]["ranges_unfinished"]) == (4, 2), c
k = [e for e in json.load(open(sys.argv[1] + "/async.kineto"))["traceEvents"]
     if e.get("cat") == "user_async"]
first = min(e["ts"] for e in k)
got = [(t + 10000, *how) for t, *how in ends([dict(e, ts=e["ts"] - first) for e in k], 0)]
assert got == want, (got, want)
o = [json.loads(l) for l in open(sys.argv[1] + "/async.ndjson")]
assert [(e["begin_ns"] - t0, e["end_ns"] - t0, e["value"]) for e in o
        if e["type"] == "open"] == [(11000, 60000, 1)], o
END
result "async ranges without an end: chrome, kineto and ndjson end them alike" $?
python3 "$here/check-chrome.py" "$dir/async.chrome" >"$dir/log"
result "async ranges without an end: none is left open in chrome" $?
"$xsprof" report --json "$dir/async.data" 2>"$dir/log" | python3 -c '
import json, sys
r = json.load(sys.stdin)
assert (r["ended"], r["cut"], r["open"], r["unmatched_ends"]) == (2, 4, 2, 2), r
assert sum(x["total_ns"] for x in r["ranges"]) == 2 * (8 + 10 + 27) * 1000 + 49000 + 89000, r' \
	2>>"$dir/log" && [ "$(grep -ao unfinished "$dir/async.perfetto" | wc -l)" = 3 ] &&
	[ "$(grep -ao cut "$dir/async.perfetto" | wc -l)" = 5 ]	# and once each in a key
result "async ranges without an end: report and perfetto count them alike" $?

# Rows: of a function that calls itself, and of names that differ in a number.
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
[ $? = 1 ] && grep -q "'copy' are async ranges, activities or calls of GPUs, or spans" "$dir/out"
result "report --why: says so of ranges that are on no thread" $?
"$xsprof" report --allow-lost --why mutex "$dir/all.data" >"$dir/out" 2>&1
[ $? = 1 ] && grep -q "'mutex' is called what threads wait for, and no range: " "$dir/out"
result "report --why: nor is a mutex a range" $?
"$xsprof" report "$dir/rows.data" >"$dir/out" 2>"$dir/log" &&
	grep -q '^# 1 row above is of async ranges, a GPU or spans of no thread: ' "$dir/out"
result "report: and that they have no times of a thread" $?
"$xsprof" report --by thread --json "$dir/rows.data" 2>"$dir/log" | python3 -c '
import json, sys
r = json.load(sys.stdin)["ranges"][0]
assert r["total_ns"] == 230000, r' 2>>"$dir/log"
result "report: in the row of a thread the outermost ones count" $?
# Spans that overlap, and come in the order of their ends: each moment counts once.  Of the hundred
# that were apart 36 are forgotten.
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

# Tasks of one name in two categories are two rows, and their instants one.
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

# No range: what the scheduler's events say of the threads of the command.
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
	grep -q '^... and 1 thread of other programs, which ran for 5.000 us: ' "$dir/out"
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
grep -q 'nothing matches the options' "$dir/out" && ! grep -q prog-600 "$dir/out" &&
	"$xsprof" report --from 0.0000301 --to 0.0000302 --tid 601 --json "$dir/threads.data" |
	python3 -c '
import json, sys
r = json.load(sys.stdin)
assert r["events"] == 0 and [t["wall_ns"] for t in r["threads"]] == [100], r' 2>>"$dir/log"
result "report of a program without markers: a time after it, and one without events" $?
"$xsprof" report --name x "$dir/threads.data" 2>"$dir/log" | grep -q 'nothing matches'
result "report of a program without markers: threads have no names" $?

# The recorder saw an end late, the kernel when it was: in all outputs.
"$make_capture" exits "$dir/exits.data"
for format in ndjson chrome perfetto; do
	"$dump" -q -f $format -o "$dir/exits.$format" "$dir/exits.data"
done 2>"$dir/log"
"$xsprof" info --json "$dir/exits.data" >"$dir/exits.info" 2>>"$dir/log"
"$xsprof" report --json "$dir/exits.data" >"$dir/exits.report" 2>>"$dir/log"
python3 - "$dir" >>"$dir/log" 2>&1 <<'END'
import json, sys
t0 = 1000000000000
want = {200: (50000, 0), 300: (57000, 0), 400: (60000, 0), 500: (96000, 51000),
        600: (97000, 57000), 700: (38000, 0), 800: (9000000000, 8999960000)}
exact = {pid: at for pid, (at, within) in want.items() if not within}
want[900] = (71000, 0)
def load(name):
    return json.load(open(sys.argv[1] + "/exits." + name))
info = {p["pid"]: (p["exit_ns"] - t0, p["exit_within_ns"]) for p in load("info")["processes"]
        if p["number"] != 7}
assert info == want, info
first = load("info")["processes"][7]
assert (first["exit_ns"] - t0, first["exit_within_ns"]) == (91000, 51000), first
lines = [json.loads(l) for l in open(sys.argv[1] + "/exits.ndjson")]
ends = {e["pid"]: e["ns"] - t0 for e in lines
        if e["type"] == "exit" and (e["pid"], e["how"]) != (900, "vanished")}
assert ends == {pid: at for pid, (at, within) in want.items()}, ends
over = {e["pid"]: round(e["ts"] * 1000) + 10000
        for e in load("chrome")["traceEvents"]
        if e.get("name") == "step" and e["ph"] == "E"}
assert all(over[pid] == at for pid, at in exact.items()), over
def varint(n):
    return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)
packets = open(sys.argv[1] + "/exits.perfetto", "rb").read()
assert varint(t0 + 50000) in packets and varint(t0 + 90000) not in packets
r = load("report")
assert (r["open"], r["open_unsure"]) == (9, 4), r
within = {o["pid"]: o["end_within_ns"] for o in r["open_at_end"]}
assert within == {pid: ns for pid, (at, ns) in want.items() if pid != 400}, within
assert r["ranges"][0]["total_ns"] == 30000 + 37000 + 40000 + 18000 + 11000, r
END
result "the end of a process: the kernel's time, where the recorder's is an interval" $?
"$xsprof" report "$dir/exits.data" >"$dir/ends" 2>"$dir/log"
grep -q '^\.\.\. and 4 open ranges that no row counts: .* (--open lists all' "$dir/ends"
result "report: says how many open ranges it does not count, and where they are" $?
grep -q '^  thread 200 was in step for 30.000 us when its process vanished$' "$dir/ends"
result "the end of a process: report says how long its range was open" $?
grep -q '^  thread 800 was in step for 20.000 us to 8.999 s when its process vanished$' "$dir/ends"
result "the end of a process: and no more than is known, however late it was found" $?
for format in text kineto; do
	"$dump" -q -f $format -o "$dir/exits.$format" "$dir/exits.data"
done 2>"$dir/log"
python3 - "$dir/exits" >>"$dir/log" 2>&1 <<'END'
import json, re, sys
t0 = 10 ** 12
# After what time each ended: those that the kernel did not see. Of the range, and of its process.
want = sorted(2 * [(pid, ns) for pid, ns in ((500, 45000), (600, 40000), (800, 40000),
                                             (900, 40000))])
lines = [json.loads(l) for l in open(sys.argv[1] + ".ndjson")]
got = sorted((e["pid"], e["ended_after_ns"] - t0) for e in lines if "ended_after_ns" in e)
assert got == want, got
text = open(sys.argv[1] + ".text").read()
text = re.findall(r"-(\d+) .* ended_after=(\d+)\.(\d{9})$", text, re.M)
assert sorted((int(p), int(s + ns) - t0) for p, s, ns in text) == want, text
def after(name, base):
    events = json.load(open(sys.argv[1] + name))["traceEvents"]
    return sorted((e["pid"], round(e["args"]["ended_after"] * 1000) - base) for e in events
                  if "ended_after" in e.get("args", {}))
assert after(".chrome", -10000) == want, after(".chrome", -10000)
assert after(".kineto", t0) == want[::2], after(".kineto", t0)
assert open(sys.argv[1] + ".perfetto", "rb").read().count(b"ended_after_ns") == 8
END
result "the end of a process: dump says what bounds it has" $?

# One count of events, whoever says it: without what a record goes on in, and marks of the reader.
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

# A full disk: what is lost belongs to a process as far as the file says to which.
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

# One sync point, as of a recorder that was killed right away: how long a tick is nobody knows.
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
		assert (r["waits"], r["waited_ns"], r["open"]) == (3, 55000, 1), r["waits"]
		assert (r["doubtful"], r["left_out"]) == (1, 3), (r["doubtful"], r["left_out"])
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
got = {t["lock"]: (t["holds"], t["held_ns"]) for t in json.load(sys.stdin)["threads"]}
assert got == {1: (1, 500), 2: (1, 1000), 3: (1, 500)}, got' 2>>"$dir/log"
result "report --gil: the parts that lie between --from and --to" $?
"$xsprof" report --gil --allow-lost -n 1 "$dir/lock.data" >"$dir/out" 2>"$dir/log" &&
	grep -q "^# .*: threads waited for Python's lock 3 times, 55.000 us in all; 1 waits had no\
 end$" \
		"$dir/out" &&
	grep -q '^# 1 waits are in no row: records were lost inside them$' "$dir/out" &&
	grep -q '^# 3 records are in no row: there are too many threads or locks$' "$dir/out"
result "report --gil: lines that say so" $?
"$make_capture" hostile "$dir/hostile.data"
for verb in report info; do
	"$xsprof" $verb "$dir/hostile.data" 2>"$dir/log" | LC_ALL=C tr -d '\n\200-\377' |
		LC_ALL=C grep -q '[^[:print:]]'
	[ $? = 1 ] && "$xsprof" $verb --json "$dir/hostile.data" 2>>"$dir/log" |
		python3 -m json.tool >"$dir/out" 2>>"$dir/log"
	result "$verb of hostile names: nothing drives a terminal, JSON is valid" $?
done
finish
