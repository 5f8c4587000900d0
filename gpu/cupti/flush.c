// SPDX-License-Identifier: LGPL-2.1-only
/*
 * What CUPTI has collected, into the rings.  Called by the collector's thread.
 */
#include "gpu/cupti/in-use.h"

void cupti_drain(void)
{
	struct gpu_buffer buffer;

	while (cupti_pool_take(&buffer)) {
		cupti_record_buffer(&buffer);
		cupti_pool_give(&buffer);
	}
}

/* Return: some records are missing since this was last asked. */
static bool has_lost(void)
{
	bool lost = cupti_pool_lost();
	size_t dropped = 0;

	if (!cupti_attached() || cupti.get_dropped(NULL, 0, &dropped) || !dropped)
		return lost;
	cupti_miss(CUPTI_MISS_DROPPED, dropped);
	return true;
}

void cupti_flush(uint32_t how)
{
	if (cupti_attached())
		(void)cupti.flush_all(how);
	cupti_drain();
	cupti_wait_settle();
	cupti_bounds_settle();
	/* Before those of this flush are settled: some that are lost may have come before them. */
	if (has_lost())
		cupti_in_use_anew(xsprof_ticks_ns(xsprof_now()));
	cupti_memory_settle();
}
