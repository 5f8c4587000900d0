// SPDX-License-Identifier: LGPL-2.1-only
/*
 * A thread of ours enters Python, while the program may fork.
 *
 * Creating a state in Python locks its list of states, without the GIL. Up to 3.11 a child that is
 * forked meanwhile finds the list locked for ever. So no fork happens then: the thread announces
 * itself before it checks for forks, and a forking thread counts itself before it checks for the
 * thread.
 */
#include <pthread.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

#include "collect/python/enter.h"
#include "collect/python/sample.h"

static struct {
	pid_t		pid;		/* the process that has the thread */
	bool		known;		/* forks are */
	uint32_t	forks;		/* under way */
	bool		enters;		/* the thread creates its state */
	void		(*child)(void);
} entering;

static const struct timespec moment = { 0, 100000 };

extern int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void),
			     void *dso) __attribute__((weak));

bool python_enter_is_ours(void)
{
	return getpid() == entering.pid;
}

static void fork_begins(void)
{
	struct python_calm calm;

	/* A child made by a bare clone() lacks the thread. */
	if (!python_enter_is_ours())
		return;
	python_calm(&calm);
	__atomic_fetch_add(&entering.forks, 1, __ATOMIC_SEQ_CST);
	/*
	 * At most a second: tracemalloc takes the GIL, which this thread may have, to count the
	 * memory of the new state, but not while the list is locked.
	 */
	for (int i = 0; i < 10000 && __atomic_load_n(&entering.enters, __ATOMIC_SEQ_CST); i++)
		nanosleep(&moment, NULL);
	python_calm_end(&calm);
}

static void fork_is_over(void)
{
	if (python_enter_is_ours())
		__atomic_fetch_sub(&entering.forks, 1, __ATOMIC_SEQ_CST);
}

static void forked(void)
{
	entering.pid = getpid();
	entering.forks = 0;
	entering.enters = false;
	entering.child();
}

void python_enter_watch(void (*child)(void))
{
	entering.pid = getpid();
	entering.child = child;
	if (!entering.known && __register_atfork)
		entering.known = !__register_atfork(fork_begins, fork_is_over, forked, NULL);
}

void *python_enter(bool (*goes_on)(void))
{
	void *state;

	for (;;) {
		if (!goes_on())
			return NULL;
		__atomic_store_n(&entering.enters, true, __ATOMIC_SEQ_CST);
		if (!__atomic_load_n(&entering.forks, __ATOMIC_SEQ_CST))
			break;
		__atomic_store_n(&entering.enters, false, __ATOMIC_SEQ_CST);
		nanosleep(&moment, NULL);
	}
	state = cpython.new_state(cpython.main_interpreter());
	__atomic_store_n(&entering.enters, false, __ATOMIC_SEQ_CST);
	if (state)
		cpython.take_gil(state);
	return state;
}

void python_leave(void *state)
{
	cpython.clear_state(state);
	cpython.delete_state();
}
