#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Reads traces of the demo's programs with Perfetto: its SQL must give the capture's data, in each
# format, without complaints. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
. tests/viewers/packages.sh
. tests/viewers/captures.sh
here=$PWD/tests/viewers

package_perfetto || skip "$why"
record_demo
record_ops
record_crossing

# An OpenMP barrier is in its region: neither has its own thread time; both share one.
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

# So they are in the time of their thread, where each moment counts once.
"$xsprof" report -q --by thread --json "$dir/demo/xsprof.data" >"$dir/report" 2>"$dir/log" &&
	python3 "$here/covered.py" "$dir/demo.ndjson" "$dir/report" >>"$dir/log" 2>&1
result "the demo: the time of threads is what their ranges cover" $?

for format in perfetto chrome kineto; do
	mapfile -d '' -t queries < <(python3 "$here/same.py" queries $format)
	[ $format != perfetto ] || queries+=("$(python3 "$here/running.py" query)")
	for file in demo.$format ops.$format.gz crossing.$format; do
		node "$here/sql.mjs" "$viewers/argent-0.25.2/assets/trace-processor" \
			"$dir/$file" "${queries[@]}" >"$dir/said" 2>"$dir/log" &&
			python3 "$here/same.py" $format "$dir/${file%%.*}.ndjson" "$dir/said" \
				"$dir/$file" >>"$dir/log" 2>&1
		result "$file: Perfetto shows what was captured" $?
		[ $file != demo.perfetto ] || cp "$dir/said" "$dir/said.demo"
	done
done

# How long the threads ran in their ranges.
if "$xsprof" report -q --json "$dir/demo/xsprof.data" >"$dir/report" 2>"$dir/log" &&
	! grep -q '"cause":' "$dir/report"; then
	skipped "ranges have the thread running as the report says" "the kernel cannot be traced"
else
	python3 "$here/running.py" "$dir/said.demo" "$dir/report" >>"$dir/log" 2>&1
	result "ranges have the thread running as the report says" $?
fi
finish
