// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The markers' clock in nanoseconds, for runtimes that ask for or give these.
 *
 * The rate is measured once, to some parts in a million.  That it is not exact is no error: what
 * comes back is divided by the same rate.
 */
#include <time.h>

#include <xsprof/xsprof.h>

#include "gpu/common/collect.h"

#define SHIFT		32
#define APART_NS	5000000

static struct {
	uint64_t	ticks;
	uint64_t	ns;
	uint64_t	rate;		/* ns << SHIFT a tick */
} base;

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

uint64_t collect_monotonic(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

void collect_clock_start(void)
{
	base.ticks = xsprof_now();
	base.ns = now_ns();
}

void collect_clock_ready(void)
{
	struct xsprof_stats stats = { .size = sizeof(stats) };
	const struct timespec pause = { .tv_nsec = APART_NS };
	uint64_t ns, ticks;

	(void)xsprof_get_stats(&stats);
	if (stats.clock == XSPROF_CLOCK_MONO_RAW) {
		base.rate = 1ull << SHIFT;
		return;
	}
	ns = now_ns();
	if (ns - base.ns < APART_NS) {
		nanosleep(&pause, NULL);
		ns = now_ns();
	}
	ticks = xsprof_now();
	base.rate = ticks > base.ticks ?
		    (uint64_t)(((unsigned __int128)(ns - base.ns) << SHIFT) /
			       (ticks - base.ticks)) : 0;
	if (!base.rate)
		base.rate = 1ull << SHIFT;
}

uint64_t collect_clock_ns(uint64_t ticks)
{
	int64_t passed = (int64_t)(ticks - base.ticks);

	return base.ns + (uint64_t)((__int128)passed * (__int128)base.rate >> SHIFT);
}

uint64_t collect_clock_now(void)
{
	return collect_clock_ns(xsprof_now());
}

uint64_t collect_clock_ticks(uint64_t ns)
{
	int64_t passed = (int64_t)(ns - base.ns);

	return base.ticks + (uint64_t)(((__int128)passed * ((__int128)1 << SHIFT)) /
				       (__int128)base.rate);
}
