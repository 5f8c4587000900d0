#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Samples of programs that make it hard: forks of several threads at once, new code objects at freed
# addresses, names that are empty or long, deep stacks, many threads, interpreters that share the
# GIL, signals that are blocked or taken by others, seccomp filters. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
. tests/torch/pythons.sh
. tests/python/start.sh

hard=$here/frames-hard.py

record() # $1 samples per second, $2 Python, then frames-hard.py's arguments
{
	local hz=$1 python=$2

	shift 2
	rm -f data said events
	timeout 120 "$xsprof" record -q --python="$hz" -o data -- "$python" "$hard" "$@" \
		>said 2>log && "$dump" -q -f ndjson data >events 2>>log
}

# Runs Python code from stdin, with the samples in "samples", the missed ones in "missed".
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

# The idle thread has a sample at each tick, except for ticks that all threads missed.
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

cat >data.c <<'END'
__thread char data[300000] __attribute__((tls_model("initial-exec")));
int touch(void)
{
	return data[1]++;
}
END
gcc -shared -fPIC -o data.so data.c 2>log && LD_PRELOAD=$dir/data.so record 500 "$newest" limit &&
	judge <<< 'assert len([e for e in samples if e["how"] == "runs"]) > 5, len(missed)'
result "a program with more thread-local data than a small stack has" $?
record 500 "$newest" ends && judge <<-'END'
	tid, end = map(int, open("said").read().split())
	ours = [e["ns"] for e in both if e["of"] == tid]
	late = [ns for ns in ours if ns > end + 100000000]
	assert len(ours) > 10 and not late, (len(ours), len(late))
	END
result "a thread that Python does not see end has no samples from then on" $?

record 100 "$newest" many && grep -q '^xsprof: Python has more than 1024 threads: ' log &&
	judge <<-'END'
	last = [e for e in samples if e["how"] == "runs" and e["name"].endswith("): spin")]
	assert len(last) > 5, len(last)
	END
result "more threads than are known" $?

for python in "$oldest" "$newest"; do
	raised=none
	record 1000 "$python" raises && read -r raised arrived <said && [ "$raised" = "$arrived" ]
	result "what a handler raises in a function of ours arrives ($raised), $python" $?
	record 200 "$python" derived &&
		judge <<< 'assert any(f.endswith("of-derived.py(2): of_derived") or
	f.endswith("): of_derived") and "of-derived.py" in f for e in samples for f in e["frames"])
for e in samples:
    for f in e["frames"]:
        assert f.isprintable(), f'
	result "names of a class derived from str, $python" $?
	record 200 "$python" trampoline && { [ "$(cat said)" = none ] || judge <<-'END'
		name = open("said").read().strip()
		assert any(f.endswith(": " + name) for e in samples for f in e["frames"]), name
		END
	}
	result "a function at the address of one named like Python's own, $python" $?
done
record 1000 "$newest" winds && [ "$(cat said)" = 0 ]
result "a thread that blocks the other signal is not sent it when the program takes the first" $?
cat >loads.c <<'END'
#include <sys/wait.h>
#include <unistd.h>
__attribute__((constructor)) static void forks(void)
{
	int pid, status;
	usleep(400000);
	pid = fork();
	if (!pid)
		_exit(0);
	waitpid(pid, &status, 0);
}
END
gcc -shared -fPIC -o loads.so loads.c 2>log && record 100 "$newest" loads ./loads.so &&
	[ "$(cat said)" = loaded ]
result "a library that forks as it is loaded, when the first coroutine is seen" $?

# At 1000 Hz a tick would take longer than a millisecond. It may take a share of 50 ms at once.
record 1000 "$newest" share && judge <<-'END'
	cpu, elapsed = map(int, open("said").read().split())
	assert cpu < elapsed / 20 + 150000000, (cpu, elapsed)
	assert sum(e["missed"] for e in missed if e["of"] == 0) > 100, len(missed)
	assert len(samples) > 1000, len(samples)
	END
result "ticks take a twentieth of a CPU, those beyond it are missed" $?

# A thread may block the signal just after the sampler has checked: try again.
for _ in 1 2 3; do
	record 100 "$newest" blocks && break
done
result "no signal is sent to a thread that blocks it, and execve() finds none" $?
for what in "flushes:a signal that another takes: the thread is asked again" \
	"limit:a limit of pending signals: those that come say nothing of who sent them"; do
	record 1000 "$newest" "${what%%:*}" && judge <<-'END'
		after = [e for e in samples if e["how"] == "runs" and
		         any(f.endswith(".after") or f.endswith(": after") for f in e["frames"])]
		assert len(after) > 5, (len(after), len(missed))
		END
	result "${what#*:}" $?
done
cat >jumps.c <<'END'
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>
static sigjmp_buf back;
static void leaps(int number)
{
	siglongjmp(back, number);
}
/* Jumps out of handlers, and of whatever they interrupt, for so many seconds. */
int jumps(int seconds)
{
	struct itimerval often = { { 0, 100 }, { 0, 100 } }, none = { 0 };
	time_t end = time(0) + seconds;
	static volatile int nr;
	signal(SIGALRM, leaps);
	if (sigsetjmp(back, 1))
		nr++;
	else
		setitimer(ITIMER_REAL, &often, 0);
	while (time(0) < end)
		;
	setitimer(ITIMER_REAL, &none, 0);
	signal(SIGALRM, SIG_IGN);
	return nr;
}
END
gcc -shared -fPIC -o jumps.so jumps.c 2>log && record 1000 "$newest" jumps ./jumps.so &&
	judge <<-'END'
	def among(what):
	    return sum(any(f.endswith(what) for f in e["frames"]) for e in samples
	               if e["how"] == "runs")
	assert among(": jumps") > 50 and among("after") > 5, (among(": jumps"), among("after"))
	END
result "a handler that jumps over ours: the thread is asked again" $?
cat >takes.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
static int (*real)(int, const struct sigaction *, struct sigaction *);
static void takes(int number)
{
}
/* The program takes each signal when it has just been seen to be free, for the second time. */
int sigaction(int number, const struct sigaction *action, struct sigaction *before)
{
	struct sigaction ours = { .sa_handler = takes };
	static int seen[NSIG];
	char name[16] = "";
	int err;
	if (!real)
		real = (int (*)(int, const struct sigaction *, struct sigaction *))
			dlsym(RTLD_NEXT, "sigaction");
	err = real(number, action, before);
	prctl(PR_GET_NAME, name);
	if (!action && !strcmp(name, "xsprof-python") && before->sa_handler == SIG_DFL &&
	    seen[number]++)
		real(number, &ours, NULL);
	return err;
}
int kept(int number)
{
	struct sigaction now;
	return !real(number, NULL, &now) && now.sa_handler == takes;
}
END
gcc -shared -fPIC -o takes.so takes.c 2>log && LD_PRELOAD=$dir/takes.so record 500 "$newest" takes \
	./takes.so && [ "$(cat said)" = "1 1" ] && grep -q '^xsprof: the program uses all' log
result "a signal that the program takes while it is looked at stays its own" $?
record 500 "$newest" stack && [ "$(cat said)" -gt 0 ]
result "the handler runs on a thread's other stack" $?

record 500 "$newest" forbids
[ "$(cat said)" = skip ] || { [ "$(grep -c '^xsprof: process_vm_readv() now fails' log)" = 1 ] &&
	judge <<< 'assert len(missed) < 100, len(missed)'; }
result "a filter that is set later: it is said, and no more is read" $?
cat >traps.c <<'END'
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
static void refuses(int number, siginfo_t *info, void *context)
{
	ucontext_t *u = context;
#ifdef __x86_64__
	u->uc_mcontext.gregs[REG_RAX] = -EPERM;
#else
	u->uc_mcontext.regs[0] = -EPERM;
#endif
}
/* A sandbox: its handler says of all threads' calls what comes of them. */
int traps(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { 4, code };
	struct sigaction action = { .sa_sigaction = refuses, .sa_flags = SA_SIGINFO };
	return sigaction(SIGSYS, &action, NULL) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
}
END
gcc -shared -fPIC -o traps.so traps.c 2>log && record 500 "$newest" traps ./traps.so && {
	[ "$(cat said)" = skip ] || { [ "$(cat said)" = traps ] &&
	[ "$(grep -c '^xsprof: process_vm_readv() now fails' log)" = 1 ]; }; }
result "a filter of all threads whose handler refuses: the program runs on" $?

if "$newest" -c 'import sys; sys.exit(sys.version_info < (3, 12))'; then
	"$xsprof" record -q --python -o data -- "$newest" -X perf -c 'print(1)' >said 2>log
	[ "$(cat said)" = 1 ] && grep -q '^xsprof: Python: .*-X perf.* frames are not recorded$' log
	result "-X perf: it is said that frames are not recorded, and why" $?
fi
finish
