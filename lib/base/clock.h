/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Reading the counters that records are stamped with, outside of the marker path: which one this
 * machine offers, its value, and all clocks at one instant.  It never converts anything.
 */
#ifndef XSP_RING_CLOCK_H
#define XSP_RING_CLOCK_H

#include <stdint.h>
#include <time.h>

#include <xsprof/abi.h>

static inline uint64_t xsp_clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + ts.tv_nsec;
}

/**
 * xsp_clock_kind - the cheapest counter of this machine that can be trusted
 *
 * Return: enum xsprof_clock_kind, never NONE.
 */
uint32_t xsp_clock_kind(void);

/**
 * xsp_ticks - the value of a counter now, ordered after every load before it
 * @kind: enum xsprof_clock_kind; one that this machine has not reads as CLOCK_MONOTONIC_RAW
 *
 * Context: any, signal handlers among them.
 */
uint64_t xsp_ticks(uint32_t kind);

/**
 * xsp_sync_read - all clocks at one instant
 * @sync: filled in; ftrace's clock is 0
 * @kind: the counter
 *
 * Several tries, and the narrowest window of them: an interrupt between two clocks would
 * otherwise pass for an offset.
 * Context: any, signal handlers among them.
 */
void xsp_sync_read(struct xsprof_sync *sync, uint32_t kind);

#endif /* XSP_RING_CLOCK_H */
