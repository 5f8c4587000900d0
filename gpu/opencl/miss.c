// SPDX-License-Identifier: LGPL-2.1-only
/*
 * What of the program's commands is not recorded, by its cause.
 */
#include "gpu/opencl/local.h"

static struct collect_miss misses[OPENCL_NR_MISSES] = {
	[OPENCL_MISS_NO_EVENT]	= {
		.text = "not recorded: commands that the runtime gave no event for" },
	[OPENCL_MISS_NO_TIMES]	= {
		.text = "not recorded: commands that the runtime has no times of" },
	[OPENCL_MISS_FAILED]	= { .text = "not recorded: commands that ended with an error" },
	[OPENCL_MISS_FULL]	= { .text = "not recorded: commands, as too many were under way" },
	[OPENCL_MISS_QUEUES]	= {
		.text = "not recorded: commands of more queues or devices than have room" },
	[OPENCL_MISS_EXIT]	= { .text = "not recorded: commands, as the program ended" },
	[OPENCL_MISS_OFF]	= {
		.text = "not recorded: activities that came after recording was paused" },
};

void opencl_miss(enum opencl_miss what, uint64_t n)
{
	collect_missed(&misses[what], n);
}

void opencl_misses_show(void)
{
	collect_misses_show(misses, ARRAY_SIZE(misses), opencl_category());
}
