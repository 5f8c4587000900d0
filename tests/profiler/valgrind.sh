#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Sessions under valgrind, 32 threads that begin, join, leave and end them among them: no invalid
# access, no use of what was never set, and nothing kept of those that are over. TAP.
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
