// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Totals of a drain: of its store, and of ended and live producers.
 */
#include <errno.h>
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
		.elsewhere_slots = d->st.elsewhere_slots,
		.no_room = d->gone_no_room,
		.devices = d->st.devices,
		.cuda = d->st.cuda,
		.sampled = d->st.sampled,
		.modules = d->st.modules,
		.bytes = d->st.cap->size,
		.producers = d->seen,
		.live = d->nr_live,
		.on_device = d->on_device,
		.refused = d->nr_refused + d->messages.nr,
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
		if (xsp_producer_refused(p))
			stats->no_room = xsp_producer_refused(p);
	}
}

const char *xsp_drain_no_room(uint32_t err)
{
	switch (err) {
	case ENOSPC:
	case EDQUOT:
		return "the tmpfs of the rings was full";
	case ENOMEM:
		return "a memory limit (ulimit -l or -v, a cgroup, the module's max_bytes) "
		       "prevented rings from growing: use smaller rings, or a larger limit";
	case EPERM:
	case EACCES:
	case ENOSYS:
		return "a sandbox (seccomp) denied memory for rings: XSPROF_PREFAULT=1 allocates "
		       "it earlier, at the first marker";
	case EBADF:
		return "the program closed the file descriptor of its rings, which then could not "
			"grow";
	case EFBIG:
		return "the file size limit (ulimit -f) prevented rings from growing";
	default:
		return "rings got no more memory: use smaller ones (XSPROF_BUFFER_SIZE)";
	}
}
