// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events that wait for their arguments: see held.h.
 */
#include <stdlib.h>
#include <string.h>

#include "format/common/held.h"

#define ARG_ALIGN	16u	/* what is after an argument's head */

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

/* What waits is not there yet; the memory for its record stays. */
static void empty(struct fmt_held *held)
{
	*held = (struct fmt_held){ .record = held->record, .room = held->room };
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
	empty(held);
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
	empty(held);
	take(held, view);
	return true;
}

/* Return: false: no memory. */
static bool append(struct fmt_held *held, const void *bytes, size_t n)
{
	size_t room = held->ev.rec_size + n;
	char *record = held->record;

	if (room > held->room) {
		record = realloc(record, room);
		if (!record)
			return false;
		held->record = record;
		held->room = room;
	}
	memcpy(record + held->ev.rec_size, bytes, n);
	held->ev.rec = (const struct xsprof_rec *)record;
	held->ev.rec_size = room;
	return true;
}

/* A record ends with its last argument: what follows are arguments of the same event. */
static size_t end_of_args(const struct xsprof_event *ev)
{
	struct xsprof_trace_arg arg;
	size_t pos = 0;

	while (xsprof_trace_args(ev, &pos, &arg))
		;
	return pos;
}

/* What is before the arguments, of those that fmt_hold_range() is for. */
static size_t head(uint32_t type)
{
	switch (type) {
	case XSPROF_REC_GPU:
		return sizeof(struct xsprof_rec_gpu);
	case XSPROF_REC_SPAN:
		return sizeof(struct xsprof_rec_span);
	default:
		return sizeof(struct xsprof_rec);
	}
}

bool fmt_hold_range(const struct xsp_view *view)
{
	const struct xsprof_event *ev = view->ev;
	struct fmt_held *held = goes_on(ev) ? held_of(view->thread) : NULL;
	size_t end = held ? end_of_args(ev) : 0;

	if (!held)
		return false;
	empty(held);
	take(held, view);
	/* The first argument may have been too long for it. */
	held->used = append(held, ev->rec, end ? end : head(ev->type));
	return held->used;
}

/* The last argument of the record that waits goes on with @more. Return: false: it cannot. */
static bool join(struct fmt_held *held, const struct xsprof_trace_arg *more)
{
	size_t pos = 0, at = head(held->ev.type), last = 0;
	static const char padding[ARG_ALIGN];
	struct xsprof_trace_arg arg;
	struct xsprof_arg raw;
	uint32_t len;

	while (xsprof_trace_args(&held->ev, &pos, &arg)) {
		last = at;
		at = pos;
	}
	if (!last || arg.type != more->type || arg.key != more->key)
		return false;
	memcpy(&raw, held->record + last, sizeof(raw));
	len = raw.len + (uint32_t)more->len;
	held->ev.rec_size = last + sizeof(raw) + raw.len;
	raw.len = (uint16_t)len;
	raw.flags |= more->flags & XSPROF_ARGF_CUT;
	if (len != raw.len || !append(held, more->str, more->len) ||
	    !append(held, padding, -len % ARG_ALIGN)) {
		held->ev.rec_size = at;
		return false;
	}
	memcpy(held->record + last, &raw, sizeof(raw));
	return true;
}

/* Adds the arguments of @ev to the record that waits. */
static bool add_record(struct fmt_held *held, const struct xsprof_event *ev)
{
	size_t end = end_of_args(ev), from = sizeof(struct xsprof_rec), pos = 0;
	struct xsprof_trace_arg first;

	if (!xsprof_trace_args(ev, &pos, &first))
		return true;
	if (first.flags & XSPROF_ARGF_CONT && join(held, &first))
		from = pos;
	return append(held, (const char *)ev->rec + from, end - from);
}

bool fmt_held_add(struct xsp_out *out, const struct xsp_view *view, fmt_note note, bool *whole)
{
	struct fmt_held *held = view->thread->priv;
	bool added;

	*whole = false;
	if (!held || !held->used)
		return false;
	added = held->ev.rec ? add_record(held, view->ev) : note(out, view->ev, &held->range);
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
	struct fmt_held *held = thread->priv;

	if (held)
		free(held->record);
	free(held);
	thread->priv = NULL;
}
