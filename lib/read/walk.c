// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Walks slots and collects the set of threads. Never waits and cannot fail: a thread that does not
 * fit into the set is left out.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "read/walk.h"

static struct xsp_tid *place(const struct xsp_tids *tids, uint32_t tid)
{
	uint32_t i = xsp_hash_place(tid, tids->seed, tids->room);

	while (tids->tab[i].tid && tids->tab[i].tid != tid)
		i = (i + 1) & (tids->room - 1);
	return &tids->tab[i];
}

static int grow(struct xsp_tids *tids)
{
	struct xsp_tids more = *tids;
	uint32_t i;

	more.room = tids->room ? 2 * tids->room : 16;
	more.tab = calloc(more.room, sizeof(*more.tab));
	if (!more.tab)
		return 0;
	if (!tids->room)
		more.seed = xsp_hash_seed(tids);
	for (i = 0; i < tids->room; i++)
		if (tids->tab[i].tid)
			*place(&more, tids->tab[i].tid) = tids->tab[i];
	free(tids->tab);
	*tids = more;
	return 1;
}

static void tids_see(struct xsp_tids *tids, uint32_t tid)
{
	struct xsp_tid *t;

	tids->last = tid;
	if (!tid)
		return;
	/* At most half full, so that every search ends. */
	if (2 * tids->nr >= tids->room && !grow(tids))
		return;
	t = place(tids, tid);
	if (t->tid) {
		t->flags |= XSP_TID_SEEN;
		return;
	}
	if (tids->nr >= XSP_TIDS_MAX)
		return;
	t->tid = tid;
	t->flags = XSP_TID_NEW | XSP_TID_SEEN;
	tids->nr++;
	tids->fresh++;
}

void xsp_tids_free(struct xsp_tids *tids)
{
	free(tids->tab);
	memset(tids, 0, sizeof(*tids));
}

static int is_event(const struct xsprof_rec *rec)
{
	return rec->type < XSPROF_REC_PAD && rec->type != XSPROF_REC_ARGS;
}

/*
 * Fast path for a run of one-slot records of one thread, the bulk of most rings: no iteration
 * depends on a load of the previous one, and a one-slot record never crosses a block.
 */
static size_t walk_run(const struct xsprof_rec *slots, size_t i, size_t n, uint32_t tid,
		       uint64_t *records)
{
	size_t from = i, others = 0;

	for (; i < n && (slots[i].size & 0x0f) == 1 && slots[i].tid == tid; i++)
		others += !is_event(&slots[i]);
	*records += i - from - others;
	return i;
}

size_t xsp_walk(const struct xsprof_rec *slots, uint64_t pos, size_t n, struct xsp_walk *walk,
		struct xsp_tids *tids)
{
	uint64_t records = 0;
	size_t i = 0, run;

	walk->first = n ? slots[0].ts : 0;
	walk->last = 0;
	while (i < n) {
		const struct xsprof_rec *rec = &slots[i];
		uint32_t size = rec->size & 0x0f;
		uint32_t at = (pos + i) & (XSPROF_BLOCK_SLOTS - 1);

		if (size - 1 >= XSPROF_RECORD_SLOTS || at + size > XSPROF_BLOCK_SLOTS ||
		    size > n - i)
			break;
		if (rec->tid != tids->last)
			tids_see(tids, rec->tid);
		records += is_event(rec);
		walk->last = rec->ts;
		i += size;
		run = walk_run(slots, i, n, tids->last, &records);
		if (run != i)
			walk->last = slots[run - 1].ts;
		i = run;
	}
	walk->records = records;
	return i;
}
