#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs the limits test, and again on its own tmpfs of 2 MiB. TAP.
cd "$(dirname "$0")/../.." || exit 1
. tests/common/tap.sh
progs=${BUILD:-build}/tests
session=$progs/ring/session

"$session" XSPROF_BUFFER_SIZE=1M "$progs/lib/limits" || tap_failed=1

[ "$(id -u)" = 0 ] || { skipped 'full tmpfs' 'not root: no tmpfs of its own'; finish; }
dir=$(mktemp -d) || exit 1
trap 'rmdir "$dir"' EXIT
# In a mount namespace, so that nothing stays mounted in any case.
if ! unshare -m mount -t tmpfs -o size=2m,mode=700 none "$dir" 2>/dev/null; then
	skipped 'full tmpfs' 'mount is not permitted'
	finish
fi
export dir session progs
unshare -m sh -c 'mount -t tmpfs -o size=2m,mode=700 none "$dir" &&
	XSPROF_TEST_SHM=$dir "$session" XSPROF_BUFFER_SIZE=1M "$progs/lib/limits" tmpfs=1 &&
	XSPROF_TEST_SHM=$dir "$session" XSPROF_BUFFER_SIZE=1M GLIBC_TUNABLES=glibc.pthread.rseq=0 \
		"$progs/lib/limits" tmpfs=1' || tap_failed=1
exit $tap_failed
