// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The markers' clock in nanoseconds, for runtimes that ask for or give these.
 *
 * The rate is measured once, from when the process attached, to a few parts in a million.  Times
 * that a runtime got here are not the worse for it: what comes back is divided by the same rate.
 */
#include <time.h>

#include <xsprof/xsprof.h>

#include "gpu/common/collect.h"

#define SHIFT		32
#define APART_NS	20000000u
#define TRIES		16

static struct {
	uint64_t	ticks;
	uint64_t	ns;
	uint64_t	rate;		/* ns << SHIFT a tick */
} base;

static uint64_t now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

uint64_t collect_monotonic(void)
{
	return now_ns(CLOCK_MONOTONIC);
}

/* Both clocks at one time: of several readings the one that took the shortest. */
static void read_both(uint64_t *ticks, uint64_t *ns)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		uint64_t before = xsprof_now(), at = now_ns(CLOCK_MONOTONIC_RAW);
		uint64_t took = xsprof_now() - before;

		if (took >= best)
			continue;
		best = took;
		*ticks = before + took / 2;
		*ns = at;
	}
}

void collect_clock_start(void)
{
	const struct xsprof_sync *attach = &xsprof_ctl_page.ctl.attach;
	const struct timespec pause = { .tv_nsec = APART_NS };
	struct xsprof_stats stats = { .size = sizeof(stats) };
	uint64_t ticks, ns;

	base.ticks = attach->ticks;
	base.ns = attach->mono_raw;
	if (!base.ticks || !base.ns)
		read_both(&base.ticks, &base.ns);
	(void)xsprof_get_stats(&stats);
	base.rate = 1ull << SHIFT;
	if (stats.clock == XSPROF_CLOCK_MONO_RAW)
		return;
	if (now_ns(CLOCK_MONOTONIC_RAW) - base.ns < APART_NS)
		nanosleep(&pause, NULL);
	read_both(&ticks, &ns);
	if (ticks > base.ticks && ns > base.ns)
		base.rate = (uint64_t)(((unsigned __int128)(ns - base.ns) << SHIFT) /
				       (ticks - base.ticks));
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
