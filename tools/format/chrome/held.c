// SPDX-License-Identifier: GPL-2.0-only
/*
 * An instant of which not all is there yet: its record goes on in those that come next in its
 * thread.  Their arguments are collected here; chrome.c writes the whole.
 */
#include <stdlib.h>

#include "format/chrome/local.h"

static struct chrome_held *held_of(struct xsp_track *thread)
{
	/* Of a thread for which there was no memory nothing is remembered. */
	if (!thread->priv && thread->stack.floor != UINT64_MAX)
		thread->priv = calloc(1, sizeof(struct chrome_held));
	return thread->priv;
}

bool chrome_hold(struct xsp_out *out, const struct xsp_view *view)
{
	struct chrome_held *held;

	if (!(view->ev->rec && view->ev->rec->size >> 4 & XSPROF_RECF_MORE))
		return false;
	held = held_of(view->thread);
	if (!held)
		return false;
	memset(held, 0, sizeof(*held));
	if (!chrome_note_args(out, view->ev, &held->range)) {
		xsp_tracks_unnote(out->tracks, &held->range);
		return false;
	}
	held->ev = *view->ev;
	held->ev.rec = NULL;
	held->ev.rec_size = 0;
	held->name = view->name;
	held->used = true;
	return true;
}

void chrome_held_free(struct xsp_track *thread)
{
	free(thread->priv);
	thread->priv = NULL;
}
