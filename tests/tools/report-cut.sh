#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# xsprof report and dump with incomplete ranges: a loss inside, the borders of a window, parts, and
# ranges whose end is missing or known only as an interval. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh

# Ranges across a loss: they are counted, but their apparent times are not.
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
# Of a killed recorder: its record of losses is older than its last records.
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
	grep -q ' was in wait for 21.000 us (in step) at the end of the time shown$' &&
	"$xsprof" report --allow-lost --to 41us --why step "$dir/window.data" 2>>"$dir/log" |
	grep -q '16.000 us (51.6 %) blocked;$'
result "report: what is open at --to was open until then" $?
"$xsprof" report --allow-lost --from 25us --to 41us --open "$dir/window.data" 2>"$dir/log" |
	grep -q ' was in wait for 21.000 us (in step) at the end of the time shown$' &&
	"$xsprof" report --allow-lost --from 25us --why step "$dir/window.data" >"$dir/out" \
		2>>"$dir/log" &&
	grep -q '^1\. step, .*, at 0.000025000 s$' "$dir/out" &&
	grep -q '^    55.000 us:$' "$dir/out"
result "report: what was open at --from counts from then on, and is open since it began" $?
# For ranges with BEGIN and END each nanosecond is in exactly one of two parts of the time.
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

# Ranges that do not nest come in parts; the report has each once.
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
[ $? = 1 ] && grep -q '^... and 2 ranges of that name without a row: another was' "$dir/out"
result "report --steps: no row is of requests that are open at a time" $?
[ "$("$dump" -q "$dir/parts.data" 2>"$dir/log" | grep -c ': end: .* continued$')" = 6 ]
result "dump: their ends say so" $?
status 1 "$xsprof" report -q --why step --name wait "$dir/window.data" &&
	grep -q "none of the 1 ranges named 'step' matches the filters: leave out" "$dir/log"
result "report --why: the other options leave out what there is" $?
"$xsprof" report --allow-lost --name wait "$dir/window.data" 2>"$dir/log" |
	grep -q '^# .*, 1 process; filtered$'
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

# Async ranges without an end: all outputs follow one rule.
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

# The recorder saw an end late, the kernel at its time: all outputs have the kernel's time.
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
grep -q '^\.\.\. and 4 open ranges not counted in any row: .* (--open lists all' "$dir/ends"
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
finish
