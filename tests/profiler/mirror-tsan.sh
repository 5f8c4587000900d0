#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Ranges for other tools, built with TSan, tools and all: first uses at once, names that many
# threads tell at once. TAP.
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build}
dir=$build/san-mirror
failed=0

mkdir -p "$build"
if ! make -s BUILD="$dir" SAN=thread CC=gcc "$dir/tests/profiler/mirror-nvtx" \
		"$dir/tests/profiler/mirror-itt" "$dir/lib/libxsprof-itt.so" >"$dir.log" 2>&1; then
	sed 's/^/# /' "$dir.log"
	echo "Bail out! the thread build"
	exit 1
fi
export TSAN_OPTIONS=halt_on_error=1
"$dir/tests/profiler/mirror-nvtx" no-forks || failed=1
"$dir/tests/profiler/mirror-itt" || failed=1
exit $failed
