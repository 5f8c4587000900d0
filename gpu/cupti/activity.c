// SPDX-License-Identifier: LGPL-2.1-only
/*
 * What is common to all activities that become records of ours.
 */
#include "gpu/cupti/local.h"

void cupti_put(const struct xsprof_device_activity *a, const struct xsprof_kv *kv, size_t n)
{
	xsprof_collector_put(&cupti_collector, a, kv, n);
}

/* CUPTI has no times for what it had no room for on the device. */
bool cupti_work(struct xsprof_device_activity *a, uint32_t kind, xsprof_name_t name, uint64_t start,
		uint64_t end, uint32_t correlation)
{
	if (!start || end < start) {
		cupti_miss(CUPTI_MISS_NO_TIME, 1);
		return false;
	}
	/* Member by member: to clear all of it at once takes longer than all else here. */
	a->size = sizeof(*a);
	a->name = name;
	a->kind = kind;
	a->begin = xsprof_ns_ticks(start);
	a->end = xsprof_ns_ticks(end);
	a->correlation = correlation;
	a->device = XSPROF_NO_DEVICE;
	a->stream = XSPROF_NO_STREAM;
	a->context = a->reserved = 0;
	a->bytes = a->graph = a->graph_node = a->thread = 0;
	return true;
}
