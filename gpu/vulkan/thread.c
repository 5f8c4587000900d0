// SPDX-License-Identifier: LGPL-2.1-only
/*
 * What the collector's thread does: while submits are under way it looks a hundred times a second
 * at what became of them, else twenty times whether there are any.  So a program that is killed
 * loses what its devices did in its last moments, of 10 or 50 ms.  The thread is the library's.
 */
#include <time.h>

#include "gpu/vulkan/local.h"

#define SECOND		1000000000u
#define PERIOD		(SECOND / 100)
#define IDLE		(SECOND / 20)
#define LAST_NS		(SECOND / 5)	/* for submits that are not over when the program ends */

enum vulkan_thread vulkan_thread;

static uint64_t work(void *unused)
{
	(void)unused;
	return vulkan_pending_look() ? PERIOD : IDLE;
}

static void stop(void *unused, int last)
{
	const struct timespec pause = { .tv_nsec = PERIOD };
	uint64_t until = vulkan_now_ns() + LAST_NS;
	uint32_t left;

	(void)unused, (void)last;
	while ((left = vulkan_pending_look()) && vulkan_now_ns() < until)
		nanosleep(&pause, NULL);
	vulkan_miss(VULKAN_MISS_EXIT, left);
}

/* Without a start(): submits are followed up while recording is off too. */
int vulkan_thread_start(void (*forget)(void *unused))
{
	vulkan_collector.work = work;
	vulkan_collector.stop = stop;
	vulkan_collector.forget = forget;
	return xsprof_collector_add(&vulkan_collector);
}

/* In the child of a fork: there is none. */
void vulkan_thread_forget(void)
{
	__atomic_store_n(&vulkan_thread, VULKAN_GONE, __ATOMIC_RELAXED);
}

/* Once more when a driver is there: what was registered last runs first. */
void vulkan_thread_at_exit(void)
{
	static bool done;

	if (!__atomic_exchange_n(&done, true, __ATOMIC_RELAXED))
		(void)xsprof_collector_add(&vulkan_collector);
}

/* Relaxed: the word orders nothing, what others read the creation of the thread orders. */
bool vulkan_thread_back(void)
{
	enum vulkan_thread was = VULKAN_GONE;

	/* One of the program's threads starts it; what others submit is looked at soon. */
	if (!__atomic_compare_exchange_n(&vulkan_thread, &was, VULKAN_RUNS, false,
					 __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return was == VULKAN_RUNS;
	if (!xsprof_collector_add(&vulkan_collector))
		return true;
	/* It was told.  Submits that nothing looks at are not kept. */
	__atomic_store_n(&vulkan_thread, VULKAN_FAILED, __ATOMIC_RELAXED);
	return false;
}
