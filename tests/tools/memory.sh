#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# No tool uses 64 MiB, however long the capture: 50 million events, or XSPROF_EVENTS. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh

events=${XSPROF_EVENTS:-50000000}
room=$(df -Pk "$dir" | awk 'NR == 2 { print $4 }')
[ "$room" -ge $((events / 1024 * 40)) ] ||
	skip "$dir has no room for a capture of $events events"
"$make_capture" big "$dir/big.data" "$events" || exit 1

for format in text chrome ndjson perfetto; do
	small "dump -f $format of $events events" "$dump" -f $format "$dir/big.data"
done
"$make_capture" busy "$dir/busy.data" $((events / 10)) || exit 1
for format in chrome perfetto; do
	small "dump -f $format of $((events / 10)) kernel events" "$dump" -f $format \
		"$dir/busy.data"
done
small "report of $events events" "$xsprof" report --by name,thread "$dir/big.data"
small "info of $events events" "$xsprof" info "$dir/big.data"
finish
