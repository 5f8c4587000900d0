#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Markers in the program's own code: with the library unchanged, with libraries that do not support
# them, with other programs of this folder, and in a plugin that is unloaded. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/common/tap.sh
BUILD=${BUILD:-build}
here=$BUILD/tests/lib

[ "$(uname -m)" = x86_64 ] || skip "inline markers are for x86-64 only"

t() # [NAME=VALUE]... PROGRAM [ARG...]
{
	local env=(XSPROF_BUFFER_SIZE=1M)

	while [[ $1 == *=* ]]; do
		env+=("$1")
		shift
	done
	"$BUILD/tests/ring/session" "${env[@]}" "$@" || tap_failed=1
}

answer=LD_PRELOAD=$PWD/$here/inline-answer.so
t "$answer" "$here/inline" few=1
t "$answer" XSPROF_TEST_ANSWER=large "$here/inline" few=1
for what in none version small ask-later ask-small; do
	t "$answer" XSPROF_TEST_ANSWER=$what "$here/inline"
done
t "$answer" LD_LIBRARY_PATH="$PWD/$here/old" "$here/inline"
t "$answer" GLIBC_TUNABLES=glibc.pthread.rseq=0 "$here/inline"
t "$here/inline-twice"
t XSPROF_BUFFER_SIZE=256k "$here/fork-inline"
t XSPROF_BUFFER_SIZE=256k "$here/clone-inline"
t "$here/moments-inline"
t XSPROF_BUFFER_SIZE=256k XSPROF_ARENA_SIZE=16k XSPROF_CATEGORIES=-unwanted \
	"$here/categories-inline"
t "$here/dl" "$BUILD/lib/libxsprof-user.so" "$here/plugin-inline.so"

# Negative control: the kernel follows a pointer into the unloaded plugin.
"$BUILD/tests/ring/session" XSPROF_BUFFER_SIZE=1M "$here/dl" "$BUILD/lib/libxsprof-user.so" \
	"$here/plugin-noclear.so" >/dev/null 2>&1
rc=$?
correct "control: a plugin that leaves its pointer is seen" \
	"$([ $rc = 139 ] || echo "exit status $rc, not 139")"
finish
