#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Libraries, tools and tests compile without a warning: gcc, clang, gcc at -O3 (it sees more),
# and the producer's library for arm64. Objects stay in build/warn-*, so that a second run
# compiles only what changed. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1

BUILD=${BUILD:-build}
n=0
failed=0

# $1 name, $2 the command it needs, then make's arguments.
variant()
{
	local name=$1 cc=$2 log=$BUILD/warn-$1.log

	shift 2
	n=$((n + 1))
	if ! command -v "$cc" >/dev/null; then
		echo "ok $n $name # SKIP $cc is not installed"
		return
	fi
	# Not the flags of an outer make: they would be those of its own build.
	if env -u MAKEFLAGS -u MAKEOVERRIDES make -j2 --no-print-directory \
			BUILD="$BUILD/warn-$name" "$@" >"$log" 2>&1 &&
			! grep -q 'warning:' "$log"; then
		echo "ok $n $name"
	else
		grep -E 'warning:|error:|Error' "$log" | head -n 20 | sed 's/^/# /'
		echo "not ok $n $name, see $log"
		failed=1
	fi
}

mkdir -p "$BUILD"
echo "1..4"
variant gcc gcc CC=gcc CFLAGS="-O2 -g -Werror" all tests
variant gcc-O3 gcc CC=gcc CFLAGS="-O3 -g -Werror" user trace tools
variant clang clang CC=clang CFLAGS="-O2 -g -Werror" all tests
variant arm64 aarch64-linux-gnu-gcc CROSS_COMPILE=aarch64-linux-gnu- CFLAGS="-O2 -g -Werror" user
exit $failed
