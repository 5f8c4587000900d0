// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Many activities at once.  A ring in discard mode drops what it has no room for: so wait for its
 * reader.  A ring that overwrites keeps the latest records, and has no reader.  Called by one
 * thread, a collector's own.
 */
#include <errno.h>
#include <time.h>

#include "gpu/common/collect.h"

#define RECORD_BYTES	256u	/* of ours, at most */
#define FIT		7u	/* arguments of a kernel that fit into one */
#define FLUSH_MS	1000u

static uint64_t written;	/* bytes since the recorder was waited for */
static uint64_t stalled;	/* since when it takes nothing, ns; 0: it does */
static uint64_t patience;	/* until when it is waited for, ns; 0: always */

uint64_t collect_monotonic(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* Whether the recorder has taken all, or is waited for no longer.  It may be gone. */
static void wait_for_recorder(uint32_t ms)
{
	uint64_t now = collect_monotonic();

	written = 0;
	if (stalled || (patience && now >= patience))
		ms = 0;
	if (xsprof_flush((int)ms) != -ETIMEDOUT)
		stalled = 0;
	else if (!stalled)
		stalled = now;
}

uint64_t collect_stalled(void)
{
	if (stalled)
		wait_for_recorder(0);
	return stalled;
}

void collect_hurry(uint64_t until)
{
	patience = until;
}

bool collect_put(const struct xsprof_device_activity *a, const struct xsprof_kv *kv, size_t n)
{
	if (!xsprof_wants(a->name))
		return false;
	xsprof_device_activity(a, kv, n);
	written += n > FIT ? 2 * RECORD_BYTES : RECORD_BYTES;
	if (written >= xsprof_ctl_page.ctl.ring_size / 2 &&
	    xsprof_ctl_page.ctl.mode == XSPROF_MODE_DISCARD)
		wait_for_recorder(FLUSH_MS);
	return true;
}
