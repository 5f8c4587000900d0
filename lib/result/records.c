// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Makes events from single records: GPU activities, steps, memory, instants; and correlation ids
 * that threads push, which are not events of the result. build.c handles ranges.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "result/absence.h"
#include "result/build-local.h"

#define MAX_PUSHED	4096u

int xsr_take_gpu(struct xsr_builder *b)
{
	static const uint8_t kinds[] = {
		[XSPROF_GPU_KERNEL] = XSPROF_EVENT_KERNEL,
		[XSPROF_GPU_MEMCPY] = XSPROF_EVENT_MEMCPY,
		[XSPROF_GPU_MEMSET] = XSPROF_EVENT_MEMSET,
		[XSPROF_GPU_SYNC] = XSPROF_EVENT_SYNC,
		[XSPROF_GPU_RUNTIME] = XSPROF_EVENT_RUNTIME,
		[XSPROF_GPU_DRIVER] = XSPROF_EVENT_DRIVER,
		[XSPROF_GPU_OVERHEAD] = XSPROF_EVENT_OVERHEAD,
		[XSPROF_GPU_GRAPH] = XSPROF_EVENT_KERNEL,
		[XSPROF_GPU_CUSTOM] = XSPROF_EVENT_KERNEL,
		[XSPROF_GPU_FAULT] = XSPROF_EVENT_OVERHEAD,
	};
	const struct xsprof_event *ev = b->ev;
	struct xsprof_profiler_event *e;
	struct xsprof_rec_gpu gpu;
	uint16_t kind;

	if (ev->aux >= sizeof(kinds) || !kinds[ev->aux] || ev->rec_size < sizeof(gpu))
		return 0;
	kind = kinds[ev->aux];
	memcpy(&gpu, ev->rec, sizeof(gpu));
	e = xsr_add_event(b, kind, xsr_name_of(b, ev->producer, ev->name), ev->begin_ns,
			  ev->end_ns);
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
		/*
		 * The activities that it launched are known only later: it is left out then, if at
		 * all.
		 */
		if (!xsr_thread_wanted(b->r, e->tid))
			e->flags |= XSR_EVF_DROP;
	} else {
		e->flags |= XSR_EVF_DEVICE;
		if (kind != XSPROF_EVENT_OVERHEAD)
			e->device = XSPROF_DEVICE(XSPROF_DEVICE_CUDA, gpu.device);
	}
	return xsr_finish_event(b, e);
}

/* An activity timed by the program: of the thread or device that it states. */
int xsr_take_activity(struct xsr_builder *b, const struct xsprof_range *range,
		      const struct xsr_activity *a)
{
	struct xsprof_profiler_event *e;

	if (!strcmp(a->type, "Trace"))
		return xsr_keep_args(b, XSR_NONE);
	e = xsr_add_event(b, a->kind, xsr_name_of(b, range->producer, range->name),
			  range->begin_ns, range->end_ns);
	if (!e)
		return -ENOMEM;
	e->flags = XSR_EVF_SOFT | XSR_EVF_WHOLE;
	e->correlation = range->id;
	if (a->kind == XSPROF_EVENT_INSTANT) {
		e->flags = XSR_EVF_INSTANT;
		e->end = e->begin;
	}
	if (a->on & XSR_ON_STREAM) {
		e->flags |= XSR_EVF_DEVICE;
		e->device = XSPROF_DEVICE(a->device_type, a->device);
		e->u.gpu.stream = (uint32_t)a->resource;
	} else {
		e->pid = (uint32_t)a->device;
		e->tid = e->end_tid = (uint32_t)a->resource;
		if (a->kind < XSPROF_EVENT_MEMORY || a->kind == XSPROF_EVENT_PYTHON_FUNCTION)
			e->u.op.sequence = -1;
		if (a->kind == XSPROF_EVENT_OP)
			e->u.op.at = b->at;
	}
	return xsr_finish_event(b, e);
}

/* ---- steps, ids that are pushed ------------------------------------------------------------- */

void xsr_end_at(struct xsr_builder *b, uint64_t step, uint64_t ns)
{
	struct xsprof_profiler_event *e = &b->r->events[step];

	e->end = ns > e->begin ? ns : e->begin;
}

int xsr_take_step(struct xsr_builder *b)
{
	const struct xsprof_event *ev = b->ev;
	const char *name = ev->name ? xsr_name_of(b, ev->producer, ev->name) : XSR_STEP_NAME;
	uint64_t key = xsr_key(ev->producer, ev->name), *open = xsp_map_get(&b->steps, key);
	struct xsprof_profiler_event *e;
	struct xsr_buf text = { 0 };
	bool ours;

	if (!name)
		return -ENOMEM;
	ours = !strcmp(name, XSR_STEP_NAME);
	if (open && !(b->r->events[*open].flags & XSR_EVF_CUT))
		xsr_end_at(b, *open, ev->ns);
	if (!xsr_thread_wanted(b->r, ev->tid))
		return xsr_keep_args(b, XSR_NONE);
	xsr_printf(&text, "%s#%" PRIu64, name, ev->value);
	name = text.err ? NULL : xsr_text(&b->r->texts, text.s, text.len);
	xsr_buf_free(&text);
	e = xsr_add_event(b, XSPROF_EVENT_ANNOTATION, name, ev->ns, ev->ns);
	if (!e)
		return -ENOMEM;
	e->flags = XSR_EVF_SOFT | XSR_EVF_STEP | XSR_EVF_UNFINISHED;
	if (ours && ev->value < b->r->opts.steps_from)
		e->flags |= XSR_EVF_DROP;
	if (ours && ev->value < b->r->opts.steps_to)
		e->flags |= XSR_EVF_OVER;
	e->u.op.sequence = -1;
	if (open && !(b->r->events[*open].flags & XSR_EVF_CUT))
		b->r->events[*open].flags &= ~XSR_EVF_UNFINISHED;
	return xsp_map_set(&b->steps, key, b->r->nr - 1) ? -ENOMEM : xsr_finish_event(b, e);
}

/* All categories were disabled: later steps were not seen. */
void xsr_cut_steps(struct xsr_builder *b)
{
	/* At its end a session does this itself. */
	if (b->r->opts.to_ns && b->ev->ns > b->r->opts.to_ns)
		return;
	for (size_t i = 0; i < b->steps.room; i++) {
		struct xsprof_profiler_event *e;

		if (!b->steps.keys[i])
			continue;
		e = &b->r->events[b->steps.values[i]];
		if (e->producer != b->ev->producer || !(e->flags & XSR_EVF_UNFINISHED) ||
		    e->flags & XSR_EVF_CUT)
			continue;
		xsr_end_at(b, b->steps.values[i], b->ev->ns);
		e->flags |= XSR_EVF_CUT;
	}
}

/* Steps open at the end end there, or with their process. */
void xsr_end_steps(struct xsr_builder *b)
{
	const struct xsprof_result *r = b->r;

	for (size_t i = 0; i < b->steps.room; i++) {
		struct xsprof_profiler_event *e;
		const uint64_t *ended;

		if (!b->steps.keys[i])
			continue;
		e = &r->events[b->steps.values[i]];
		if (!(e->flags & XSR_EVF_UNFINISHED) || e->flags & XSR_EVF_CUT)
			continue;
		ended = xsp_map_get(&b->ended, xsr_key(e->producer, 0));
		if (ended && (!b->until || *ended < b->until)) {
			xsr_end_at(b, b->steps.values[i], *ended);
			continue;
		}
		if (e->flags & XSR_EVF_OVER)
			e->flags &= ~XSR_EVF_UNFINISHED;
		xsr_end_at(b, b->steps.values[i], b->until ? b->until : r->last_ns);
	}
}

int xsr_take_push(struct xsr_builder *b)
{
	struct xsr_thread *th = xsr_thread_get(&b->threads, b->ev->producer, b->ev->tid);
	struct xsprof_profiler_event *e;

	if (!th)
		return -ENOMEM;
	if (th->nr_pushed == MAX_PUSHED) {
		th->too_deep++;
		return 0;
	}
	e = xsr_add_event(b, XSR_KIND_PUSHED, "", b->ev->ns, UINT64_MAX);
	if (!e)
		return -ENOMEM;
	e->flags = XSR_EVF_SOFT | XSR_EVF_DROP;
	e->correlation = b->ev->value;
	return xsr_push(&th->pushed, &th->nr_pushed, &th->room_pushed, b->r->nr - 1);
}

int xsr_take_pop(struct xsr_builder *b)
{
	struct xsr_thread *th = xsr_thread_get(&b->threads, b->ev->producer, b->ev->tid);

	if (!th)
		return -ENOMEM;
	if (th->too_deep)
		th->too_deep--;
	else if (th->nr_pushed)
		xsr_end_at(b, th->pushed[--th->nr_pushed], b->ev->ns);
	return 0;
}

/* ---- what takes no time --------------------------------------------------------------------- */

static int64_t bytes_of(uint64_t bytes)
{
	return bytes > INT64_MAX ? INT64_MAX : (int64_t)bytes;
}

int xsr_take_memory(struct xsr_builder *b)
{
	const struct xsprof_event *ev = b->ev;
	struct xsprof_profiler_event *e;
	struct xsprof_rec_mem mem;

	if (ev->rec_size < sizeof(mem) || !xsr_wants(b->r, profile_memory) ||
	    !xsr_thread_wanted(b->r, ev->tid) || xsr_absent(&b->r->opts, ev))
		return xsr_keep_args(b, XSR_NONE);
	memcpy(&mem, ev->rec, sizeof(mem));
	e = xsr_add_event(b, XSPROF_EVENT_MEMORY, xsr_text(&b->r->texts, "[memory]", 8), ev->ns,
			  ev->ns);
	if (!e)
		return -ENOMEM;
	e->flags = XSR_EVF_INSTANT;
	e->device = ev->aux;
	e->u.mem.address = ev->value;
	e->u.mem.bytes = ev->type == XSPROF_REC_ALLOC ? bytes_of(mem.bytes) : -bytes_of(mem.bytes);
	e->u.mem.allocated = mem.total_allocated;
	e->u.mem.reserved = mem.total_reserved;
	return xsr_finish_event(b, e);
}

static void read_out_of_memory(struct xsr_builder *b, struct xsprof_profiler_event *e)
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

/* Not an event: the time that an op took on a device. */
static int take_elapsed(struct xsr_builder *b)
{
	uint64_t op = 0, on = 0;
	struct xsprof_trace_arg arg;
	double us = -1;
	size_t pos = 0;

	while (xsprof_trace_args(b->ev, &pos, &arg)) {
		const char *key = xsprof_trace_name(b->r->trace, b->ev->producer, arg.key);

		if (arg.type == XSPROF_ARG_U64 && !strcmp(key, "Op"))
			op = arg.u.u64;
		else if (arg.type == XSPROF_ARG_U64 && !strcmp(key, "Device"))
			on = arg.u.u64;
		else if (arg.type == XSPROF_ARG_F64 && !strcmp(key, "Elapsed us"))
			us = arg.u.f64;
	}
	/* NaN compares as false. */
	if (!op || op > UINT32_MAX || !(us >= 0 && us * 1000 < (double)XSR_ELAPSED_MOST))
		return 0;
	return xsp_map_set(&b->elapsed, xsr_key(b->ev->producer, (uint32_t)op),
			   XSR_ELAPSED(us * 1000 + 0.5, (uint32_t)on));
}

int xsr_take_instant(struct xsr_builder *b)
{
	const struct xsprof_event *ev = b->ev;
	const char *name = xsr_name_of(b, ev->producer, ev->name);
	struct xsprof_profiler_event *e;
	bool ours, oom;
	int err;

	if (!name)
		return -ENOMEM;
	/* It describes a thread, and is not an event. */
	if (xsr_is_activity(ev))
		return xsr_keep_args(b, XSR_NONE);
	ours = *name == '[' &&
	       !strcmp(xsprof_trace_category(b->r->trace, ev->producer, ev->name), "profiler");
	oom = ours && !strcmp(name, "[OutOfMemory]");
	if (ours && !strcmp(name, "[device elapsed]")) {
		err = take_elapsed(b);
		return err ? err : xsr_keep_args(b, XSR_NONE);
	}
	if (!xsr_thread_wanted(b->r, ev->tid) ||
	    (oom && (!xsr_wants(b->r, profile_memory) || xsr_absent(&b->r->opts, ev))))
		return xsr_keep_args(b, XSR_NONE);
	e = xsr_add_event(b, oom ? XSPROF_EVENT_OUT_OF_MEMORY : XSPROF_EVENT_INSTANT, name, ev->ns,
			  ev->ns);
	if (!e)
		return -ENOMEM;
	e->flags = XSR_EVF_INSTANT;
	if (ev->type == XSPROF_REC_ASYNC_INSTANT)
		e->flags |= XSR_EVF_ASYNC;
	if (oom)
		read_out_of_memory(b, e);
	else
		e->u.op.sequence = -1;
	return xsr_finish_event(b, e);
}
