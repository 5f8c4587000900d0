// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events that wait for their arguments, and are drawn then: see held.h.
 */
#include <stdlib.h>
#include <string.h>

#include "format/common/held.h"

#define ARG_ALIGN	16u	/* of the bytes after an argument's head */

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

/* Nothing waits; the memory for a record is kept. */
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

/* Keeps an instant. Return: false: write it now. */
static bool hold(struct xsp_out *out, const struct xsp_view *view, fmt_note note)
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

/* Size of the record before its arguments, of types that hold_range() keeps. */
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

/* Keeps an event with its own times. Return: false: write it now. */
static bool hold_range(const struct xsp_view *view)
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

/*
 * Adds late arguments. Return: true: they belong to the event that waits; @whole is set if no more
 * follow.
 */
static bool held_add(struct xsp_out *out, const struct xsp_view *view, fmt_note note, bool *whole)
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

/* ---- drawing --------------------------------------------------------------------------------- */

/* Counters, each at the time from which it is the mean; that of a kernel ends with it. */
static void draw_metrics(struct xsp_out *out, const struct fmt_drawing *d,
			 const struct xsp_view *view)
{
	struct xsprof_trace_arg arg;
	size_t pos = 0;

	while (fmt_gpu_metric(view->ev, &pos, &arg)) {
		d->metric(out, view, arg.key, view->ev->begin_ns, arg.u.f64);
		if (fmt_gpu_of_kernel(view->ev))
			d->metric(out, view, arg.key, view->ev->end_ns, 0);
	}
}

/* An event with its own times. */
static void draw_timed(struct xsp_out *out, const struct fmt_drawing *d,
		       const struct xsp_view *view)
{
	const struct xsprof_event *ev = view->ev;

	/* Its kernels show it as "captured in". */
	if (ev->type == XSPROF_REC_GPU && ev->aux == XSPROF_GPU_NODE) {
		out->merged++;
		return;
	}
	if (ev->type == XSPROF_REC_GPU && ev->aux == XSPROF_GPU_METRICS) {
		draw_metrics(out, d, view);
		return;
	}
	if (ev->type == XSPROF_REC_GPU &&
	    (ev->aux == XSPROF_GPU_ALLOC || ev->aux == XSPROF_GPU_FREE))
		d->in_use(out, view);
	d->range(out, view);
}

void fmt_draw_held(struct xsp_out *out, const struct fmt_drawing *d, struct xsp_track *thread)
{
	struct fmt_held *held = fmt_held_take(thread);
	struct xsp_view view = { .thread = thread };

	if (!held)
		return;
	view.ev = &held->ev;
	view.name = held->name;
	if (held->ev.rec)
		draw_timed(out, d, &view);
	else
		d->instant(out, &view, held->ev.aux, &held->range);
	fmt_held_done(out, held);
}

/* Arguments after their record: added to the record's range while it is open. */
static void draw_args(struct xsp_out *out, const struct fmt_drawing *d,
		      const struct xsp_view *view)
{
	struct xsp_range *range = xsp_stack_top(&view->thread->opens.stack);
	bool whole, added = held_add(out, view, d->note, &whole);

	if (whole)
		fmt_draw_held(out, d, view->thread);
	if (!added && view->thread->note_to_top && range)
		added = d->note(out, view->ev, range);
	if (added)
		out->merged++;
	else
		d->instant(out, view, XSPROF_SCOPE_THREAD, NULL);
}

bool fmt_draw(struct xsp_out *out, const struct fmt_drawing *d, const struct xsp_view *view)
{
	if (view->ev->type != XSPROF_REC_ARGS)
		fmt_draw_held(out, d, view->thread);
	switch (view->ev->type) {
	case XSPROF_REC_GPU:
	case XSPROF_REC_COMPLETE:
	case XSPROF_REC_SPAN:
		if (!hold_range(view))
			draw_timed(out, d, view);
		return true;
	case XSPROF_REC_INSTANT:
		if (!hold(out, view, d->note))
			d->instant(out, view, view->ev->aux, NULL);
		return true;
	case XSPROF_REC_ARGS:
		draw_args(out, d, view);
		return true;
	default:
		return false;
	}
}
