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
#define LAST_S		1u	/* for commands that are not over when the program ends */
#define WAIT_S		5u	/* for the recorder */
#define EXIT_S		10
#define STACK		(256u << 10)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake;
static pthread_t thread;
static pid_t owner;
static bool stop, woken, joined;

void opencl_thread_wake(void)
{
	pthread_mutex_lock(&lock);
	woken = true;
	pthread_cond_signal(&wake);
	pthread_mutex_unlock(&lock);
}

/* Until then, or until it is woken.  Return: go on. */
static bool pause_until(uint64_t deadline_ns)
{
	const struct timespec until = {
		.tv_sec = (time_t)(deadline_ns / SECOND), .tv_nsec = (long)(deadline_ns % SECOND),
	};
	bool go_on;

	pthread_mutex_lock(&lock);
	while (!stop && !woken && pthread_cond_timedwait(&wake, &lock, &until) != ETIMEDOUT)
		;
	woken = false;
	go_on = !stop;
	pthread_mutex_unlock(&lock);
	return go_on;
}

static void *run(void *unused)
{
	const struct timespec pause = { .tv_nsec = PERIOD };
	uint32_t left = 0;
	uint64_t until;

	(void)unused;
	while (pause_until(collect_monotonic() + (left ? PERIOD : IDLE))) {
		left = opencl_commands_look();
		opencl_devices_look(false);
		opencl_misses_show();
	}
	until = collect_monotonic() + LAST_S * (uint64_t)SECOND;
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

	/* The child of a fork has no such thread, and OpenCL does not work in it. */
	if (owner != getpid() || __atomic_exchange_n(&joined, true, __ATOMIC_RELAXED))
		return;
	pthread_mutex_lock(&lock);
	stop = true;
	pthread_cond_signal(&wake);
	pthread_mutex_unlock(&lock);
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

int opencl_thread_start(void)
{
	pthread_condattr_t condattr;
	pthread_attr_t attr;
	sigset_t all, old;
	int err;

	if (atexit(at_exit)) {
		collect_say("no memory for the end of the program: OpenCL is not recorded");
		return -ENOMEM;
	}
	pthread_condattr_init(&condattr);
	pthread_condattr_setclock(&condattr, CLOCK_MONOTONIC);
	pthread_cond_init(&wake, &condattr);
	pthread_condattr_destroy(&condattr);
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
		collect_say("no thread can be started (%s): OpenCL is not recorded", strerror(err));
		return -err;
	}
	owner = getpid();
	pthread_setname_np(thread, "xsprof-opencl");
	return 0;
}
