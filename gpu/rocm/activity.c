// SPDX-License-Identifier: LGPL-2.1-only
/*
 * What is common to all activities that become records of ours.
 */
#include "gpu/rocm/local.h"

/* rocprofiler-sdk counts calls from 1, in 64 bits: as many are told apart as devices have room. */
#define IDS		(XSPROF_DEVICES_OF_KIND << 20)

void rocm_put(const struct xsprof_device_activity *a, const struct xsprof_kv *kv, size_t n)
{
	xsprof_collector_put(&rocm_collector, a, kv, n);
}

bool rocm_work(struct xsprof_device_activity *a, uint32_t kind, xsprof_name_t name,
	       uint64_t start, uint64_t end, uint64_t call)
{
	if (!start || end < start) {
		rocm_miss(ROCM_MISS_NO_TIME, 1);
		return false;
	}
	*a = (struct xsprof_device_activity){
		.size = sizeof(*a), .name = name, .kind = kind, .begin = rocm_ticks(start),
		.end = rocm_ticks(end), .device = rocm_first_device(),
		.correlation = call ? XSPROF_CORRELATION(rocm_first_device()) + call % IDS : 0,
	};
	return true;
}
