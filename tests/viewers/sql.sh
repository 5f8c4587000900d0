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
here=$PWD/tests/viewers

package_perfetto
OUT=$dir/demo BUILD=$BUILD tests/demo/demo.sh >"$dir/log" 2>&1 || {
	result "the demo runs" 1
	finish
}
data=$dir/demo/xsprof.data
"$dump" -q -f ndjson -o "$dir/ours" "$data" 2>"$dir/log"
result "the capture, event by event" $?

for format in perfetto chrome kineto; do
	mapfile -d '' -t queries < <(python3 "$here/same.py" queries $format)
	"$dump" -q -f $format -o "$dir/trace" "$data" 2>"$dir/log" &&
		node "$here/sql.mjs" "$viewers/argent-0.25.2/assets/trace-processor" "$dir/trace" \
			"${queries[@]}" >"$dir/said" 2>>"$dir/log" &&
		python3 "$here/same.py" $format "$dir/ours" "$dir/said" "$dir/trace" \
			>>"$dir/log" 2>&1
	result "$format: Perfetto shows what was captured" $?
done
finish
