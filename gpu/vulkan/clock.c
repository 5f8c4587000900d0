// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Tracks a device's clock in 64-bit nanoseconds and relates it to ours. If the driver reads both
 * clocks at the same time (VK_EXT_calibrated_timestamps), gpu.c uses those pairs. Otherwise each
 * batch bounds the offset: it begins after its call began and ends before its end is noticed. The
 * notice may be 10 ms late, so the bounds of all batches of the last second or two are intersected.
 *
 * Guarded by the lock of pending.c.
 */
#include "gpu/vulkan/local.h"

/* 1 s: our clock's rate is known to 10 parts in a million, so the offset drifts by 10 us. */
#define WINDOW_NS	1000000000u

uint64_t vulkan_clock_ns(struct vulkan_clock *clock, uint64_t ticks, uint64_t mask)
{
	uint64_t forward, backward;

	if (!clock->ticks)
		clock->ticks = ticks;
	forward = (ticks - clock->ticks) & mask;
	backward = (clock->ticks - ticks) & mask;
	/*
	 * Queues may count fewer bits than the device: take the upper bits from the latest known
	 * time.
	 */
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
		/* No overlap: the clock was set, or an earlier bound was wrong. */
		if (clock->now.low > clock->now.high)
			clock->now = clock->before = seen;
	}
	b = both(&clock->now, &clock->before);
	return b.low <= b.high ? b : clock->now;
}
