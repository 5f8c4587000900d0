/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * How much of a device a kernel fills.
 */
#ifndef XSR_OCCUPANCY_H
#define XSR_OCCUPANCY_H

#include <stdbool.h>
#include <stdint.h>

#include "ranges/keep.h"

/* Of a device, by the names of Kineto's deviceProperties. */
struct xsr_limits {
	uint64_t	warp;
	uint64_t	multiprocessors;
	uint64_t	threads;	/* of a multiprocessor, as are the next ones */
	uint64_t	registers;
	uint64_t	shared;
	uint64_t	blocks;
	uint64_t	major;		/* compute capability */
};

/* How a kernel was launched. */
struct xsr_launch {
	uint64_t	blocks;
	uint64_t	threads;	/* of a block */
	uint64_t	registers;	/* of a thread */
	uint64_t	shared;		/* bytes of a block */
};

/* Return: false where it is not known. */
bool xsr_limits_read(const char *json, struct xsr_limits *limits);
/* From the arguments of its record.  Return: false where grid or block are not there. */
bool xsr_launch_read(const struct xsprof_trace *trace, struct xsr_walk walk,
		     struct xsr_launch *launch);
/* Blocks of the grid on each multiprocessor, if they are spread evenly, and their warps. */
double xsr_blocks_per_sm(const struct xsr_limits *limits, const struct xsr_launch *launch);
uint64_t xsr_warps_of_block(const struct xsr_limits *limits, const struct xsr_launch *launch);
/*
 * Return: warps on a multiprocessor while the kernel runs, of those that it can hold, in %, if its
 * blocks are spread evenly; -1 where it cannot be told.
 */
double xsr_occupancy(const struct xsr_limits *limits, const struct xsr_launch *launch);

#endif /* XSR_OCCUPANCY_H */
