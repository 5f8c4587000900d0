#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Formats of kernel events that depend on the data, with partly invalid data: each event has its
# line, and each tool ends normally. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh

captures=4
[ "${XSPROF_TIER:-quick}" = full ] && captures=40
events=2000
for ((i = 0; i < captures; i++)); do
	"$make_capture" formats "$dir/f.data" $((seed + i)) $events || exit 1
	bad=
	for format in text ndjson chrome perfetto kineto; do
		timeout -s KILL 120 "$dump" -f $format --allow-lost -o "$dir/f.$format" \
			"$dir/f.data" 2>"$dir/log"
		rc=$?
		if [ $rc != 0 ] || grep -q 'ERROR: \|runtime error' "$dir/log"; then
			bad="$bad $format: $rc"
		fi
	done
	[ "$(grep -ac '\]  *[0-9.]*: drawn_[0-9]*:' "$dir/f.text")" = $events ] &&
		[ "$(grep -c '"name":"drawn_' "$dir/f.ndjson")" = $events ] ||
		bad="$bad lines are missing"
	[ -z "$bad" ] || { echo "$bad"; cp "$dir/f.data" "$BUILD/check/formats-failed.data"; } \
		>>"$dir/log"
	[ -z "$bad" ]
	result "formats drawn by $((seed + i))" $?
done
finish
