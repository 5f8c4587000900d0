// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Makes ranges from events: which events begin, end, cut, or are a range. pair-thread.c has the
 * stacks, pair-async.c the ids.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"
#include "decode/control.h"
#include "ranges/keep.h"
#include "ranges/pair-local.h"
#include "ranges/pair.h"

int xsprof_pairer_new(struct xsprof_trace *trace,
		      void (*emit)(void *data, const struct xsprof_range *range), void *data,
		      struct xsprof_pairer **pairer)
{
	struct xsprof_pairer *p = calloc(1, sizeof(*p));

	*pairer = p;
	if (!p)
		return -ENOMEM;
	p->trace = trace;
	p->emit = emit;
	p->data = data;
	p->seed = xsp_hash_seed(p);
	p->how = XSPROF_RANGE_CUT;
	p->opens.ops = &xst_thread_ops;
	p->opens.data = p;
	p->opens.budget.limit = SIZE_MAX;
	return 0;
}

/* An activity of another thread or device states its place first. */
static bool is_of_writer(const struct xsprof_event *ev)
{
	struct xsprof_trace_arg arg;
	size_t pos = 0;

	return ev->type == XSPROF_REC_SPAN && ev->aux == XSPROF_SCOPE_THREAD &&
	       ev->end_ns <= ev->ns &&
	       (!xsprof_trace_args(ev, &pos, &arg) || !xsr_key_is_place(arg.key));
}

/* A range in a single record. */
static void emit_whole(struct xsprof_pairer *p, const struct xsprof_event *ev,
		       const struct xst_thread *th, uint64_t children)
{
	uint64_t time = xst_clipped(p, ev->end_ns) - xst_clipped(p, ev->begin_ns);
	struct xsprof_range range = {
		.begin_ns = ev->begin_ns,
		.end_ns = ev->end_ns,
		.self_ns = time > children ? time - children : 0,
		.producer = ev->producer,
		.pid = ev->pid,
		.tid = ev->tid,
		.name = ev->name,
		.depth = th ? xst_thread_depth(th, th->opens.stack.n) : 0,
		.kind = ev->type,
		.id = ev->type == XSPROF_REC_COMPLETE ? 0 : ev->value,
	};

	if (th && xst_thread_is_in(th, th->opens.stack.n, ev->name))
		range.flags = XSPROF_RANGEF_RECURSIVE;
	if (is_of_writer(ev))
		range.flags |= XSPROF_RANGEF_THREAD;
	xst_pair_emit(p, &range);
}

static int control(struct xsprof_pairer *p, const struct xsprof_event *ev)
{
	struct xst_owner *owner = xst_owner_find(p, ev->producer);
	uint64_t enabled;

	if (!owner || !xsp_control_enabled(ev, &enabled))
		return 0;
	xsp_opens_control(&p->opens, &owner->opens, enabled, ev->ns);
	return xst_async_cut(p, ev->producer, enabled, ev->ns);
}

static int thread_event(struct xsprof_pairer *p, const struct xsprof_event *ev)
{
	struct xst_thread *th = xst_thread_get(p, ev->producer, ev->tid);

	if (!th) {
		if (p->nr_threads < XST_MAX_THREADS)
			return -ENOMEM;
		p->stats.too_deep += ev->type == XSPROF_REC_BEGIN;
		if (ev->type == XSPROF_REC_COMPLETE)
			emit_whole(p, ev, NULL, 0);
		return 0;
	}
	xsp_opens_losses(&p->opens, &th->opens);
	if (ev->type == XSPROF_REC_BEGIN)
		return xst_thread_begin(p, th, ev->ns, ev->name);
	if (ev->type == XSPROF_REC_END)
		xst_thread_end(p, th, ev);
	else
		emit_whole(p, ev, th, xst_thread_complete(p, th, ev->begin_ns, ev->end_ns));
	return 0;
}

int xsprof_pairer_event(struct xsprof_pairer *p, const struct xsprof_event *ev)
{
	/* An activity of a device is recorded later than it happened. */
	uint64_t now = ev->type == XSPROF_REC_GPU && ev->end_ns < ev->ns ? ev->end_ns : ev->ns;

	if (now > p->now)
		p->now = now;
	xst_losses_event(&p->opens.losses, ev);
	switch (ev->type) {
	case XSPROF_REC_BEGIN:
	case XSPROF_REC_END:
	case XSPROF_REC_COMPLETE:
		return thread_event(p, ev);
	case XSPROF_REC_SPAN:
	case XSPROF_REC_GPU:
		/* Samples of counters are no ranges. */
		if (ev->type == XSPROF_REC_GPU && ev->aux == XSPROF_GPU_METRICS)
			return 0;
		emit_whole(p, ev, NULL, 0);
		return 0;
	case XSPROF_REC_ASYNC_BEGIN:
		return xst_async_begin(p, ev);
	case XSPROF_REC_ASYNC_END:
		xst_async_end(p, ev);
		return 0;
	case XSPROF_REC_CONTROL:
		return control(p, ev);
	case XSPROF_EV_THREAD_EXIT:
		xst_thread_exit(p, ev->producer, ev->tid, ev->ns);
		return 0;
	case XSPROF_REC_SCHED_OUT:
		if (ev->flags & XSPROF_EVF_THREAD_EXIT)
			xst_thread_exit(p, ev->producer, ev->tid, ev->ns);
		return 0;
	case XSPROF_EV_EXIT:
		xst_threads_end(p, ev->producer, ev->ns);
		return xst_async_finish(p, ev->producer, ev->ns);
	default:
		return 0;
	}
}

void xst_pairer_clip(struct xsprof_pairer *p, uint64_t ns)
{
	p->clip = ns;
}

void xsprof_pairer_pass(struct xsprof_pairer *p, uint64_t ns)
{
	if (ns > p->now)
		p->now = ns;
}

int xsprof_pairer_finish(struct xsprof_pairer *p)
{
	xst_threads_end(p, ~0u, p->now);
	return xst_async_finish(p, ~0u, p->now);
}

void xsprof_pairer_free(struct xsprof_pairer *p)
{
	if (!p)
		return;
	xst_threads_free(p);
	xst_async_free(p);
	xst_owners_free(p);
	free(p);
}

void xsprof_pairer_get_stats(const struct xsprof_pairer *p, struct xsprof_pairer_stats *stats)
{
	*stats = p->stats;
}
