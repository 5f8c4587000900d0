#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Sessions under valgrind, including 32 threads that begin, join, leave and end them: no invalid
# access, no use of uninitialized data, and no memory left of ended sessions. TAP.
progs=${BUILD:-build}/tests/profiler
failed=0

run() # [OPTION]... PROGRAM [ARG]...
{
	XSPROF_BACKEND=tmpfs valgrind -q --error-exitcode=9 --fair-sched=yes "$@" || failed=1
}

run --leak-check=full --errors-for-leak-kinds=definite,possible "$progs/session" alone
run --leak-check=full --errors-for-leak-kinds=definite,possible "$progs/session-ops"
run "$progs/session"
run "$progs/device"
exit $failed
