// SPDX-License-Identifier: GPL-2.0-only
/*
 * Instants that wait for their arguments: see held.h.
 */
#include <stdlib.h>

#include "format/common/held.h"

static bool goes_on(const struct xsprof_event *ev)
{
	return ev->rec && ev->rec->size >> 4 & XSPROF_RECF_MORE;
}

static struct fmt_held *held_of(struct xsp_track *thread)
{
	/* If memory for a thread ran out nothing is kept for it. */
	if (!thread->priv && thread->opens.stack.floor != UINT64_MAX)
		thread->priv = calloc(1, sizeof(struct fmt_held));
	return thread->priv;
}

static void take(struct fmt_held *held, const struct xsp_view *view)
{
	held->ev = *view->ev;
	held->ev.rec = NULL;
	held->ev.rec_size = 0;
	held->name = view->name;
	held->used = true;
}

bool fmt_hold(struct xsp_out *out, const struct xsp_view *view, fmt_note note)
{
	struct fmt_held *held = goes_on(view->ev) ? held_of(view->thread) : NULL;

	if (!held)
		return false;
	memset(held, 0, sizeof(*held));
	if (!note(out, view->ev, &held->range)) {
		fmt_held_done(out, held);
		return false;
	}
	take(held, view);
	return true;
}

bool fmt_hold_plain(const struct xsp_view *view)
{
	struct fmt_held *held = held_of(view->thread);

	if (!held)
		return false;
	memset(held, 0, sizeof(*held));
	take(held, view);
	return true;
}

bool fmt_held_add(struct xsp_out *out, const struct xsp_view *view, fmt_note note, bool *whole)
{
	struct fmt_held *held = view->thread->priv;
	bool added;

	*whole = false;
	if (!held || !held->used)
		return false;
	added = note(out, view->ev, &held->range);
	*whole = !added || !goes_on(view->ev);
	return added;
}

struct fmt_held *fmt_held_take(struct xsp_track *thread)
{
	struct fmt_held *held = thread->priv;

	if (!held || !held->used)
		return NULL;
	held->used = false;
	return held;
}

void fmt_held_done(struct xsp_out *out, struct fmt_held *held)
{
	xsp_tracks_unnote(out->tracks, &held->range);
}

void fmt_held_free(struct xsp_track *thread)
{
	free(thread->priv);
	thread->priv = NULL;
}
