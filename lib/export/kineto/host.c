// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Ops and ranges of threads in a Kineto trace, each written at its end with what was kept from its
 * begin; and continuation records. point.c writes events without a duration.
 */
#include <string.h>

#include "export/kineto/local.h"
#include "result/absence.h"
#include "result/post.h"

/* @how: 0: it ended; XSR_OWN_CUT; XSR_OWN_FINISHED: it did not end, XSR_OWN_THREAD_ENDED: why. */
static void put_range(struct xsr_kineto *k, struct xsp_track *thread, uint32_t producer,
		      const struct xsp_range *range, uint64_t end, const struct xsprof_event *more,
		      uint32_t how)
{
	const char *category = xsprof_trace_category(k->w.trace, producer, range->name);
	const struct xsr_post *post = xsr_post_find(&k->said, range->index + 1);
	const char *said = range->kind == XSR_RANGE_ANNOTATION ?
			   xsr_kineto_category(k, producer, range->name) : NULL;
	uint32_t own = XSR_OWN_INDEX | XSR_OWN_EXTERNAL | xsr_kineto_post_keys(post) |
		       how | (range->lost ? XSR_OWN_UNCERTAIN : 0) |
		       (said ? XSR_OWN_CATEGORY : 0);
	bool op = range->kind == XSR_RANGE_OP;
	const char *cat = "\"X\",\"cat\":\"user_annotation\"";
	uint64_t begin = range->begin;
	struct xsr_walk walk;
	bool any = true;
	char *p;

	if (!k->host || range->kind == XSR_RANGE_HIDDEN || !xsr_kineto_cut(k, &begin, &end))
		return;
	if (op)
		cat = "\"X\",\"cat\":\"cpu_op\"";
	else if (!strcmp(category, "python_function"))
		cat = "\"X\",\"cat\":\"python_function\"";
	p = xsr_kineto_begin(k, thread, cat, producer, range->name, begin);
	p = xsr_kineto_dur(k, p, begin, end);
	p = put_u64(put_lit(p, ",\"args\":{\"Ev Idx\":"), range->index);
	if (how == XSR_OWN_CUT)
		p = put_lit(p, ",\"cut\":true");
	else if (how & XSR_OWN_FINISHED)
		p = xsr_kineto_unfinished(k, put_lit(p, ","), producer, begin, end,
					  how & XSR_OWN_THREAD_ENDED ? XSP_WHY_THREAD :
								       XSP_WHY_OPEN);
	if (range->lost)
		p = put_lit(p, ",\"uncertain\":\"lost\"");
	if (said)
		p = xsr_kineto_put_category(k, said, p);
	if (range->note) {
		xsr_walk_note(&walk, range->note, range->note_len);
		p = xsr_kineto_op(k, range, &walk, post, own, p);
	}
	if (more) {
		xsr_walk_event(&walk, more);
		p = xsr_kineto_args(k, &walk, false, own, p, &any);
	}
	p = put_lit(xsr_writer_room(&k->w, p), ",\"External id\":");
	p = put_u64(p, xsr_kineto_range_id(range));
	p = xsr_kineto_post(k, post, &any, p);
	k->w.buf->p = put_lit(p, "}}");
	k->ops += op;
}

/* ---- nodes of autograd ---------------------------------------------------------------------- */

/*
 * The autograd engine's range around a node has no sequence number; as in PyTorch's profiler it
 * gets that of the op inside it.
 */
static bool is_node(const struct xsr_kineto *k, uint32_t producer, uint32_t name)
{
	static const char prefix[] = "autograd::engine::evaluate_function: ";

	return !strncmp(xsprof_trace_name(k->w.trace, producer, name), prefix, sizeof(prefix) - 1);
}

/* Kept in the long form, which has room for the number. */
static bool keep_node(struct xsr_kineto *k, struct xsp_range *range, const struct xsprof_event *ev)
{
	struct xsprof_rec_op rec = { .sequence = XSPROF_NO_SEQUENCE };
	struct xsprof_event whole = *ev;

	memcpy(&rec, ev->rec, ev->rec_size);
	whole.rec = &rec.rec;
	whole.rec_size = sizeof(rec);
	return xsr_keep(k->tracks, range, &whole);
}

static void take_number(const struct xsr_kineto *k, const struct xsprof_trace_op *op,
			const struct xsp_track *thread)
{
	const struct xsp_stack *stack = &thread->opens.stack;
	struct xsprof_rec_op rec;
	struct xsr_kept kept;
	struct xsp_range *node;
	char *at;

	if (op->sequence < 0 || !op->forward_thread || stack->n < 2)
		return;
	node = &stack->v[stack->n - 2];
	if (node->kind != XSR_RANGE_OP || node->note_len < sizeof(struct xsr_kept) + sizeof(rec) ||
	    !is_node(k, thread->producer, node->name))
		return;
	memcpy(&kept, node->note, sizeof(kept));
	if (kept.type != XSPROF_REC_BEGIN || kept.size < sizeof(rec))
		return;
	at = node->note + sizeof(kept);
	memcpy(&rec, at, sizeof(rec));
	if (rec.sequence >= 0)
		return;
	rec.sequence = op->sequence;
	rec.forward_thread = op->forward_thread;
	memcpy(at, &rec, sizeof(rec));
}

/* Writes the arrows between an op and its backward. */
static void put_links(struct xsr_kineto *k, struct xsp_track *thread,
		      const struct xsp_range *range)
{
	struct xsprof_trace_op op;
	struct xsr_walk walk;

	/* The arrow starts at the op inside a node. */
	if (range->kind != XSR_RANGE_OP || !range->note || !k->host ||
	    is_node(k, thread->producer, range->name))
		return;
	xsr_walk_note(&walk, range->note, range->note_len);
	if (!xsprof_trace_op(&walk.ev, &op) || op.sequence < 0)
		return;
	if (op.forward_thread)
		xsr_link_backward(k, thread, op.forward_thread, op.sequence, range->begin);
	else
		xsr_link_forward(k, thread, op.sequence, range->begin);
}

/* Keeps the range, as calls made inside it may be recorded later. */
static void keep_past(struct xsr_kineto *k, struct xsp_track *thread,
		      const struct xsp_range *range, uint64_t end)
{
	struct xsr_host *host;
	struct xsp_past_range past = {
		.begin = range->begin, .end = end, .name = range->name, .tag = range->tag,
		.kind = range->kind,
	};

	if (!k->late || range->kind == XSR_RANGE_HIDDEN)
		return;
	host = xsr_kineto_state(thread);
	past.id = xsr_kineto_range_id(range);
	if (host)
		xsp_past_add(&host->past, &k->past, &past);
}

void xsr_kineto_closed(void *data, struct xsp_track *thread, struct xsp_range *range,
		       uint64_t ns, enum xsp_why why)
{
	uint32_t how = XSR_OWN_FINISHED | (why == XSP_WHY_THREAD ? XSR_OWN_THREAD_ENDED : 0);
	struct xsr_kineto *k = data;

	put_range(k, thread, thread->producer, range, ns, NULL,
		  why == XSP_WHY_CUT ? XSR_OWN_CUT : how);
	keep_past(k, thread, range, ns);
	put_links(data, thread, range);
}

/* Annotations of an op are found by its record's number, which is no longer known at its end. */
static void find_said(struct xsr_kineto *k, const struct xsp_range *range)
{
	const struct xsr_post *post = xsr_post_find(k->posts, k->at);

	if (post && xsp_map_set(&k->said, range->index + 1, (uintptr_t)post))
		k->lost++;
}

/* ITT distinguishes PyTorch's ops from other ranges only by their domain. */
static uint32_t itt_kind(const struct xsr_kineto *k, uint32_t producer, uint32_t name)
{
	return strcmp(xsprof_trace_category(k->w.trace, producer, name), "PyTorch") ?
	       XSR_RANGE_ANNOTATION : XSR_RANGE_OP;
}

/* ---- ranges --------------------------------------------------------------------------------- */

static void begin(struct xsr_kineto *k, const struct xsprof_event *ev, struct xsp_track *thread)
{
	struct xsprof_trace_op op;
	struct xsp_range *range;

	if (!xsp_tracks_begin(k->tracks, thread, ev->ns, ev->name, true, true))
		return;
	range = xsp_stack_top(&thread->opens.stack);
	range->index = k->index++;
	if (xsprof_trace_op(ev, &op)) {
		find_said(k, range);
		range->kind = op.scope == XSPROF_OP_USER_SCOPE ? XSR_RANGE_ANNOTATION :
							       XSR_RANGE_OP;
		if (op.scope >= 32 || !(k->opts.scopes >> op.scope & 1) ||
		    xsr_absent(&k->opts, ev))
			range->kind = XSR_RANGE_HIDDEN;
		take_number(k, &op, thread);
		if (op.correlation && range->kind == XSR_RANGE_OP)
			xsr_link_op(k, ev->producer, op.correlation, xsr_link_around(k, thread));
		if (ev->rec_size < sizeof(struct xsprof_rec_op) &&
		    is_node(k, ev->producer, ev->name)) {
			k->lost += !keep_node(k, range, ev);
			return;
		}
		/* A one-slot record has only its place to add, unless it has a number. */
		if (ev->rec_size <= sizeof(struct xsprof_rec) && !op.record_function_id)
			return;
	} else {
		range->kind = itt_kind(k, ev->producer, ev->name);
		if (ev->rec_size <= sizeof(struct xsprof_rec))
			return;
	}
	if (!xsr_keep(k->tracks, range, ev))
		k->lost++;
}

static void end(struct xsr_kineto *k, const struct xsprof_event *ev, const struct xsp_view *view)
{
	const struct xsprof_event *more = ev->rec_size > sizeof(struct xsprof_rec) ? ev : NULL;

	if (!view->range)
		return;
	if (view->earlier) {
		xsp_tracks_end(k->tracks, view);
		return;
	}
	put_range(k, view->thread, ev->producer, view->range, ev->ns, more, 0);
	keep_past(k, view->thread, view->range, ev->ns);
	put_links(k, view->thread, view->range);
	xsp_tracks_end(k->tracks, view);
}

/* A range with both times in its record. */
static void complete(struct xsr_kineto *k, const struct xsprof_event *ev,
		     struct xsp_track *thread, struct xsp_range *range)
{
	uint64_t from = ev->begin_ns, to = ev->end_ns > from ? ev->end_ns : from;
	const char *category = xsprof_trace_category(k->w.trace, ev->producer, ev->name);
	uint32_t kind = XSR_OVERLAP;
	uint64_t key = thread->tid;

	range->begin = from;
	range->name = ev->name;
	range->index = k->index++;
	range->kind = itt_kind(k, ev->producer, ev->name);
	if (ev->type == XSPROF_REC_SPAN && ev->aux != XSPROF_SCOPE_THREAD) {
		kind = XSR_SPANS;
		key = 0;
	}
	/* A shader is shown as an op, on the track of its queue. */
	if (ev->type == XSPROF_REC_SPAN && !strcmp(category, "vulkan")) {
		if (xsr_absent(&k->opts, ev))
			return;
		range->kind = XSR_RANGE_OP;
		kind = XSR_SPANS;
		key = ev->value & UINT32_MAX;
	}
	if (kind != XSR_OVERLAP || to > ev->ns ||
	    !xsp_tracks_complete(k->tracks, thread, from, to))
		thread = xsr_kineto_lane(k, ev, kind, key, from, to);
	if (thread)
		put_range(k, thread, ev->producer, range, to, NULL,
			  to > k->to ? XSR_OWN_FINISHED : 0);
	else if (k->host && xsr_kineto_cut(k, &from, &to))
		k->left_out++;
}

/* Writes a record that is complete with its continuations. */
static void put_whole(struct xsr_kineto *k, const struct xsprof_event *ev,
		      struct xsp_track *thread, struct xsp_range *range, struct xsr_walk *walk)
{
	bool inside = k->host && ev->ns >= k->from;

	switch (ev->type) {
	case XSPROF_REC_COMPLETE:
	case XSPROF_REC_SPAN:
		if (!xsr_kineto_activity(k, ev, walk, range->tag))
			complete(k, ev, thread, range);
		break;
	case XSPROF_REC_GPU:
		xsr_kineto_gpu(k, ev, walk);
		break;
	case XSPROF_REC_INSTANT:
		if (!xsr_kineto_thread_info(k, ev, walk) && inside)
			xsr_kineto_instant(k, ev, thread, walk);
		break;
	case XSPROF_REC_COUNTER_I64:
	case XSPROF_REC_COUNTER_F64:
		if (inside)
			xsr_kineto_counter(k, ev, thread);
		break;
	case XSPROF_REC_ASYNC_BEGIN ... XSPROF_REC_FLOW_END:
		if (inside)
			xsr_kineto_linked(k, ev, thread, walk);
		break;
	}
}

void xsr_kineto_flush(struct xsr_kineto *k, struct xsp_track *thread)
{
	struct xsr_host *pending = thread->priv;
	struct xsr_walk walk;

	if (!pending || !pending->used)
		return;
	pending->used = false;
	pending->ev.rec = NULL;
	pending->ev.rec_size = 0;
	xsr_walk_note(&walk, pending->range.note, pending->range.note_len);
	if (walk.ev.rec) {
		pending->ev.rec = walk.ev.rec;
		pending->ev.rec_size = walk.ev.rec_size;
	}
	put_whole(k, &pending->ev, thread, &pending->range, &walk);
	xsp_tracks_unnote(k->tracks, &pending->range);
}

/* Keeps an incomplete record: its continuation is the thread's next record. */
static bool hold(struct xsr_kineto *k, const struct xsprof_event *ev, struct xsp_track *thread)
{
	struct xsr_host *pending = xsr_kineto_state(thread);

	if (!pending)
		return false;
	memset(&pending->range, 0, sizeof(pending->range));
	if (!xsr_keep(k->tracks, &pending->range, ev))
		return false;
	pending->range.tag = k->at;
	pending->ev = *ev;
	pending->used = true;
	return true;
}

static void more_args(struct xsr_kineto *k, const struct xsprof_event *ev,
		      struct xsp_track *thread)
{
	struct xsr_host *pending = thread->priv;
	struct xsp_range *range = xsp_stack_top(&thread->opens.stack);

	if (pending && pending->used)
		range = &pending->range;
	else if (!thread->note_to_top)
		range = NULL;
	if (range && !xsr_keep(k->tracks, range, ev))
		k->lost++;
	if (pending && pending->used && !thread->more)
		xsr_kineto_flush(k, thread);
}

static void push(struct xsr_kineto *k, const struct xsprof_event *ev, struct xsp_track *thread)
{
	uint64_t tag;

	if (!xsr_user_push(k, thread, ev) || ev->aux)
		return;
	/* A collector that states the op's id does not know annotations. */
	tag = xsr_link_around(k, thread);
	if (tag && ev->value)
		xsr_link_op(k, ev->producer, ev->value, tag);
}

static void one(struct xsr_kineto *k, const struct xsprof_event *ev, const struct xsp_view *view)
{
	struct xsp_range range = { .tag = k->at };
	struct xsr_walk walk;

	switch (ev->type) {
	case XSPROF_REC_BEGIN:
		begin(k, ev, view->thread);
		break;
	case XSPROF_REC_END:
		end(k, ev, view);
		break;
	case XSPROF_REC_CORR_PUSH:
		push(k, ev, view->thread);
		break;
	case XSPROF_REC_CORR_POP:
		xsr_user_pop(view->thread, ev);
		break;
	case XSPROF_REC_STEP:
		xsr_kineto_step(k, ev, view->thread);
		break;
	case XSPROF_REC_ALLOC:
	case XSPROF_REC_FREE:
		if (k->host && ev->ns >= k->from)
			xsr_kineto_memory(k, ev, view->thread);
		break;
	case XSPROF_EV_LOST:
		xsr_kineto_lost(k, ev, view->thread);
		break;
	case XSPROF_REC_COMPLETE:
	case XSPROF_REC_SPAN:
		if (ev->rec_size > sizeof(struct xsprof_rec) && xsr_keep(k->tracks, &range, ev)) {
			xsr_walk_event(&walk, ev);
			put_whole(k, ev, view->thread, &range, &walk);
			xsp_tracks_unnote(k->tracks, &range);
			break;
		}
		/* fallthrough */
	default:
		xsr_walk_event(&walk, ev);
		put_whole(k, ev, view->thread, &range, &walk);
	}
}

void xsr_kineto_host(struct xsr_kineto *k, const struct xsprof_event *ev,
		     const struct xsp_view *view)
{
	struct xsp_track *thread = view->thread;
	bool args = ev->type == XSPROF_REC_ARGS;

	thread->more = ev->rec && ev->rec->size >> 4 & XSPROF_RECF_MORE;
	if (args) {
		more_args(k, ev, thread);
	} else {
		if (thread->priv)
			xsr_kineto_flush(k, thread);
		if (!thread->more || ev->type == XSPROF_REC_BEGIN ||
		    ev->type == XSPROF_REC_END || !hold(k, ev, thread))
			one(k, ev, view);
	}
	if (!args || !thread->more)
		thread->note_to_top = ev->type == XSPROF_REC_BEGIN || !thread->more;
}
