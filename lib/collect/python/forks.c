// SPDX-License-Identifier: LGPL-2.1-only
/*
 * When the thread that ticks begins and ends: it runs while somebody records, and not across a
 * fork.
 *
 * Any thread may begin it, and any may fork, several at once: one of them changes the phase, and
 * those that fork wait until it is NONE. Nobody begins it while a fork is under way: who begins
 * says so first and looks for forks then, who forks counts itself first and looks at the phase
 * then, so one of both sees the other.
 *
 * Nobody waits for ever. Who forks waits for one that begins, or for the ticking thread and one
 * that waits for its end as well. Those take no lock of Python's, and none that is held here: what
 * they take is that of libxsprof-user and of the C library, and in a fork both take theirs behind
 * this, as handlers run in the opposite order of their registration. Signals are blocked meanwhile,
 * so that no handler that forks waits for the thread that it runs in; but not ours, as the ticking
 * thread may just wait for its answer.
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
	uint32_t	forks;	/* that are under way */
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

/* No lock of Python's is taken, nor is one needed by the new thread. */
static __attribute__((noinline)) void begin(void)
{
	sigset_t all, before;

	/* A child by clone() itself: nothing told us of it, and its memory is its parent's. */
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
	sigset_t most, before;
	int phase;

	if (getpid() != ticker.owner)
		return;
	__atomic_fetch_add(&ticker.forks, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&ticker.phase, __ATOMIC_SEQ_CST) == NONE)
		return;
	python_signals_of_others(&most);
	python_ask_keep(&most);
	pthread_sigmask(SIG_BLOCK, &most, &before);
	while ((phase = __atomic_load_n(&ticker.phase, __ATOMIC_SEQ_CST)) != NONE) {
		if (swap_phase(RUNS, ENDS)) {
			python_ticker_end();
			set_phase(NONE);
		} else {
			syscall(SYS_futex, &ticker.phase, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, phase,
				NULL, NULL, 0);
		}
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
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
