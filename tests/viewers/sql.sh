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
finish
