#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Readers of our files: speedscope, HolisticTraceAnalysis, TensorBoard's profiler plugin, pandas,
# pyarrow and DuckDB must get the captures' data from a recording of the demo's programs, and of its
# training with shapes and memory. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
. tests/viewers/packages.sh
. tests/viewers/captures.sh
here=$PWD/tests/viewers

no_readers= no_speedscope=
package_readers || no_readers=$why
package_speedscope || no_speedscope=$why
[ -z "$no_readers" ] || [ -z "$no_speedscope" ] || skip "$no_readers; $no_speedscope"
record_demo
record_ops

reads() # TOOL FILE
{
	[ -z "$no_readers" ] || { skipped "$1: $2" "$no_readers"; return; }
	# The readers look for packages in the current folder, and write there.
	(cd "$dir" && "$venv/bin/python" "$here/readers.py" "$1" "${2%%.*}.ndjson" "$2") \
		>"$dir/log" 2>&1
	result "$1: $2" $?
}

# So many that every kind of event is among them.
"$dump" -q -f ndjson -n 20000 -o "$dir/table.ndjson" "$dir/demo/xsprof.data" &&
	gzip -k "$dir/table.ndjson" || exit 1
for tool in pandas pyarrow duckdb; do
	reads $tool table.ndjson.gz
done
reads hta demo.kineto
reads hta ops.kineto.gz
reads tensorboard-stacks ops.kineto.gz

# Ops without stacks of their own are below the ranges around them.
"$xsprof" record -q --torch shapes -o "$dir/plain.data" -- /usr/bin/python3 tests/demo/train.py 5 \
	>"$dir/log" 2>&1 &&
	"$dump" -q -f ndjson -o "$dir/plain.ndjson" "$dir/plain.data" &&
	"$BUILD/tests/profiler/save" stacks "$dir/plain.data" "$dir/plain.folded" &&
	"$BUILD/tests/profiler/save" stacks "$dir/ops.data" "$dir/ops.folded" || exit 1
# Otherwise they are below the lines that run them; of ops in one place the outer comes first.
grep -q '<module> at .*train\.py:[0-9]*;.*Conv2d\.forward at .*;aten::conv2d;aten::convolution;' \
	"$dir/ops.folded"
result "folded: ops below the lines that run them" $?
for file in demo.chrome ops.chrome.gz plain.folded; do
	tool=speedscope
	[ $file != plain.folded ] || tool=folded
	[ -z "$no_speedscope" ] || { skipped "speedscope: $file" "$no_speedscope"; continue; }
	node "$here/speedscope.mjs" "$viewers"/speedscope-1.25.0/dist/release/speedscope-*.js \
		"$dir/$file" >"$dir/said" 2>"$dir/log" &&
		python3 "$here/readers.py" $tool "$dir/${file%%.*}.ndjson" "$dir/said" \
			>>"$dir/log" 2>&1
	result "speedscope: $file" $?
done
finish
