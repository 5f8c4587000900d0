// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sync points of a snapshot, to convert its times. It reads no ring.
 */
#include <unistd.h>

#include "base/clock.h"
#include "snapshot/points.h"

#define RATE_NS	5000000u	/* period over which the counter's rate is measured */

void snapshot_add_syncs(struct snapshot *s, const struct xsprof_sync *syncs, uint32_t nr)
{
	struct xsprof_chunk chunk = {
		.type = XSPROF_CHUNK_CLOCK,
		.producer = XSPROF_NO_PRODUCER,
	};
	uint32_t n;

	for (; nr; nr -= n, syncs += n) {
		n = nr < XSP_CAP_RAW_MAX / sizeof(*syncs) ? nr : XSP_CAP_RAW_MAX / sizeof(*syncs);
		chunk.first = syncs[0].ticks;
		chunk.last = syncs[n - 1].ticks;
		xsp_store_chunk(&s->st, &chunk, syncs, n * sizeof(*syncs));
	}
}

void snapshot_add_now(struct snapshot *s)
{
	struct xsprof_sync sync;
	uint32_t kind;

	for (kind = XSPROF_CLOCK_TSC; kind <= XSPROF_CLOCK_MONO_RAW; kind++) {
		if (!(s->st.kinds >> kind & 1))
			continue;
		xsp_sync_read(&sync, kind);
		snapshot_add_syncs(s, &sync, 1);
	}
}

/*
 * A snapshot takes a moment: two points so close say little about the seconds before. The sync
 * points that producers got at attach reach back to the begin of their records. Producers could
 * have forged them, and one producer must not distort the times of others: points that do not fit
 * the measured rate are ignored.
 */
void snapshot_add_points(struct snapshot *s)
{
	struct xsprof_sync now;
	uint64_t ns, ticks;
	double rate, its;
	uint32_t i;

	/* Long enough that the uncertainty of its ends is 1/100000 of it. */
	do {
		xsp_sync_read(&now, s->began.kind);
		if (now.mono - s->began.mono < RATE_NS)
			usleep(RATE_NS / 1000);
	} while (now.mono - s->began.mono < RATE_NS);
	for (i = 0; i < s->nr_points; i++) {
		const struct xsprof_sync *p = &s->points[i];
		bool raw = p->kind == XSPROF_CLOCK_MONO_RAW;

		if (!raw && p->kind != s->began.kind)
			continue;
		ticks = raw ? now.mono_raw : now.ticks;
		ns = now.mono - s->began.mono;
		rate = (double)(ticks - (raw ? s->began.mono_raw : s->began.ticks)) / (double)ns;
		if (p->ticks >= ticks || p->mono >= now.mono || !p->ticks || !p->mono)
			continue;
		its = (double)(ticks - p->ticks) / (double)(now.mono - p->mono);
		if (its > rate * 0.999 && its < rate * 1.001)
			snapshot_add_syncs(s, p, 1);
	}
}
