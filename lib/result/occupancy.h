/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * How much of a device a kernel fills.
 */
#ifndef XSR_OCCUPANCY_H
#define XSR_OCCUPANCY_H

#include <stdbool.h>
#include <stdint.h>

#include "ranges/keep.h"

/* Limits of a device, from Kineto's deviceProperties. */
struct xsr_limits {
	uint64_t	warp;
	uint64_t	multiprocessors;
	uint64_t	threads;	/* per multiprocessor, like the next ones */
	uint64_t	registers;
	uint64_t	shared;
	uint64_t	blocks;
	uint64_t	major;		/* compute capability */
};

/* Launch parameters of a kernel. */
struct xsr_launch {
	uint64_t	blocks;
	uint64_t	threads;	/* per block */
	uint64_t	registers;	/* per thread */
	uint64_t	shared;		/* bytes per block */
};

/* Return: false if unknown. */
bool xsr_limits_read(const char *json, struct xsr_limits *limits);
/* From the arguments of its record. Return: false without grid or block. */
bool xsr_launch_read(const struct xsprof_trace *trace, struct xsr_walk walk,
		     struct xsr_launch *launch);
/* Blocks of the grid per multiprocessor, if spread evenly, and their warps. */
double xsr_blocks_per_sm(const struct xsr_limits *limits, const struct xsr_launch *launch);
uint64_t xsr_warps_of_block(const struct xsr_limits *limits, const struct xsr_launch *launch);
/*
 * Return: active warps of a multiprocessor in percent of its maximum while the kernel runs, with
 * blocks spread evenly; -1 if unknown.
 */
double xsr_occupancy(const struct xsr_limits *limits, const struct xsr_launch *launch);

#endif /* XSR_OCCUPANCY_H */
