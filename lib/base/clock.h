/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Reads the counters used as timestamps, outside of the marker path: which counter this machine
 * offers, its value, and all clocks at one instant. Converts nothing.
 */
#ifndef XSP_RING_CLOCK_H
#define XSP_RING_CLOCK_H

#include <stdint.h>
#include <time.h>

#include <xsprof/abi.h>

static inline uint64_t xsp_clock_ns(clockid_t id)
{
	struct timespec ts = { 0 };	/* of a clock that is refused */

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + ts.tv_nsec;
}

static inline int64_t xsp_clock_ms(clockid_t id)
{
	return (int64_t)(xsp_clock_ns(id) / 1000000);
}

/**
 * xsp_clock_kind - the cheapest trustworthy counter of this machine
 *
 * Return: enum xsprof_clock_kind, never NONE.
 */
uint32_t xsp_clock_kind(void);

/**
 * xsp_ticks - read a counter, ordered after all earlier loads
 * @kind: enum xsprof_clock_kind; one that this machine lacks reads as CLOCK_MONOTONIC_RAW
 *
 * Context: any, signal handlers among them.
 */
uint64_t xsp_ticks(uint32_t kind);

/**
 * xsp_sync_read - all clocks at one instant
 * @sync: filled in; ftrace's clock is 0
 * @kind: the counter
 *
 * Takes the narrowest of several tries: otherwise an interrupt between two clocks would look like
 * an offset.
 * Context: any, signal handlers among them.
 */
void xsp_sync_read(struct xsprof_sync *sync, uint32_t kind);

#endif /* XSP_RING_CLOCK_H */
