#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# xsprof report --steps: the end of each step, and how its time was used. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh

"$make_capture" steps "$dir/steps.data" || exit 1
"$xsprof" report --allow-lost --steps --json "$dir/steps.data" >"$dir/json" 2>"$dir/log" &&
	python3 - "$dir/json" >>"$dir/log" 2>&1 <<'END'
import json, sys
START = 1000 * 10 ** 9
words = ("forward", "backward", "optimizer", "data", "communication", "no_op")
want = {
    # begin and end, what the time was for, in us
    (100, 1): (10, 60, 10, 7 + 6, 8, 5, 3, 11),
    (100, 2): (60, 100, 13, 0, 9, 0, 4, 14),
    (100, 3): (100, 120, 10, 0, 4, 0, 0, 6),
    (100, 4): (120, 140, 10, 0, 4, 0, 0, 6),
    (100, 5): (140, 340, 180, 0, 8, 0, 0, 12),
    (100, 7): (400, 420, 10, 0, 4, 0, 0, 6),
    (102, 7): (10, 30, 8, 0, 0, 0, 0, 12),
    # What threads of other processes do is nothing to it.
    (102, 8): (30, 70, 0, 0, 0, 0, 0, 40),
}
got, certain, whole = {}, {}, {}
report = json.load(open(sys.argv[1]))
for s in report["steps"]:
    ns = [s[w + "_ns"] for w in words]
    assert sum(ns) == s["wall_ns"] == s["end_ns"] - s["begin_ns"], s
    key = s["tid"], s["step"]
    row = [(s[k] - START) // 1000 for k in ("begin_ns", "end_ns")] + [x // 1000 for x in ns]
    certain[key] = not s["uncertain"]
    whole[key] = s["ended"] and s["begin_known"]
    got[key] = tuple(row)
for key, row in want.items():
    assert got[key] == row, (key, got[key], row)
    assert certain[key] and whole[key], key
# The end of its optimizer was lost; the next one ends it.
assert got.pop((100, 6))[:2] == (340, 400) and not certain[100, 6], got
# What was going on when the processes ended.
assert got.pop((100, 8))[:2] == (420, 440) and not whole[100, 8], got
assert got.pop((102, 9))[:2] == (70, 440) and not whole[102, 9], got
assert set(got) == set(want), got
median = {m["tid"]: (m["whole_steps"], m["wall_ns"]) for m in report["medians"]}
assert median == {100: (6, 30000), 102: (2, 30000)}, median
END
result "steps of optimizers, and those that the program counts" $?
"$xsprof" report --allow-lost --steps=epo* --json "$dir/steps.data" 2>"$dir/log" | python3 -c '
import json, sys
got = [(s["begin_ns"] % 10 ** 9, s["wall_ns"], s["forward_ns"], s["no_op_ns"])
       for s in json.load(sys.stdin)["steps"]]
assert got == [(22000, 2000, 2000, 0), (80000, 10000, 3000, 7000)], got' 2>>"$dir/log"
result "steps that are ranges of a name" $?
"$xsprof" report --allow-lost --steps "$dir/steps.data" >"$dir/out" 2>"$dir/log"
cat "$dir/out" >>"$dir/log"
grep -qx '# trainer-100: 7 steps, each until the end of Optimizer.step#SGD.step; not of Optim.*' \
	"$dir/out" && grep -qx '# told-102: 2 steps, as counted by the program' "$dir/out" &&
	grep -qE '^ +5 +0.000140000 +200.000 us +180.000 us .* slow$' "$dir/out" &&
	grep -qE '^ +6 +0.000340000 +60.000 us .* uncertain: records were lost$' "$dir/out" &&
	grep -qE '^ +8 +0.000420000 +20.000 us .* unfinished when the process ended .killed.$' \
		"$dir/out" &&
	grep -qE '^step 5: 200.000 us, the median is 30.000 us: 170.000 us more in forward' \
		"$dir/out" && grep -q '^# too few complete steps' "$dir/out" &&
	"$xsprof" report --allow-lost --steps "$dir/steps.data" 2>>"$dir/log" |
		sed -n 's/^  look at: xsprof //p' >"$dir/hint" &&
	"$xsprof" $(sed -n 1p "$dir/hint") --allow-lost --json >"$dir/json" 2>>"$dir/log" &&
	python3 - "$dir/json" >>"$dir/log" 2>&1 <<'END'
import json, sys
rows = {r["name"]: (r["count"], r["total_ns"]) for r in json.load(open(sys.argv[1]))["ranges"]}
# The optimizer that ended where the step begins is not in it.
assert rows["Optimizer.step#SGD.step"] == (1, 8000), rows
assert rows["aten::conv2d"] == (1, 180000), rows
END
result "a table for each thread, the median, and what slow steps have more of" $?
"$xsprof" report --allow-lost --steps -i - <"$dir/steps.data" 2>"$dir/log" |
	grep -q '^  look at: xsprof report -s self .* --to [0-9.]* -$'
result "of a capture from a pipe, what to look at is one too" $?
"$xsprof" report --allow-lost --steps -n 2 --tid 100 "$dir/steps.data" >"$dir/out" 2>"$dir/log"
[ "$(grep -E '^ +[0-9]+ +0\.' "$dir/out" | awk '{ print $1 }' | tr '\n' ' ')" = "1 2 8 " ] &&
	grep -qx '... steps left out: 5: -n 8 shows all' "$dir/out" && ! grep -q told "$dir/out"
result "as many as are asked for, of the threads that are, and the one that is not over" $?
"$make_capture" hung "$dir/hung.data" && "$xsprof" report --steps -n 1 "$dir/hung.data" \
	>"$dir/out" 2>"$dir/log"
grep -q '^step 5: unfinished after 900.000 us, the median is 100.000 us: ' "$dir/out" &&
	! grep -q 'look at' "$dir/out" &&
	"$xsprof" report --steps -n 1 --json "$dir/hung.data" 2>>"$dir/log" | python3 -c '
import json, sys
got = [s["step"] for s in json.load(sys.stdin)["steps"]]
assert got == [1, 5], got' 2>>"$dir/log"
result "a step that hangs is among the slow ones" $?
"$make_capture" switched "$dir/switched.data" &&
	"$xsprof" report --steps "$dir/switched.data" >"$dir/out" 2>"$dir/log"
cat "$dir/out" >>"$dir/log"
grep -qE '^ +5 +0.000310000 +200.000 us .* uncertain: markers were disabled or enabled$' \
	"$dir/out" && ! grep -q slow "$dir/out" && ! grep -q 'took more than' "$dir/out" &&
	"$xsprof" report --steps --json "$dir/switched.data" 2>>"$dir/log" | python3 -c '
import json, sys
r = json.load(sys.stdin)
assert [s["step"] for s in r["steps"] if s["switched"]] == [5], r
assert [m["whole_steps"] for m in r["medians"]] == [5], r' 2>>"$dir/log"
result "a step in which markers were switched is not slow" $?
# One step per backward pass, on any thread; if another optimizer follows, that ends the step.
"$make_capture" passes "$dir/passes.data" &&
	"$xsprof" report --steps "$dir/passes.data" >"$dir/out" 2>"$dir/log"
cat "$dir/out" >>"$dir/log"
"$xsprof" report --steps --json "$dir/passes.data" 2>>"$dir/log" | python3 -c '
import json, sys
r = json.load(sys.stdin)
got = {}
for s in r["steps"]:
    if s["ended"]:
        got.setdefault(s["tid"], []).append((s["begin_ns"] // 1000 % 1000, s["wall_ns"] // 1000))
assert got[100] == got[110] == [(0, 100), (100, 100), (200, 100)], got
assert got[130] == [(0, 90), (90, 100), (190, 100), (290, 100)] and len(got) == 3, got
for m in r["medians"]:
    in_pass, end = m.get("until_after_pass_with"), m.get("until_end_of")
    assert (end if m["tid"] == 130 else in_pass) and not (in_pass and end), m' 2>>"$dir/log" &&
	[ "$(grep -c ': 3 steps, each until the end of the backward pass with Optimizer.step#SGD' \
		"$dir/out")" = 2 ]
result "optimizers in the backward pass" $?
"$xsprof" report --allow-lost --steps --from 0.0001 --to 0.00014 --json "$dir/steps.data" \
	2>"$dir/log" | python3 -c '
import json, sys
got = [s["step"] for s in json.load(sys.stdin)["steps"] if s["ended"]]
assert got == [2, 3, 4], got' 2>>"$dir/log"
result "those that end in a part of the time" $?
"$make_capture" big "$dir/big.data" 100 &&
	status 1 "$xsprof" report --steps "$dir/big.data" &&
	grep -q 'no range Optimizer.step#\* ended' "$dir/out"
result "none: which ranges are missing" $?
status 1 "$xsprof" report --allow-lost --steps --tid 1 "$dir/steps.data" &&
	grep -q 'none of 11 steps matches the filters' "$dir/out"
result "none: the options left them out" $?
"$make_capture" rows "$dir/rows.data" &&
	"$xsprof" report --steps=fib "$dir/rows.data" >"$dir/out" 2>"$dir/log" &&
	grep -qx ' *Step *Begin *Wall' "$dir/out"
result "without ops there is no time of phases" $?
for other in --why=x --gaps --name=x --by=name --sort=self --include-uncertain --steps=; do
	status 2 "$xsprof" report --steps $other "$dir/big.data"
	result "--steps with $other is refused" $?
done
status 2 "$xsprof" report --steps iteration && grep -q -- '--steps=iteration$' "$dir/log"
result "--steps and a name that is no file" $?
"$make_capture" many "$dir/many.data" 20000
small "steps of 20000 threads" "$xsprof" report --allow-lost --steps='*' \
	"$dir/many.data"
finish
