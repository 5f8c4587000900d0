#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Data that the thread for traces on demand shares with the program's own threads, under TSan. TAP.
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build}/tsan
failed=0

if ! tests/builds/make.sh tsan; then
	echo "Bail out! the thread build"
	exit 1
fi
for path in 0 1; do
	"$build/tests/profiler/dynolog" path=$path rounds=20 || failed=1
	"$build/tests/profiler/ondemand" path=$path || failed=1
	"$build/tests/profiler/ondemand-peers" path=$path ctl="${BUILD:-build}/bin/xsprof" ||
		failed=1
done
exit $failed
