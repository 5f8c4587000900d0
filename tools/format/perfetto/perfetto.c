// SPDX-License-Identifier: GPL-2.0-only
/*
 * Perfetto's traces: protocol buffers, for ui.perfetto.dev and trace_processor.  A file is a list
 * of packets; readers sort them by time, so a range that is known when it has ended is written
 * then, with a begin in the past.
 *
 * Ranges are a begin and an end on the track of their thread where they nest, on a track of their
 * own where they do not.  It never keeps an event: memory is that of what is open, of one table of
 * names and of a few sub-buffers.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "format/common/sched.h"
#include "format/perfetto/meta.h"
#include "format/perfetto/names.h"
#include "text/put.h"

static char *name_text(const struct xsprof_trace *trace, uint32_t producer, uint32_t name, char *p)
{
	(void)trace;
	(void)producer;
	(void)name;
	return p;
}

static int perfetto_start(struct xsp_out *out)
{
	struct perfetto *pf = calloc(1, sizeof(*pf));

	if (!pf)
		return -ENOMEM;
	out->priv = pf;
	return 0;
}

/* ---- pieces of an event -------------------------------------------------------------------- */

static char *open_uuid(struct xsp_out *out, struct pf_packet *pkt, uint64_t ns, char type,
		       uint64_t uuid)
{
	char track[2 + WIRE_MAX];
	uint32_t len = (uint32_t)(wire_u64(track, PF_TRACK, uuid) - track);

	return pf_open(out, pkt, ns, type, track, len);
}

static char *open_thread(struct xsp_out *out, struct pf_packet *pkt, uint64_t ns, char type,
			 struct xsp_track *thread)
{
	uint32_t len;
	const char *track = pf_thread_track(out, thread, &len);

	return pf_open(out, pkt, ns, type, track, len);
}

static char *put_plain_name(char *p, const char *name, const char *category)
{
	p = wire_text(p, PF_NAME, name, strlen(name));
	return wire_text(p, PF_CATEGORY, category, strlen(category));
}

/* Before a packet is opened: interning is a packet too. */
static const struct pf_name *event_name(struct xsp_out *out, const struct xsprof_event *ev,
					uint32_t name)
{
	if (ev->rec_size > sizeof(struct xsprof_rec))
		pf_intern_args(out, ev);
	return name ? pf_name(out, PF_IS_NAME, ev->producer, name) : NULL;
}

static char *put_name(char *p, const struct pf_name *name, const struct xsprof_event *ev)
{
	if (__builtin_expect(name != NULL, 1)) {
		memcpy(p, name->bytes, 16);
		return p + name->len;
	}
	switch (ev->type) {
	case XSPROF_REC_ALLOC:
	case XSPROF_REC_FREE:
		return put_plain_name(p, "[memory]", "memory");
	case XSPROF_REC_BEGIN ... XSPROF_REC_COMPLETE:
		return put_plain_name(p, ev->name ? "?" : "range", "xsprof");
	}
	return put_plain_name(p, ev->name ? "?" : xsp_word_type(ev->type), "xsprof");
}

static char *put_all(struct xsp_out *out, const struct xsprof_event *ev, char *p)
{
	return pf_put_args(out, ev, pf_put_fields(out, ev, p));
}

/* ---- ranges of threads --------------------------------------------------------------------- */

static void put_instant(struct xsp_out *out, const struct xsp_view *view, uint64_t uuid,
			const char *key, const char *text)
{
	const struct xsprof_event *ev = view->ev;
	bool memory = ev->type == XSPROF_REC_ALLOC || ev->type == XSPROF_REC_FREE;
	/* The name of an allocation is its allocator's: an argument. */
	const struct pf_name *name = event_name(out, ev, memory ? 0 : view->name);
	struct pf_packet pkt;
	char *p;

	p = uuid ? open_uuid(out, &pkt, ev->ns, PF_INSTANT, uuid) :
		   open_thread(out, &pkt, ev->ns, PF_INSTANT, view->thread);
	p = put_all(out, ev, put_name(p, name, ev));
	if (key)
		p = pf_arg_text(p, key, text, strlen(text));
	pf_close(out, &pkt, p);
}

static void put_begin(struct xsp_out *out, const struct xsp_view *view)
{
	const struct xsprof_event *ev = view->ev;
	const struct pf_name *name;
	struct pf_packet pkt;
	char *p;

	if (!view->range) {
		put_instant(out, view, 0, "begin", "left out: too many ranges are open");
		return;
	}
	name = event_name(out, ev, view->name);
	p = put_name(open_thread(out, &pkt, ev->ns, PF_BEGIN, view->thread), name, ev);
	/* A string may go on in the next record: then all of it stands at the end. */
	if (ev->rec_size > sizeof(struct xsprof_rec) &&
	    !(ev->rec->size >> 4 & XSPROF_RECF_MORE && pf_note_args(out, ev, view->range)))
		p = pf_put_args(out, ev, p);
	pf_close(out, &pkt, p);
}

/* Records were lost inside the range: its end may be that of another. */
static char *put_uncertain(char *p, const struct xsp_range *range)
{
	return range->lost ? pf_arg_text(p, "uncertain", "lost", 4) : p;
}

/* A range of which one event tells both ends, on a track with the number @uuid. */
static void put_pair(struct xsp_out *out, const struct xsp_view *view, const char *track,
		     uint32_t len, uint64_t begin, uint64_t end, const struct xsp_range *range)
{
	const struct xsprof_event *ev = view->ev;
	const struct pf_name *name;
	struct pf_packet pkt;
	char *p;

	name = event_name(out, ev, view->name);
	p = put_name(pf_open(out, &pkt, begin, PF_BEGIN, track, len), name, ev);
	p = put_all(out, ev, p);
	if (range)
		p = put_uncertain(pf_put_note(p, range->note), range);
	if (ev->type == XSPROF_REC_GPU && ev->value) {
		uint64_t id = pf_hash_uuid(ev->producer, XSP_LANE_GPU, ev->value);

		p = wire_u64(p, PF_CORRELATION, id);
		/* From the call to what it started. */
		if (ev->aux <= XSPROF_GPU_MEMSET || ev->aux == XSPROF_GPU_RUNTIME ||
		    ev->aux == XSPROF_GPU_DRIVER)
			p = wire_fixed64(p, PF_FLOW, id);
	}
	pf_close(out, &pkt, p);
	pf_close(out, &pkt, pf_open(out, &pkt, end, PF_END, track, len));
	pf_of(out)->pairs++;
}

static void put_pair_uuid(struct xsp_out *out, const struct xsp_view *view, uint64_t uuid,
			  uint64_t begin, uint64_t end)
{
	char track[2 + WIRE_MAX];
	uint32_t len = (uint32_t)(wire_u64(track, PF_TRACK, uuid) - track);

	put_pair(out, view, track, len, begin, end, NULL);
}

static void put_end(struct xsp_out *out, const struct xsp_view *view)
{
	const struct xsprof_event *ev = view->ev;
	const char *track;
	struct pf_packet pkt;
	uint32_t len;
	char *p;

	if (!view->range) {
		put_instant(out, view, 0, "end", "without a begin");
		return;
	}
	if (!view->range->shown) {
		/* It began before what was asked for; what is inside it was left out too. */
		track = pf_thread_track(out, view->thread, &len);
		put_pair(out, view, track, len, view->range->begin, ev->ns, view->range);
		return;
	}
	if (ev->rec_size > sizeof(struct xsprof_rec))
		pf_intern_args(out, ev);
	p = open_thread(out, &pkt, ev->ns, PF_END, view->thread);
	if (view->range->note)
		p = pf_put_note(p, view->range->note);
	pf_close(out, &pkt, pf_put_args(out, ev, put_uncertain(p, view->range)));
}

/* Where a range with times of its own is drawn. */
static void put_range(struct xsp_out *out, const struct xsp_view *view)
{
	const struct xsprof_event *ev = view->ev;
	struct xsp_track *thread = view->thread;
	struct xsp_place at;
	const char *track;
	uint32_t len;

	xsp_lane_place(ev, thread, &at);
	if (!at.own || !pf_nests(out, thread, at.begin, at.end))
		thread = pf_lane(out, ev, at.kind, at.key, at.begin, at.end);
	if (!thread) {
		put_pair_uuid(out, view, pf_alone(out, ev, view->name), at.begin, at.end);
		return;
	}
	track = pf_thread_track(out, thread, &len);
	put_pair(out, view, track, len, at.begin, at.end, NULL);
}

/* ---- async events, flows, counters --------------------------------------------------------- */

static void put_async(struct xsp_out *out, const struct xsp_view *view)
{
	const struct xsprof_event *ev = view->ev;
	const struct pf_name *name = event_name(out, ev, view->name);
	bool begin = ev->type == XSPROF_REC_ASYNC_BEGIN;
	struct pf_packet pkt;
	uint64_t uuid;
	char type, *p;

	uuid = pf_async_track(out, ev, view->name, view->async && !begin);
	type = !view->async || ev->type == XSPROF_REC_ASYNC_INSTANT ? PF_INSTANT :
	       begin ? PF_BEGIN : PF_END;
	p = open_uuid(out, &pkt, ev->ns, type, uuid);
	if (type != PF_END)
		p = put_name(p, name, ev);
	p = put_all(out, ev, p);
	if (ev->type == XSPROF_REC_ASYNC_END && !view->async)
		p = pf_arg_text(p, "end", "without a begin", 15);
	if (begin && !view->async)
		p = pf_arg_text(p, "begin", "left out: too many ranges are open", 34);
	pf_close(out, &pkt, p);
}

/* An async range that had no end. */
static void perfetto_async_closed(void *data, struct xsp_track *thread,
				  const struct xsprof_range *range, enum xsp_why why)
{
	struct xsp_out *out = data;
	struct pf_packet pkt;
	char *p;

	(void)thread;
	p = open_uuid(out, &pkt, range->end_ns, PF_END,
		      pf_async_uuid(range->producer, range->name, range->id));
	if (range->flags & XSPROF_RANGEF_UNCERTAIN)
		p = pf_arg_text(p, "uncertain", "lost", 4);
	p = pf_arg_true(p, why == XSP_WHY_CUT ? "cut" : "unfinished");
	pf_close(out, &pkt, p);
	pf_of(out)->closed++;
}

/* An arrow goes from event to event: what was marked is an instant inside its range. */
static void put_flow(struct xsp_out *out, const struct xsp_view *view)
{
	const struct xsprof_event *ev = view->ev;
	const struct pf_name *name = event_name(out, ev, view->name);
	uint64_t id = pf_hash_uuid(ev->producer, PF_ALONE, ~ev->value);
	struct pf_packet pkt;
	char *p;

	p = put_name(open_thread(out, &pkt, ev->ns, PF_INSTANT, view->thread), name, ev);
	p = wire_fixed64(p, ev->type == XSPROF_REC_FLOW_END ? PF_FLOW_END : PF_FLOW, id);
	pf_close(out, &pkt, put_all(out, ev, p));
}

/* What is no number is shown as an instant. */
static void put_counter(struct xsp_out *out, const struct xsp_view *view)
{
	const struct xsprof_event *ev = view->ev;
	bool f64 = ev->type == XSPROF_REC_COUNTER_F64;
	double value = f64 ? xsp_bits_double(ev->value) : 0;
	char text[XSP_PUT_MAX + 1];
	struct pf_packet pkt;
	uint64_t uuid;
	char *p;

	if (!isfinite(value)) {
		*xsp_put_double(text, value) = '\0';
		put_instant(out, view, 0, "value", text);
		return;
	}
	uuid = pf_counter_track(out, ev, view->name);
	p = open_uuid(out, &pkt, ev->ns, PF_COUNTER, uuid);
	pf_close(out, &pkt, f64 ? wire_double(p, PF_COUNTER_F64, value) :
				  wire_i64(p, PF_COUNTER_I64, (int64_t)ev->value));
}

/* Arguments that came after their record: to the range they belong to, while it is open. */
static void put_args(struct xsp_out *out, const struct xsp_view *view)
{
	struct xsp_range *range = xsp_stack_top(&view->thread->stack);

	if (view->thread->note_to_top && range && pf_note_args(out, view->ev, range))
		out->merged++;
	else
		put_instant(out, view, 0, NULL, NULL);
}

/* ---- the format ---------------------------------------------------------------------------- */

/* The track of an instant that is not its thread's; 0: it is. */
static uint64_t scope_track(struct xsp_out *out, const struct xsprof_event *ev, uint32_t scope)
{
	if (scope == XSPROF_SCOPE_GLOBAL)
		return PF_TRACK_GLOBAL;
	if (scope == XSPROF_SCOPE_PROCESS)
		return pf_process_track(out, ev->producer, ev->pid, ev->ns);
	return 0;
}

static void perfetto_event(struct xsp_out *out, const struct xsp_view *view)
{
	const struct xsprof_event *ev = view->ev;

	pf_event_at(out, ev->ns);
	switch (ev->type) {
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
		put_instant(out, view, scope_track(out, ev, ev->aux), NULL, NULL);
		break;
	case XSPROF_REC_COUNTER_I64:
	case XSPROF_REC_COUNTER_F64:
		put_counter(out, view);
		break;
	case XSPROF_REC_ASYNC_BEGIN ... XSPROF_REC_ASYNC_END:
		put_async(out, view);
		break;
	case XSPROF_REC_FLOW_START ... XSPROF_REC_FLOW_END:
		put_flow(out, view);
		break;
	case XSPROF_REC_ARGS:
		put_args(out, view);
		break;
	case XSPROF_REC_SCHED_IN ... XSPROF_REC_SCHED_MIGRATE:
		if (!pf_sched_event(out, ev))
			put_instant(out, view, 0, NULL, NULL);
		break;
	case XSPROF_EV_LOST:
		if (pf_of(out)->sched)
			fmt_sched_lost(pf_of(out)->sched, ev->cpu);
		pf_lost(out, ev);
		break;
	case XSPROF_REC_STEP:
	case XSPROF_REC_CONTROL:
	case XSPROF_EV_PRODUCER:
	case XSPROF_EV_EXIT:
		put_instant(out, view, scope_track(out, ev, XSPROF_SCOPE_PROCESS), NULL, NULL);
		break;
	default:
		put_instant(out, view, 0, NULL, NULL);
	}
}

static void perfetto_kernel_event(struct xsp_out *out, const struct xsprof_event *ev)
{
	pf_event_at(out, ev->ns);
	if (ev->type == XSPROF_EV_LOST)
		pf_lost(out, ev);
	pf_kernel_event(out, ev);
}

/* A range that nothing ended, or that another's end ended. */
static void perfetto_closed(void *data, struct xsp_track *thread, struct xsp_range *range,
			    uint64_t ns, enum xsp_why why)
{
	struct xsp_out *out = data;
	struct pf_packet pkt;
	char *p;

	if (!range->shown)
		return;
	p = open_thread(out, &pkt, ns, PF_END, thread);
	p = put_uncertain(pf_put_note(p, range->note), range);
	pf_close(out, &pkt, pf_arg_true(p, why == XSP_WHY_CUT ? "cut" : "unfinished"));
	pf_of(out)->closed++;
}

static void perfetto_gone(void *data, struct xsp_track *thread)
{
	pf_thread_gone(data, thread);
}

static void perfetto_finish(struct xsp_out *out)
{
	struct perfetto *pf = out->priv;

	if (!pf->begun)
		pf_begin(out);
	pf_bundles_finish(out);
	pf_process_names(out);
	pf_end(out);
	pf_kernel_free(pf->kernel);
	fmt_sched_free(pf->sched);
	fmt_running_free(pf->running);
	free(pf->bundles);
	free(pf);
	out->priv = NULL;
}

const struct xsp_format xsp_format_perfetto = {
	.name		= "perfetto",
	.name_text	= name_text,
	.key_text	= name_text,
	.start		= perfetto_start,
	.event		= perfetto_event,
	.kernel_event	= perfetto_kernel_event,
	.ops		= {
		.closed		= perfetto_closed,
		.async_closed	= perfetto_async_closed,
		.gone		= perfetto_gone,
	},
	.finish		= perfetto_finish,
};
