// SPDX-License-Identifier: GPL-2.0-only
/*
 * What collectors could not record at all: see refused.h.
 */
#include <string.h>

#include "cli/refused.h"

static const char prefix[] = "gpu.refused.";

const char *refused_next(struct refused *at, struct xsprof_trace *trace, uint32_t *pid)
{
	struct xsprof_trace_info info = { .size_of = sizeof(info) };
	struct xsprof_trace_producer producer = { 0 };
	const char *key, *value;

	if (xsprof_trace_get_info(trace, &info) < 0)
		return NULL;
	for (; at->producer < info.producers; at->producer++, at->fact = 0) {
		while (!xsprof_trace_fact_at(trace, at->producer, at->fact++, &key, &value)) {
			/* The last value of a fact is valid. */
			if (strncmp(key, prefix, sizeof(prefix) - 1) ||
			    xsprof_trace_fact(trace, at->producer, key) != value)
				continue;
			*pid = xsprof_trace_get_producer(trace, at->producer, &producer) < 0 ?
			       0 : producer.pid;
			return value;
		}
	}
	return NULL;
}
