/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by the parts of the stand-in for libcupti that have counters.
 */
#ifndef STAND_IN_METRICS_H
#define STAND_IN_METRICS_H

#include <stdbool.h>
#include <stdint.h>

#define AT_ONCE		6u	/* metrics in one pass */
#define IMAGE_BYTES	4096u

/* The destination of samples or of kernels' metrics. */
struct image {
	uint32_t	room;
	uint32_t	n;
	uint64_t	begin;
	uint64_t	interval;
	uint64_t	first;		/* the number of the first */
	bool		suspect;	/* it is the very first, whose begin is unknown */
};

#endif /* STAND_IN_METRICS_H */
