/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What a collector with a thread of its own has: it is linked with its own copy, of which nothing
 * is exported.  Others use the library's, <xsprof/collector.h>.
 */
#ifndef XSPROF_GPU_COLLECT_H
#define XSPROF_GPU_COLLECT_H

#include <stdbool.h>
#include <stdint.h>

#include <xsprof/collector.h>

#include "collect/common/say.h"

/* ---- miss.c ---------------------------------------------------------------------------------- */

/**
 * struct collect_miss - something that is not recorded
 * @text: the counter's name
 * @n: how much of it
 * @shown: as the trace says
 */
struct collect_miss {
	const char	*text;
	uint64_t	n;
	uint64_t	shown;
};

/* From any thread. */
static inline void collect_missed(struct collect_miss *miss, uint64_t n)
{
	/* Relaxed: a sum orders nothing else. */
	__atomic_fetch_add(&miss->n, n, __ATOMIC_RELAXED);
}

/* A counter of each of the @nr in @list that has changed. */
void collect_misses_show(struct collect_miss *list, unsigned int nr, int category);

/* ---- put.c ----------------------------------------------------------------------------------- */

/* Of CLOCK_MONOTONIC, ns: for what is waited for. */
uint64_t collect_monotonic(void);
/* An activity; waits for the recorder where a ring would be full.  Return: recording is on. */
bool collect_put(const struct xsprof_device_activity *a, const struct xsprof_kv *kv, size_t n);
/* Since when the recorder takes nothing any more, ns of CLOCK_MONOTONIC; 0: it does. */
uint64_t collect_stalled(void);
/* From @until on it is waited for no longer: what a ring has no room for is lost, and counted. */
void collect_hurry(uint64_t until);

#endif /* XSPROF_GPU_COLLECT_H */
