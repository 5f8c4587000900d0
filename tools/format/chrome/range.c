// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ranges in Chrome's JSON: a begin and an end are "B" and "E"; ranges with both times in one record
 * are "X" if they nest, on a separate track if they do not, and an async pair if they fit on no
 * track. Whether they nest depends also on how Perfetto sorts events of one time. Viewers merge
 * both ends into one event: a key is in only one of them.
 */
#include <string.h>

#include "format/chrome/local.h"

/* A begin and its end have the same name, even if it is empty. */
static char *put_name(struct xsp_out *out, const struct xsprof_event *ev, uint32_t name, char *p)
{
	if (!name)
		return put_lit(p, "\"name\":\"range\",\"cat\":\"xsprof\"");
	return chrome_put_name(out, ev, name, p);
}

static void put_begin(struct xsp_out *out, const struct xsp_view *view)
{
	const struct xsprof_event *ev = view->ev;
	bool op = ev->flags & XSPROF_EVF_OP;
	char *p;

	p = put_name(out, ev, view->name, chrome_open(out, view->thread, 'B', ev->ns));
	if (ev->rec_size <= sizeof(struct xsprof_rec) && !op) {
		chrome_close_plain(out, p);
		return;
	}
	view->range->kind = op ? CHROME_OP : 0;
	/* If the string may continue in the next record, all of it is written at the end. */
	if (ev->rec->size >> 4 & XSPROF_RECF_MORE && chrome_note_args(out, ev, view->range)) {
		chrome_close_fields(out, ev, p);
		return;
	}
	xsp_tracks_unnote(out->tracks, view->range);
	chrome_close(out, ev, NULL, NULL, p);
	if (chrome_has_args(ev))
		chrome_note_keys(out, view->range);
}

void chrome_put_begin(struct xsp_out *out, const struct xsp_view *view)
{
	if (!view->range) {
		chrome_instant(out, view, 't', "\"begin\":\"left out: too many ranges are open\"",
			       NULL);
		return;
	}
	chrome_empty_open(out, view->ev->ns);
	put_begin(out, view);
	chrome_empty_begin(out, view->thread);
}

/* The remark for a range with lost records inside; NULL: none. */
static const char *uncertain(const struct xsp_range *range)
{
	return range->lost ? "\"uncertain\":\"lost\"" : NULL;
}

/* The event up to its name. */
static char *put_dur(struct xsp_out *out, struct xsp_track *thread, uint64_t begin, uint64_t end)
{
	char *p = chrome_open(out, thread, 'X', begin);

	p = put_micros_between(put_lit(p, "\"dur\":"), chrome_rel(out, begin),
			       chrome_rel(out, end));
	*p++ = ',';
	return p;
}

/* A range as one event; @thread may be another track than the event's. */
static void put_complete(struct xsp_out *out, const struct xsp_view *view,
			 struct xsp_track *thread, uint64_t begin, uint64_t end,
			 const struct xsp_range *range)
{
	char *p = put_name(out, view->ev, view->name, put_dur(out, thread, begin, end));

	chrome_close(out, view->ev, range, range ? uncertain(range) : NULL, p);
}

void chrome_put_end(struct xsp_out *out, const struct xsp_view *view)
{
	const struct xsprof_event *ev = view->ev;
	const struct xsp_range *range = view->range;
	size_t end, args;
	char *p;

	/* Its range was cut before, or is cut now and closes where the ranges inside it end. */
	if (view->earlier || (!range && !view->unmatched)) {
		out->merged++;
		return;
	}
	if (!range) {
		chrome_instant(out, view, 't', "\"end\":\"without a begin\"", NULL);
		return;
	}
	if (!range->shown) {
		/* It began before the time shown; the ranges inside it were left out too. */
		put_complete(out, view, view->thread, range->begin, ev->ns, range);
		return;
	}
	end = chrome_offset(out);
	p = put_name(out, ev, view->name, chrome_open(out, view->thread, 'E', ev->ns));
	args = (size_t)(p - out->buf.base);
	if (!chrome_has_note(range) && !range->lost && ev->rec_size <= sizeof(struct xsprof_rec))
		chrome_close_plain(out, p);
	else
		chrome_close(out, ev, range, uncertain(range), p);
	if (chrome_empty_end(out, view->thread, range->begin, ev->ns, end, args)) {
		view->thread->stale = true;
		out->merged++;
	}
}

#define CLOSED_MAX	128u

/* Why a range has no end of its own, and its earliest possible end: arguments as text. */
static void say_closed(const struct xsp_out *out, char *more, uint32_t producer,
		       const struct xsp_range *range, uint64_t ns, enum xsp_why why)
{
	uint64_t after = xsp_ended_after(out->trace, producer, range->begin, ns, why);
	char *p = why == XSP_WHY_CUT ? put_lit(more, "\"cut\":true") :
				       put_lit(more, "\"unfinished\":true");

	if (after < ns)
		p = put_micros(put_lit(p, ",\"ended_after\":"), chrome_rel(out, after));
	if (why == XSP_WHY_THREAD)
		p = put_lit(p, ",\"thread_ended\":true");
	if (range->lost)
		p = stpcpy(put_lit(p, ","), uncertain(range));
	*p = '\0';
}

/* A range without an end, or ended by the end of another. */
void chrome_closed(void *data, struct xsp_track *thread, struct xsp_range *range, uint64_t ns,
		   enum xsp_why why)
{
	const struct xsprof_event ev = { .type = XSPROF_REC_END, .producer = thread->producer };
	struct xsp_out *out = data;
	char more[CLOSED_MAX], *p;
	size_t end, args;

	if (!range->shown && !xsp_range_reaches_in(out, range, ns))
		return;
	chrome_flow_done(out, thread, ns);
	say_closed(out, more, thread->producer, range, ns, why);
	if (!range->shown) {
		thread->shown++;
		p = put_dur(out, thread, range->begin, ns);
		chrome_close(out, NULL, range, more, put_name(out, &ev, range->name, p));
		return;
	}
	end = chrome_offset(out);
	p = put_name(out, &ev, range->name, chrome_open(out, thread, 'E', ns));
	args = (size_t)(p - out->buf.base);
	chrome_close(out, NULL, range, more, p);
	if (chrome_empty_end(out, thread, range->begin, ns, end, args))
		thread->stale = true;
}

/* ---- async ranges --------------------------------------------------------------------------- */

static char *put_id(struct xsp_out *out, struct xsp_track *thread, char ph, uint64_t ns,
		    uint64_t id)
{
	char *p = put_lit(chrome_open(out, thread, ph, ns), "\"id2\":{\"local\":\"");

	return put_lit(put_hex(p, id), "\"},");
}

void chrome_put_async(struct xsp_out *out, const struct xsp_view *view)
{
	const struct xsprof_event *ev = view->ev;
	const char *more = NULL;
	char ph = 'n', *p;

	if (view->async && ev->type != XSPROF_REC_ASYNC_INSTANT)
		ph = ev->type == XSPROF_REC_ASYNC_BEGIN ? 'b' : 'e';
	else if (ev->type == XSPROF_REC_ASYNC_END)
		more = "\"end\":\"without a begin\"";
	else if (ev->type == XSPROF_REC_ASYNC_BEGIN)
		more = "\"begin\":\"left out: too many ranges are open\"";
	p = put_id(out, view->thread, ph, ev->ns, ev->value);
	p = (ph == 'n' ? chrome_put_name : put_name)(out, ev, view->name, p);
	chrome_close(out, ev, NULL, more, p);
}

/* An async range without an end. */
void chrome_async_closed(void *data, struct xsp_track *thread, const struct xsprof_range *range,
			 enum xsp_why why)
{
	const struct xsprof_event ev = {
		.type = XSPROF_REC_ASYNC_END, .producer = range->producer,
	};
	const struct xsp_range closed = {
		.begin = range->begin_ns, .lost = range->flags & XSPROF_RANGEF_UNCERTAIN,
	};
	struct xsp_out *out = data;
	char more[CLOSED_MAX], *p;

	say_closed(out, more, range->producer, &closed, range->end_ns, why);
	p = put_id(out, thread, 'e', range->end_ns, range->id);
	chrome_close(out, NULL, NULL, more, put_name(out, &ev, range->name, p));
}

/* A range that nests on no track: an async pair with a unique id. */
static void put_async_range(struct xsp_out *out, const struct xsp_view *view, uint64_t begin,
			    uint64_t end)
{
	struct chrome *chrome = out->priv;
	const struct xsprof_event *ev = view->ev;
	uint64_t id = 0xff00000000000000u + chrome->next_id++;
	char *p;

	chrome->to_async++;
	p = put_id(out, view->thread, 'b', begin, id);
	chrome_close(out, ev, NULL, NULL, put_name(out, ev, view->name, p));
	p = put_id(out, view->thread, 'e', end, id);
	chrome_close_plain(out, put_name(out, ev, view->name, p));
}

/* Does a range inside it, already in the file, begin at the same time? */
static bool begins_with_another(const struct xsp_stack *stack, uint64_t begin)
{
	const struct xsp_range *range = stack->v + stack->n - stack->run;

	for (; range < stack->v + stack->n && range->begin == begin; range++)
		if (range->end > begin)
			return true;
	return false;
}

/*
 * Perfetto sorts an "X" before a "B" of the same time: an "X" that begins with the range around it
 * would become the outer one. So it is written as a "B" and an "E"; events of the same time stay in
 * the order of the file.
 */
static bool begins_with_open(const struct xsp_stack *stack, const struct xsp_place *at)
{
	const struct xsp_range *top = xsp_stack_top(stack);

	return top && top->begin == at->begin && at->end > at->begin;
}

static void put_pair(struct xsp_out *out, const struct xsp_view *view, const struct xsp_place *at)
{
	const struct xsprof_event *ev = view->ev;
	char *p = chrome_open(out, view->thread, 'B', at->begin);

	((struct chrome *)out->priv)->pairs++;
	chrome_close(out, ev, NULL, NULL, put_name(out, ev, view->name, p));
	p = chrome_open(out, view->thread, 'E', at->end);
	chrome_close_plain(out, put_name(out, ev, view->name, p));
}

/* Draws a range with its own times. */
void chrome_put_range(struct xsp_out *out, const struct xsp_view *view)
{
	const struct xsprof_event *ev = view->ev;
	struct xsp_track *thread = view->thread;
	const struct xsp_stack *stack = &thread->opens.stack;
	struct xsp_place at;
	bool pair;

	xsp_lane_place(ev, thread, &at);
	pair = at.own && begins_with_open(stack, &at);
	if (!at.own || (pair && begins_with_another(stack, at.begin)) ||
	    !xsp_tracks_complete(out->tracks, thread, at.begin, at.end)) {
		thread = chrome_lane(out, ev, at.kind, at.key, at.begin, at.end);
		pair = false;
	}
	if (pair)
		put_pair(out, view, &at);
	else if (thread)
		put_complete(out, view, thread, at.begin, at.end, NULL);
	else
		put_async_range(out, view, at.begin, at.end);
	if (thread && ev->type == XSPROF_REC_GPU)
		chrome_arrow(out, ev, thread, at.begin);
}
