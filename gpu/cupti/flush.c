// SPDX-License-Identifier: LGPL-2.1-only
/*
 * What CUPTI has collected, into the rings.  Called by the collector's thread.
 */
#include "gpu/cupti/local.h"

void cupti_drain(void)
{
	struct gpu_buffer buffer;

	while (cupti_pool_take(&buffer)) {
		cupti_record_buffer(&buffer);
		cupti_pool_give(&buffer);
	}
}

void cupti_flush(uint32_t how)
{
	size_t dropped = 0;

	if (cupti_attached())
		(void)cupti.flush_all(how);
	cupti_drain();
	cupti_wait_settle();
	cupti_bounds_settle();
	cupti_memory_settle();
	if (cupti_attached() && !cupti.get_dropped(NULL, 0, &dropped) && dropped)
		cupti_miss(CUPTI_MISS_DROPPED, dropped);
}
