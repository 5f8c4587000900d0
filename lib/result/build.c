// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Makes events from the records of a trace. The pairer matches begins and ends: a thread's stack
 * here mirrors the pairer's, with the events that the ranges will become. Unwanted events are left
 * out; order, nesting and links are computed afterwards.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "decode/control.h"
#include "result/absence.h"
#include "result/build-local.h"

#define BATCH		512
#define DEVICE_VULKAN	10u

/* ---- what is wanted ------------------------------------------------------------------------- */

static bool scope_wanted(const struct xsprof_result *r, uint32_t scope)
{
	return !r->opts.scopes || (scope < 32 && r->opts.scopes >> scope & 1);
}

static bool producer_wanted(struct xsr_builder *b, const struct xsprof_event *ev)
{
	uint64_t key = xsr_key(ev->producer, 0), *known;
	uint32_t pid = b->r->opts.pid;
	struct xsprof_trace_producer p;
	bool wanted;

	if (!pid || ev->pid == pid)
		return true;
	/* What the kernel's tracer lost is of no process. */
	if (ev->producer == XSPROF_NO_PRODUCER)
		return false;
	known = xsp_map_get(&b->wanted, key);
	if (known)
		return *known;
	/* In a pid namespace a program knows itself by another pid. */
	wanted = !xsprof_trace_get_producer(b->r->trace, ev->producer, &p) && p.ctl &&
		 p.ctl->pid == pid;
	if (xsp_map_set(&b->wanted, key, wanted))
		b->err = -ENOMEM;
	return wanted;
}

/* ---- ranges --------------------------------------------------------------------------------- */

/*
 * The autograd engine's range around a node has no sequence number; as in PyTorch's profiler it
 * gets that of the op inside it.
 */
static void number_node(struct xsr_builder *b, const struct xsr_thread *th,
			const struct xsprof_profiler_event *op)
{
	static const char prefix[] = "autograd::engine::evaluate_function: ";
	struct xsprof_profiler_event *node;

	if (op->u.op.sequence < 0 || !op->u.op.forward_thread || !th->depth ||
	    th->open[th->depth - 1] == XSR_NONE)
		return;
	node = &b->r->events[th->open[th->depth - 1]];
	if (node->kind != XSPROF_EVENT_OP || node->u.op.sequence >= 0 ||
	    strncmp(node->name, prefix, sizeof(prefix) - 1))
		return;
	node->u.op.sequence = op->u.op.sequence;
	node->u.op.forward_thread = op->u.op.forward_thread;
}

static int begin_range(struct xsr_builder *b)
{
	const struct xsprof_event *ev = b->ev;
	struct xsprof_pairer_stats stats;
	struct xsprof_profiler_event *e;
	uint32_t index = XSR_NONE;
	struct xsprof_trace_op op;
	struct xsr_thread *th;
	bool wanted = xsr_thread_wanted(b->r, ev->tid);
	int err = 0;

	if (xsprof_trace_op(ev, &op))
		wanted = wanted && scope_wanted(b->r, op.scope) && !xsr_absent(&b->r->opts, ev);
	xsprof_pairer_get_stats(b->pairer, &stats);
	if (stats.too_deep != b->stats.too_deep)
		wanted = false;
	if (wanted) {
		e = xsr_add_event(b, ev->flags & XSPROF_EVF_OP ? XSPROF_EVENT_OP :
								 XSPROF_EVENT_ANNOTATION,
				  xsr_name_of(b, ev->producer, ev->name), ev->ns, ev->ns);
		if (!e)
			return -ENOMEM;
		if (e->kind == XSPROF_EVENT_OP) {
			e->correlation = op.correlation;
			e->stack = op.stack <= UINT32_MAX ? (uint32_t)op.stack : 0;
			e->u.op.sequence = op.sequence;
			e->u.op.forward_thread = op.forward_thread;
			e->u.op.record_function_id = op.record_function_id;
			e->u.op.scope = op.scope;
			e->u.op.at = b->at;
		} else {
			e->u.op.sequence = -1;
		}
		index = b->r->nr - 1;
	}
	err = xsr_keep_args(b, index);
	th = xsr_thread_get(&b->threads, ev->producer, ev->tid);
	if (err || !th)
		return -ENOMEM;
	if (index != XSR_NONE && b->r->events[index].kind == XSPROF_EVENT_OP)
		number_node(b, th, &b->r->events[index]);
	/* The pairer did not take the range either. */
	if (stats.too_deep != b->stats.too_deep) {
		b->stats = stats;
		return 0;
	}
	return xsr_push(&th->open, &th->depth, &th->room, index);
}

/* The end of a range from a BEGIN; its index in the pairer's stack is that in ours. */
static int end_range(struct xsr_builder *b, const struct xsprof_range *range)
{
	struct xsr_thread *th = xsr_thread_get(&b->threads, range->producer, range->tid);
	struct xsprof_profiler_event *e;
	uint32_t index;

	if (!th)
		return -ENOMEM;
	if (range->depth >= th->depth)
		return 0;
	index = th->open[range->depth];
	th->depth--;
	memmove(&th->open[range->depth], &th->open[range->depth + 1],
		(th->depth - range->depth) * sizeof(*th->open));
	if (index == XSR_NONE)
		return 0;
	e = &b->r->events[index];
	e->end = range->end_ns > e->begin ? range->end_ns : e->begin;
	if (range->flags & XSPROF_RANGEF_UNCERTAIN)
		e->flags |= XSR_EVF_UNCERTAIN;
	if (range->how == XSPROF_RANGE_OPEN) {
		e->flags |= XSR_EVF_UNFINISHED;
		xsr_end_at(b, index, e->end > b->until ? e->end : b->until);
	}
	if (b->ev && b->ev->type == XSPROF_REC_END && range->how == XSPROF_RANGE_ENDED)
		return xsr_keep_args(b, index);
	return 0;
}

/* A range in a single record, the current one. */
static int add_whole(struct xsr_builder *b, const struct xsprof_range *range)
{
	bool async = range->kind == XSPROF_REC_ASYNC_BEGIN;
	struct xsprof_profiler_event *e;
	struct xsr_activity activity;
	bool vulkan;

	if (range->kind == XSPROF_REC_GPU)
		return xsr_take_gpu(b);
	if (range->kind == XSPROF_REC_SPAN && xsr_activity_read(b->r->trace, b->ev, &activity))
		return xsr_take_activity(b, range, &activity);
	if (!xsr_thread_wanted(b->r, range->tid))
		return async ? 0 : xsr_keep_args(b, XSR_NONE);
	vulkan = range->kind == XSPROF_REC_SPAN &&
		 !strcmp(xsprof_trace_category(b->r->trace, range->producer, range->name),
			 "vulkan");
	if (vulkan && xsr_absent(&b->r->opts, b->ev))
		return xsr_keep_args(b, XSR_NONE);
	e = xsr_add_event(b, vulkan ? XSPROF_EVENT_VULKAN : XSPROF_EVENT_ANNOTATION,
		xsr_name_of(b, range->producer, range->name), range->begin_ns, range->end_ns);
	if (!e)
		return -ENOMEM;
	e->producer = range->producer;
	e->pid = range->pid;
	e->tid = range->tid;
	e->flags = XSR_EVF_SOFT | XSR_EVF_WHOLE;
	if (vulkan) {
		e->flags |= XSR_EVF_DEVICE;
		e->device = XSPROF_DEVICE(DEVICE_VULKAN, 0);
		e->u.gpu.stream = (uint32_t)range->id;
	} else {
		e->u.op.sequence = -1;
	}
	if (async)
		e->flags |= XSR_EVF_ASYNC;
	if (range->flags & XSPROF_RANGEF_UNCERTAIN)
		e->flags |= XSR_EVF_UNCERTAIN;
	if (range->how == XSPROF_RANGE_OPEN) {
		e->flags |= XSR_EVF_UNFINISHED;
		e->end_tid = e->tid;
		xsr_end_at(b, xsr_index(e), e->end > b->until ? e->end : b->until);
	}
	/* The arguments of an async range were stored at its begin. */
	return async ? 0 : xsr_finish_event(b, e);
}

static void take_range(void *data, const struct xsprof_range *range)
{
	struct xsr_builder *b = data;
	int err;

	if (b->err)
		return;
	err = range->kind == XSPROF_REC_BEGIN ? end_range(b, range) : add_whole(b, range);
	if (err)
		b->err = err;
}

/* ---- all of it ------------------------------------------------------------------------------ */

static int take_event(struct xsr_builder *b, const struct xsprof_event *ev)
{
	int err;

	/* Code that reads the trace again counts in the same way: see xsr_kineto_event(). */
	b->at++;
	if (ev->type == XSPROF_EV_KERNEL || !producer_wanted(b, ev))
		return b->err;
	if (ev->ns > b->r->last_ns)
		b->r->last_ns = ev->ns;
	b->ev = ev;
	/* Arguments of an end belong to the range that it ends, which the pairer knows. */
	err = ev->type == XSPROF_REC_END ? xsr_keep_args(b, XSR_NONE) : 0;
	if (!err)
		err = xsprof_pairer_event(b->pairer, ev);
	if (err || b->err)
		return err ? err : b->err;
	switch (ev->type) {
	case XSPROF_REC_BEGIN:
		return begin_range(b);
	case XSPROF_REC_ARGS:
		return xsr_keep_args(b, XSR_NONE);
	case XSPROF_REC_INSTANT:
	case XSPROF_REC_ASYNC_INSTANT:
		return xsr_take_instant(b);
	case XSPROF_REC_ALLOC:
	case XSPROF_REC_FREE:
		return xsr_take_memory(b);
	case XSPROF_REC_STEP:
		return xsr_take_step(b);
	case XSPROF_REC_CONTROL:
		if (xsp_control_all_off(ev))
			xsr_cut_steps(b);
		return 0;
	case XSPROF_REC_CORR_PUSH:
		return ev->aux ? 0 : xsr_take_push(b);
	case XSPROF_REC_CORR_POP:
		return ev->aux ? 0 : xsr_take_pop(b);
	case XSPROF_EV_EXIT:
		return xsp_map_set(&b->ended, xsr_key(ev->producer, 0), ev->ns);
	case XSPROF_REC_END:
	case XSPROF_REC_COMPLETE:
	case XSPROF_REC_SPAN:
	case XSPROF_REC_GPU:
		return 0;
	default:
		/* Drop the arguments of a record that is not an event. */
		return ev->rec ? xsr_keep_args(b, XSR_NONE) : 0;
	}
}

static int take_all(struct xsr_builder *b)
{
	struct xsprof_event *evs = malloc(BATCH * sizeof(*evs));
	int n = evs ? 0 : -ENOMEM;

	while (!n) {
		n = xsprof_trace_next_batch(b->r->trace, evs, BATCH);
		if (n <= 0)
			break;
		for (int i = 0, nr = n; i < nr && n >= 0; i++) {
			int err = take_event(b, &evs[i]);

			n = err ? err : 0;
		}
	}
	free(evs);
	b->ev = NULL;
	return n;
}

/* Sets device times that were recorded after the end of their ops. */
static void give_elapsed(struct xsr_builder *b)
{
	for (uint32_t i = 0; i < b->r->nr && b->elapsed.used; i++) {
		struct xsprof_profiler_event *e = &b->r->events[i];
		const uint64_t *found;

		/* Activities timed by the program have correlation ids of their own. */
		if (e->kind != XSPROF_EVENT_OP || e->flags & XSR_EVF_WHOLE || !e->correlation ||
		    e->correlation > UINT32_MAX)
			continue;
		found = xsp_map_get(&b->elapsed, xsr_key(e->producer, (uint32_t)e->correlation));
		if (!found)
			continue;
		e->u.op.elapsed = (*found >> 16) + 1;
		e->u.op.on = XSPROF_DEVICE(*found >> 8 & 0xff, *found & 0xff);
	}
}

/* Ends all open events at the end; then removes what is outside of the result's time. */
static void cut(struct xsr_builder *b)
{
	struct xsprof_result *r = b->r;
	uint64_t from = r->opts.from_ns, to = r->opts.to_ns;

	xsr_end_steps(b);
	if (!to)
		to = UINT64_MAX;
	for (uint32_t i = 0; i < r->nr; i++) {
		struct xsprof_profiler_event *e = &r->events[i];

		/*
		 * A range that ends or begins exactly at the edge is outside; an instant is inside.
		 */
		if (e->end < from || e->begin > to || (e->begin < e->end &&
						       (e->end == from || e->begin == to))) {
			e->flags |= XSR_EVF_DROP;
			continue;
		}
		if (e->begin < from)
			e->begin = from;
		if (e->end > to) {
			e->end = to;
			if (!(e->flags & XSR_EVF_OVER))
				e->flags |= XSR_EVF_UNFINISHED;
		}
	}
}

static int make(struct xsr_builder *b)
{
	struct xsprof_event none = { 0 };
	int err = xsprof_trace_rewind(b->r->trace);

	if (!err)
		err = xsprof_pairer_new(b->r->trace, take_range, b, &b->pairer);
	if (!err)
		err = take_all(b);
	b->ev = &none;
	if (b->r->opts.steps_to)
		b->until = b->r->opts.to_ns;
	if (!err)
		err = xsprof_pairer_finish(b->pairer);
	if (!err)
		err = b->err;
	if (err)
		return err;
	give_elapsed(b);
	cut(b);
	xsr_tree_sort(b->r);
	err = xsr_tree_make(b->r);
	if (!err)
		err = xsr_link(b->r);
	if (err)
		return err;
	xsr_tree_drop(b->r);
	return xsr_tree_make(b->r);
}

int xsr_build(struct xsprof_result *r)
{
	struct xsr_builder b = { .r = r };
	const char *why;

	if (r->failed)
		return r->failed;
	r->error[0] = 0;
	if (r->built)
		return 0;
	r->failed = make(&b);
	xsprof_pairer_free(b.pairer);
	xsr_threads_free(&b.threads);
	xsp_map_free(&b.names);
	xsp_map_free(&b.steps);
	xsp_map_free(&b.ended);
	xsp_map_free(&b.wanted);
	xsp_map_free(&b.elapsed);
	r->built = !r->failed;
	if (r->built)
		return 0;
	why = xsprof_trace_error(r->trace);
	if (r->failed == -ENOMEM)
		xsr_fail(r, -ENOMEM, "no memory for the events of the trace");
	else
		xsr_fail(r, r->failed, "%s", *why ? why : strerror(-r->failed));
	r->nr = 0;
	return r->failed;
}
