// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The account of what is not recorded: a counter in the trace for each, with its sum at the times
 * at which it changed.
 */
#include "gpu/cupti/local.h"

static const char *const texts[CUPTI_NR_MISSES] = {
	[CUPTI_MISS_DROPPED]	= "not recorded: CUPTI dropped records",
	[CUPTI_MISS_BUFFERS]	= "not recorded: buffers of CUPTI, as too many were in use",
	[CUPTI_MISS_NO_TIME]	= "not recorded: activities for which CUPTI has no time",
	[CUPTI_MISS_UNKNOWN]	= "not recorded: CUPTI records of an unknown kind",
	[CUPTI_MISS_EXIT]	= "not recorded: buffers of CUPTI, as the program ended",
	[CUPTI_MISS_OFF]	= "not recorded: activities that came after recording was paused",
};

static struct {
	uint64_t	n;
	uint64_t	shown;
} misses[CUPTI_NR_MISSES];

void cupti_miss(enum cupti_miss what, uint64_t n)
{
	__atomic_fetch_add(&misses[what].n, n, __ATOMIC_RELAXED);
}

/*
 * Called by the collector's thread, and by the program's end where that thread did not stop in
 * time.  Relaxed: a sum orders nothing else, and both write the same counter with the same sum.
 */
void cupti_miss_show(void)
{
	for (int i = 0; i < CUPTI_NR_MISSES; i++) {
		uint64_t n = __atomic_load_n(&misses[i].n, __ATOMIC_RELAXED);
		uint64_t shown = __atomic_load_n(&misses[i].shown, __ATOMIC_RELAXED);
		xsprof_name_t name;

		name = n == shown ? 0 : xsprof_name_in(cupti_category(), texts[i]);
		/* Later, where recording is paused. */
		if (!name || !xsprof_wants(name))
			continue;
		__atomic_store_n(&misses[i].shown, n, __ATOMIC_RELAXED);
		xsprof_counter(name, (int64_t)n);
	}
}
