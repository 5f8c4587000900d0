// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The clock that times of samples are of.  CUPTI's documentation says that they are times of the
 * CPU, and not by which clock: by that of the timestamp callback, as all other times, or by one of
 * the system's.
 */
#include <time.h>

#include "gpu/cupti/local.h"

#define SECOND	1000000000u
/* How far from its clock a time may be, as CUPTI computes it of a device's. */
#define SLACK	(SECOND / 1000)

static uint64_t ours(void)
{
	return xsprof_ticks_ns(xsprof_now());
}

int64_t cupti_clock_ahead(enum cupti_clock clock)
{
	static const clockid_t ids[CUPTI_CLOCKS] = {
		[CUPTI_REALTIME] = CLOCK_REALTIME, [CUPTI_MONOTONIC] = CLOCK_MONOTONIC,
	};
	struct timespec ts;

	if (clock == CUPTI_OURS || clock == CUPTI_NO_CLOCK)
		return 0;
	clock_gettime(ids[clock], &ts);
	return (int64_t)((uint64_t)ts.tv_sec * SECOND + (uint64_t)ts.tv_nsec - ours());
}

static bool is_of(enum cupti_clock clock, uint64_t since, uint64_t end)
{
	uint64_t ns = end - (uint64_t)cupti_clock_ahead(clock);

	return ns + SLACK >= since && ns <= ours() + SLACK;
}

enum cupti_clock cupti_clock_find(uint64_t since, uint64_t end, enum cupti_clock before)
{
	/* The longer the time since then, the more clocks it may be of: it stays what it was. */
	if (before != CUPTI_NO_CLOCK && is_of(before, since, end))
		return before;
	for (int c = CUPTI_OURS; c < CUPTI_CLOCKS; c++)
		if (is_of((enum cupti_clock)c, since, end))
			return (enum cupti_clock)c;
	return CUPTI_NO_CLOCK;
}
