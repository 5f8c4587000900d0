#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs the limits test, and again on its own tmpfs of 2 MiB. TAP.
progs=${BUILD:-build}/tests
session=$progs/ring/session

"$session" XSPROF_BUFFER_SIZE=1M "$progs/lib/limits" || failed=1

skip()
{
	echo "ok 1 full tmpfs # SKIP $1"
	echo 1..1
	exit ${failed:-0}
}

[ "$(id -u)" = 0 ] || skip 'not root: no tmpfs of its own'
dir=$(mktemp -d) || exit 1
trap 'rmdir "$dir"' EXIT
# In a mount namespace, so that nothing stays mounted in any case.
if ! unshare -m mount -t tmpfs -o size=2m,mode=700 none "$dir" 2>/dev/null; then
	skip 'mount is not permitted'
fi
export dir session progs
unshare -m sh -c 'mount -t tmpfs -o size=2m,mode=700 none "$dir" &&
	XSPROF_TEST_SHM=$dir "$session" XSPROF_BUFFER_SIZE=1M "$progs/lib/limits" tmpfs=1 &&
	XSPROF_TEST_SHM=$dir "$session" XSPROF_BUFFER_SIZE=1M GLIBC_TUNABLES=glibc.pthread.rseq=0 \
		"$progs/lib/limits" tmpfs=1' || failed=1
exit ${failed:-0}
