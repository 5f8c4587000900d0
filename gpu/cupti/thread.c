// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The collector's thread: it takes the buffers that CUPTI has filled, and four times a second
 * those that are not full and in which all activities are over.  So a program that is killed loses
 * what its devices did in its last quarter of a second, and what a thread whose device is never
 * idle launched since its buffer was full.
 *
 * At the exit of the program the thread takes all there is, and the program waits for it, but not
 * for ever.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "gpu/cupti/local.h"

#define SECOND		1000000000u
#define PERIOD		(SECOND / 4)
#define GONE		(2ull * SECOND)	/* a recorder that takes nothing for so long */
#define EXIT_S		10
#define WAIT_S		5u	/* of these, for the recorder */
#define STACK		(256u << 10)

static pthread_t thread;
static pid_t owner;
static bool stop;

/* A recorder that goes leaves a program at its old speed.  Return: is CUPTI ours? */
static bool follow(bool on)
{
	uint64_t stalled = collect_stalled();
	bool gone = stalled && collect_monotonic() - stalled > GONE;
	bool wanted = !gone && xsprof_enabled() >> cupti_category() & 1;
	static int said;
	int err;

	if (on && !wanted) {
		/* Take what CUPTI still holds: the next subscriber must not get it. */
		if (cupti_budget_end()) {
			cupti_flush(CUPTI_FLUSH_FORCED);
			cupti_kinds_off();
		}
		return false;
	}
	if (on || !wanted)
		return on;
	err = cupti_kinds_on();
	if (err && err != said)
		cupti_tell(err);
	said = err;
	return !err;
}

static void *run(void *unused)
{
	uint64_t next = collect_monotonic() + PERIOD, budget = next, now;
	struct cupti_buffer buffer;
	bool on = true;

	(void)unused;
	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
		if (cupti_pool_take(&buffer, budget < next ? budget : next)) {
			cupti_record_buffer(&buffer);
			cupti_pool_give(&buffer);
		}
		now = collect_monotonic();
		budget = on ? cupti_budget(now) : next;
		if (now < next)
			continue;
		next = now + PERIOD;
		if (on)
			cupti_flush(0);
		on = follow(on);
		if (on)
			cupti_kinds_later();
	}
	collect_hurry(collect_monotonic() + WAIT_S * (uint64_t)SECOND);
	if (on && cupti_budget_end())
		cupti_flush(CUPTI_FLUSH_FORCED);
	cupti_wait_end();
	cupti_miss_show();
	return NULL;
}

static void at_exit(void)
{
	struct timespec until;

	/* The child of a fork has no such thread, and CUDA does not work in it. */
	if (owner != getpid())
		return;
	__atomic_store_n(&stop, true, __ATOMIC_RELEASE);
	cupti_pool_wake();
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += EXIT_S;
	if (pthread_timedjoin_np(thread, NULL, &until) != ETIMEDOUT)
		return;
	cupti_miss(CUPTI_MISS_EXIT, cupti_pool_full());
	cupti_miss_show();
	collect_say("CUPTI did not give the last activities of the GPU within %u s: they are not "
		  "recorded", EXIT_S);
}

int cupti_thread_start(void)
{
	pthread_attr_t attr;
	sigset_t all, old;
	int err;

	/* Registered after CUDA's own: it runs before CUDA ends.  Without @owner it returns. */
	if (atexit(at_exit)) {
		collect_say("no memory for the end of the program: the GPU is not recorded");
		return -ENOMEM;
	}
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	/* The program's signals are for its own threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&thread, &attr, run, NULL);
	/* Static thread-local memory of the program counts as part of a stack. */
	if (err == EINVAL)
		err = pthread_create(&thread, NULL, run, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	if (err) {
		collect_say("no thread can be started (%s): the GPU is not recorded",
			    strerror(err));
		return -err;
	}
	owner = getpid();
	pthread_setname_np(thread, "xsprof-cupti");
	return 0;
}
