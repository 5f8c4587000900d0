// SPDX-License-Identifier: GPL-2.0-only
/*
 * A real-time thread needs a lock of the library that an ordinary thread holds on the same CPU: it
 * must sleep, since the other thread cannot run otherwise.
 *
 * The lock is held while a pthread_atfork() handler runs that was registered before the library's.
 * A thread that only yields until it has the lock never leaves the CPU voluntarily.
 *
 *	session XSPROF_BUFFER_SIZE=256k realtime
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <xsprof/xsprof.h>

#include "common/tap.h"

static pthread_t thread;
static bool armed, started;
static long slept;		/* voluntary context switches while the thread waited */
static xsprof_name_t name;

static void *wants_the_lock(void *arg)
{
	struct rusage before, after;

	(void)arg;
	getrusage(RUSAGE_THREAD, &before);
	name = xsprof_name("by the real-time thread");
	getrusage(RUSAGE_THREAD, &after);
	slept = after.ru_nvcsw - before.ru_nvcsw;
	return NULL;
}

/* The handler registered first runs last before a fork: under the lock. */
static void under_the_lock(void)
{
	struct sched_param param = { .sched_priority = 1 };
	pthread_attr_t attr;

	if (!armed)
		return;
	armed = false;
	pthread_attr_init(&attr);
	pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attr, SCHED_FIFO);
	pthread_attr_setschedparam(&attr, &param);
	/* From here on this thread runs only while the other sleeps. */
	started = !pthread_create(&thread, &attr, wants_the_lock, NULL);
	pthread_attr_destroy(&attr);
}

/* Runs before the constructors of all libraries. */
static void first(void)
{
	pthread_atfork(under_the_lock, NULL, NULL);
}

static void (*const preinit)(void) __attribute__((section(".preinit_array"), used)) = first;

static void stay_here(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		tap_bail("sched_setaffinity: %s", strerror(errno));
}

int main(void)
{
	pid_t pid;

	stay_here();
	armed = true;
	pid = fork();
	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	if (!started) {
		tap_skip("a real-time thread waits asleep", "SCHED_FIFO is not permitted");
		return tap_done();
	}
	pthread_join(thread, NULL);
	CHECK(name);
	CHECK(slept > 0);
	tap_result("a real-time thread that waits for the names' lock sleeps");
	return tap_done();
}
