// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The totals of a drain: of its store, of the producers that have ended and of those that live.
 */
#include <string.h>

#include "drain/local.h"

void xsp_drain_get_stats(const struct xsp_drain *d, struct xsp_drain_stats *stats)
{
	const struct xsp_producer *p;

	*stats = (struct xsp_drain_stats){
		.records = d->st.records,
		.slots = d->st.slots,
		.lost_records = d->gone_lost + d->st.unsaved_records,
		.late_records = d->gone_late,
		.lost_slots = d->gone_skipped,
		.bad_slots = d->gone_bad,
		.devices = d->st.devices,
		.bytes = d->st.cap->size,
		.producers = d->seen,
		.live = d->nr_live,
		.on_device = d->on_device,
		.refused = d->nr_refused + d->messages,
		.killed = d->killed,
		.vanished = d->vanished,
		.error = d->st.error,
	};
	memcpy(stats->deaths, d->deaths, sizeof(stats->deaths));
	for (p = d->live; p; p = p->next) {
		uint64_t skipped, bad;

		stats->lost_records += xsp_producer_lost(p);
		stats->late_records += xsp_producer_late(p);
		xsp_producer_lost_slots(p, &skipped, &bad);
		stats->lost_slots += skipped;
		stats->bad_slots += bad;
	}
}
