#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Tools for PyTorch's traces read ours: checks what HolisticTraceAnalysis and the loader of
# TensorBoard's profiler plugin calculate for ranks with GPUs, and that they use the intended
# fields. viewers/readers tests recordings of real programs. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
. tests/viewers/packages.sh
make=$BUILD/tests/profiler/kineto-capture
package_readers || skip "$why"

mkdir "$dir/traces" || exit 1
for rank in 0 1; do
	"$make" rank "$dir/rank.data" $rank 2 &&
		"$dump" -q -f kineto -o "$dir/traces/rank$rank.json" "$dir/rank.data" || exit 1
done
"$make" ops "$dir/ops.data" && "$dump" -q -f kineto -o "$dir/ops.json" "$dir/ops.data" || exit 1
"$make" memory "$dir/memory.data" 40 || exit 1
for file in memory.json memory.raw.json.gz; do
	"$BUILD/tests/profiler/save" timeline "$dir/memory.data" "$dir/$file" || exit 1
done
# The tools look for packages in the current folder, and write there.
(cd "$dir" && exec "$venv/bin/python" "$OLDPWD/tests/profiler/consumers.py" "$dir")
