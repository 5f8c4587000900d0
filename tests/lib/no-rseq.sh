#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The library's tests without restartable sequences, and with a clock other than the CPU's counter.
# TAP.
progs=${BUILD:-build}/tests
failed=0

for how in GLIBC_TUNABLES=glibc.pthread.rseq=0 XSPROF_CLOCK=mono; do
	for test in api args fork moments; do
		"$progs/ring/session" $how XSPROF_BUFFER_SIZE=1M LOCAL_RANK=3 "$progs/lib/$test" ||
			failed=1
	done
	"$progs/ring/session" $how XSPROF_BUFFER_SIZE=256k XSPROF_ARENA_SIZE=16k \
		XSPROF_CATEGORIES=-unwanted "$progs/lib/categories" || failed=1
done
exit $failed
