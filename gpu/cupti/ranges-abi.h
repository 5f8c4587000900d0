/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The part of CUPTI's interface for metrics of single kernels that the collector uses (the range
 * profiler, since CUDA 12.6), in words of our own.  What knows metrics and their values is that of
 * metrics-abi.h, and sizes are as there.
 */
#ifndef XSPROF_RANGES_ABI_H
#define XSPROF_RANGES_ABI_H

#include <stddef.h>
#include <stdint.h>

#define CUPTI_RANGES		0u	/* struct cupti_pm_host: @type */

/* struct cupti_range_config: each kernel is a range, and runs as often as there are passes. */
#define CUPTI_RANGE_AUTO	1u
#define CUPTI_REPLAY_KERNEL	2u

/* Which counters the device of a context lets us have. */
struct cupti_range_available {
	size_t		size;
	void		*priv;
	void		*context;
	size_t		bytes;
	uint8_t		*image;
};

struct cupti_range_enable {
	size_t		size;
	void		*priv;
	void		*context;
	void		*profiler;
};

/* Of start and of disable. */
struct cupti_range_run {
	size_t		size;
	void		*priv;
	void		*profiler;
};

struct cupti_range_stop {
	size_t		size;
	void		*priv;
	void		*profiler;
	size_t		pass;
	size_t		target;
	uint8_t		all;		/* passes were submitted */
};

/* @bytes: of @config; @image_bytes: of @image, in which the values of ranges are. */
struct cupti_range_config {
	size_t		size;
	void		*priv;
	void		*profiler;
	size_t		bytes;
	const uint8_t	*config;
	size_t		image_bytes;
	uint8_t		*image;
	uint32_t	range;
	uint32_t	replay;
	size_t		ranges;
	uint16_t	levels;
	uint16_t	lowest;
	size_t		pass;
	uint16_t	target;
};

/* From the device into the image. */
struct cupti_range_decode {
	size_t		size;
	void		*priv;
	void		*profiler;
	size_t		dropped;
};

struct cupti_range_data_size {
	size_t		size;
	void		*priv;
	void		*profiler;
	const char	**names;
	size_t		nr;
	size_t		ranges;
	uint32_t	nodes;		/* at least as many */
	size_t		bytes;
};

struct cupti_range_data_init {
	size_t		size;
	void		*priv;
	void		*profiler;
	size_t		bytes;
	uint8_t		*image;
};

struct cupti_range_data_info {
	size_t		size;
	void		*priv;
	const uint8_t	*image;
	size_t		bytes;
	size_t		ranges;
};

/**
 * struct cupti_ranges - these functions; all are there, or none
 */
struct cupti_ranges {
	int	(*get_available)(struct cupti_range_available *params);
	int	(*get_device)(void *context, uint32_t *device);
	int	(*enable)(struct cupti_range_enable *params);
	int	(*disable)(struct cupti_range_run *params);
	int	(*set_config)(struct cupti_range_config *params);
	int	(*start)(struct cupti_range_run *params);
	int	(*stop)(struct cupti_range_stop *params);
	int	(*decode)(struct cupti_range_decode *params);
	int	(*get_data_size)(struct cupti_range_data_size *params);
	int	(*init_data)(struct cupti_range_data_init *params);
	int	(*get_data_info)(struct cupti_range_data_info *params);
};

#endif /* XSPROF_RANGES_ABI_H */
