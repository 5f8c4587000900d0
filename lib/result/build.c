// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Events out of the records of a trace.  What begins and ends what is the pairer's to say: a
 * thread's stack here goes with the pairer's, and holds the events that the ranges will be.  What
 * the result does not want is left out; order, nesting and links are made afterwards.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "build.h"

#define BATCH		512
#define MAX_PUSHED	4096u
#define DEVICE_VULKAN	10u

/**
 * struct builder - a result in the making
 * @r: result
 * @pairer: pairs begins with ends
 * @stats: of it, before the event
 * @ev: the event that is looked at
 * @threads: of all producers
 * @names: from producer and name id to text
 * @steps: from producer and name to the step that is open
 * @ended: from producer to when it ended
 * @wanted: from producer to whether it is of the process that is asked for
 * @err: what went wrong where no error can be returned
 */
struct builder {
	struct xsprof_result		*r;
	struct xsprof_pairer		*pairer;
	struct xsprof_pairer_stats	stats;
	const struct xsprof_event	*ev;
	struct xsr_threads		threads;
	struct xsr_map			names;
	struct xsr_map			steps;
	struct xsr_map			ended;
	struct xsr_map			wanted;
	int				err;
};

/* ---- what is wanted ------------------------------------------------------------------------- */

static bool thread_wanted(const struct xsprof_result *r, uint32_t tid)
{
	for (uint32_t i = 0; i < r->opts.nr_tids; i++)
		if (r->opts.tids[i] == tid)
			return true;
	return !r->opts.nr_tids;
}

static bool scope_wanted(const struct xsprof_result *r, uint32_t scope)
{
	return !r->opts.scopes || (scope < 32 && r->opts.scopes >> scope & 1);
}

static bool producer_wanted(struct builder *b, const struct xsprof_event *ev)
{
	uint64_t key = xsr_key(ev->producer, 0), *known;
	uint32_t pid = b->r->opts.pid;
	struct xsprof_trace_producer p;
	bool wanted;

	if (!pid || ev->pid == pid)
		return true;
	known = xsr_map_get(&b->wanted, key);
	if (known)
		return *known;
	/* In a pid namespace a program knows itself by another number. */
	wanted = !xsprof_trace_get_producer(b->r->trace, ev->producer, &p) && p.ctl &&
		 p.ctl->pid == pid;
	if (xsr_map_set(&b->wanted, key, wanted))
		b->err = -ENOMEM;
	return wanted;
}

/* ---- events --------------------------------------------------------------------------------- */

static const char *text_of(struct builder *b, uint32_t producer, uint32_t name)
{
	uint64_t key = xsr_key(producer, name), *found = xsr_map_get(&b->names, key);
	const char *s, *text;
	size_t len;

	if (found)
		return (const char *)(uintptr_t)*found;
	s = xsprof_trace_name_len(b->r->trace, producer, name, &len);
	text = xsr_text(&b->r->texts, s, len);
	if (!text || xsr_map_set(&b->names, key, (uintptr_t)text))
		return NULL;
	return text;
}

/* A new event, by what all of them have; NULL: no memory. */
static struct xsprof_profiler_event *add(struct builder *b, uint16_t kind, const char *name,
					 uint64_t begin, uint64_t end)
{
	struct xsprof_result *r = b->r;
	struct xsprof_profiler_event *e;

	if (r->nr == r->room) {
		uint32_t room = r->room > XSR_MAX_EVENTS / 2 ? XSR_MAX_EVENTS :
				r->room ? r->room * 2 : 64;
		void *events = NULL;

		if (room > r->room)
			events = realloc(r->events, (size_t)room * sizeof(*e));
		if (!events)
			return NULL;
		r->events = events;
		r->room = room;
	}
	if (!name)
		return NULL;
	e = &r->events[r->nr++];
	*e = (struct xsprof_profiler_event){
		.result = r, .name = name, .begin = begin, .end = end > begin ? end : begin,
		.producer = b->ev->producer, .pid = b->ev->pid, .tid = b->ev->tid,
		.end_tid = b->ev->tid, .kind = kind, .parent = XSR_NONE, .child = XSR_NONE,
		.next = XSR_NONE,
	};
	return e;
}

/* Keeps the arguments of the record that is looked at as those of event @index. */
static int keep_args(struct builder *b, uint32_t index)
{
	const struct xsprof_event *ev = b->ev;
	struct xsr_thread *th = xsr_thread_get(&b->threads, ev->producer, ev->tid);
	struct xsprof_trace_arg arg;
	size_t pos = 0, from, size;
	struct xsr_piece *piece;

	if (!th)
		return -ENOMEM;
	if (ev->type != XSPROF_REC_ARGS) {
		th->more = index;
		th->tail = index == XSR_NONE ? NULL : b->r->events[index].args;
		while (th->tail && th->tail->next)
			th->tail = th->tail->next;
	}
	if (th->more == XSR_NONE || !xsprof_trace_args(ev, &pos, &arg))
		return 0;
	from = pos - sizeof(struct xsprof_arg) - (((size_t)arg.len + 15) & ~(size_t)15);
	size = ev->rec_size - from;
	piece = xsr_pool_get(&b->r->pool, sizeof(*piece) + size);
	if (!piece)
		return -ENOMEM;
	*piece = (struct xsr_piece){ .size = (uint32_t)(sizeof(*piece) + size) };
	memcpy(piece + 1, (const char *)ev->rec + from, size);
	*(th->tail ? &th->tail->next : &b->r->events[th->more].args) = piece;
	th->tail = piece;
	return 0;
}

/* The event just made is of the record that is looked at. */
static int finish_event(struct builder *b, const struct xsprof_profiler_event *e)
{
	return e ? keep_args(b, (uint32_t)(e - b->r->events)) : -ENOMEM;
}

/* ---- ranges --------------------------------------------------------------------------------- */

static int begin_range(struct builder *b)
{
	const struct xsprof_event *ev = b->ev;
	struct xsprof_pairer_stats stats;
	struct xsprof_profiler_event *e;
	uint32_t index = XSR_NONE;
	struct xsprof_trace_op op;
	struct xsr_thread *th;
	bool wanted = thread_wanted(b->r, ev->tid);
	int err = 0;

	if (xsprof_trace_op(ev, &op))
		wanted = wanted && scope_wanted(b->r, op.scope);
	xsprof_pairer_get_stats(b->pairer, &stats);
	if (stats.too_deep != b->stats.too_deep)
		wanted = false;
	if (wanted) {
		e = add(b, ev->flags & XSPROF_EVF_OP ? XSPROF_EVENT_OP : XSPROF_EVENT_ANNOTATION,
			text_of(b, ev->producer, ev->name), ev->ns, ev->ns);
		if (!e)
			return -ENOMEM;
		if (e->kind == XSPROF_EVENT_OP) {
			e->correlation = op.correlation;
			e->stack = op.stack <= UINT32_MAX ? (uint32_t)op.stack : 0;
			e->u.op.sequence = op.sequence;
			e->u.op.forward_thread = op.forward_thread;
			e->u.op.record_function_id = op.record_function_id;
			e->u.op.scope = op.scope;
		} else {
			e->u.op.sequence = -1;
		}
		index = b->r->nr - 1;
	}
	err = keep_args(b, index);
	th = xsr_thread_get(&b->threads, ev->producer, ev->tid);
	if (err || !th)
		return -ENOMEM;
	/* The pairer did not take it either. */
	if (stats.too_deep != b->stats.too_deep) {
		b->stats = stats;
		return 0;
	}
	return xsr_push(&th->open, &th->depth, &th->room, index);
}

/* A BEGIN that ended; its place in the pairer's stack is that in ours. */
static int end_range(struct builder *b, const struct xsprof_range *range)
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
	if (range->how == XSPROF_RANGE_OPEN)
		e->flags |= XSR_EVF_UNFINISHED;
	if (b->ev && b->ev->type == XSPROF_REC_END && range->how == XSPROF_RANGE_ENDED)
		return keep_args(b, index);
	return 0;
}

static int add_gpu(struct builder *b)
{
	static const uint8_t kinds[] = {
		[XSPROF_GPU_KERNEL] = XSPROF_EVENT_KERNEL,
		[XSPROF_GPU_MEMCPY] = XSPROF_EVENT_MEMCPY,
		[XSPROF_GPU_MEMSET] = XSPROF_EVENT_MEMSET,
		[XSPROF_GPU_SYNC] = XSPROF_EVENT_SYNC,
		[XSPROF_GPU_RUNTIME] = XSPROF_EVENT_RUNTIME,
		[XSPROF_GPU_DRIVER] = XSPROF_EVENT_DRIVER,
		[XSPROF_GPU_OVERHEAD] = XSPROF_EVENT_OVERHEAD,
	};
	const struct xsprof_event *ev = b->ev;
	struct xsprof_profiler_event *e;
	struct xsprof_rec_gpu gpu;
	uint16_t kind;

	if (ev->aux >= sizeof(kinds) || !kinds[ev->aux] || ev->rec_size < sizeof(gpu))
		return 0;
	kind = kinds[ev->aux];
	memcpy(&gpu, ev->rec, sizeof(gpu));
	e = add(b, kind, text_of(b, ev->producer, ev->name), ev->begin_ns, ev->end_ns);
	if (!e)
		return -ENOMEM;
	e->flags = XSR_EVF_SOFT | XSR_EVF_WHOLE;
	e->correlation = ev->value;
	e->u.gpu.bytes = gpu.bytes;
	e->u.gpu.graph = gpu.graph;
	e->u.gpu.graph_node = gpu.graph_node;
	e->u.gpu.stream = gpu.stream;
	e->u.gpu.context = gpu.context;
	if (kind == XSPROF_EVENT_RUNTIME || kind == XSPROF_EVENT_DRIVER) {
		if (gpu.thread && gpu.thread <= UINT32_MAX)
			e->tid = e->end_tid = (uint32_t)gpu.thread;
		/* What it launched is only known later: it goes then, when it is to go. */
		if (!thread_wanted(b->r, e->tid))
			e->flags |= XSR_EVF_DROP;
	} else {
		e->flags |= XSR_EVF_DEVICE;
		if (kind != XSPROF_EVENT_OVERHEAD)
			e->device = XSPROF_DEVICE(XSPROF_DEVICE_CUDA, gpu.device);
	}
	return finish_event(b, e);
}

/* A range of one record, which is the one looked at. */
static int add_whole(struct builder *b, const struct xsprof_range *range)
{
	bool async = range->kind == XSPROF_REC_ASYNC_BEGIN;
	struct xsprof_profiler_event *e;
	bool vulkan;

	if (range->kind == XSPROF_REC_GPU)
		return add_gpu(b);
	if (!thread_wanted(b->r, range->tid))
		return async ? 0 : keep_args(b, XSR_NONE);
	vulkan = range->kind == XSPROF_REC_SPAN &&
		 !strcmp(xsprof_trace_category(b->r->trace, range->producer, range->name),
			 "vulkan");
	e = add(b, vulkan ? XSPROF_EVENT_VULKAN : XSPROF_EVENT_ANNOTATION,
		text_of(b, range->producer, range->name), range->begin_ns, range->end_ns);
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
	if (range->how == XSPROF_RANGE_OPEN) {
		e->flags |= XSR_EVF_UNFINISHED;
		e->end_tid = e->tid;
	}
	/* The arguments of an async range went with its begin. */
	return async ? 0 : finish_event(b, e);
}

static void take_range(void *data, const struct xsprof_range *range)
{
	struct builder *b = data;
	int err;

	if (b->err)
		return;
	err = range->kind == XSPROF_REC_BEGIN ? end_range(b, range) : add_whole(b, range);
	if (err)
		b->err = err;
}

/* ---- steps, ids that are pushed ------------------------------------------------------------- */

static void end_step(struct builder *b, uint64_t step, uint64_t ns)
{
	struct xsprof_profiler_event *e = &b->r->events[step];

	e->end = ns > e->begin ? ns : e->begin;
}

static int add_step(struct builder *b)
{
	const struct xsprof_event *ev = b->ev;
	const char *name = ev->name ? text_of(b, ev->producer, ev->name) : "ProfilerStep";
	uint64_t key = xsr_key(ev->producer, ev->name), *open = xsr_map_get(&b->steps, key);
	struct xsprof_profiler_event *e;
	struct xsr_buf text = { 0 };

	if (!name)
		return -ENOMEM;
	if (open)
		end_step(b, *open, ev->ns);
	if (!thread_wanted(b->r, ev->tid))
		return keep_args(b, XSR_NONE);
	xsr_printf(&text, "%s#%" PRIu64, name, ev->value);
	name = text.err ? NULL : xsr_text(&b->r->texts, text.s, text.len);
	xsr_buf_free(&text);
	e = add(b, XSPROF_EVENT_ANNOTATION, name, ev->ns, ev->ns);
	if (!e)
		return -ENOMEM;
	e->flags = XSR_EVF_SOFT | XSR_EVF_STEP | XSR_EVF_UNFINISHED;
	e->u.op.sequence = -1;
	if (open)
		b->r->events[*open].flags &= ~XSR_EVF_UNFINISHED;
	return xsr_map_set(&b->steps, key, b->r->nr - 1) ? -ENOMEM : finish_event(b, e);
}

static int push_id(struct builder *b)
{
	struct xsr_thread *th = xsr_thread_get(&b->threads, b->ev->producer, b->ev->tid);
	struct xsprof_profiler_event *e;

	if (!th)
		return -ENOMEM;
	if (th->nr_pushed == MAX_PUSHED) {
		th->too_deep++;
		return 0;
	}
	e = add(b, XSR_KIND_PUSHED, "", b->ev->ns, UINT64_MAX);
	if (!e)
		return -ENOMEM;
	e->flags = XSR_EVF_SOFT | XSR_EVF_DROP;
	e->correlation = b->ev->value;
	return xsr_push(&th->pushed, &th->nr_pushed, &th->room_pushed, b->r->nr - 1);
}

static int pop_id(struct builder *b)
{
	struct xsr_thread *th = xsr_thread_get(&b->threads, b->ev->producer, b->ev->tid);

	if (!th)
		return -ENOMEM;
	if (th->too_deep)
		th->too_deep--;
	else if (th->nr_pushed)
		end_step(b, th->pushed[--th->nr_pushed], b->ev->ns);
	return 0;
}

/* ---- what takes no time --------------------------------------------------------------------- */

static int64_t bytes_of(uint64_t bytes)
{
	return bytes > INT64_MAX ? INT64_MAX : (int64_t)bytes;
}

static int add_memory(struct builder *b)
{
	const struct xsprof_event *ev = b->ev;
	struct xsprof_profiler_event *e;
	struct xsprof_rec_mem mem;

	if (ev->rec_size < sizeof(mem) || !xsr_wants(b->r, profile_memory) ||
	    !thread_wanted(b->r, ev->tid))
		return keep_args(b, XSR_NONE);
	memcpy(&mem, ev->rec, sizeof(mem));
	e = add(b, XSPROF_EVENT_MEMORY, xsr_text(&b->r->texts, "[memory]", 8), ev->ns, ev->ns);
	if (!e)
		return -ENOMEM;
	e->flags = XSR_EVF_INSTANT;
	e->device = ev->aux;
	e->u.mem.address = ev->value;
	e->u.mem.bytes = ev->type == XSPROF_REC_ALLOC ? bytes_of(mem.bytes) : -bytes_of(mem.bytes);
	e->u.mem.allocated = mem.total_allocated;
	e->u.mem.reserved = mem.total_reserved;
	return finish_event(b, e);
}

static void read_out_of_memory(struct builder *b, struct xsprof_profiler_event *e)
{
	struct xsprof_trace_arg arg;
	size_t pos = 0;

	while (xsprof_trace_args(b->ev, &pos, &arg)) {
		const char *key = xsprof_trace_name(b->r->trace, e->producer, arg.key);

		if (arg.type != XSPROF_ARG_U64 && arg.type != XSPROF_ARG_I64)
			continue;
		if (!strcmp(key, "Bytes"))
			e->u.mem.bytes = arg.u.i64;
		else if (!strcmp(key, "Total Allocated"))
			e->u.mem.allocated = arg.u.u64;
		else if (!strcmp(key, "Total Reserved"))
			e->u.mem.reserved = arg.u.u64;
		else if (!strcmp(key, "Device"))
			e->device = (uint32_t)arg.u.u64;
	}
}

static int add_instant(struct builder *b)
{
	const struct xsprof_event *ev = b->ev;
	const char *name = text_of(b, ev->producer, ev->name);
	struct xsprof_profiler_event *e;
	bool oom;

	if (!name)
		return -ENOMEM;
	oom = !strcmp(name, "[OutOfMemory]") &&
	      !strcmp(xsprof_trace_category(b->r->trace, ev->producer, ev->name), "profiler");
	if (!thread_wanted(b->r, ev->tid) || (oom && !xsr_wants(b->r, profile_memory)))
		return keep_args(b, XSR_NONE);
	e = add(b, oom ? XSPROF_EVENT_OUT_OF_MEMORY : XSPROF_EVENT_INSTANT, name, ev->ns, ev->ns);
	if (!e)
		return -ENOMEM;
	e->flags = XSR_EVF_INSTANT;
	if (ev->type == XSPROF_REC_ASYNC_INSTANT)
		e->flags |= XSR_EVF_ASYNC;
	if (oom)
		read_out_of_memory(b, e);
	else
		e->u.op.sequence = -1;
	return finish_event(b, e);
}

/* ---- all of it ------------------------------------------------------------------------------ */

static int take_event(struct builder *b, const struct xsprof_event *ev)
{
	int err;

	if (ev->ns > b->r->last_ns)
		b->r->last_ns = ev->ns;
	if (ev->type == XSPROF_EV_KERNEL || !producer_wanted(b, ev))
		return b->err;
	b->ev = ev;
	/* Those of an end are of what it ends, which the pairer knows. */
	err = ev->type == XSPROF_REC_END ? keep_args(b, XSR_NONE) : 0;
	if (!err)
		err = xsprof_pairer_event(b->pairer, ev);
	if (err || b->err)
		return err ? err : b->err;
	switch (ev->type) {
	case XSPROF_REC_BEGIN:
		return begin_range(b);
	case XSPROF_REC_ARGS:
		return keep_args(b, XSR_NONE);
	case XSPROF_REC_INSTANT:
	case XSPROF_REC_ASYNC_INSTANT:
		return add_instant(b);
	case XSPROF_REC_ALLOC:
	case XSPROF_REC_FREE:
		return add_memory(b);
	case XSPROF_REC_STEP:
		return add_step(b);
	case XSPROF_REC_CORR_PUSH:
		return ev->aux ? 0 : push_id(b);
	case XSPROF_REC_CORR_POP:
		return ev->aux ? 0 : pop_id(b);
	case XSPROF_EV_EXIT:
		return xsr_map_set(&b->ended, xsr_key(ev->producer, 0), ev->ns);
	case XSPROF_REC_END:
	case XSPROF_REC_COMPLETE:
	case XSPROF_REC_SPAN:
	case XSPROF_REC_GPU:
		return 0;
	default:
		/* Arguments of what is no event belong to none. */
		return ev->rec ? keep_args(b, XSR_NONE) : 0;
	}
}

static int take_all(struct builder *b)
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

/* Whoever is open at the end ends there; then what lies outside of the result is cut off. */
static void cut(struct builder *b)
{
	struct xsprof_result *r = b->r;
	uint64_t from = r->opts.from_ns, to = r->opts.to_ns;

	for (size_t i = 0; i < b->steps.room; i++) {
		struct xsprof_profiler_event *e;
		const uint64_t *ended;

		if (!b->steps.keys[i])
			continue;
		e = &r->events[b->steps.values[i]];
		if (!(e->flags & XSR_EVF_UNFINISHED))
			continue;
		ended = xsr_map_get(&b->ended, xsr_key(e->producer, 0));
		end_step(b, b->steps.values[i], ended ? *ended : r->last_ns);
	}
	if (!to)
		to = UINT64_MAX;
	for (uint32_t i = 0; i < r->nr; i++) {
		struct xsprof_profiler_event *e = &r->events[i];

		if (e->end < from || e->begin > to) {
			e->flags |= XSR_EVF_DROP;
			continue;
		}
		if (e->begin < from)
			e->begin = from;
		if (e->end > to) {
			e->end = to;
			e->flags |= XSR_EVF_UNFINISHED;
		}
	}
}

static int make(struct builder *b)
{
	struct xsprof_event none = { 0 };
	int err = xsprof_trace_rewind(b->r->trace);

	if (!err)
		err = xsprof_pairer_new(b->r->trace, take_range, b, &b->pairer);
	if (!err)
		err = take_all(b);
	b->ev = &none;
	if (!err)
		err = xsprof_pairer_finish(b->pairer);
	if (!err)
		err = b->err;
	if (err)
		return err;
	cut(b);
	err = xsr_tree_sort(b->r);
	if (!err)
		err = xsr_tree_make(b->r);
	if (!err)
		err = xsr_link(b->r);
	if (!err)
		err = xsr_tree_drop(b->r);
	return err > 0 ? xsr_tree_make(b->r) : err;
}

int xsr_build(struct xsprof_result *r)
{
	struct builder b = { .r = r };
	const char *why;

	if (r->built || r->failed)
		return r->failed;
	r->failed = make(&b);
	xsprof_pairer_free(b.pairer);
	xsr_threads_free(&b.threads);
	xsr_map_free(&b.names);
	xsr_map_free(&b.steps);
	xsr_map_free(&b.ended);
	xsr_map_free(&b.wanted);
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
