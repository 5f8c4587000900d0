// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Sync points of a recording: takes them, keeps a few, and stores them in the capture, with a
 * device also those of the kernel. drain.c decides when.
 */
#include "drain/local.h"

/* An interrupted writer may publish a record this long after taking its timestamp. */
#define PEEK_MARGIN_NS	20000000u

void xsp_drain_store_clocks(struct xsp_drain *d)
{
	struct xsprof_chunk chunk = {
		.type = XSPROF_CHUNK_CLOCK,
		.producer = XSPROF_NO_PRODUCER,
		.pos = d->filter.peek ? PEEK_MARGIN_NS : 0,
	};

	if (!d->nr_syncs)
		return;
	chunk.first = d->syncs[0].ticks;
	chunk.last = d->syncs[d->nr_syncs - 1].ticks;
	xsp_store_chunk(&d->st, &chunk, d->syncs, d->nr_syncs * sizeof(d->syncs[0]));
	d->nr_syncs = 0;
}

void xsp_drain_clocks(struct xsp_drain *d, uint32_t kinds)
{
	uint32_t kind;

	for (kind = XSPROF_CLOCK_TSC; kind <= XSPROF_CLOCK_MONO_RAW; kind++) {
		if (!(kinds >> kind & 1))
			continue;
		if (d->nr_syncs == sizeof(d->syncs) / sizeof(d->syncs[0]))
			xsp_drain_store_clocks(d);
		xsp_sync_read(&d->syncs[d->nr_syncs], kind);
		d->last_mono = d->syncs[d->nr_syncs++].mono;
		if (!d->first_mono)
			d->first_mono = d->last_mono;
	}
	d->synced |= kinds;
}

void xsp_drain_kernel_clocks(struct xsp_drain *d, uint64_t from, uint64_t to)
{
	struct xsprof_chunk chunk = {
		.type = XSPROF_CHUNK_CLOCK,
		.producer = XSPROF_NO_PRODUCER,
	};
	struct xsprof_sync *syncs = d->st.buf;
	int i, n, kept = 0;

	_Static_assert(XSP_DEVICE_SYNCS * sizeof(*syncs) <= XSP_CAP_RAW_MAX, "fits the buffer");
	if (d->device < 0)
		return;
	n = xsp_device_syncs(d->device, syncs);
	for (i = 0; i < n; i++)
		if (syncs[i].mono >= from && syncs[i].mono <= to)
			syncs[kept++] = syncs[i];
	if (!kept)
		return;
	chunk.first = syncs[0].ticks;
	chunk.last = syncs[kept - 1].ticks;
	xsp_store_chunk(&d->st, &chunk, syncs, kept * sizeof(*syncs));
}
