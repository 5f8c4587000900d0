#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A program for other profilers with only the namespace changed, and the traces that it saves. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/common/tap.sh
build=${BUILD:-build}
dir=$(mktemp -d "${TMPDIR:-/tmp}/xsprof-usage.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
tap_log=$dir/log

"$build/tests/profiler/usage" "$dir" >"$dir/out" || tap_failed=1
sed '1d' "$dir/out"
"$build/tests/profiler/usage-c" "$dir" || tap_failed=1
tap_n=5
for file in profile_trace guard trace c_trace; do
	python3 - "$dir/$file.json" >"$dir/log" 2>&1 <<'END'
import collections, json, sys
trace = json.load(open(sys.argv[1]))
ops = [e for e in trace["traceEvents"] if e.get("cat") == "cpu_op"]
names = collections.Counter(e["name"] for e in ops)
assert names == {"aten::linear": 10, "aten::addmm": 10}, names
assert all(e["ph"] == "X" and e["dur"] >= 0 and e["pid"] and e["tid"] for e in ops)
assert trace["schemaVersion"] == 1 and trace["traceName"]
END
	result "$file.json: twenty ops" $?
done
finish
