#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Writes files from damaged captures: fuzz.py. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
here=$PWD/tests/profiler
make=$BUILD/tests/profiler/kineto-capture

rounds=12
[ "${XSPROF_TIER:-quick}" = full ] && rounds=200
cd "$dir" || exit 1
"$make" ops ops.data && "$make" rank rank.data 1 2 && "$make" hostile odd.data &&
	"$make" memory memory.data 60 || exit 1
python3 "$here/fuzz.py" "$BUILD/tests/profiler/save" $rounds $seed \
	ops.data rank.data odd.data memory.data >"$dir/log" 2>&1
rc=$?
echo "# seed $seed: $(tail -n 1 "$dir/log" | head -c 200)"
if [ $rc != 0 ] && [ -f fuzz-failed.data ]; then
	mkdir -p "$BUILD/check"
	cp fuzz-failed.data "$BUILD/check/fuzz-failed-save.data"
	echo "kept as $BUILD/check/fuzz-failed-save.data" >>"$dir/log"
fi
result "files of damaged captures" $rc
finish
