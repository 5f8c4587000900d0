#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Waits for the GIL and garbage collections, with each installed Python: which thread waits for
# which, in a program and in its forked child; what the tools print; and programs without Python.
# TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
. tests/torch/pythons.sh
. tests/python/start.sh

while read -r version python; do
	"$python" -c 'import sys; sys.exit(sys.version_info < (3, 8))' || continue
	rm -f data
	"$xsprof" record -q -o data -- "$python" "$here/gil.py" run >said 2>log &&
		"$dump" -q -f ndjson data >events 2>>log &&
		"$python" "$here/gil.py" check events <said >>log 2>&1
	result "$version: who waited for whom, who had it meanwhile, and collections" $?
	"$xsprof" report --gil --json data >table 2>>log &&
		"$python" "$here/gil.py" table table events <said >>log 2>&1
	result "$version: report --gil: waits, holds, and to whom the lock went" $?
	# Whether a thread yields depends on who has a CPU: several tries.
	for _ in 1 2 3 4 5 6; do
		rm -f killed
		"$xsprof" record -q -o killed -- "$python" "$here/gil.py" yields >yields 2>log
		"$dump" -q -f ndjson killed >events 2>>log &&
			"$xsprof" report --open --json killed >json 2>>log &&
			"$python" "$here/gil.py" yielded events json <yields >>log 2>&1 && break
	done
	result "$version: a thread that yields waits until another has the lock, no longer" $?
done < <(pythons)

tid=$(sed -n '1s/.*"waiter": \([0-9]*\).*/\1/p' said)
"$xsprof" report --gil -n 1 --tid "$tid" data >out 2>log && cat out >>log &&
	[ "$(grep -cE "python3?-$tid of [0-9]+\$" out)" = 2 ] && grep -q "^ *Handed .*Held by" out
result "report --gil: the thread that was asked for" $?
# A thread holds the GIL for ever, and the process is killed.
cat >hang.py <<'END'
import ctypes, os, subprocess, sys, threading, time
libc = ctypes.PyDLL(None)
holds = threading.Event()

def hold():
    print(threading.get_native_id(), threading.main_thread().native_id, flush=True)
    # Once the main thread has waited for a second, all is killed.
    subprocess.Popen(["sh", "-c", "sleep 2; kill -KILL %d" % os.getpid()])
    holds.set()
    libc.sleep(600)

threading.Thread(target=hold, daemon=True).start()
holds.wait()
while True:
    pass
END
"$xsprof" record -q -o data -- /usr/bin/python3 hang.py >said 2>log
read -r holder waiter <said
"$xsprof" report --open data >out 2>>log
"$xsprof" report --open --json data >json 2>>log
cat out >>log
# The thread has its name, too, unless the lock of the names was taken at its only event.
was="was in GIL wait for .* for the lock held by thread $holder\( (.*)\)\? when killed"
grep -q "^  thread $waiter (.*) $was" \
	out && python3 - "$holder" "$waiter" >>log 2>&1 <<'END'
import json, sys
open_ranges = json.load(open("json"))["open_at_end"]
waits = [(t["tid"], r["held_by"]) for t in open_ranges for r in t["ranges"] if "held_by" in r]
assert waits == [(int(sys.argv[2]), int(sys.argv[1]))], open_ranges
END
result "report --open: who held the lock for which a thread waits" $?
"$xsprof" record -q -o data --no-python -- /usr/bin/python3 "$here/gil.py" run >said 2>log
rc=$?
"$xsprof" report data >out 2>>log
[ $rc = 0 ] && ! grep -q 'GIL\|garbage' out
result "--no-python: nothing of it" $?
rc=0
for with in --python --python=9 --python-native --python-trace --python-trace=train; do
	for options in "$with --no-python" "--no-python $with"; do
		# shellcheck disable=SC2086 # two options
		"$xsprof" record -q -o none $options -- true 2>log
		[ $? = 2 ] && [ ! -e none ] && grep -q \
			"^xsprof: --no-python, ${with%=*}: cannot be combined" log || rc=1
	done
done
result "--no-python and an option that records Python: refused" $rc
"$xsprof" report --gil data >out 2>log
[ $? = 1 ] && grep -q 'has no waits .* --no-python or without the category python$' log
result "report --gil of a capture without it: a message" $?

"$xsprof" record -q -e sched -o data -- /usr/bin/python3 "$here/gil.py" run >said 2>log
if why=$(grep '^xsprof: no kernel events' log); then
	skipped "--why: who had the lock, and in which range" "$why"
else
	"$xsprof" report --json --why 'GIL wait' -n 40 data >reasons 2>>log &&
		/usr/bin/python3 "$here/gil.py" why reasons <said >>log 2>&1
	result "--why: who had the lock, and in which range" $?
	"$xsprof" report data >out 2>>log && grep -qE '^ +Wall .* GIL .* Unknown ' out
	result "the table of where time went has a column of it" $?
	"$xsprof" record -q -e sched -o data -- /usr/bin/python3 "$here/gil.py" steps >out 2>log
	"$xsprof" report --steps=turn data >out 2>>log
	cat out >>log
	grep -qE '^step 5: .* the thread was .* more waiting for the GIL' out &&
		sed -n 's/^  look at: xsprof //p' out | sed -n 1p >hint &&
		grep -q "^report --why 'GIL wait' -n 1 --tid" hint &&
		eval "\"$xsprof\" $(cat hint)" 2>>log | grep -q 'waiting for the GIL, held by'
	result "a step that waits for it, and what to look at" $?
fi

if command -v cc >>log && flags=$(python3-config --embed --cflags --ldflags 2>>log); then
	cat >embed.c <<-'END'
		#include <Python.h>
		int main(void)
		{
			Py_Initialize();
			return PyRun_SimpleString("import gc; gc.collect()") || Py_FinalizeEx();
		}
	END
	# shellcheck disable=SC2086
	cc -o embed embed.c $flags >>log 2>&1 &&
		"$xsprof" record -q -o data -- ./embed >>log 2>&1 &&
		"$xsprof" report data >out 2>>log && grep -q ' garbage collection$' out
	result "a program that embeds Python" $?
	# Finalization ends a thread that waits for the GIL.
	cat >finalize.c <<-'END'
		#include <Python.h>
		#include <signal.h>
		static const char program[] =
			"import threading\n"
			"def spin():\n"
			"    print(threading.get_native_id(), flush=True)\n"
			"    while True: pass\n"
			"threading.Thread(target=spin, daemon=True).start()\n"
			"for i in range(1000000): pass\n";
		int main(void)
		{
			Py_Initialize();
			if (PyRun_SimpleString(program) || Py_FinalizeEx())
				return 1;
			puts("final");
			fflush(stdout);
			usleep(100000);
			return raise(SIGKILL);
		}
	END
	# shellcheck disable=SC2086
	cc -o finalize finalize.c $flags >log 2>&1
	"$xsprof" record -q -o data -- ./finalize >said 2>>log
	read -r tid <said
	"$xsprof" report --open data >out 2>>log
	rc=$?
	cat said out >>log
	"$dump" -q -f ndjson data >events 2>>log && [ $rc = 0 ] && grep -q '^final$' said &&
		grep -q "\"tid\":$tid,.*\"GIL wait\"" events && ! grep -q 'in GIL wait' out
	result "report --open: not a thread that finalization ended while it waited" $?
else
	skipped "a program that embeds Python" "no headers of Python here"
	skipped "report --open: not a thread that finalization ended while it waited" \
		"no headers of Python here"
fi

# The symbol versions needed are ones that today's programs are linked with.
objdump -T "$BUILD/lib/libxsprof-python.so" | sed -n 's/.* \.text.*\(GLIBC[^ ]*\) */\1 /p' |
	sort >ours
objdump -T "$(ldd /usr/bin/env | sed -n 's/.* => \(.*libc\.so\.6\) .*/\1/p')" |
	sed -n 's/.* \.text.* \(GLIBC[^ ]*\) */\1 /p' | grep pthread_cond | sort >theirs
[ -s ours ] && [ -z "$(comm -23 ours theirs)" ]
result "the versions of the C library's own functions" $?
finish
