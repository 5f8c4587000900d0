// SPDX-License-Identifier: LGPL-2.1-only
/*
 * What of CUPTI's records is not recorded, by its cause.
 */
#include "gpu/cupti/local.h"

static struct collect_miss misses[CUPTI_NR_MISSES] = {
	[CUPTI_MISS_DROPPED]	= { .text = "not recorded: CUPTI dropped records" },
	[CUPTI_MISS_BUFFERS]	= {
		.text = "not recorded: buffers of CUPTI, as too many were in use" },
	[CUPTI_MISS_NO_TIME]	= {
		.text = "not recorded: activities for which CUPTI has no time" },
	[CUPTI_MISS_UNKNOWN]	= { .text = "not recorded: CUPTI records of an unknown kind" },
	[CUPTI_MISS_EXIT]	= {
		.text = "not recorded: buffers of CUPTI, as the program ended" },
	[CUPTI_MISS_CONTEXT]	= {
		.text = "not recorded: waits in contexts of which CUPTI told nothing" },
	[CUPTI_MISS_OFF]	= {
		.text = "not recorded: activities that came after recording was paused" },
};

void cupti_miss(enum cupti_miss what, uint64_t n)
{
	collect_missed(&misses[what], n);
}

void cupti_miss_show(void)
{
	collect_misses_show(misses, ARRAY_SIZE(misses), cupti_category());
}
