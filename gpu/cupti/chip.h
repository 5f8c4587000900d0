/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What a device can measure, and how its values are read.
 */
#ifndef XSPROF_CUPTI_CHIP_H
#define XSPROF_CUPTI_CHIP_H

#include "gpu/cupti/local.h"

/**
 * struct cupti_chip - what a device can measure at one time, and how it is measured
 * @type: CUPTI_PM_SAMPLING, or CUPTI_RANGES: single kernels
 * @name: name of the chip
 * @available: CUPTI's image of the counters that may be used
 * @host: CUPTI's object that knows their metrics
 * @config: CUPTI's image of the counters that are needed
 * @bytes: size of @config
 * @passes: number of passes that measure all chosen metrics
 * @nr: number of chosen metrics
 * @metrics: the chosen metrics
 * @names: CUPTI's names of these
 * @profiler: CUPTI's object that samples or measures; set by the user of this structure
 * @image: CUPTI's image that gets the values
 * @image_bytes: size of @image
 */
struct cupti_chip {
	uint32_t			type;
	const char			*name;
	uint8_t				*available;
	void				*host;
	uint8_t				*config;
	size_t				bytes;
	uint32_t			passes;
	uint32_t			nr;
	const struct cupti_metric	*metrics[CUPTI_METRICS];
	const char			*names[CUPTI_METRICS];
	void				*profiler;
	uint8_t				*image;
	size_t				image_bytes;
};

/*
 * @context: CUDA context whose kernels are measured; NULL: the device is sampled. Return: 0, or
 * CUPTI's error. To be closed in either case.
 */
int cupti_chip_open(struct cupti_chip *chip, uint32_t device, void *context);
/* The part of opening that needs no device: @type and @name are set. */
int cupti_chip_choose(struct cupti_chip *chip, uint32_t device);
/* Allocates @image; empties it. Return: 0, or CUPTI's error. */
int cupti_chip_make_image(struct cupti_chip *chip, size_t bytes);
int cupti_chip_clear_image(struct cupti_chip *chip);
/* The values of sample or range @index, in the metrics' units. Return: 0, or CUPTI's error. */
int cupti_chip_get_values(const struct cupti_chip *chip, size_t index,
			  double values[CUPTI_METRICS]);
/* Frees all; clears @chip. */
void cupti_chip_close(struct cupti_chip *chip);

#endif /* XSPROF_CUPTI_CHIP_H */
