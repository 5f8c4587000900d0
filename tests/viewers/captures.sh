# SPDX-License-Identifier: GPL-2.0-only
#
# Makes what the tests of viewers open: recordings of real programs, in every format. Source this
# after tap.sh. A program that cannot be recorded is a failure and ends the test.

# record_demo: makes $dir/demo.ndjson and the like: the demo writes some formats itself
record_demo()
{
	OUT=$dir/demo BUILD=$BUILD tests/demo/demo.sh >"$dir/log" 2>&1 &&
		mv "$dir/demo/trace.json" "$dir/demo.chrome" &&
		mv "$dir/demo/trace.pftrace" "$dir/demo.perfetto" &&
		"$dump" -q -f ndjson -o "$dir/demo.ndjson" "$dir/demo/xsprof.data" 2>>"$dir/log" &&
		"$dump" -q -f kineto -o "$dir/demo.kineto" "$dir/demo/xsprof.data" 2>>"$dir/log"
	result "the demo runs" $?
	[ "$tap_failed" = 0 ] || finish
}

# record_crossing: makes $dir/crossing.ndjson and the like
record_crossing()
{
	local format

	"$xsprof" record -q --torch all -o "$dir/crossing.data" -- \
		/usr/bin/python3 -W ignore tests/viewers/crossing.py >"$dir/log" 2>&1 &&
		for format in ndjson chrome kineto perfetto; do
			"$dump" -q -f $format -o "$dir/crossing.$format" "$dir/crossing.data" \
				2>>"$dir/log" || break
		done && grep -q '"overlapping ranges of ' "$dir/crossing.chrome"
	result "a program with a span that does not nest in its thread's ranges" $?
}

# record_ops: makes $dir/ops.ndjson, and the others compressed: the demo's training, with shapes and
# memory
record_ops()
{
	local format

	"$xsprof" record -q --torch all -o "$dir/ops.data" -- \
		/usr/bin/python3 tests/demo/train.py 5 >"$dir/log" 2>&1 &&
		"$dump" -q -f ndjson -o "$dir/ops.ndjson" "$dir/ops.data" 2>>"$dir/log" &&
		for format in chrome kineto perfetto; do
			"$dump" -q -f $format -o "$dir/ops.$format.gz" "$dir/ops.data" \
				2>>"$dir/log" || break
		done && [ -s "$dir/ops.perfetto.gz" ]
	result "its training runs, with shapes and memory" $?
	[ "$tap_failed" = 0 ] || finish
}
