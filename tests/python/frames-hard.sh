#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Where threads are in programs that make it hard: forks of several threads at once, codes at the
# addresses of others, names that are empty or long, deep stacks, many threads, interpreters that
# share the lock, signals that are blocked or taken by others, filters. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
. tests/torch/pythons.sh
. tests/python/start.sh

hard=$here/frames-hard.py

record() # $1 times a second, $2 Python, then what of frames-hard.py
{
	local hz=$1 python=$2

	shift 2
	rm -f data said events
	timeout 120 "$xsprof" record -q --python="$hz" -o data -- "$python" "$hard" "$@" \
		>said 2>log && "$dump" -q -f ndjson data >events 2>>log
}

# A Python program that has the samples as "samples" and those that were missed.
judge()
{
	{
		echo 'import json, sys, collections'
		echo 'events = [json.loads(line) for line in open("events", encoding="utf-8")]'
		echo 'both = [e for e in events if e["type"] == "sample"]'
		echo 'samples = [e for e in both if e["how"] != "missed"]'
		echo 'missed = [e for e in both if e["how"] == "missed"]'
		cat
	} | python3 - >>log 2>&1
}

mapfile -t all < <(pythons | while read -r version python; do
	"$python" -c 'import sys; sys.exit(sys.version_info < (3, 9))' && echo "$version $python"
done)
oldest=${all[0]#* } newest=${all[-1]#* }

cat >forks.c <<'END'
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_t threads[2];
static volatile int stop;
static long nr;
static void *work(void *unused)
{
	while (!stop) {
		int pid = fork(), status;

		if (!pid)
			_exit(0);
		if (pid < 0)
			return unused;
		waitpid(pid, &status, 0);
		__atomic_add_fetch(&nr, 1, __ATOMIC_RELAXED);
	}
	return unused;
}
int start(void)
{
	return pthread_create(&threads[0], 0, work, 0) || pthread_create(&threads[1], 0, work, 0);
}
int finish(void)
{
	stop = 1;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], 0);
	return nr > 0;
}
int raw(void)
{
	return (int)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}
END
gcc -shared -fPIC -o forks.so forks.c -pthread 2>log && record 1000 "$newest" forks ./forks.so &&
	[ "$(cat said)" = forks ]
result "two threads fork at once" $?
record 500 "$newest" clone ./forks.so && [ "$(cat said)" = 3 ]
result "a child by clone(), and a fork in it" $?

for one in "${all[@]}"; do
	record 1000 "${one#* }" reuse && judge <<-'END'
		end = json.load(open("said"))
		ours = [e for e in samples if e["name"].startswith("cell_")]
		# What is recorded late is so by milliseconds.
		gone = 0
		for e in ours:
		    file, name = e["name"].split(".py(1): ")
		    assert name in ("stage" + file[4:], "<module>"), e["name"]
		    gone += e["ns"] > end[int(file[5:]) - 10000] + 200000000
		assert len(ours) > 100 and gone < len(ours) / 50, (gone, len(ours))
		END
	result "${one% *}: a code at the address of another has its own name" $?
	record 200 "${one#* }" interpreters && judge <<-'END'
		# Its file is <string>, and <script> from 3.14 on.
		inside = [e for e in samples if e["name"].endswith(">(2): inside")]
		assert len(inside) > len(samples) / 4, (len(inside), len(samples))
		END
	result "${one% *}: an interpreter that shares the lock" $?
done

record 200 "$newest" names && judge <<-'END'
	names = {e["name"] for e in samples}
	assert "<no name>(1): in_none" in names, names
	assert "at_end.py(1): at_end" in names, names
	long = [n for n in names if n.endswith("/directory/é.py(1): in_long")]
	assert long and long[0].startswith("..."), names
	assert [n for n in names if n.startswith("long.py(1): ...f") and n.endswith("f_end")], names
	END
result "names that are empty or long, or at the end of memory" $?
for python in "$oldest" "$newest"; do
	record 200 "$python" deep && judge <<-'END'
		left = [e["left_out"] for e in samples if e["name"].endswith("): spin")]
		assert left and max(left) == 4096 - 64, left
		END
	result "6000 functions within each other, $python" $?
done

# The idle thread has a sample at each tick, unless ticks were missed for all.
record 1000 "$newest" counts && judge <<-'END'
	idle, *others = [int(line) for line in open("said")]
	def ticks(tid, begin, end):
	    return sum(begin < e["ns"] <= end for e in samples if e["of"] == tid) + \
	        sum(e["missed"] for e in missed if e["of"] in (0, tid) and begin < e["ns"] <= end)
	for tid in others:
	    at = [e["ns"] for e in samples if e["of"] == tid]
	    want, got = ticks(idle, at[0], at[-1]), ticks(tid, at[0], at[-1])
	    assert want > 100 and abs(got - want) <= 10, (tid, got, want)
	END
result "at each tick a thread has one sample, or one is missed" $?

record 100 "$newest" many && grep -q '^xsprof: Python has more than 1024 threads: ' log &&
	judge <<-'END'
	last = [e for e in samples if e["how"] == "runs" and e["name"].endswith("): spin")]
	assert len(last) > 5, len(last)
	END
result "more threads than are known" $?

# A thread that blocks it just while it is looked whether it does has one.
for _ in 1 2 3; do
	record 100 "$newest" blocks && break
done
result "no signal is sent to a thread that blocks it, and execve() finds none" $?
record 1000 "$newest" flushes && judge <<-'END'
	after = [e for e in samples if e["how"] == "runs" and
	         any(f.endswith(".after") or f.endswith(": after") for f in e["frames"])]
	assert len(after) > 5, (len(after), len(missed))
	END
result "a signal that another takes: the thread is asked again" $?
record 500 "$newest" stack && [ "$(cat said)" -gt 0 ]
result "the handler runs on a thread's other stack" $?

record 500 "$newest" forbids
[ "$(cat said)" = skip ] || { [ "$(grep -c '^xsprof: process_vm_readv() is refused' log)" = 1 ] &&
	judge <<< 'assert len(missed) < 100, len(missed)'; }
result "a filter that is set later: it is said, and no more is read" $?

if "$newest" -c 'import sys; sys.exit(sys.version_info < (3, 12))'; then
	"$xsprof" record -q --python -o data -- "$newest" -X perf -c 'print(1)' >said 2>log
	[ "$(cat said)" = 1 ] && grep -q '^xsprof: Python: .*-X perf.* frames are not recorded$' log
	result "-X perf: it is said that frames are not recorded, and why" $?
fi
finish
