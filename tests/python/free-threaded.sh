#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Free-threaded builds of Python: the recorder says what it cannot record. Two programs that claim
# to be such a build stand in for one: one embeds a normal Python, the other has only the data that
# record -p reads, and no Python. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
. tests/python/start.sh

if flags=$(python3-config --embed --cflags --ldflags 2>log); then
	cat >embed.c <<-'END'
		#include <Python.h>
		const char *Py_GetVersion(void)
		{
			return "3.14.0 free-threading build";
		}
		int main(void)
		{
			Py_Initialize();
			return PyRun_SimpleString("print(6 * 7)") || Py_FinalizeEx();
		}
	END
	# shellcheck disable=SC2086
	cc -o embed embed.c $flags >log 2>&1
	result "a program with a Python" $?
	said='^xsprof: Python: a free-threaded build: calls of functions are not recorded, '
	for option in --no-torch --python-trace; do
		"$xsprof" record -q $option -o data -- ./embed >out 2>log
		[ $? = 0 ] && [ "$(cat out)" = 42 ] && [ "$(grep -c . log)" = 1 ] &&
			grep -q "$said" log
		result "$option: one line says what is not recorded" $?
	done
	"$xsprof" record -q --python -o data -- ./embed >out 2>log
	[ $? = 0 ] && [ "$(cat out)" = 42 ] && [ "$(grep -c . log)" = 2 ] && grep -q "$said" log &&
		grep -q '^xsprof: Python: .*: the GIL, .* frames are not recorded$' log
	result "--python: and one that frames are not" $?
else
	skipped "a program with a Python" "no headers of Python here"
fi

if [ "$(uname -m)" != x86_64 ] || [ -e /dev/xsprof ]; then
	skipped "record -p" "x86-64 without the module only"
	finish
fi
cat >state.c <<'END'
#include <stdint.h>
#include <unistd.h>
/* As each Python begins from 3.13 on. */
struct { char cookie[8]; uint64_t version, free_threaded; } _PyRuntime = {
	{ 'x', 'd', 'e', 'b', 'u', 'g', 'p', 'y' }, 0x030e00f0, FREE_THREADED
};
const unsigned long Py_Version = 0x030e00f0;
int Py_IsInitialized(void) { return 0; }
int Py_AddPendingCall(void) { return -1; }
int main(void)
{
	close(1);
	for (;;)
		pause();
}
END
# $1 whether it is free-threaded, $2 a pattern for the message
refused()
{
	cc -DFREE_THREADED="$1" -rdynamic -o state state.c 2>log || return
	./state >&- 2>&- &
	pid=$!
	for _ in $(seq 100); do
		[ "$(readlink /proc/$pid/exe)" = "$PWD/state" ] && break
		sleep 0.02
	done
	"$xsprof" record -q -p $pid -d 0.1 -o none 2>log
	status=$?
	kill $pid
	wait $pid 2>/dev/null
	[ $status = 2 ] && grep -qE "^xsprof: process $pid: .*$2" log
}
refused 1 'free-threaded build: .* run it with a build that has the GIL'
result "record -p: refused, with the reason" $?
! refused 0 'free-threaded' && ! grep -q 'free-threaded' log
result "record -p: not where it has the lock" $?
finish
