// SPDX-License-Identifier: GPL-2.0-only
/*
 * The JSON of Chrome's trace viewer, as Perfetto, catapult and speedscope read it alike.
 *
 * What makes one file open everywhere: a number as pid and as tid on every event, ranges on one
 * tid nest strictly, microseconds since the start of the trace that a double holds.  Ranges of a
 * begin and an end are "B" and "E"; those with both times in one record are "X" where they
 * nest, on a track of their own where they do not, and an async pair where no track has room.
 * It never keeps an event: memory is that of what is open, and events of the kernel's tracer,
 * which stand behind all others, wait in a file.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/hash.h"
#include "format/chrome/local.h"
#include "format/common/sched.h"

static char *name_text(const struct xsprof_trace *trace, uint32_t producer, uint32_t name, char *p)
{
	const char *s, *category;
	size_t len;

	s = xsprof_trace_name_len(trace, producer, name, &len);
	category = xsprof_trace_category(trace, producer, name);
	p = put_lit(p, "\"name\":");
	p = json_string(p, s, len < XSP_NAME_BYTES ? len : XSP_NAME_BYTES, NULL);
	p = put_lit(p, ",\"cat\":");
	return json_string(p, category, strnlen(category, XSP_NAME_BYTES), NULL);
}

static char *key_text(const struct xsprof_trace *trace, uint32_t producer, uint32_t name, char *p)
{
	const char *s;
	size_t len;

	s = xsprof_trace_name_len(trace, producer, name, &len);
	p = json_string(p, s, len < XSP_NAME_BYTES ? len : XSP_NAME_BYTES, NULL);
	*p++ = ':';
	return p;
}

static int chrome_begin(struct xsp_out *out)
{
	struct chrome *chrome = calloc(1, sizeof(*chrome));

	if (!chrome)
		return -ENOMEM;
	chrome->used = calloc(1, CHROME_PIDS / 8);
	chrome->others = calloc(1, CHROME_PIDS / 8);
	if (!chrome->used || !chrome->others) {
		free(chrome->used);
		free(chrome->others);
		free(chrome);
		return -ENOMEM;
	}
	out->priv = chrome;
	chrome_start(out);
	return 0;
}

static char *put_head(struct xsp_out *out, struct xsp_track *thread, char ph, uint64_t ns)
{
	struct chrome *chrome = out->priv;
	char *p = xsp_buf_room(&out->buf, CHROME_ROOM);

	*p++ = chrome->sep;
	chrome->sep = ',';
	memcpy(p, "\n{\"ph\":\"?\",", 11);
	p[8] = ph;
	p = chrome_put_thread(out, thread, p + 11);
	p = put_micros(p, chrome_rel(out, ns));
	*p++ = ',';
	return p;
}

static char *put_name(struct xsp_out *out, const struct xsprof_event *ev, uint32_t name, char *p)
{
	const struct xsp_name *entry;
	const char *word;

	if (!name) {
		word = xsp_word_type(ev->type);
		p = json_string(put_lit(p, "\"name\":"), word, strlen(word), NULL);
		return put_lit(p, ",\"cat\":\"xsprof\"");
	}
	entry = xsp_names_get(out->names, ev->producer, name);
	if (__builtin_expect(entry->len <= 1024, 1)) {
		memcpy(p, entry->text, entry->len);
		return p + entry->len;
	}
	out->buf.p = p;
	xsp_buf_put(&out->buf, entry->text, entry->len);
	return xsp_buf_room(&out->buf, CHROME_ROOM);
}

/* A begin and its end have the same name, also where they have none. */
static char *put_range_name(struct xsp_out *out, const struct xsprof_event *ev, uint32_t name,
			    char *p)
{
	if (!name)
		return put_lit(p, "\"name\":\"range\",\"cat\":\"xsprof\"");
	return put_name(out, ev, name, p);
}

/* The arguments, when there are any, and the end of the event. */
static void put_tail(struct xsp_out *out, const struct xsprof_event *ev, const char *note,
		     const char *more, char *p)
{
	bool any = note || more;

	/* Room first: where there turns out to be no argument, the key is taken back. */
	out->buf.p = p;
	p = xsp_buf_room(&out->buf, CHROME_ROOM);
	p = put_lit(p, ",\"args\":{");
	out->buf.p = p;
	if (note)
		xsp_buf_puts(&out->buf, note);
	if (note && more)
		xsp_buf_puts(&out->buf, ",");
	if (more)
		xsp_buf_puts(&out->buf, more);
	if (any)
		p = xsp_buf_room(&out->buf, CHROME_ROOM);
	if (ev) {
		p = chrome_put_fields(out, ev, p, &any);
		p = chrome_put_args(out, ev, p, &any);
	}
	out->buf.p = any ? put_lit(p, "}}") : put_lit(p - 9, "}");
}

static void put_plain(struct xsp_out *out, char *p)
{
	*p++ = '}';
	out->buf.p = p;
}

static void put_instant(struct xsp_out *out, const struct xsp_view *view, char scope,
			const char *more)
{
	const struct xsprof_event *ev = view->ev;
	char *p = put_head(out, view->thread, 'i', ev->ns);

	p = put_lit(p, "\"s\":\"?\",");
	p[-3] = scope;
	put_tail(out, ev, NULL, more, put_name(out, ev, view->name, p));
}

static void put_begin(struct xsp_out *out, const struct xsp_view *view)
{
	const struct xsprof_event *ev = view->ev;
	char *p;

	if (!view->range) {
		put_instant(out, view, 't', "\"begin\":\"left out: too many ranges are open\"");
		return;
	}
	p = put_range_name(out, ev, view->name, put_head(out, view->thread, 'B', ev->ns));
	if (ev->rec_size <= sizeof(struct xsprof_rec) && !(ev->flags & XSPROF_EVF_OP)) {
		put_plain(out, p);
		return;
	}
	/* A string may go on in the next record: then all of it stands at the end. */
	if (ev->rec->size >> 4 & XSPROF_RECF_MORE && chrome_note_args(out, ev, view->range))
		put_plain(out, p);
	else
		put_tail(out, ev, NULL, NULL, p);
}

/* What is said of a range inside which records were lost; NULL: nothing. */
static const char *uncertain(const struct xsp_range *range)
{
	return range->lost ? "\"uncertain\":\"lost\"" : NULL;
}

/* A range as one event; @thread may be another track than the event's. */
static void put_complete(struct xsp_out *out, const struct xsp_view *view,
			 struct xsp_track *thread, uint64_t begin, uint64_t end,
			 const struct xsp_range *range)
{
	char *p = put_head(out, thread, 'X', begin);

	p = put_micros_between(put_lit(p, "\"dur\":"), chrome_rel(out, begin),
			       chrome_rel(out, end));
	*p++ = ',';
	p = put_range_name(out, view->ev, view->name, p);
	put_tail(out, view->ev, range ? range->note : NULL, range ? uncertain(range) : NULL, p);
}

static void put_end(struct xsp_out *out, const struct xsp_view *view)
{
	const struct xsprof_event *ev = view->ev;
	char *p;

	if (!view->range) {
		put_instant(out, view, 't', "\"end\":\"without a begin\"");
		return;
	}
	if (!view->range->shown) {
		/* It began before what was asked for; what is inside it was left out too. */
		put_complete(out, view, view->thread, view->range->begin, ev->ns, view->range);
		return;
	}
	p = put_range_name(out, ev, view->name, put_head(out, view->thread, 'E', ev->ns));
	if (!view->range->note && !view->range->lost && ev->rec_size <= sizeof(struct xsprof_rec))
		put_plain(out, p);
	else
		put_tail(out, ev, view->range->note, uncertain(view->range), p);
}

static char *put_id(struct xsp_out *out, struct xsp_track *thread, char ph, uint64_t ns,
		    uint64_t id)
{
	char *p = put_lit(put_head(out, thread, ph, ns), "\"id2\":{\"local\":\"");

	return put_lit(put_hex(p, id), "\"},");
}

static void put_async(struct xsp_out *out, const struct xsp_view *view)
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
	put_tail(out, ev, NULL, more, put_name(out, ev, view->name, p));
}

/* A range that nests nowhere: a pair with an id that nothing else has. */
static void put_async_range(struct xsp_out *out, const struct xsp_view *view, uint64_t begin,
			    uint64_t end)
{
	struct chrome *chrome = out->priv;
	const struct xsprof_event *ev = view->ev;
	uint64_t id = 0xff00000000000000u + chrome->next_id++;
	char *p;

	chrome->to_async++;
	p = put_id(out, view->thread, 'b', begin, id);
	put_tail(out, ev, NULL, NULL, put_name(out, ev, view->name, p));
	p = put_id(out, view->thread, 'e', end, id);
	put_plain(out, put_name(out, ev, view->name, p));
}

/*
 * Viewers draw an arrow from range to range, and drop one whose end is in none.  Perfetto takes
 * an instant that came before for a range as well.  So each end has a range of its own, of one
 * step, at its very time: to Perfetto it has no length, and speedscope ends none before its begin.
 */
static void put_flow(struct xsp_out *out, const struct xsp_view *view)
{
	const struct xsprof_event *ev = view->ev;
	char ph = ev->type == XSPROF_REC_FLOW_START ? 's' :
		  ev->type == XSPROF_REC_FLOW_END ? 'f' : 't';
	char *p = put_lit(put_head(out, view->thread, 'X', ev->ns), "\"dur\":" XSP_STEP ",");

	put_tail(out, ev, NULL, NULL, put_name(out, ev, view->name, p));
	p = put_lit(put_head(out, view->thread, ph, ev->ns), "\"id\":");
	p = put_u64(p, xsp_hash_flow(ev->producer, ev->value));
	p = ph == 's' ? put_lit(p, ",") : put_lit(p, ",\"bp\":\"e\",");
	put_plain(out, put_name(out, ev, view->name, p));
}

/* Viewers take numbers only for counters: what is none is shown as an instant. */
static void put_counter(struct xsp_out *out, const struct xsp_view *view)
{
	const struct xsprof_event *ev = view->ev;
	bool f64 = ev->type == XSPROF_REC_COUNTER_F64;
	double value = f64 ? xsp_bits_double(ev->value) : 0;
	char *p;

	p = put_head(out, view->thread, isfinite(value) ? 'C' : 'i', ev->ns);
	if (!isfinite(value))
		p = put_lit(p, "\"s\":\"t\",");
	p = put_name(out, ev, view->name, p);
	p = put_lit(p, ",\"args\":{\"value\":");
	p = f64 ? xsp_json_double(p, value) : put_i64(p, (int64_t)ev->value);
	out->buf.p = put_lit(p, "}}");
}

/* Where a range with times of its own is drawn. */
static void put_range(struct xsp_out *out, const struct xsp_view *view)
{
	const struct xsprof_event *ev = view->ev;
	struct xsp_track *thread = view->thread;
	struct xsp_place at;

	xsp_lane_place(ev, thread, &at);
	if (!at.own || !xsp_tracks_complete(out->tracks, thread, at.begin, at.end))
		thread = chrome_lane(out, ev, at.kind, at.key, at.begin, at.end);
	if (thread)
		put_complete(out, view, thread, at.begin, at.end, NULL);
	else
		put_async_range(out, view, at.begin, at.end);
}

static char scope_of(const struct xsprof_event *ev)
{
	static const char scopes[] = { 't', 'p', 'g' };

	return ev->aux < 3 ? scopes[ev->aux] : 't';
}

/* What waited for the rest of itself is all there is. */
static void put_held(struct xsp_out *out, struct xsp_track *thread)
{
	struct chrome_held *held = thread->priv;
	struct xsp_view view = { .thread = thread };

	if (!held || !held->used)
		return;
	held->used = false;
	view.ev = &held->ev;
	view.name = held->name;
	put_instant(out, &view, scope_of(&held->ev), held->range.note);
	xsp_tracks_unnote(out->tracks, &held->range);
}

/* Of the instant that they go on with.  Return: false where there is none, or no memory. */
static bool add_to_held(struct xsp_out *out, const struct xsp_view *view)
{
	struct chrome_held *held = view->thread->priv;
	bool more = view->ev->rec && view->ev->rec->size >> 4 & XSPROF_RECF_MORE, added;

	if (!held || !held->used)
		return false;
	added = chrome_note_args(out, view->ev, &held->range);
	if (!added || !more)
		put_held(out, view->thread);
	return added;
}

/* Arguments that came after their record: to the range they belong to, while it is open. */
static void put_args(struct xsp_out *out, const struct xsp_view *view)
{
	struct xsp_range *range = xsp_stack_top(&view->thread->stack);

	if (add_to_held(out, view))
		out->merged++;
	else if (view->thread->note_to_top && range && chrome_note_args(out, view->ev, range))
		out->merged++;
	else
		put_instant(out, view, 't', NULL);
}

static void put_mem(struct xsp_out *out, const struct xsp_view *view)
{
	char *p = put_head(out, view->thread, 'i', view->ev->ns);
	const char *name = xsprof_trace_name(out->trace, view->ev->producer, view->name);

	p = put_lit(p, "\"s\":\"t\",\"name\":\"[memory]\",\"cat\":\"memory\"");
	if (!view->name) {
		put_tail(out, view->ev, NULL, NULL, p);
		return;
	}
	name = xsp_escape_json(put_lit(out->scratch, "\"allocator\":\""), name,
			       strnlen(name, XSPROF_TEXT_MAX), NULL);
	memcpy((char *)name, "\"", 2);
	put_tail(out, view->ev, NULL, out->scratch, p);
}

/* On a track beside the thread's own: an instant among its ranges would hide them. */
static void put_sched(struct xsp_out *out, const struct xsp_view *view)
{
	const struct xsprof_event *ev = view->ev;
	struct xsp_view on = *view;

	if (chrome_sched_event(out, ev))
		return;
	on.thread = chrome_lane(out, ev, CHROME_SCHED, ev->tid, ev->ns, ev->ns);
	if (!on.thread)
		on.thread = view->thread;
	put_instant(out, &on, 't', NULL);
}

static void chrome_event(struct xsp_out *out, const struct xsp_view *view)
{
	if (view->ev->type != XSPROF_REC_ARGS)
		put_held(out, view->thread);
	switch (view->ev->type) {
	case XSPROF_REC_BEGIN:
		put_begin(out, view);
		break;
	case XSPROF_REC_END:
		put_end(out, view);
		break;
	case XSPROF_REC_COMPLETE:
	case XSPROF_REC_SPAN:
	case XSPROF_REC_GPU:
		put_range(out, view);
		break;
	case XSPROF_REC_INSTANT:
		if (!chrome_hold(out, view))
			put_instant(out, view, scope_of(view->ev), NULL);
		break;
	case XSPROF_REC_COUNTER_I64:
	case XSPROF_REC_COUNTER_F64:
		put_counter(out, view);
		break;
	case XSPROF_REC_ASYNC_BEGIN:
	case XSPROF_REC_ASYNC_INSTANT:
	case XSPROF_REC_ASYNC_END:
		put_async(out, view);
		break;
	case XSPROF_REC_FLOW_START:
	case XSPROF_REC_FLOW_STEP:
	case XSPROF_REC_FLOW_END:
		put_flow(out, view);
		break;
	case XSPROF_REC_ARGS:
		put_args(out, view);
		break;
	case XSPROF_REC_ALLOC:
	case XSPROF_REC_FREE:
		put_mem(out, view);
		break;
	case XSPROF_REC_SCHED_IN ... XSPROF_REC_SCHED_MIGRATE:
		put_sched(out, view);
		break;
	case XSPROF_EV_LOST:
		if (((struct chrome *)out->priv)->sched)
			fmt_sched_lost(((struct chrome *)out->priv)->sched, view->ev->cpu);
		put_instant(out, view, 'g', NULL);
		break;
	case XSPROF_REC_STEP:
	case XSPROF_REC_CONTROL:
	case XSPROF_EV_PRODUCER:
	case XSPROF_EV_EXIT:
		put_instant(out, view, 'p', NULL);
		break;
	default:
		put_instant(out, view, 't', NULL);
	}
}

/* A range that nothing ended, or that another's end ended. */
static void chrome_closed(void *data, struct xsp_track *thread, struct xsp_range *range,
			  uint64_t ns, enum xsp_why why)
{
	const struct xsprof_event ev = { .type = XSPROF_REC_END, .producer = thread->producer };
	struct xsp_out *out = data;
	char more[64], *p;

	if (!range->shown)
		return;
	snprintf(more, sizeof(more), "\"%s\":true%s%s", why == XSP_WHY_CUT ? "cut" : "unfinished",
		 range->lost ? "," : "", range->lost ? uncertain(range) : "");
	p = put_range_name(out, &ev, range->name, put_head(out, thread, 'E', ns));
	put_tail(out, NULL, range->note, more, p);
}

/* An async range that had no end. */
static void chrome_async_closed(void *data, struct xsp_track *thread,
				const struct xsprof_range *range, enum xsp_why why)
{
	const struct xsprof_event ev = {
		.type = XSPROF_REC_ASYNC_END, .producer = range->producer,
	};
	bool lost = range->flags & XSPROF_RANGEF_UNCERTAIN;
	struct xsp_out *out = data;
	char more[64], *p;

	snprintf(more, sizeof(more), "\"%s\":true%s", why == XSP_WHY_CUT ? "cut" : "unfinished",
		 lost ? ",\"uncertain\":\"lost\"" : "");
	p = put_id(out, thread, 'e', range->end_ns, range->id);
	put_tail(out, NULL, NULL, more,
		 put_name(out, &ev, range->name, p));
}

static void chrome_gone(void *data, struct xsp_track *thread)
{
	put_held(data, thread);
	chrome_held_free(thread);
	chrome_thread_name(data, thread);
	chrome_kernel_thread(data, thread);
}

static void chrome_finish(struct xsp_out *out)
{
	struct chrome *chrome = out->priv;

	chrome_process_names(out);
	chrome_end(out);
	xsp_spool_free(chrome->spool);
	fmt_sched_free(chrome->sched);
	fmt_running_free(chrome->running);
	free(chrome->processes);
	free(chrome->used);
	free(chrome->others);
	free(chrome);
	out->priv = NULL;
}

const struct xsp_format xsp_format_chrome = {
	.name		= "chrome",
	.name_text	= name_text,
	.key_text	= key_text,
	.start		= chrome_begin,
	.event		= chrome_event,
	.kernel_event	= chrome_kernel_event,
	.kernel_info	= true,
	.ops		= {
		.closed		= chrome_closed,
		.async_closed	= chrome_async_closed,
		.gone		= chrome_gone,
	},
	.finish		= chrome_finish,
};
