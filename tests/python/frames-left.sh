#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What a sampler must leave as it is: calls that wait with the GIL held, programs that call the
# handler which was there before theirs, small alternate stacks, audit hooks, forks in handlers and
# by cancelled threads; and deep stacks, which take long to read. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
. tests/torch/pythons.sh
. tests/python/start.sh
left=$here/frames-left.py
newest=$(pythons | tail -n 1 | cut -d' ' -f2)

cat >left.c <<'END'
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}
/* Computes for a while, then waits. Return: how long it had waited when it was interrupted, ms. */
double computes_and_waits(double computes, int waits)
{
	double begin = now();
	while (now() < begin + computes)
		;
	begin = now();
	return poll(NULL, 0, waits) < 0 && errno == EINTR ? now() - begin : 0;
}
static void (*volatile before)(int);
static volatile int calls;
static void chains(int number)
{
	calls++;
	/* What is in the registers of further arguments is the program's. */
#ifdef __x86_64__
	__asm__ volatile("movq $8, %%rsi; movq $8, %%rdx; call *%1" :: "D" (number), "r" (before) :
			 "rax", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory");
#else
	before(number);
#endif
}
int takes(int number)
{
	struct sigaction ours = { .sa_handler = chains }, theirs;
	if (sigaction(number, &ours, &theirs))
		return 0;
	before = theirs.sa_handler;
	return before != SIG_DFL && before != SIG_IGN;
}
int called(void)
{
	return calls;
}
static unsigned char memory[1 << 15];
/* An alternate stack in the upper half. */
int stack(int size)
{
	stack_t stack = { .ss_sp = memory + sizeof(memory) / 2, .ss_size = size };
	memset(memory, 0xaa, sizeof(memory));
	return sigaltstack(&stack, NULL);
}
int below(void)
{
	unsigned int i = 0;
	while (i < sizeof(memory) / 2 && memory[i] == 0xaa)
		i++;
	return sizeof(memory) / 2 - i;
}
static volatile int go, forked;
static void *forks(void *unused)
{
	int pid;
	while (!go)
		;
	pid = fork();
	if (!pid)
		_exit(0);
	forked = pid > 0;
	waitpid(pid, NULL, 0);
	return NULL;
}
/* A fork of a thread that is to end at its next cancellation point: fork() is none. */
int forks_cancelled(void)
{
	pthread_t thread;
	go = forked = 0;
	pthread_create(&thread, NULL, forks, NULL);
	pthread_cancel(thread);
	go = 1;
	pthread_join(thread, NULL);
	return forked;
}
END
cc -shared -fPIC -O1 -pthread -o left.so left.c 2>log
result "a library of functions that wait, chain and fork" $?

record() # $1 samples per second, then arguments of frames-left.py
{
	local hz=$1

	shift
	rm -f data said
	timeout 120 "$xsprof" record -q --python="$hz" -o data -- "$newest" "$left" "$@" \
		>said 2>log
}

# Interrupted while it waits, not as it begins to: at most 1 of 100 times.
for threads in 2 1040; do
	for _ in 1 2 3; do
		record 100 waits $threads ./left.so &&
			awk '{ exit !($1 * 100 <= $2) }' said && break
	done
	result "a call that waits with the GIL held goes on, of $threads threads" $?
done
record 500 chains ./left.so && [ "$(cat said)" = "1 3" ]
result "the handler is called by the program's, without what the kernel tells" $?
for native in '' --python-native; do
	for size in 2048 4096; do
		rm -f said
		"$xsprof" record -q --python=500 $native -o data -- "$newest" "$left" stack $size \
			./left.so >said 2>log && [ "$(cat said)" = "0 0" ]
		result "an alternate stack of $size bytes is not left${native:+, with $native}" $?
	done
done
while read -r version python; do
	"$python" -c 'import sys; sys.exit(sys.version_info < (3, 9))' || continue
	"$xsprof" record -q --python=500 -o data -- "$python" "$left" audits >said 2>log &&
		[ "$(cat said)" = fine ] && [ "$(grep -c . log)" = 1 ] &&
		grep -q '^xsprof: Python: tasks of asyncio are not as they are expected' log
	result "$version: an audit hook that refuses to compile ends nothing" $?
done < <(pythons)

# Each sample of so deep a stack takes a millisecond or so: a thousand a second would take all.
record 1000 deep 4000 && "$dump" -q -f ndjson data >events 2>>log && python3 - 2>>log <<-'END'
	import json
	samples = [e for e in map(json.loads, open("events", encoding="utf-8"))
	           if e["type"] == "sample"]
	late = sum(e["missed"] for e in samples if e["how"] == "missed" and e["of"] == 0)
	deep = [e for e in samples if e["how"] == "runs" and e.get("left_out", 0) > 3000]
	assert late > len(deep) > 10, (late, len(deep), len(samples))
	END
result "the time to read a deep stack counts among that of ticks" $?

if [ "$(uname -m)" != x86_64 ] || [ -e /dev/xsprof ]; then
	skipped "record -p: forks of a thread that is to end" "x86-64 without the module only"
	finish
fi
rm -f said go over
"$newest" -W ignore "$left" forks ./left.so >said 2>log &
program=$!
until [ -s said ] || ! kill -0 $program 2>>log; do sleep 0.05; done
"$xsprof" record -q --python=100 -o data -p $program -d 2 2>>log &
recorder=$!
sleep 0.7
: >go
wait $recorder && : >over && timeout 60 tail --pid=$program -f /dev/null && wait $program &&
	[ "$(tail -n 1 said)" = "5 forks, 5 forks" ]
result "record -p: forks of a thread that is to end, while recorded and after that" $?
kill $program 2>/dev/null
finish
