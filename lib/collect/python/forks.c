// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Starts and stops the ticking thread: it runs while the process is recorded, and not across a
 * fork.
 *
 * Any thread may start it, and several may fork at the same time: one of them changes the phase,
 * and forking threads wait until it is NONE. The thread is not started while a fork is under way:
 * the starter announces itself before it checks for forks, and a forking thread counts itself
 * before it checks the phase, so at least one of the two sees the other.
 *
 * No wait is unbounded. A forking thread waits for a starter, or for the ticking thread to end.
 * These take no lock of Python and none held here; they take those of libxsprof-user and the C
 * library, which a fork takes after ours, as prepare handlers run in reverse order of registration.
 * All signals are blocked meanwhile, so that no handler that forks waits for the thread it
 * interrupted; except ours, whose answer the ticking thread may be waiting for.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collect/python/sample.h"

enum { NONE, BEGINS, RUNS, ENDS };

static struct {
	pid_t		owner;	/* the process that may have the thread */
	int		phase;	/* a futex */
	uint32_t	forks;	/* forks under way */
} ticker;

static bool swap_phase(int from, int to)
{
	return __atomic_compare_exchange_n(&ticker.phase, &from, to, false, __ATOMIC_SEQ_CST,
					   __ATOMIC_SEQ_CST);
}

static void set_phase(int phase)
{
	__atomic_store_n(&ticker.phase, phase, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &ticker.phase, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, INT32_MAX, NULL, NULL,
		0);
}

static bool forks(void)
{
	return __atomic_load_n(&ticker.forks, __ATOMIC_SEQ_CST);
}

/* Takes no lock of Python; the new thread needs none either. */
static __attribute__((noinline)) void begin(void)
{
	sigset_t all, before;

	/* A child made by a bare clone() is unknown to us: its memory is the parent's. */
	if (forks() || getpid() != ticker.owner)
		return;
	python_signals_of_others(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (swap_phase(NONE, BEGINS))
		set_phase(!forks() && python_ticker_make() ? RUNS : NONE);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void python_tick_begin(void)
{
	if (__builtin_expect(__atomic_load_n(&ticker.phase, __ATOMIC_RELAXED) == NONE, 0) &&
	    python_sampling)
		begin();
}

void python_tick_stop(void)
{
	struct python_calm calm;
	int phase;

	if (getpid() != ticker.owner)
		return;
	__atomic_fetch_add(&ticker.forks, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&ticker.phase, __ATOMIC_SEQ_CST) == NONE)
		return;
	python_calm(&calm);
	while ((phase = __atomic_load_n(&ticker.phase, __ATOMIC_SEQ_CST)) != NONE) {
		if (swap_phase(RUNS, ENDS)) {
			python_ticker_end();
			set_phase(NONE);
		} else {
			syscall(SYS_futex, &ticker.phase, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, phase,
				NULL, NULL, 0);
		}
	}
	python_calm_end(&calm);
}

void python_tick_forked_parent(void)
{
	if (getpid() == ticker.owner)
		__atomic_fetch_sub(&ticker.forks, 1, __ATOMIC_SEQ_CST);
}

void python_ticker_own(void)
{
	ticker.owner = getpid();
	ticker.forks = 0;
	ticker.phase = NONE;
}
