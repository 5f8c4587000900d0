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

struct gpu_thread vulkan_thread = { .collector = &vulkan_collector };

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
