/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The part of the stand-in for libcupti that measures kernels: what a program launches, and what
 * was wrong with how the collector did it.
 */
#ifndef STAND_IN_RANGES_H
#define STAND_IN_RANGES_H

#include <stdbool.h>
#include <stdint.h>

/* How it behaves, all 0 is as usual; and what it has seen. */
struct stand_in_ranges {
	int		available;	/* a result where counters of a context are asked for */
	int		start;		/* a result where measuring begins */
	uint32_t	fails_after;	/* so many kernels the device is lost; 0: never */
	uint32_t	late_us;	/* so long after its record a launch returns */
	uint32_t	measured;	/* kernels */
	uint32_t	alone;		/* of these, those that ran alone in their context */
	uint32_t	enabled;	/* contexts, and those that were given back */
	uint32_t	disabled;
	uint32_t	wrong;		/* calls that CUPTI refuses, or that break a capture */
};

extern struct stand_in_ranges stand_in_ranges;

/*
 * A launch of a kernel by the runtime, which calls the driver, or by the program itself, in one of
 * eight contexts; on device 1.  Return: the correlation id.
 */
uint32_t stand_in_launch(bool driver, uint32_t context, const char *name);
/* A capture begins, or ends: what is launched in between does not run. */
void stand_in_capture(bool begins, uint32_t result);
/* A context is destroyed; the next one of that number is at its address. */
void stand_in_context_ends(uint32_t context);

#endif /* STAND_IN_RANGES_H */
