// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Work of the collector's thread, which belongs to the library: while submits are under way it
 * checks them a hundred times a second, else it looks twenty times a second for new ones. So a
 * killed program loses at most the last 10 or 50 ms of its devices' work.
 */
#include <time.h>

#include "gpu/vulkan/local.h"

#define SECOND		1000000000u
#define PERIOD		(SECOND / 100)
#define IDLE		(SECOND / 20)
#define LAST_NS		(SECOND / 5)	/* wait for unfinished submits at the program's end */

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

/* There is no start function: submits are followed while recording is off too. */
int vulkan_thread_start(void (*forget)(void *unused))
{
	vulkan_collector.work = work;
	vulkan_collector.stop = stop;
	vulkan_collector.forget = forget;
	return xsprof_collector_add(&vulkan_collector);
}

/* In a forked child the thread does not exist. */
void vulkan_thread_forget(void)
{
	__atomic_store_n(&vulkan_thread, VULKAN_GONE, __ATOMIC_RELAXED);
}

/* Registers again once a driver is loaded: exit handlers run in reverse order. */
void vulkan_thread_at_exit(void)
{
	static bool done;

	if (!__atomic_exchange_n(&done, true, __ATOMIC_RELAXED))
		(void)xsprof_collector_add(&vulkan_collector);
}

/* Relaxed: this word orders nothing; creating the thread orders the data it uses. */
bool vulkan_thread_back(void)
{
	enum vulkan_thread was = VULKAN_GONE;

	/* One thread of the program restarts it; submits of others are checked soon after. */
	if (!__atomic_compare_exchange_n(&vulkan_thread, &was, VULKAN_RUNS, false,
					 __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return was == VULKAN_RUNS;
	if (!xsprof_collector_add(&vulkan_collector))
		return true;
	/* The library has printed the reason. Without the thread submits are not tracked. */
	__atomic_store_n(&vulkan_thread, VULKAN_FAILED, __ATOMIC_RELAXED);
	return false;
}
