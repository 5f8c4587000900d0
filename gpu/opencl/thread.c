// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Work of the collector's thread, which belongs to the library: while commands are in flight it
 * checks them a hundred times a second, else it looks twenty times a second for new ones. So a
 * killed program loses at most the last 10 or 50 ms of its devices' work.
 */
#include <time.h>

#include "gpu/opencl/local.h"

#define SECOND		1000000000u
#define PERIOD		(SECOND / 100)
#define IDLE		(SECOND / 20)
#define LAST_NS		(SECOND / 5)	/* wait for unfinished commands at the program's end */
#define SHARE		20u	/* it checks during at most 1/SHARE of its time */

struct gpu_thread opencl_thread = { .collector = &opencl_collector };

static uint64_t now_ns(void)
{
	return xsprof_ticks_ns(xsprof_now());
}

/* Thousands of commands may wait for an event of the program: they are checked less often. */
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

/* There is no start function: commands are followed while recording is off too. */
int opencl_thread_start(void (*forget)(void *unused))
{
	opencl_collector.work = work;
	opencl_collector.stop = stop;
	opencl_collector.forget = forget;
	return xsprof_collector_add(&opencl_collector);
}
