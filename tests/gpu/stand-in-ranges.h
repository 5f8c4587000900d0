/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The part of the stand-in for libcupti that measures kernels: what a program launches, and the
 * collector's errors in measuring it.
 */
#ifndef STAND_IN_RANGES_H
#define STAND_IN_RANGES_H

#include <stdbool.h>
#include <stdint.h>

/* Its behaviour, all 0 is normal; and its counts. */
struct stand_in_ranges {
	int		available;	/* result of asking for a context's counters */
	int		start;		/* result of starting a measurement */
	uint32_t	fails_after;	/* after this many kernels the device is lost; 0: never */
	uint32_t	late_us;	/* a launch returns this long after its record */
	uint32_t	measured;	/* kernels */
	uint32_t	alone;		/* measured kernels that ran alone in their context */
	uint32_t	enabled;	/* contexts enabled, and disabled again */
	uint32_t	disabled;
	uint32_t	wrong;		/* calls that CUPTI refuses, or that break a capture */
};

extern struct stand_in_ranges stand_in_ranges;

/*
 * Launches a kernel through the runtime, which calls the driver, or through the driver directly, in
 * one of eight contexts on device 1. Return: the correlation id.
 */
uint32_t stand_in_launch(bool driver, uint32_t context, const char *name);
/* Begins or ends a capture: launches within do not run. */
void stand_in_capture(bool begins, uint32_t result);
/* Destroys a context; the next one with that number has the same address. */
void stand_in_context_ends(uint32_t context);

#endif /* STAND_IN_RANGES_H */
