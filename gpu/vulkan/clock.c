// SPDX-License-Identifier: LGPL-2.1-only
/*
 * A device's clock, as the library is told of it: in nanoseconds, of 64 bits.  Where the driver
 * reads both clocks at one time (VK_EXT_calibrated_timestamps), gpu.c tells that.  Else a batch
 * bounds what lies between them: it begins after its call did, and ends before its end is seen.
 * That may be 10 ms late, so what the batches of a second or two agree on is what is told.
 *
 * All of it is under the lock of looks.
 */
#include "gpu/vulkan/local.h"

/* At 10 parts in a million, which is how well the rate of ours is known, 10 us. */
#define WINDOW_NS	1000000000u

uint64_t vulkan_clock_ns(struct vulkan_clock *clock, uint64_t ticks, uint64_t mask)
{
	uint64_t forward, backward;

	if (!clock->ticks)
		clock->ticks = ticks;
	forward = (ticks - clock->ticks) & mask;
	backward = (clock->ticks - ticks) & mask;
	/* Queues count fewer bits than the device does: the latest known time has the others. */
	if (forward <= backward)
		clock->ticks += forward;
	return (uint64_t)(((unsigned __int128)(forward <= backward ? clock->ticks :
					       clock->ticks - backward) * clock->period) >> 32);
}

static struct vulkan_bounds both(const struct vulkan_bounds *a, const struct vulkan_bounds *b)
{
	return (struct vulkan_bounds){
		.low = a->low > b->low ? a->low : b->low,
		.high = a->high < b->high ? a->high : b->high,
	};
}

struct vulkan_bounds vulkan_clock_agree(struct vulkan_clock *clock, struct vulkan_bounds seen,
					uint64_t now)
{
	struct vulkan_bounds b;

	if (!clock->until || now > clock->until) {
		clock->before = clock->until ? clock->now : seen;
		clock->now = seen;
		clock->until = now + WINDOW_NS;
	} else {
		clock->now = both(&clock->now, &seen);
		/* The clock was set, or what was seen before was not so. */
		if (clock->now.low > clock->now.high)
			clock->now = clock->before = seen;
	}
	b = both(&clock->now, &clock->before);
	return b.low <= b.high ? b : clock->now;
}
