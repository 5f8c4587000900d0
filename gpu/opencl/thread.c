// SPDX-License-Identifier: LGPL-2.1-only
/*
 * What the collector's thread does: while commands are under way it looks a hundred times a second
 * at what became of them, else twenty times whether there are any.  So a program that is killed
 * loses what its devices did in its last moments, of 10 or 50 ms.  The thread is the library's.
 */
#include <time.h>

#include "gpu/opencl/local.h"

#define SECOND		1000000000u
#define PERIOD		(SECOND / 100)
#define IDLE		(SECOND / 20)
#define LAST_NS		(SECOND / 5)	/* for commands that are not over when the program ends */
#define SHARE		20u	/* of its time, 1 in so many is for looking */

enum opencl_thread opencl_thread;

static uint64_t now_ns(void)
{
	return xsprof_ticks_ns(xsprof_now());
}

/* Thousands of commands may wait for an event of the program's: they are looked at less often. */
static uint64_t work(void *unused)
{
	uint64_t begin = now_ns(), took;
	bool left = opencl_commands_look();

	(void)unused;
	took = now_ns() - begin;
	opencl_devices_look(false);
	if (!left)
		return IDLE;
	return took * SHARE > PERIOD ? took * SHARE : PERIOD;
}

static void stop(void *unused, int last)
{
	const struct timespec pause = { .tv_nsec = PERIOD };
	uint64_t until = now_ns() + LAST_NS;

	(void)unused, (void)last;
	while (opencl_commands_look() && now_ns() < until)
		nanosleep(&pause, NULL);
	opencl_devices_look(true);
	opencl_miss(OPENCL_MISS_EXIT, opencl_commands_left());
}

/* Without a start(): commands are followed up while recording is off too. */
int opencl_thread_start(void (*forget)(void *unused))
{
	opencl_collector.work = work;
	opencl_collector.stop = stop;
	opencl_collector.forget = forget;
	return xsprof_collector_add(&opencl_collector);
}

/* In the child of a fork: there is none. */
void opencl_thread_forget(void)
{
	__atomic_store_n(&opencl_thread, OPENCL_GONE, __ATOMIC_RELAXED);
}

/* Once more when a runtime is there: what was registered last runs first. */
void opencl_thread_at_exit(void)
{
	static bool done;

	if (!__atomic_exchange_n(&done, true, __ATOMIC_RELAXED))
		(void)xsprof_collector_add(&opencl_collector);
}

/* Relaxed: the word orders nothing, what others read the creation of the thread orders. */
bool opencl_thread_back(void)
{
	enum opencl_thread was = OPENCL_GONE;

	/* One of the program's threads starts it; what others push meanwhile is looked at soon. */
	if (!__atomic_compare_exchange_n(&opencl_thread, &was, OPENCL_RUNS, false,
					 __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return was == OPENCL_RUNS;
	if (!xsprof_collector_add(&opencl_collector))
		return true;
	/* The library has said so.  Without a thread no commands are kept. */
	__atomic_store_n(&opencl_thread, OPENCL_FAILED, __ATOMIC_RELAXED);
	return false;
}
