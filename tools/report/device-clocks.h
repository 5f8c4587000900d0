/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How far the clocks of devices are from the markers', by counters of their collectors: "clock of
 * device N: known within ns", and of CUPTI's devices also "late by at most" and "early by at most".
 */
#ifndef XSPROF_REPORT_DEVICE_CLOCKS_H
#define XSPROF_REPORT_DEVICE_CLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include <xsprof/trace.h>

#define DEVICE_CLOCKS	64u

/* What a counter bounds: the error, or how late or early the device's times are. */
enum device_clock_error { CLOCK_WITHIN, CLOCK_LATE, CLOCK_EARLY, CLOCK_ERRORS };

/**
 * struct clock_bound - a bound of the error of a device's times, ns
 * @name: name of its counter
 * @known: it has a value
 * @last: the last one
 * @least: the smallest; a negative one is an error in the other direction, of at least that
 * @most: the largest
 */
struct clock_bound {
	uint32_t	name;
	bool		known;
	int64_t		last;
	int64_t		least;
	int64_t		most;
};

/**
 * struct device_clock - the clock of a device in a process
 * @producer: the process
 * @pid: its process id
 * @device: number of the device
 * @bounds: by enum device_clock_error
 * @early: activities that began before the call that launched them; of those that were read before
 *	their call, the earliest
 * @early_ns: by how much at most
 */
struct device_clock {
	uint32_t		producer;
	uint32_t		pid;
	uint32_t		device;
	struct clock_bound	bounds[CLOCK_ERRORS];
	uint64_t		early;
	uint64_t		early_ns;
};

struct device_clocks {
	struct device_clock	v[DEVICE_CLOCKS];
	uint32_t		nr;
};

/* The largest known bound, ns; of a second in which only one side has one, that. */
static inline int64_t device_clock_most(const struct device_clock *clock)
{
	int64_t most = 0;

	for (uint32_t e = 0; e < CLOCK_ERRORS; e++)
		if (clock->bounds[e].known && clock->bounds[e].most > most)
			most = clock->bounds[e].most;
	return most;
}

/* Adds it if it is new.  Return: NULL: there are too many; it is left out. */
struct device_clock *device_clocks_get(struct device_clocks *clocks, const struct xsprof_event *ev,
				       uint32_t device);
/* To be called for every event. */
void device_clocks_event(struct device_clocks *clocks, struct xsprof_trace *trace,
			 const struct xsprof_event *ev);

#endif /* XSPROF_REPORT_DEVICE_CLOCKS_H */
