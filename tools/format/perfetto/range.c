// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ranges in a Perfetto trace: a begin and an end on the track of their thread if they nest, else on
 * a separate track.
 */
#include "format/perfetto/names.h"

void pf_put_begin(struct xsp_out *out, const struct xsp_view *view)
{
	const struct xsprof_event *ev = view->ev;
	const struct pf_name *name;
	struct pf_packet pkt;
	bool more = false;
	char *p;

	if (!view->range) {
		pf_instant(out, view, 0, PF_NOTE("begin", "left out: too many ranges are open"));
		return;
	}
	name = pf_event_name(out, ev, view->name);
	p = pf_put_name(pf_open_thread(out, &pkt, ev->ns, PF_BEGIN, view->thread), name, ev);
	p = pf_put_fields(out, ev, p);
	/* A string may continue in the next record: then all of it is written at the end. */
	if (ev->rec_size > sizeof(struct xsprof_rec)) {
		more = ev->rec->size >> 4 & XSPROF_RECF_MORE;
		if (more)
			pf_note_keys(out, view->range);
		if (!more || !pf_note_args(out, ev, view->range))
			p = pf_put_args(out, ev, p);
	}
	pf_close(out, &pkt, p);
	if (!more)
		pf_note_keys(out, view->range);
}

/* Records were lost inside the range: its end may be that of another. */
static char *put_uncertain(struct xsp_out *out, char *p, const struct xsp_range *range)
{
	return range->lost ? pf_arg_text(out, p, "uncertain", "lost", 4) : p;
}

/* A range with both ends in one record, on the track @uuid. */
static void put_pair(struct xsp_out *out, const struct xsp_view *view, const char *track,
		     uint32_t len, uint64_t begin, uint64_t end, const struct xsp_range *range)
{
	const struct xsprof_event *ev = view->ev;
	const struct pf_name *name;
	struct pf_packet pkt;
	char *p;

	name = pf_event_name(out, ev, view->name);
	p = pf_put_name(pf_open(out, &pkt, begin, PF_BEGIN, track, len), name, ev);
	p = pf_put_all(out, ev, p);
	if (range)
		p = put_uncertain(out, pf_put_note(out, p, range->note), range);
	if (ev->type == XSPROF_REC_GPU && ev->value) {
		uint64_t id = pf_hash_uuid(ev->producer, XSP_LANE_GPU, ev->value);

		p = wire_u64(p, PF_CORRELATION, id);
		/*
		 * An arrow from the call to the activity that it started; not if that began before
		 * it, as viewers would draw the arrow from the activity to the call.
		 */
		if ((xsp_device_is_work(ev->aux) || xsp_device_is_call(ev->aux)) &&
		    !xsp_early_ns(&out->early, ev))
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

void pf_put_end(struct xsp_out *out, const struct xsp_view *view)
{
	const struct xsprof_event *ev = view->ev;
	const char *track;
	struct pf_packet pkt;
	uint32_t len;
	char *p;

	/* Its range was cut before, or is cut now and closes when the ranges inside have ended. */
	if (view->earlier || (!view->range && !view->unmatched)) {
		out->merged++;
		return;
	}
	if (!view->range) {
		pf_instant(out, view, 0, PF_NOTE("end", "without a begin"));
		return;
	}
	if (!view->range->shown) {
		/* It began before the time shown; the ranges inside were left out too. */
		track = pf_thread_track(out, view->thread, &len);
		put_pair(out, view, track, len, view->range->begin, ev->ns, view->range);
		return;
	}
	if (ev->rec_size > sizeof(struct xsprof_rec))
		pf_intern_args(out, ev);
	p = pf_open_thread(out, &pkt, ev->ns, PF_END, view->thread);
	if (view->range->note)
		p = pf_put_note(out, p, view->range->note);
	pf_close(out, &pkt, pf_put_args(out, ev, put_uncertain(out, p, view->range)));
}

/* The track of a range with its own times. */
void pf_put_range(struct xsp_out *out, const struct xsp_view *view)
{
	const struct xsprof_event *ev = view->ev;
	struct xsp_track *thread = view->thread;
	struct xsp_place at;
	const char *track;
	uint32_t len;

	xsp_lane_place(ev, thread, &at);
	/* An additional row is below the thread's own, which must exist. */
	if (at.kind == XSP_LANE_OVERLAP)
		pf_thread_track(out, thread, &len);
	if (!at.own || !pf_nests(out, thread, at.begin, at.end))
		thread = pf_lane(out, ev, at.kind, at.key, at.begin, at.end);
	if (!thread) {
		put_pair_uuid(out, view, pf_alone(out, ev, view->name), at.begin, at.end);
		return;
	}
	track = pf_thread_track(out, thread, &len);
	put_pair(out, view, track, len, at.begin, at.end, NULL);
}

/* Why a range has no end of its own, and the earliest time at which it may have ended. */
static char *put_closed(struct xsp_out *out, char *p, uint32_t producer, uint64_t begin,
			uint64_t ns, enum xsp_why why)
{
	uint64_t after;

	if (why == XSP_WHY_CUT)
		return pf_arg_true(out, p, "cut");
	p = pf_arg_true(out, p, "unfinished");
	if (why == XSP_WHY_THREAD)
		p = pf_arg_true(out, p, "thread_ended");
	after = xsp_ended_after(out->trace, producer, begin, ns, why);
	return after < ns ? pf_arg_u64(out, p, "ended_after_ns", after) : p;
}

/* A range without an end, or ended by the end of another. */
void pf_closed(void *data, struct xsp_track *thread, struct xsp_range *range, uint64_t ns,
	       enum xsp_why why)
{
	const struct xsprof_event ev = { .type = XSPROF_REC_END, .producer = thread->producer };
	const struct pf_name *name;
	struct xsp_out *out = data;
	struct pf_packet pkt;
	char *p;

	if (!range->shown && !xsp_range_reaches_in(out, range, ns))
		return;
	if (!range->shown) {
		/* A name and a track may need their own packets first. */
		name = pf_event_name(out, &ev, range->name);
		p = pf_open_thread(out, &pkt, range->begin, PF_BEGIN, thread);
		pf_close(out, &pkt, pf_put_name(p, name, &ev));
		pf_of(out)->pairs++;
	}
	p = pf_open_thread(out, &pkt, ns, PF_END, thread);
	p = put_uncertain(out, pf_put_note(out, p, range->note), range);
	pf_close(out, &pkt, put_closed(out, p, thread->producer, range->begin, ns, why));
	pf_of(out)->closed++;
}

/* ---- async ranges --------------------------------------------------------------------------- */

void pf_put_async(struct xsp_out *out, const struct xsp_view *view)
{
	const struct xsprof_event *ev = view->ev;
	const struct pf_name *name = pf_event_name(out, ev, view->name);
	bool begin = ev->type == XSPROF_REC_ASYNC_BEGIN;
	struct pf_packet pkt;
	uint64_t uuid;
	char type, *p;

	uuid = pf_async_track(out, ev, view->name, view->async && !begin);
	type = !view->async || ev->type == XSPROF_REC_ASYNC_INSTANT ? PF_INSTANT :
	       begin ? PF_BEGIN : PF_END;
	p = pf_open_uuid(out, &pkt, ev->ns, type, uuid);
	if (type != PF_END)
		p = pf_put_name(p, name, ev);
	p = pf_put_all(out, ev, p);
	if (ev->type == XSPROF_REC_ASYNC_END && !view->async)
		p = pf_arg_text(out, p, "end", "without a begin", 15);
	if (begin && !view->async)
		p = pf_arg_text(out, p, "begin", "left out: too many ranges are open", 34);
	pf_close(out, &pkt, p);
}

/* An async range without an end. */
void pf_async_closed(void *data, struct xsp_track *thread, const struct xsprof_range *range,
		     enum xsp_why why)
{
	struct xsp_out *out = data;
	struct pf_packet pkt;
	char *p;

	(void)thread;
	p = pf_open_uuid(out, &pkt, range->end_ns, PF_END,
			 pf_async_uuid(range->producer, range->name, range->id));
	if (range->flags & XSPROF_RANGEF_UNCERTAIN)
		p = pf_arg_text(out, p, "uncertain", "lost", 4);
	p = put_closed(out, p, range->producer, range->begin_ns, range->end_ns, why);
	pf_close(out, &pkt, p);
	pf_of(out)->closed++;
}
