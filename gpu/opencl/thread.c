// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The collector's thread: while commands are under way it looks a hundred times a second at what
 * became of them, else twenty times whether there are any.  So a program that is killed loses what
 * its devices did in its last moments, of 10 or 50 ms.
 *
 * At the exit of the program the thread takes what is over, and the program waits for it, but not
 * for ever.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "gpu/opencl/local.h"

#define SECOND		1000000000u
#define PERIOD		(SECOND / 100)
#define IDLE		(SECOND / 20)
#define LAST_NS		(SECOND / 5)	/* for commands that are not over when the program ends */
#define WAIT_S		5u	/* for the recorder */
#define EXIT_S		10
#define SHARE		20u	/* of its time, 1 in so many is for looking */

static pthread_t thread;
static pid_t owner;
static bool joined;

enum opencl_thread opencl_thread;

/* Thousands of commands may wait for an event of the program's: they are looked at less often. */
static uint64_t pause_of(uint32_t left, uint64_t took)
{
	if (!left)
		return IDLE;
	return took * SHARE > PERIOD ? took * SHARE : PERIOD;
}

static void *run(void *unused)
{
	const struct timespec pause = { .tv_nsec = PERIOD };
	uint64_t until, begin, took = 0;
	uint32_t left = 0;

	(void)unused;
	while (opencl_bell_wait(collect_monotonic() + pause_of(left, took))) {
		begin = collect_monotonic();
		left = opencl_commands_look();
		took = collect_monotonic() - begin;
		opencl_devices_look(false);
		opencl_misses_show();
	}
	until = collect_monotonic() + LAST_NS;
	collect_hurry(until + WAIT_S * (uint64_t)SECOND);
	while ((left = opencl_commands_look()) && collect_monotonic() < until)
		nanosleep(&pause, NULL);
	opencl_devices_look(true);
	opencl_miss(OPENCL_MISS_EXIT, left);
	opencl_misses_show();
	return NULL;
}

static void at_exit(void)
{
	struct timespec until;

	/* The child of a fork has no such thread, unless it has used OpenCL. */
	if (owner != getpid() || __atomic_exchange_n(&joined, true, __ATOMIC_RELAXED))
		return;
	opencl_bell_ring(true);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += EXIT_S;
	if (pthread_timedjoin_np(thread, NULL, &until) == ETIMEDOUT)
		collect_say("OpenCL did not give the last activities of its devices within %u s: "
			    "they are not recorded", EXIT_S);
}

/* Once more when a runtime is there: what was registered last runs first. */
void opencl_thread_at_exit(void)
{
	static bool done;

	if (!__atomic_exchange_n(&done, true, __ATOMIC_RELAXED))
		(void)atexit(at_exit);
}

/* In the child of a fork: there is none. */
void opencl_thread_forget(void)
{
	owner = 0;
	joined = false;
	__atomic_store_n(&opencl_thread, OPENCL_GONE, __ATOMIC_RELAXED);
}

int opencl_thread_start(void)
{
	sigset_t all, old;
	int err;

	if (atexit(at_exit)) {
		collect_say("no memory for the end of the program: OpenCL is not recorded");
		return -ENOMEM;
	}
	opencl_bell_init();
	/*
	 * The program's signals are for its own threads.  The stack is as its threads have it: with
	 * the last reference to an event the runtime may call a callback of the program.
	 */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&thread, NULL, run, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (err) {
		collect_say("no thread can be started (%s): OpenCL is not recorded", strerror(err));
		return -err;
	}
	owner = getpid();
	pthread_setname_np(thread, "xsprof-opencl");
	return 0;
}

/* Relaxed: the word orders nothing, what others read the creation of the thread orders. */
bool opencl_thread_back(void)
{
	enum opencl_thread was = OPENCL_GONE;

	/* One of the program's threads starts it; what others push meanwhile is looked at soon. */
	if (!__atomic_compare_exchange_n(&opencl_thread, &was, OPENCL_RUNS, false,
					 __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return was == OPENCL_RUNS;
	(void)xsprof_init(NULL);
	if (!opencl_thread_start())
		return true;
	/* It was told.  Commands that nobody looks at are not kept. */
	__atomic_store_n(&opencl_thread, OPENCL_FAILED, __ATOMIC_RELAXED);
	return false;
}
