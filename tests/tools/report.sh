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
		python3 - "$dir/big.ndjson" "$dir/report" $by >>"$dir/log" 2>&1 <<-'END'
			import collections, json, sys
			stacks = collections.defaultdict(list)
			durations = collections.defaultdict(list)
			selfs = collections.Counter()
			by = sys.argv[3].split(",")
			def key(name, tid):
			    return tuple(name if b == "name" else tid if b == "thread" else "default" for b in by)
			last = 0
			for line in open(sys.argv[1]):
			    e = json.loads(line)
			    last = e["ns"]
			    stack = stacks[e["tid"]]
			    if e["type"] == "begin":
			        stack.append([e["ns"], e["name"], 0])
			    elif e["type"] == "end":
			        begin, name, inside = stack.pop()
			        d = e["ns"] - begin
			        durations[key(name, e["tid"])].append(d)
			        selfs[key(name, e["tid"])] += d - inside
			        if stack:
			            stack[-1][2] += d
			    elif e["type"] == "exit":
			        for tid, stack in stacks.items():
			            while stack:
			                begin, name, inside = stack.pop()
			                d = last - begin
			                durations[key(name, tid)].append(d)
			                selfs[key(name, tid)] += d - inside
			                if stack:
			                    stack[-1][2] += d
			report = json.load(open(sys.argv[2]))
			rows = report["ranges"]
			assert len(rows) == len(durations) > 0, (len(rows), len(durations))
			assert [r["total_ns"] for r in rows] == sorted((r["total_ns"] for r in rows), reverse=True)
			for r in rows:
			    k = tuple(r["name"] if b == "name" else r["tid"] if b == "thread" else r["category"] for b in by)
			    d = sorted(durations[k])
			    assert r["count"] == len(d), (r, len(d))
			    assert r["total_ns"] == sum(d), (r, sum(d))
			    assert r["self_ns"] == selfs[k], (r, selfs[k])
			    assert r["min_ns"] == d[0] and r["max_ns"] == d[-1], r
			    for p, q in (("p50_ns", 50), ("p99_ns", 99)):
			        exact = d[-(-len(d) * q // 100) - 1]
			        assert abs(r[p] - exact) <= exact * 0.01, (r, p, exact)
			counter = report["others"][0]
			assert counter["type"] == "counter" and counter["name"] == "allocated", counter
			assert sum(o["count"] for o in report["others"]) == 4000, report["others"]
		END
	result "report --by $by: count, total, self, min, p50, p99, max" $?
done

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

"$xsprof" info --json "$dir/all.data" >"$dir/info" 2>"$dir/log" &&
	python3 - "$dir/info" >>"$dir/log" 2>&1 <<-'END'
		import json, sys
		i = json.load(open(sys.argv[1]))
		a, b = i["processes"]
		assert (a["pid"], a["how"], a["threads"], a["lost_records"]) == (100, "exec", 2, 3), a
		assert (b["pid"], b["how"], b["status"], b["threads"]) == (100, "killed", 9, 1), b
		assert a["facts"]["exe"] == "/usr/bin/alpha" and a["facts"]["env.RANK"] == "3", a
		rings = {r["ring"]: r for r in a["streams"]}
		assert rings[0]["drops"] == 3 and rings[1]["read"] == 2, rings
		assert i["lost_records"] == 3 and not i["truncated"] and i["notes"] == ["a note"], i
		assert i["clock"]["kind"] == "tsc" and abs(i["clock"]["frequency_hz"] - 1e9) < 1, i
		assert i["host"]["hostname"] == "box", i
	END
result "info --json" $?
"$make_capture" hostile "$dir/hostile.data"
for verb in report info; do
	"$xsprof" $verb "$dir/hostile.data" 2>"$dir/log" | LC_ALL=C tr -d '\n\200-\377' |
		LC_ALL=C grep -q '[^[:print:]]'
	[ $? = 1 ] && "$xsprof" $verb --json "$dir/hostile.data" 2>>"$dir/log" |
		python3 -m json.tool >"$dir/out" 2>>"$dir/log"
	result "$verb of hostile names: nothing drives a terminal, JSON is valid" $?
done
finish
