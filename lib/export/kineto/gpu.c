// SPDX-License-Identifier: LGPL-2.1-only
/*
 * GPU activities and runtime calls in a Kineto trace. A device is a process with its number, a
 * stream a thread of it. A kernel belongs to the op stated in its record, or to that of the call
 * that launched it, or to the op around a call recorded by its own thread.
 */
#include "export/kineto/local.h"
#include "ranges/device-work.h"

struct gpu {
	const struct xsprof_event	*ev;
	const struct xsprof_rec_gpu	*rec;
	const struct xsr_walk		*args;
	uint64_t			begin;
	uint64_t			end;
	uint64_t			correlation;
	uint64_t			external;
	uint64_t			tag;
	uint64_t			annotation;
	bool				has_external;
	bool				arrow;		/* begins or ends here */
};

/* With several processes their numbers are kept apart, but remain numbers. */
static uint64_t correlation_of(const struct xsr_kineto *k, const struct xsprof_event *ev)
{
	uint32_t other = ev->producer == k->main ? 0 : ev->producer + 1;

	if (!ev->value)
		return 0;
	return (uint32_t)ev->value | (uint64_t)(other & 0xfffff) << 32;
}

/* Finds the innermost op around the call, or a correlation id that the thread pushed inside it. */
static void find_around(struct gpu *g, const struct xsp_track *thread)
{
	const struct xsr_pushed *pushed = xsr_user_top(thread, 0, g->begin);

	g->has_external = pushed && pushed->id;
	g->external = g->has_external ? pushed->id : 0;
	for (uint32_t i = thread->opens.stack.n; i; i--) {
		const struct xsp_range *range = &thread->opens.stack.v[i - 1];

		if (range->end != XSP_OPEN || range->kind != XSR_RANGE_OP ||
		    range->begin > g->begin)
			continue;
		if (g->has_external && range->begin < pushed->ns)
			return;
		g->external = xsr_kineto_range_id(range);
		g->has_external = true;
		return;
	}
}

/* Handles a range around a call, from the inside out. @tag: tag of an annotation. */
static void take_around(struct xsr_kineto *k, struct gpu *g, uint32_t kind, uint64_t id,
			uint32_t name, uint64_t *tag)
{
	if (kind == XSR_RANGE_OP && !g->has_external) {
		g->external = id;
		g->has_external = true;
	}
	if (kind != XSR_RANGE_ANNOTATION || g->tag)
		return;
	g->annotation = id;
	if (!*tag)
		*tag = xsr_link_tag(k, g->ev->producer, name, id);
	g->tag = *tag;
}

static struct xsp_past *past_of(const struct xsp_track *thread)
{
	const struct xsr_host *host = thread ? thread->priv : NULL;

	return host ? host->past : NULL;
}

/* Finds the ranges that were open on the calling thread when the call began. */
static void find_then(struct xsr_kineto *k, struct gpu *g, struct xsp_track *thread)
{
	struct xsp_past *past = past_of(thread);
	struct xsp_past_range *r = xsp_past_find(past, g->ev->begin_ns);

	for (; r && !(g->has_external && g->tag); r = xsp_past_around(past, r))
		take_around(k, g, r->kind, r->id, r->name, &r->tag);
	for (uint32_t i = thread ? thread->opens.stack.n : 0; i; i--) {
		struct xsp_range *range = &thread->opens.stack.v[i - 1];

		if (range->end == XSP_OPEN && range->begin <= g->ev->begin_ns)
			take_around(k, g, range->kind, xsr_kineto_range_id(range), range->name,
				    &range->tag);
	}
	/* A program without ops has ranges. */
	if (!g->has_external && g->annotation) {
		g->external = g->annotation;
		g->has_external = true;
	}
}

/*
 * Links a call to the ranges around it: if the thread itself wrote it at its end, to the open ones.
 * Another thread writes it later, and its own thread may.
 */
static void link_call(struct xsr_kineto *k, struct gpu *g)
{
	const struct xsprof_event *ev = g->ev;
	uint32_t tid = g->rec->thread ? (uint32_t)g->rec->thread : ev->tid;
	struct xsp_track *thread = xsp_tracks_get(k->tracks, ev->producer, ev->pid, XSR_THREAD, tid,
						  ev->ns);

	if (g->has_external) {
		g->tag = xsr_link_op_tag(k, ev->producer, g->external);
	} else if (thread && (tid != ev->tid || xsp_past_find(past_of(thread), ev->begin_ns))) {
		find_then(k, g, thread);
	} else if (thread && !k->over) {
		find_around(g, thread);
		g->tag = xsr_link_around(k, thread);
	}
	g->arrow = g->correlation &&
		   xsr_call_launches(xsprof_trace_name(k->w.trace, ev->producer, ev->name));
	if (ev->value)
		xsr_link_call(k, ev->producer, ev->value, &(struct xsr_called){
			.external = g->external, .tag = g->tag, .arrow = g->arrow,
		});
}

static void link_work(struct xsr_kineto *k, struct gpu *g)
{
	const struct xsr_called *called = g->ev->value ?
		xsr_link_find(k, g->ev->producer, g->ev->value) : NULL;

	if (called) {
		if (!g->has_external && called->external) {
			g->external = called->external;
			g->has_external = true;
		}
		g->tag = called->tag;
		g->arrow = called->arrow;
	}
	if (!g->tag && g->has_external)
		g->tag = xsr_link_op_tag(k, g->ev->producer, g->external);
}

static char *flow(struct xsr_kineto *k, const struct gpu *g, bool start)
{
	char *p = xsr_writer_open(&k->w);

	p = start ? put_lit(p, "{\"ph\":\"s\",\"id\":") : put_lit(p, "{\"ph\":\"f\",\"id\":");
	p = put_u64(p, g->correlation);
	*p++ = ',';
	return p;
}

static void put_flow(struct xsr_kineto *k, const struct gpu *g, struct xsp_track *track,
		     bool start)
{
	char *p = xsr_kineto_track(k, track, flow(k, g, start));

	p = xsr_kineto_ts(k, p, g->begin);
	p = put_lit(p, ",\"cat\":\"ac2g\",\"name\":\"ac2g\"");
	k->w.buf->p = start ? put_lit(p, "}") : put_lit(p, ",\"bp\":\"e\"}");
}

/* Writes the event from its name to the opening of its arguments. */
static char *put_head(struct xsr_kineto *k, const struct gpu *g, const char *cat,
		      struct xsp_track *track)
{
	const struct xsprof_event *ev = g->ev;
	bool api = ev->aux == XSPROF_GPU_RUNTIME || ev->aux == XSPROF_GPU_DRIVER;
	char *p = put_lit(xsr_writer_open(&k->w), "{\"ph\":\"X\",\"cat\":\"");
	const char *name;
	size_t len;

	k->events++;
	p = put_lit(stpcpy(p, cat), "\",\"name\":");
	if (api) {
		name = xsprof_trace_name_len(k->w.trace, ev->producer, ev->name, &len);
		p = xsr_call_put_name(name, len, p);
	} else {
		p = xsr_writer_name(&k->w, ev->producer, ev->name, p);
	}
	*p++ = ',';
	p = xsr_kineto_ts(k, xsr_kineto_track(k, track, p), g->begin);
	return xsr_kineto_dur(k, p, g->begin, g->end);
}

static char *put_external(const struct gpu *g, char *p, bool *any)
{
	*any = g->has_external;
	p = put_lit(p, ",\"args\":{");
	return g->has_external ? put_u64(put_lit(p, "\"External id\":"), g->external) : p;
}

/* Writes the arguments except those already written; @own: other keys in use. */
static char *put_rest(struct xsr_kineto *k, const struct gpu *g, uint32_t own, char *p)
{
	struct xsr_walk walk = *g->args;
	bool any = true;

	own |= g->has_external ? XSR_OWN_EXTERNAL : 0;
	return xsr_kineto_args(k, &walk, true, own, p, &any);
}

static char *put_place(struct xsr_kineto *k, const struct gpu *g, char *p)
{
	p = put_u32(put_lit(p, "\"device\":"),
		    xsr_number_of(k, g->ev->producer, g->rec->device));
	p = put_u32(put_lit(p, ",\"context\":"), g->rec->context);
	p = put_i64(put_lit(p, ",\"stream\":"), xsr_kineto_stream_number(g->rec));
	return put_u64(put_lit(p, ",\"correlation\":"), g->correlation);
}

/* For a kernel of a collective: the metadata of the op that launched it. */
static void put_collective(struct xsr_kineto *k, const struct gpu *g)
{
	const char *text;
	size_t len;

	if (g->ev->aux != XSPROF_GPU_KERNEL || !g->has_external)
		return;
	text = xsr_link_collective(k, g->ev->producer, g->external, &len);
	if (text)
		xsr_kineto_more(k, text, len);
}

static struct xsp_track *stream_of(struct xsr_kineto *k, const struct gpu *g, bool sync)
{
	struct xsp_track *track = xsr_kineto_stream(k, g->ev->producer, g->rec->device,
						    g->rec->stream, sync);

	if (!track)
		return NULL;
	xsr_kineto_in_context(track, g->rec->context);
	return xsr_kineto_beside(k, g->ev, track, g->begin, g->end);
}

static void put_work(struct xsr_kineto *k, struct gpu *g)
{
	static const char *const cats[] = {
		[XSPROF_GPU_KERNEL] = "kernel", [XSPROF_GPU_MEMCPY] = "gpu_memcpy",
		[XSPROF_GPU_MEMSET] = "gpu_memset",
		/* Readers do not know graphs: show it as computing time of the device. */
		[XSPROF_GPU_GRAPH] = "kernel",
		[XSPROF_GPU_CUSTOM] = "custom",
	};
	uint32_t own = XSR_OWN_PLACE | XSR_OWN_CORRELATION | XSR_OWN_GRAPH;
	/* Of all of it: what is in the window may be a part. */
	uint64_t ns = g->ev->end_ns > g->ev->begin_ns ? g->ev->end_ns - g->ev->begin_ns : 0;
	struct xsp_track *track;
	bool any;
	char *p;

	link_work(k, g);
	track = stream_of(k, g, false);
	if (!track)
		return;
	p = put_external(g, put_head(k, g, cats[g->ev->aux], track), &any);
	if (any)
		*p++ = ',';
	p = put_place(k, g, p);
	if (g->ev->aux == XSPROF_GPU_MEMCPY || g->ev->aux == XSPROF_GPU_MEMSET) {
		own |= XSR_OWN_BYTES;
		p = put_u64(put_lit(p, ",\"bytes\":"), g->rec->bytes);
		/* Bytes per ns are GB/s. */
		p = xsp_put_double(put_lit(p, ",\"memory bandwidth (GB/s)\":"),
				   ns ? (double)g->rec->bytes / (double)ns : 0);
	}
	p = put_u64(put_lit(p, ",\"graph id\":"), g->rec->graph);
	p = put_u64(put_lit(p, ",\"graph node id\":"), g->rec->graph_node);
	p = xsr_node_put(k, g->ev, xsr_early_put(k, g->ev, p));
	if (g->ev->aux == XSPROF_GPU_KERNEL)
		p = xsr_kineto_fill(k, g->ev, g->args, xsr_writer_room(&k->w, p));
	p = put_rest(k, g, own, p);
	k->w.buf->p = p;
	put_collective(k, g);
	k->w.buf->p = put_lit(xsp_buf_room(k->w.buf, XSP_BUF_ROOM), "}}");
	if (g->arrow && !xsp_early_ns(&k->early, g->ev))
		put_flow(k, g, track, false);
	xsr_link_gpu(k, g->tag, g->rec->device, g->rec->stream, g->begin, g->end);
}

static void put_call(struct xsr_kineto *k, struct gpu *g)
{
	const struct xsprof_event *ev = g->ev;
	uint64_t tid = g->rec->thread ? g->rec->thread : ev->tid;
	struct xsp_track *thread;
	bool any;
	char *p;

	link_call(k, g);
	thread = xsp_tracks_get(k->tracks, ev->producer, ev->pid, XSR_THREAD, (uint32_t)tid,
				ev->ns);
	if (!thread)
		return;
	p = put_head(k, g, ev->aux == XSPROF_GPU_RUNTIME ? "cuda_runtime" : "cuda_driver", thread);
	p = put_external(g, p, &any);
	if (any)
		*p++ = ',';
	p = put_u64(put_lit(p, "\"correlation\":"), g->correlation);
	p = put_rest(k, g, XSR_OWN_CORRELATION, xsr_early_put(k, ev, p));
	k->w.buf->p = put_lit(p, "}}");
	if (g->arrow)
		put_flow(k, g, thread, true);
}

static void put_sync(struct xsr_kineto *k, struct gpu *g)
{
	struct xsp_track *track;
	bool any;
	char *p;

	link_work(k, g);
	/* On a track beside the stream's work, which waits overlap. */
	track = stream_of(k, g, true);
	if (!track)
		return;
	p = put_external(g, put_head(k, g, "cuda_sync", track), &any);
	if (any)
		*p++ = ',';
	p = xsr_writer_name(&k->w, g->ev->producer, g->ev->name, put_lit(p, "\"cuda_sync_kind\":"));
	*p++ = ',';
	p = put_rest(k, g, XSR_OWN_SYNC | XSR_OWN_PLACE | XSR_OWN_CORRELATION,
		     put_place(k, g, p));
	k->w.buf->p = put_lit(p, "}}");
	if (g->arrow)
		put_flow(k, g, track, false);
}

static void put_gpu(struct xsr_kineto *k, const struct xsprof_event *ev, struct xsr_walk *walk)
{
	struct gpu g = {
		.ev = ev, .rec = (const struct xsprof_rec_gpu *)ev->rec, .args = walk,
		.begin = ev->begin_ns,
		.end = ev->end_ns > ev->begin_ns ? ev->end_ns : ev->begin_ns,
	};

	if (!xsr_kineto_cut(k, &g.begin, &g.end))
		return;
	if (g.end > k->last && !k->over)
		k->last = g.end;
	g.correlation = correlation_of(k, ev);
	g.has_external = xsr_kineto_number(k, walk, "External id", &g.external);
	switch (ev->aux) {
	case XSPROF_GPU_KERNEL:
	case XSPROF_GPU_MEMCPY:
	case XSPROF_GPU_MEMSET:
	case XSPROF_GPU_GRAPH:
	case XSPROF_GPU_CUSTOM:
		put_work(k, &g);
		break;
	case XSPROF_GPU_RUNTIME:
	case XSPROF_GPU_DRIVER:
		put_call(k, &g);
		break;
	case XSPROF_GPU_SYNC:
		put_sync(k, &g);
		break;
	case XSPROF_GPU_OVERHEAD:
	case XSPROF_GPU_UNRECORDED:
	case XSPROF_GPU_FAULT:
		xsr_kineto_overhead(k, ev, walk, g.begin, g.end, g.correlation);
		break;
	case XSPROF_GPU_ALLOC:
	case XSPROF_GPU_FREE:
		xsr_kineto_device_memory(k, ev, walk, g.begin, g.correlation);
		break;
	}
}

/* Does its call come later, and determine what it belongs to? */
static bool waits(struct xsr_kineto *k, const struct xsprof_event *ev, const struct xsr_walk *walk)
{
	return (ev->aux == XSPROF_GPU_SYNC || xsp_device_is_work(ev->aux)) && ev->value &&
	       !xsr_link_find(k, ev->producer, ev->value) &&
	       xsr_wait_add(k->waits, ev, walk);
}

void xsr_kineto_gpu(struct xsr_kineto *k, const struct xsprof_event *ev, struct xsr_walk *walk)
{
	struct xsr_waited waited;

	k->late = true;
	if (!k->gpu || !ev->rec || ev->rec_size < sizeof(struct xsprof_rec_gpu))
		return;
	if (ev->aux == XSPROF_GPU_NODE) {
		xsr_node_made(k, ev);
		return;
	}
	if (ev->aux == XSPROF_GPU_METRICS) {
		xsr_kineto_metrics(k, ev, walk);
		return;
	}
	(void)xsp_early_event(&k->early, ev, NULL);
	if (waits(k, ev, walk)) {
		while (xsr_wait_oldest(k->waits, false, &waited))
			put_gpu(k, &waited.ev, &waited.walk);
		return;
	}
	put_gpu(k, ev, walk);
	if (ev->aux != XSPROF_GPU_RUNTIME && ev->aux != XSPROF_GPU_DRIVER)
		return;
	while (ev->value && xsr_wait_next(k->waits, ev->producer, ev->value, &waited))
		put_gpu(k, &waited.ev, &waited.walk);
}

void xsr_kineto_gpu_finish(struct xsr_kineto *k)
{
	struct xsr_waited waited;

	while (xsr_wait_oldest(k->waits, true, &waited))
		put_gpu(k, &waited.ev, &waited.walk);
}
