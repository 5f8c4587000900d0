/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the parts of the stand-in for libcupti that have counters share.
 */
#ifndef STAND_IN_METRICS_H
#define STAND_IN_METRICS_H

#include <stdbool.h>
#include <stdint.h>

#define AT_ONCE		6u	/* metrics in one pass */
#define IMAGE_BYTES	4096u

/* What samples, or kernels, are read to. */
struct image {
	uint32_t	room;
	uint32_t	n;
	uint64_t	begin;
	uint64_t	interval;
	uint64_t	first;		/* its number */
	bool		suspect;	/* it is the first of all, and when it began is not known */
};

#endif /* STAND_IN_METRICS_H */
