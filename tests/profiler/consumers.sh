#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The tools that read PyTorch's traces, reading ours: HolisticTraceAnalysis and the loader of
# TensorBoard's profiler plugin, in a Python environment of their own that is kept beside the
# other things that are downloaded once. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
venv=${XSPROF_PROFILER_VENV:-${XDG_CACHE_HOME:-${HOME:-$BUILD}/.cache}/xsprof/profiler-tools}
make=$BUILD/tests/profiler/kineto-capture

# One that was not finished is made again.
if ! [ -e "$venv/ready" ]; then
	rm -rf "$venv"
	{ mkdir -p "$(dirname "$venv")" && python3 -m venv "$venv" &&
		"$venv/bin/pip" install -q HolisticTraceAnalysis torch-tb-profiler; } \
		>"$dir/log" 2>&1 || {
		tail -n 5 "$dir/log"
		rm -rf "$venv"
		echo "no Python packages of HolisticTraceAnalysis, torch-tb-profiler to be had here"
		exit 77
	}
	touch "$venv/ready"
fi

mkdir "$dir/traces" || exit 1
for rank in 0 1; do
	"$make" rank "$dir/rank.data" $rank 2 &&
		"$dump" -q -f kineto -o "$dir/traces/rank$rank.json" "$dir/rank.data" || exit 1
done
"$make" ops "$dir/ops.data" && "$dump" -q -f kineto -o "$dir/ops.json" "$dir/ops.data" || exit 1
# They look for packages where they stand, and write there.
(cd "$dir" && exec "$venv/bin/python" "$OLDPWD/tests/profiler/consumers.py" "$dir")
