#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Traces as Perfetto reads them: what its SQL says of a capture of the demo's programs is what the
# capture says itself, in each format, and it complains of nothing. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
skip() { echo "1..0 # SKIP $*"; exit 77; }
. tests/tools/tap.sh
. tests/viewers/packages.sh
. tests/viewers/captures.sh
here=$PWD/tests/viewers

package_perfetto || skip "$why"
record_demo
record_ops

# A barrier of OpenMP is in its region: neither has a time of its own, and both one of their thread.
"$xsprof" report -q --json "$dir/demo/xsprof.data" 2>"$dir/log" | python3 -c '
import json, re, sys
report = json.load(sys.stdin)
omp = [r for r in report["ranges"] if "$omp$" in r["name"]]
assert len(omp) > 2, omp
total = {}
for r in omp:
    assert r["self_ns"] is None, r
    place = re.sub(r".*@|:1$", "", r["name"]).split(":")[0]
    kind = "barrier" if "$barrier@" in r["name"] else "region"
    total[place, kind] = total.get((place, kind), 0) + r["total_ns"]
    cause = r.get("cause")
    assert ("cause" in report) == (cause is not None), r
    if cause:
        wall = cause.pop("wall_ns")
        cause.pop("faults")
        assert wall == r["total_ns"] == sum(cause.values()), r
for (place, kind), ns in total.items():
    assert kind == "region" or ns <= total[place, "region"], total' 2>>"$dir/log"
result "the demo: OpenMP's barriers are in its regions, and their time is split" $?

# So they are in the time of their thread, each moment of which counts once.
"$xsprof" report -q --by thread --json "$dir/demo/xsprof.data" >"$dir/report" 2>"$dir/log" &&
	python3 "$here/covered.py" "$dir/demo.ndjson" "$dir/report" >>"$dir/log" 2>&1
result "the demo: the time of threads is what their ranges cover" $?

for format in perfetto chrome kineto; do
	mapfile -d '' -t queries < <(python3 "$here/same.py" queries $format)
	for file in demo.$format ops.$format.gz; do
		node "$here/sql.mjs" "$viewers/argent-0.25.2/assets/trace-processor" \
			"$dir/$file" "${queries[@]}" >"$dir/said" 2>"$dir/log" &&
			python3 "$here/same.py" $format "$dir/${file%%.*}.ndjson" "$dir/said" \
				"$dir/$file" >>"$dir/log" 2>&1
		result "$file: Perfetto shows what was captured" $?
	done
done

# For how long the threads ran in their ranges.
if "$xsprof" report -q --json "$dir/demo/xsprof.data" >"$dir/report" 2>"$dir/log" &&
	! grep -q '"cause":' "$dir/report"; then
	skipped "ranges have the thread running as the report says" "the kernel cannot be traced"
else
	node "$here/sql.mjs" "$viewers/argent-0.25.2/assets/trace-processor" \
		"$dir/demo.perfetto" "$(python3 "$here/running.py" query)" \
		>"$dir/said" 2>>"$dir/log" &&
		python3 "$here/running.py" "$dir/said" "$dir/report" >>"$dir/log" 2>&1
	result "ranges have the thread running as the report says" $?
fi

# A program of ours, recorded: what viewers have had trouble with, also where it ends.
"$xsprof" record -q -o "$dir/marks.data" -- "$BUILD/tests/viewers/marks" >"$dir/made" \
	2>"$dir/log" &&
	"$xsprof" report -q --json "$dir/marks.data" >"$dir/marks.report" 2>>"$dir/log" &&
	"$xsprof" info --json "$dir/marks.data" >"$dir/marks.info" 2>>"$dir/log" &&
	"$dump" -q -f ndjson -o "$dir/marks.ndjson" "$dir/marks.data" 2>>"$dir/log"
result "a program with markers is recorded" $?
for format in perfetto chrome kineto; do
	mapfile -d '' -t queries < <(python3 "$here/same.py" queries $format
		python3 "$here/marks.py" queries)
	"$dump" -q -f $format -o "$dir/marks.$format" "$dir/marks.data" 2>"$dir/log" &&
		node "$here/sql.mjs" "$viewers/argent-0.25.2/assets/trace-processor" \
			"$dir/marks.$format" "${queries[@]}" >"$dir/said.$format" \
			2>>"$dir/log" &&
		python3 "$here/same.py" $format "$dir/marks.ndjson" "$dir/said.$format" \
			"$dir/marks.$format" >>"$dir/log" 2>&1
	result "marks.$format: Perfetto shows what was captured" $?
done
python3 "$here/marks.py" "$dir" "$(cat "$dir/made")" >"$dir/log" 2>&1
result "marks: numbers, async ranges, flows and counts in all formats" $?

stats="stats=select name from stats where value > 0 and severity in ('error', 'data_loss')"
# Switches that the tracer left out, and the idle task: its name, and whether viewers draw it.
"$make_capture" left-out "$dir/left-out.data" || exit 1
for format in perfetto chrome; do
	"$dump" -q -f $format -o "$dir/left-out.$format" "$dir/left-out.data" 2>"$dir/log" &&
		node "$here/sql.mjs" "$viewers/argent-0.25.2/assets/trace-processor" \
			"$dir/left-out.$format" "$stats" \
			"cpu 0=select dur / 1000, tid from sched join thread using (utid)
				where cpu = 0 order by ts" \
			"idle=select distinct thread.name, is_idle
				from thread join sched using (utid) where tid = 0" \
			>"$dir/said" 2>>"$dir/log" &&
		python3 -c '
import json, sys
said = json.load(open(sys.argv[1]))
perfetto = sys.argv[2] == "perfetto"
assert not said[""] and not said["stats"], said
assert said["idle"] == [["swapper", 1] if perfetto else ["<idle>", 0]], said
assert [tid for _, tid in said["cpu 0"]] == [100, 0, 100, 0, 8, 100, 0, 100, 0], said
assert [dur for dur, _ in said["cpu 0"][:6]] == [15, 25, 40, 2, 1, 2], said' \
			"$dir/said" $format >>"$dir/log" 2>&1
	result "$format: switches that were left out, and the idle task" $?
done

# Ranges of no length, in a file whose events are not in the order of time.
"$make_capture" empty "$dir/empty.data" || exit 1
for format in perfetto chrome kineto; do
	"$dump" -q -f $format -o "$dir/empty.$format" "$dir/empty.data" 2>"$dir/log" &&
		node "$here/sql.mjs" "$viewers/argent-0.25.2/assets/trace-processor" \
			"$dir/empty.$format" "$stats" \
			"ranges=select name, dur from slice
				where category in ('default', 'cpu_op', 'user_annotation')" \
			>"$dir/said" 2>>"$dir/log" &&
		python3 -c '
import json, sys
said = json.load(open(sys.argv[1]))
assert not said[""] and not said["stats"], said
got = {name: dur for name, dur in said["ranges"]}
want = {name: 0 for name in "plain begin end both around inside last".split()}
assert got == {**want, "outer": 70000, "long": 10000, "span": 185000}, got' \
			"$dir/said" >>"$dir/log" 2>&1
	result "$format: ranges of no length" $?
done
finish
