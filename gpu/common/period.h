/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * How often the threads of collectors take what a vendor's library holds: a program that is killed
 * loses so much.
 */
#ifndef GPU_PERIOD_H
#define GPU_PERIOD_H

#include <stdint.h>
#include <time.h>

#define GPU_PERIOD	250000000u	/* ns */

static inline uint64_t gpu_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

#endif /* GPU_PERIOD_H */
