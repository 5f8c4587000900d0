// SPDX-License-Identifier: GPL-2.0-only
/*
 * Watches one producer: reads new records since the last look, and reports ranges that are due.
 * names.c has its names, ring.c its rings, thread.c the stacks of its threads.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/hash.h"
#include "read/peek-arena.h"
#include "watch/local.h"

struct watched *watched_new(const struct watch *watch, const struct xsp_ring_file *rf)
{
	struct watched *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->watch = watch;
	w->rf = rf;
	w->seed = xsp_hash_seed(w);
	w->rings = calloc(rf->rings, sizeof(*w->rings));
	if (!w->rings) {
		free(w);
		return NULL;
	}
	xsp_sync_read(&w->first, rf->ctl.clock.kind);
	return w;
}

void watched_free(struct watched *w)
{
	if (!w)
		return;
	watch_threads_free(w);
	free(w->names);
	free(w->rings);
	free(w);
}

/* Nanoseconds per tick, measured since the first look; 0: too early to tell. */
static double rate(const struct watched *w, uint64_t *now)
{
	struct xsprof_sync sync;

	xsp_sync_read(&sync, w->rf->ctl.clock.kind);
	*now = sync.ticks;
	if (w->rf->ctl.clock.kind == XSPROF_CLOCK_MONO_RAW)
		return 1;
	if (sync.ticks <= w->first.ticks || sync.mono - w->first.mono < 1000000)
		return 0;
	return (double)(sync.mono - w->first.mono) / (double)(sync.ticks - w->first.ticks);
}

int watched_names(struct watched *w)
{
	long pos;

	if (w->arena_broken)
		return 0;
	pos = peek_arena(w->rf, w->arena_pos, w, watch_take_entry);
	if (pos == -ENOMEM)
		return pos;
	w->arena_broken = pos < 0;
	if (pos >= 0)
		w->arena_pos = pos;
	return 0;
}

int watched_look(struct watched *w)
{
	const struct xsprof_ctl *ctl = xsp_ring_ctl(w->rf);
	uint64_t now, before = w->limit, quiets, ticks;
	double ns = rate(w, &now);
	int err;

	/* A name is in the arena before the first record with it is published. */
	err = watched_names(w);
	if (err)
		return err;
	w->limit = now;
	if (!before)
		return 0;
	err = watch_rings(w, before);
	w->looked = true;
	quiets = __atomic_load_n(&ctl->quiets, __ATOMIC_ACQUIRE);
	ticks = __atomic_load_n(&ctl->quiet_ticks, __ATOMIC_RELAXED);
	/* A pause later than the records seen is handled at the next look. */
	if (quiets != w->quiets && ticks <= before) {
		watch_quiet(w, ticks);
		w->quiets = quiets;
	}
	if (!err && ns > 0)
		watch_check(w, before, (uint64_t)((double)w->watch->stall_ns / ns), ns);
	return err;
}
