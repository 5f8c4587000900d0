// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Common part of all activities written by the Level Zero collector.
 */
#include "gpu/levelzero/local.h"

/* PTI counts from 1 in 32 bits; CUDA's ids are below this range, OpenCL's above. */
#define FIRST		(1u << 30)

void levelzero_put(const struct xsprof_device_activity *a, const struct xsprof_kv *kv, size_t n)
{
	xsprof_collector_put(&levelzero_collector, a, kv, n);
}

/*
 * PTI has no times for work unfinished when the records were requested, or run by an unknown
 * device.
 */
bool levelzero_work(struct xsprof_device_activity *a, uint32_t kind, xsprof_name_t name,
		    uint64_t start, uint64_t end, uint32_t correlation)
{
	if (!start || end < start) {
		levelzero_miss(LEVELZERO_MISS_NO_TIME, 1);
		return false;
	}
	*a = (struct xsprof_device_activity){
		.size = sizeof(*a), .name = name, .kind = kind, .begin = xsprof_ns_ticks(start),
		.end = xsprof_ns_ticks(end), .device = XSPROF_NO_DEVICE,
		.stream = XSPROF_NO_STREAM,
		.correlation = correlation ? FIRST + correlation % FIRST : 0,
	};
	return true;
}
