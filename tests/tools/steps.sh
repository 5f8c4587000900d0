#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# xsprof report --steps: where each step ends, and what its time was for. TAP.
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
    (102, 7): (10, 30, 8, 0, 0, 0, 0, 12),
    # In no op itself, while the others were.
    (102, 8): (30, 70, 0, 6 + 7, 0, 0, 3, 24),
}
got, certain = {}, {}
for s in json.load(open(sys.argv[1]))["steps"]:
    ns = [s[w + "_ns"] for w in words]
    assert sum(ns) == s["wall_ns"] == s["end_ns"] - s["begin_ns"], s
    key = s["tid"], s["step"]
    row = [(s[k] - START) // 1000 for k in ("begin_ns", "end_ns")] + [x // 1000 for x in ns]
    certain[key] = not s["uncertain"]
    got[key] = tuple(row)
for key, row in want.items():
    assert got[key] == row, (key, got[key], row)
    assert certain[key], key
# Its begin was before the loss, and is known; what was in it is not.
assert got.pop((100, 6))[:2] == (340, 360) and not certain[100, 6], got
assert set(got) == set(want), got
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
grep -qx '# trainer-100: 6 steps, each until the end of Optimizer.step#SGD.step' "$dir/out" &&
	grep -qx '# told-102: 2 steps, as the program counts them' "$dir/out" &&
	grep -qE '^ +5 +0.000140000 +200.000 us +180.000 us .* slow$' "$dir/out" &&
	grep -qE '^ +6 +0.000340000 +20.000 us .* uncertain: records were lost$' "$dir/out" &&
	grep -qE '^step 5: 200.000 us, the median is 40.000 us: 170.000 us more in the forward' \
		"$dir/out"
result "a table for each thread, the median, and what slow steps have more of" $?
"$xsprof" report --allow-lost --steps -n 2 --tid 100 "$dir/steps.data" >"$dir/out" 2>"$dir/log"
[ "$(grep -cE '^ +[0-9]+ +0\.' "$dir/out")" = 2 ] &&
	grep -qx '... and 4 more steps: -n 6 shows all' "$dir/out" && ! grep -q told "$dir/out"
result "as many as are asked for, of the threads that are" $?
"$xsprof" report --allow-lost --steps --from 0.0001 --to 0.00014 --json "$dir/steps.data" \
	2>"$dir/log" | python3 -c '
import json, sys
got = [s["step"] for s in json.load(sys.stdin)["steps"]]
assert got == [2, 3, 4], got' 2>>"$dir/log"
result "those that end in a part of the time" $?
"$make_capture" big "$dir/big.data" 100 &&
	status 0 "$xsprof" report --steps "$dir/big.data" &&
	grep -q 'no range Optimizer.step#\* ended' "$dir/out"
result "none: which ranges are missing" $?
for other in --why=x --gaps --name=x; do
	status 2 "$xsprof" report --steps $other "$dir/big.data"
	result "--steps with $other is refused" $?
done
"$make_capture" many "$dir/many.data" 20000
small "steps of 20000 threads" "$xsprof" report --allow-lost --steps "$dir/many.data"
finish
