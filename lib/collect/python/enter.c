// SPDX-License-Identifier: LGPL-2.1-only
/*
 * A thread of ours enters Python, while the program may fork.
 *
 * Creating a state in Python locks its list of states, without the GIL. Up to 3.11 a child that is
 * forked meanwhile finds the list locked for ever. So no fork happens then: the thread announces
 * itself before it checks for forks, and a forking thread counts itself before it checks for the
 * thread. Forks are known once their handlers are registered: before the first time it waits for
 * others.
 */
#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "collect/python/enter.h"
#include "collect/python/sample.h"

static struct {
	pid_t		pid;		/* the process that has the thread */
	bool		known;		/* forks are */
	uint32_t	forks;		/* under way */
	bool		enters;		/* the thread creates its state */
	bool		settled;	/* no fork is under way that is not known */
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

/* Besides ours and the one that python_enter_watch() was called in. */
static bool has_more_threads(void)
{
	struct stat task;

	return stat("/proc/self/task", &task) || task.st_nlink > 2 + 2;
}

/*
 * Another thread may have begun a fork before the handlers were registered. To copy the memory, it
 * takes the lock that mmap() takes: so one of these calls waits for it, however long that is.
 * Until then a fork takes a few locks of the C library, in far less time than 20 ms.
 */
void python_enter_settle(void)
{
	const struct timespec ms = { 0, 1000000 };
	void *page;

	for (int i = 0; i < 20 && !entering.settled && has_more_threads(); i++) {
		nanosleep(&ms, NULL);
		page = mmap(NULL, 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (page != MAP_FAILED)
			(void)munmap(page, 1);
	}
	entering.settled = true;
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
