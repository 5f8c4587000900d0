#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# record -p without the module, of processes that are hard to attach to: attach-hard.sh COUNT.
# Processes that are stopped, or wait in the kernel; that have mapped files made to harm their
# readers; that lack a permission; that have no interpreter, or several, one after the other. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
. tests/torch/pythons.sh
. tests/python/attached.sh
. tests/python/start.sh

count=${1:-3}
need_attach
newest=$(attachable | while read -r _ python; do echo "$python"; done | tail -1)

# $1 kind, then its arguments; sets pid once it runs
begin_hard()
{
	rm -f said err
	"$newest" "$here/attach-hard.py" "$@" >said 2>err &
	pid=$!
	until [ -s said ] || [ -s err ]; do sleep 0.05; done
	[ ! -s err ]
}

# ---- what is said ----

begin "$newest" mute
timeout -k 1 60 "$xsprof" record -p $pid -d 50 -o data >out 2>log &
recorder=$!
for _ in $(seq 200); do
	grep -q "process $pid: Python: cannot add to gc.callbacks" log && break
	sleep 0.1
done
kill -INT $recorder
wait $recorder &&
	grep -q "process $pid: Python: cannot add to gc.callbacks" log && ended mute
result "what is said is said by the recorder, not on the program's standard error" $?

# ---- stops ----

# $1 the state in /proc/PID/status that process $pid must reach
has_state()
{
	local got

	for _ in $(seq 100); do
		got=$(sed -n 's/^State:[[:space:]]*\(.\).*/\1/p' /proc/$pid/status)
		[ "$got" = "$1" ] && return
		sleep 0.05
	done
	echo "process $pid is in state $got, not $1" >>log
	return 1
}

begin "$newest" cpu
kill -STOP $pid
has_state T && refused 'it is stopped .*kill -CONT' $pid && has_state T
result "a process that is stopped is refused, and stays so" $?
kill -CONT $pid
ended cpu
result "it goes on" $?

# SIGSTOP at any moment of the attach.
stopped=0
for _ in $(seq $((count * 2))); do
	begin "$newest" waits
	timeout -k 1 20 "$xsprof" record -q -p $pid -d 0.1 -o data >out 2>log &
	recorder=$!
	sleep "0.0$(printf %02d $((RANDOM % 30)))"
	kill -STOP $pid
	wait $recorder
	has_state T && stopped=$((stopped + 1))
	kill -CONT $pid
	ended waits || echo "it did not end well" >>log
done
[ $stopped = $((count * 2)) ] && [ ! -s log ] || grep -q 'it is stopped' log
result "a SIGSTOP that comes meanwhile stops it" $?

# A thread waits in the kernel for the child of a vfork(), which waits for a pipe.
mkfifo pipe
begin "$newest" spawns
timeout -k 1 60 "$xsprof" record -q -p $pid -d 50 -o data >out 2>log &
recorder=$!
sleep 1
: >pipe
for _ in $(seq 200); do
	[ -e stop.back ] && break
	sleep 0.05
done
[ -e stop.back ] && kill -INT $recorder 2>>log
result "a thread that waited in the kernel comes back while it is recorded" $?
wait $recorder
[ ! -s log ] && ended spawns
result "and the program is as before" $?

# The main thread is in a long call and runs no Python code.
begin_hard calls
"$xsprof" record -q -p $pid -d 1 -o none >out 2>log &
recorder=$!
sleep 1
kill -TERM $recorder
wait $recorder
[ $? = 143 ] && grep -q "process $pid: not recorded: xsprof received signal" log && [ ! -e none ] &&
	has_state R && grep -q '^TracerPid:.0$' /proc/$pid/status
result "SIGTERM while it is waited for: the process runs on" $?
kill $pid
wait $pid 2>/dev/null

# A thread waits, so the recorder must use the other one, which is near the end of its stack.
cat >low.c <<-'END'
	#define _GNU_SOURCE
	#include <alloca.h>
	#include <pthread.h>
	#include <sys/syscall.h>
	#include <unistd.h>

	#define ROOM	1024

	static void *waits(void *unused)
	{
		char *here = __builtin_frame_address(0);
		volatile char *use;
		pthread_attr_t attr;
		size_t size;
		void *low;

		pthread_getattr_np(pthread_self(), &attr);
		pthread_attr_getstack(&attr, &low, &size);
		use = alloca((size_t)(here - (char *)low) - ROOM);
		*use = 1;
		for (;;)
			syscall(SYS_poll, unused, 0, -1);
	}

	int low(void)
	{
		pthread_attr_t attr;
		pthread_t thread;

		return pthread_attr_init(&attr) || pthread_attr_setstacksize(&attr, 65536) ||
		       pthread_create(&thread, &attr, waits, NULL);
	}
END
cc -O1 -shared -fPIC -o low.so low.c -pthread 2>log && begin_hard low ./low.so &&
	"$xsprof" record -q -p $pid -d 0.3 -o data >out 2>log && kill -0 $pid 2>>log && [ ! -s log ]
result "a thread that waits without room on its stack is left alone, and another one used" $?
kill $pid
wait $pid 2>/dev/null

# ---- what it may not do, and what it is ----

begin_hard filter
refused 'it filters its system calls' $pid
result "a process that filters its system calls is refused" $?
kill $pid
wait $pid 2>/dev/null
if [ -e /proc/2/status ] && ! grep -q '^VmSize' /proc/2/status; then
	refused 'it is a kernel thread' 2
	result "a thread of the kernel is refused" $?
else
	skipped "a thread of the kernel" "there is none to be seen"
fi
if [ "$(id -u)" = 0 ]; then
	mkdir -m 777 other
	rm -f said
	setpriv --reuid=65534 --clear-groups /usr/bin/python3 -c 'import ctypes, time
ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
print("ready", flush=True)
time.sleep(60)' >said 2>err &
	pid=$!
	until [ -s said ] || [ -s err ]; do sleep 0.05; done
	chmod 755 "$dir"
	XSPROF_SHM_DIR=$dir/other setpriv --reuid=65534 --clear-groups "$xsprof" record -q -p $pid \
		-d 0.1 -o other/none >out 2>log
	[ $? = 2 ] && grep -q "process $pid: it is not dumpable" log
	result "a process that is not dumpable is refused" $?
	kill $pid
	wait $pid 2>/dev/null

	# As many threads as its user may have: the one that samples is not there after a fork.
	rm -f said fork stop
	setpriv --reuid=61234 --clear-groups /usr/bin/python3 -c 'import gc, os, resource, time
def until(name):
    while not os.path.exists(name):
        time.sleep(0.01)
def threads():
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.stat("/proc/" + pid).st_uid == os.getuid():
                yield len(os.listdir("/proc/%s/task" % pid))
        except OSError:
            pass
print("ready", flush=True)
until("fork")
before = resource.getrlimit(resource.RLIMIT_NPROC)
resource.setrlimit(resource.RLIMIT_NPROC, (sum(threads()), before[1]))
if not os.fork():
    time.sleep(1)
    os._exit(0)
resource.setrlimit(resource.RLIMIT_NPROC, before)
until("stop")
print(len(gc.callbacks), flush=True)' >said 2>err &
	pid=$!
	until [ -s said ] || [ -s err ]; do sleep 0.05; done
	XSPROF_SHM_DIR=$dir/other setpriv --reuid=61234 --clear-groups "$xsprof" record -q -p $pid \
		-d 3 -o other/first >out 2>log &
	recorder=$!
	for _ in $(seq 400); do
		grep -qs xsprof-python /proc/$pid/task/*/comm && break
		sleep 0.05
	done
	sleep 0.3
	: >fork
	wait $recorder
	XSPROF_SHM_DIR=$dir/other setpriv --reuid=61234 --clear-groups "$xsprof" record -q -p $pid \
		-d 0.5 -o other/second >out 2>>log
	: >stop
	wait $pid
	"$xsprof" info other/first 2>>log | grep -q 'no sampling thread' && [ ! -s err ] &&
		[ "$(tail -n 1 said)" = 0 ]
	result "without a thread after a fork no garbage collection is counted twice" $?
else
	skipped "a process that is not dumpable" "root only"
	skipped "without a thread after a fork no garbage collection is counted twice" "root only"
fi

# Each recorder attaches, or says which one has the process.
begin "$newest" cpu
for i in 1 2; do
	timeout -k 1 30 "$xsprof" record -q -p $pid -d 0.3 -o data.$i >out.$i 2>log.$i &
	eval "recorder$i=\$!"
done
# shellcheck disable=SC2154 # set by eval
wait $recorder1
one=$?
# shellcheck disable=SC2154
wait $recorder2
two=$?
cat log.1 log.2 >log
[ $one = 0 ] || [ $two = 0 ] && ended cpu &&
	! grep -vE "process $pid: (it is already being recorded by|another xsprof)" log
result "two recorders at once: one at least has it, the other one has or says why" $?

# ---- forks while our thread enters Python ----

# Python's list of threads is locked by a semaphore up to 3.11: our thread has it for longer.
cat >late.c <<-'END'
	#define _GNU_SOURCE
	#include <dlfcn.h>
	#include <semaphore.h>
	#include <string.h>
	#include <sys/prctl.h>
	#include <unistd.h>

	int sem_post(sem_t *sem)
	{
		static int (*post)(sem_t *);
		char name[16];

		if (!post)
			post = (int (*)(sem_t *))dlsym(RTLD_NEXT, "sem_post");
		if (!prctl(PR_GET_NAME, name) && !strcmp(name, "xsprof-python"))
			usleep(2000);
		return post(sem);
	}
END
gcc -O2 -fPIC -shared -o late.so late.c -ldl 2>log
result "a library that keeps semaphores for longer is built" $?
while read -r version python; do
	"$python" -c 'import sys; sys.exit(sys.version_info >= (3, 12))' || continue
	LD_PRELOAD=./late.so attach_often "$python" forks $((count * 5))
	result "$version: forks while our thread creates its state: the children run on" $?
done < <(attachable)

# ---- its files ----

for kind in sections shrinks pipe; do
	begin_hard $kind
	timeout -k 1 30 "$xsprof" record -q -p $pid -d 0.1 -o data >out 2>log
	status=$?
	kill $pid && [ $status = 0 ] && [ ! -s log ] && [ ! -s err ]
	result "it has mapped a file made to harm us: $kind" $?
	wait $pid 2>/dev/null
done

# ---- a program that has Python as a library ----

cat >embed.c <<-'END'
	#include <dlfcn.h>
	#include <signal.h>
	#include <stdlib.h>
	#include <unistd.h>

	/* LIBRARY TIMES CODE SPINS: runs CODE in so many interpreters; then it waits, or spins. */
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

# The newest Python that has a shared library.
library=$(pythons | tac | while read -r _ python; do
	"$python" -c 'import os, sys, sysconfig
get = sysconfig.get_config_var
path = os.path.join(get("LIBDIR") or "", get("INSTSONAME") or "")
sys.exit(not (3, 9) <= sys.version_info < (3, 15) or ".so" not in path or
         not os.path.exists(path) or print(path, sys.base_prefix) or 0)' && break
done)
# Sets PYTHONHOME: Python cannot find its files by the program's name.
embed()
{
	rm -f begun stop
	PYTHONHOME=${library#* } ./embed "${library% *}" "$@" >said 2>err &
	pid=$!
}
# Returns 0 if the program ended well.
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
			refused 'Python.s library, but runs no interpreter' $pid && embedded
			result "$times interpreters ended, ${spins:-waits}: refused, and runs on" $?
		done
	done
	# Each recording sees several interpreters end.
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
