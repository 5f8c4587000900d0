#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Ranges for other tools, built with TSan, tools included: concurrent first uses, names registered
# by many threads at once. TAP.
cd "$(dirname "$0")/../.." || exit 1
dir=${BUILD:-build}/tsan
failed=0

if ! tests/builds/make.sh tsan; then
	echo "Bail out! the thread build"
	exit 1
fi
export TSAN_OPTIONS=halt_on_error=1
"$dir/tests/profiler/mirror-nvtx" no-forks || failed=1
"$dir/tests/profiler/mirror-itt" || failed=1
exit $failed
