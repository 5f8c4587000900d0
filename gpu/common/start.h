/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Start of a collector.
 */
#ifndef GPU_START_H
#define GPU_START_H

#include <errno.h>
#include <stdbool.h>

#include <xsprof/collector.h>

/* Attaches if needed. Return: the process is recorded, or may be later. */
static inline bool gpu_is_recording(void)
{
	int err = xsprof_init(NULL);

	return !err || err == -EAGAIN || err == -EBUSY || err == -EALREADY;
}

/* Return: the category, which is registered when first used. @known: it; -1: not registered */
static inline int gpu_category(const char *name, int *known)
{
	int category = __atomic_load_n(known, __ATOMIC_RELAXED);

	if (category < 0) {
		category = xsprof_category(name);
		__atomic_store_n(known, category, __ATOMIC_RELAXED);
	}
	return category;
}

/* Records the start, which took since @begin: readers infer that activities follow. */
static inline void gpu_started(int category, const char *text, uint64_t begin)
{
	const struct xsprof_device_activity a = {
		.size = sizeof(a), .kind = XSPROF_GPU_OVERHEAD, .begin = begin, .end = xsprof_now(),
		.device = XSPROF_NO_DEVICE, .stream = XSPROF_NO_STREAM,
		.name = xsprof_name_in(category, text),
	};

	xsprof_device_activity(&a, NULL, 0);
}

#endif /* GPU_START_H */
