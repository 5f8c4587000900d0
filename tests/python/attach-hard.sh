#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# record -p without the module, of processes that are hard to come to: attach-hard.sh COUNT. Those
# that have no interpreter, or several, one after the other. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
. tests/torch/pythons.sh
. tests/python/attached.sh
. tests/python/start.sh

count=${1:-3}
[ "$(uname -m)" = x86_64 ] || { skipped "attaching" "x86-64 only"; finish; }
[ ! -e /dev/xsprof ] || { skipped "attaching" "the module is loaded"; finish; }

# $1 what is to be said, $2 of which process
refused()
{
	timeout -k 1 20 "$xsprof" record -q -p "$2" -d 0.1 -o none >out 2>log
	[ $? = 2 ] && grep -qE "^xsprof: process $2: .*$1" log && [ ! -e none ]
}
newest=$(pythons | while read -r _ python; do
	"$python" -c 'import sys; sys.exit(not (3, 9) <= sys.version_info < (3, 15))' &&
		echo "$python"
done | tail -1)

# ---- what is said ----

begin "$newest" mute
"$xsprof" record -p $pid -d 0.3 -o data >out 2>log &&
	grep -q "process $pid: Python does not let us be one of gc.callbacks" log && ended mute
result "what is said is said by the recorder, not on the program's standard error" $?

# ---- a program that has Python as a library ----

cat >embed.c <<-'END'
	#include <dlfcn.h>
	#include <signal.h>
	#include <stdlib.h>
	#include <unistd.h>

	/* LIBRARY TIMES CODE SPINS: runs CODE in that many interpreters; then it waits, or spins. */
	int main(int argc, char **argv)
	{
		void *python = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
		void (*begin)(void) = python ? dlsym(python, "Py_Initialize") : NULL;
		int (*run)(const char *) = python ? dlsym(python, "PyRun_SimpleString") : NULL;
		int (*end)(void) = python ? dlsym(python, "Py_FinalizeEx") : NULL;

		if (!begin || !run || !end)
			return 1;
		for (int i = atoi(argv[2]); i; i--) {
			begin();
			if (run(argv[3]) || end())
				return 2;
		}
		if (close(creat("begun", 0600)))
			return 3;
		while (access("stop", F_OK))
			if (argc < 5)
				usleep(1000);
		return 0;
	}
END

# Of the newest Python that has one.
library=$(pythons | tac | while read -r _ python; do
	"$python" -c 'import os, sys, sysconfig
get = sysconfig.get_config_var
path = os.path.join(get("LIBDIR") or "", get("INSTSONAME") or "")
sys.exit(not (3, 9) <= sys.version_info < (3, 15) or ".so" not in path or
         not os.path.exists(path) or print(path, sys.base_prefix) or 0)' && break
done)
# A home of its own: it is not found by the name of the program.
embed()
{
	rm -f begun stop
	PYTHONHOME=${library#* } ./embed "${library% *}" "$@" >said 2>err &
	pid=$!
}
# Return: it ended well.
embedded()
{
	: >stop
	wait $pid && [ ! -s err ] || { cat err >>log; return 1; }
}

if [ -n "$library" ] && cc -o embed embed.c -ldl 2>log; then
	for times in 0 1; do
		for spins in "" spins; do
			# shellcheck disable=SC2086 # nothing, or a word
			embed $times 'import json' $spins
			for _ in $(seq 400); do [ -e begun ] && break || sleep 0.05; done
			refused 'Python does not run in it' $pid && embedded
			result "$times interpreters ended, ${spins:-waits}: refused, and runs on" $?
		done
	done
	# Recordings that see several of them end.
	embed $((count * 20)) 'import json, re, time
end = time.monotonic() + 0.1
while time.monotonic() < end:
    sum(range(1000)); time.sleep(0.001)'
	attached=0
	while [ ! -e begun ] && kill -0 $pid 2>/dev/null; do
		timeout -k 1 20 "$xsprof" record -q -p $pid -d 0.35 -o data >out 2>log &&
			attached=$((attached + 1))
	done
	embedded && [ $attached -gt 2 ]
	result "interpreters that end while they are recorded: the program runs on" $?
else
	skipped "a program that has Python as a library" "no such library, or no compiler"
fi
finish
