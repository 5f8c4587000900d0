// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Which threads may have lost records: see losses.h.
 */
#include "ranges/losses.h"

void xst_losses_add(struct xst_losses *losses, const struct xsprof_event *ev)
{
	uint64_t *latest = losses->latest[ev->producer % XST_LOSS_PRODUCERS];

	/* The kernel's tracer has no begins and ends. */
	if (ev->producer == XSPROF_NO_PRODUCER)
		return;
	latest[XST_LOSS_ANY] = ++losses->count;
	if (ev->cpu >= 0) {
		latest[(uint32_t)ev->cpu % XST_LOSS_RINGS] = losses->count;
		return;
	}
	/* The ring that all share, or no ring at all: it may be any thread's. */
	for (uint32_t i = 0; i < XST_LOSS_RINGS; i++)
		latest[i] = losses->count;
}

bool xst_losses_of_thread(const struct xst_losses *losses, uint32_t producer,
			  const struct xst_loss_mark *mark)
{
	const uint64_t *latest = losses->latest[producer % XST_LOSS_PRODUCERS];

	if (latest[XST_LOSS_ANY] <= mark->seen)
		return false;
	for (uint64_t rings = mark->rings; rings; rings &= rings - 1)
		if (latest[__builtin_ctzll(rings)] > mark->seen)
			return true;
	return false;
}
