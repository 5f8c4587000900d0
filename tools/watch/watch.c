// SPDX-License-Identifier: GPL-2.0-only
/*
 * One producer being watched: which of its names are meant, and what is due when.  Rings are
 * watch-ring.c's, stacks watch-thread.c's.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "read/peek-arena.h"
#include "watch/local.h"

struct watched *watched_new(const struct watch *watch, const struct xsp_ring_file *rf)
{
	struct watched *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->watch = watch;
	w->rf = rf;
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

/* ---- names --------------------------------------------------------------------------------- */

static uint32_t *place(uint32_t *tab, uint32_t room, uint32_t name)
{
	uint32_t i = name * 0x9e3779b1u;

	for (i = (i ^ i >> 16) & (room - 1); tab[i] && tab[i] != name; i = (i + 1) & (room - 1))
		;
	return &tab[i];
}

bool watch_is_name(const struct watched *w, uint32_t name)
{
	return name && w->nr_names && *place(w->names, w->room_names, name);
}

static int add_name(struct watched *w, uint32_t name)
{
	if (!name || w->nr_names == WATCH_NAMES)
		return 0;
	if (2 * w->nr_names >= w->room_names) {
		uint32_t room = w->room_names ? 2 * w->room_names : 16, i;
		uint32_t *tab = calloc(room, sizeof(*tab));

		if (!tab)
			return -ENOMEM;
		for (i = 0; i < w->room_names; i++)
			if (w->names[i])
				*place(tab, room, w->names[i]) = w->names[i];
		free(w->names);
		w->names = tab;
		w->room_names = room;
	}
	if (!*place(w->names, w->room_names, name)) {
		*place(w->names, w->room_names, name) = name;
		w->nr_names++;
	}
	return 0;
}

static bool is_meant(const struct watched *w, const char *text)
{
	uint32_t i;

	for (i = 0; i < w->watch->nr; i++)
		if (!strcmp(w->watch->globs[i], text) || !fnmatch(w->watch->globs[i], text, 0))
			return true;
	return false;
}

static int take_entry(void *data, const struct xsprof_entry *entry, const char *text)
{
	struct watched *w = data;

	if (entry->type != XSPROF_ENTRY_NAME || !is_meant(w, text))
		return 0;
	return add_name(w, entry->id);
}

struct wanted {
	uint32_t	name;
	char		*buf;
};

static int find_entry(void *data, const struct xsprof_entry *entry, const char *text)
{
	struct wanted *wanted = data;

	if (entry->type != XSPROF_ENTRY_NAME || entry->id != wanted->name)
		return 0;
	strcpy(wanted->buf, text);
	return -EEXIST;
}

static const char *text_of(struct watched *w, uint32_t name, char *buf)
{
	struct wanted wanted = { name, buf };

	strcpy(buf, "?");
	peek_arena(w->rf, 0, &wanted, find_entry);
	return buf;
}

/* ---- a look -------------------------------------------------------------------------------- */

/* Nanoseconds of one tick, by what passed since the first look; 0 while that says nothing. */
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

int watched_look(struct watched *w)
{
	const struct xsprof_ctl *ctl = xsp_ring_ctl(w->rf);
	uint64_t now, before = w->limit, quiets, ticks;
	double ns = rate(w, &now);
	long pos;
	int err;

	/* Names first: one is in the arena before the first record that bears it is published. */
	if (!w->arena_broken) {
		pos = peek_arena(w->rf, w->arena_pos, w, take_entry);
		if (pos == -ENOMEM)
			return pos;
		w->arena_broken = pos < 0;
		if (pos >= 0)
			w->arena_pos = pos;
	}
	w->limit = now;
	if (!before)
		return 0;
	err = watch_rings(w, before);
	w->looked = true;
	quiets = __atomic_load_n(&ctl->quiets, __ATOMIC_ACQUIRE);
	ticks = __atomic_load_n(&ctl->quiet_ticks, __ATOMIC_RELAXED);
	/* One that is later than the records seen comes with the next look. */
	if (quiets != w->quiets && ticks <= before) {
		watch_quiet(w, ticks);
		w->quiets = quiets;
	}
	if (!err && ns > 0)
		watch_check(w, before, (uint64_t)((double)w->watch->stall_ns / ns), ns, text_of);
	return err;
}
