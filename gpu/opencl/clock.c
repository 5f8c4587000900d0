// SPDX-License-Identifier: LGPL-2.1-only
/*
 * A device's clock on the markers'.  Two things bound what lies between them: the time at which a
 * command was queued, on the device's clock, is a time within the call, on ours; and a runtime of
 * OpenCL 2.1 may say its device's time, between two readings of ours.  What is known is what the
 * last moments agree on, so that clocks of different rates do no harm.
 *
 * All of it is the collector's thread's.
 */
#include "gpu/opencl/local.h"

/* At 10 parts in a million, which is how well the rate of ours is known, 200 ns. */
#define WINDOW_NS	20000000u

static struct opencl_bounds both(const struct opencl_bounds *a, const struct opencl_bounds *b)
{
	return (struct opencl_bounds){
		.low = a->low > b->low ? a->low : b->low,
		.high = a->high < b->high ? a->high : b->high,
	};
}

static struct opencl_bounds known(const struct opencl_clock *clock)
{
	struct opencl_bounds b = both(&clock->now, &clock->before);

	return b.low <= b.high ? b : clock->now;
}

static struct opencl_bounds between(uint64_t device_ns, uint64_t low, uint64_t high)
{
	return (struct opencl_bounds){
		.low = (int64_t)(low - device_ns),
		.high = (int64_t)(high - device_ns),
	};
}

void opencl_clock_seen(struct opencl_clock *clock, uint64_t device_ns, uint64_t low, uint64_t high)
{
	struct opencl_bounds seen = between(device_ns, low, high), b;

	if (!clock->known || high > clock->until) {
		clock->before = clock->known ? clock->now : seen;
		clock->now = seen;
		clock->until = high + WINDOW_NS;
	} else {
		clock->now = both(&clock->now, &seen);
		/* The clock was set, or what was seen before was not so. */
		if (clock->now.low > clock->now.high)
			clock->now = clock->before = seen;
	}
	b = known(clock);
	if (!clock->known || clock->offset < b.low || clock->offset > b.high)
		clock->offset = b.low + (b.high - b.low) / 2;
	clock->known = true;
}

uint64_t opencl_clock_error(const struct opencl_clock *clock)
{
	struct opencl_bounds b = known(clock);
	int64_t below = clock->offset - b.low, above = b.high - clock->offset;

	return (uint64_t)(below > above ? below : above);
}

int64_t opencl_clock_offset(const struct opencl_clock *clock, uint64_t queued, uint64_t begin,
			    uint64_t end)
{
	struct opencl_bounds own = between(queued, begin, end);

	if (!queued)
		return clock->offset;
	return clock->offset < own.low ? own.low :
	       clock->offset > own.high ? own.high : clock->offset;
}
