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

static pthread_t thread;
static pid_t owner;
static bool joined;

static void *run(void *unused)
{
	const struct timespec pause = { .tv_nsec = PERIOD };
	uint32_t left = 0;
	uint64_t until;

	(void)unused;
	while (opencl_bell_wait(collect_monotonic() + (left ? PERIOD : IDLE))) {
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

int opencl_thread_start(void)
{
	pthread_attr_t attr;
	sigset_t all, old;
	int err;

	if (atexit(at_exit)) {
		collect_say("no memory for the end of the program: OpenCL is not recorded");
		return -ENOMEM;
	}
	opencl_bell_init();
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
