/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The part of CUPTI's interface for metrics of single kernels that the collector uses (the range
 * profiler, since CUDA 12.6), declared here. It uses the host profiler of metrics-abi.h; sizes are
 * as there.
 */
#ifndef XSPROF_RANGES_ABI_H
#define XSPROF_RANGES_ABI_H

#include "gpu/cupti/metrics-abi.h"

#define CUPTI_RANGES		0u	/* struct cupti_pm_host: @type */

/* struct cupti_range_config: each kernel is a range, and runs once per pass. */
#define CUPTI_RANGE_AUTO	1u
#define CUPTI_REPLAY_KERNEL	2u

struct cupti_range_stop {
	size_t		size;
	void		*priv;
	void		*profiler;
	size_t		pass;
	size_t		target;
	uint8_t		all;		/* all passes were submitted */
};

/* @bytes: size of @config; @image_bytes: size of @image, which gets the values of ranges. */
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

/* Copies from the device into the image. */
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
	uint32_t	nodes;		/* at least @ranges */
	size_t		bytes;
};

struct cupti_range_data_info {
	size_t		size;
	void		*priv;
	const uint8_t	*image;
	size_t		bytes;
	size_t		ranges;
};

/**
 * struct cupti_ranges - these functions: all or none of them are found
 */
struct cupti_ranges {
	int	(*get_available)(struct cupti_pm_available *params);
	int	(*enable)(struct cupti_pm_enable *params);
	int	(*disable)(struct cupti_pm_object *params);
	int	(*set_config)(struct cupti_range_config *params);
	int	(*start)(struct cupti_pm_object *params);
	int	(*stop)(struct cupti_range_stop *params);
	int	(*decode)(struct cupti_range_decode *params);
	int	(*get_data_size)(struct cupti_range_data_size *params);
	int	(*init_data)(struct cupti_pm_data_init *params);
	int	(*get_data_info)(struct cupti_range_data_info *params);
};

#endif /* XSPROF_RANGES_ABI_H */
