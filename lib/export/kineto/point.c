// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Events without a duration in a Kineto trace: instants, allocations, counters, ends of arrows and
 * of cross-thread ranges, losses.
 */
#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "export/kineto/local.h"
#include "result/absence.h"

#define OUT_OF_MEMORY	"[OutOfMemory]"

#define CUDA		1u		/* PyTorch's type of such devices */

/* PyTorch has one CPU, without an index. CUDA's devices have the same numbers as in collectors. */
static int64_t index_of(struct xsr_kineto *k, uint32_t producer, uint64_t device)
{
	uint32_t type = device >> 16 & 0xffff;
	int16_t index = (int16_t)device;

	if (type == CUDA && index >= 0)
		return xsr_number_of(k, producer, (uint32_t)index);
	return type || index ? index : -1;
}

void xsr_kineto_memory(struct xsr_kineto *k, const struct xsprof_event *ev,
		       struct xsp_track *thread)
{
	const struct xsprof_rec_mem *mem = (const struct xsprof_rec_mem *)ev->rec;
	int64_t bytes;
	char *p;

	if (!k->memory || !mem || ev->rec_size < sizeof(*mem) || xsr_absent(&k->opts, ev))
		return;
	bytes = (int64_t)mem->bytes;
	if (ev->type == XSPROF_REC_FREE && bytes > 0)
		bytes = -bytes;
	k->events++;
	k->saw_memory = true;
	p = put_lit(xsr_writer_open(&k->w),
		    "{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"s\":\"t\","
		    "\"name\":\"[memory]\",");
	p = xsr_kineto_ts(k, xsr_kineto_track(k, thread, p), ev->ns);
	p = put_u64(put_lit(p, ",\"args\":{\"Ev Idx\":"), k->index++);
	p = put_u32(put_lit(p, ",\"Device Type\":"), ev->aux >> 16);
	p = put_i64(put_lit(p, ",\"Device Id\":"), index_of(k, ev->producer, ev->aux));
	p = put_u64(put_lit(p, ",\"Addr\":"), ev->value);
	p = put_i64(put_lit(p, ",\"Bytes\":"), bytes);
	p = put_u64(put_lit(p, ",\"Total Allocated\":"), mem->total_allocated);
	p = put_u64(put_lit(p, ",\"Total Reserved\":"), mem->total_reserved);
	k->w.buf->p = put_lit(p, "}}");
}

/* The device of a failed allocation is one number in its record, and two in the file. */
static char *put_device(struct xsr_kineto *k, const struct xsr_walk *from, char *p)
{
	struct xsr_walk walk = *from;
	struct xsprof_trace_arg arg;

	while (xsr_walk_next(&walk, &arg)) {
		if (arg.type != XSPROF_ARG_U64 ||
		    strcmp(xsprof_trace_name(k->w.trace, walk.ev.producer, arg.key), "Device"))
			continue;
		p = put_u64(put_lit(p, ",\"Device Type\":"), arg.u.u64 >> 16 & 0xffff);
		p = put_lit(p, ",\"Device Id\":");
		return put_i64(p, index_of(k, walk.ev.producer, arg.u.u64));
	}
	return p;
}

void xsr_kineto_instant(struct xsr_kineto *k, const struct xsprof_event *ev,
			struct xsp_track *thread, struct xsr_walk *walk)
{
	static const char *const kinds[] = {
		"\"i\",\"cat\":\"cpu_instant_event\",\"s\":\"t\"",
		"\"i\",\"cat\":\"cpu_instant_event\",\"s\":\"p\"",
		"\"i\",\"cat\":\"cpu_instant_event\",\"s\":\"g\"",
	};
	const char *category = xsr_kineto_category(k, ev->producer, ev->name);
	uint32_t own = XSR_OWN_INDEX | (category ? XSR_OWN_CATEGORY : 0);
	bool any = true, oom;
	char *p;

	oom = !strcmp(xsprof_trace_name(k->w.trace, ev->producer, ev->name), OUT_OF_MEMORY);
	if (oom && xsr_absent(&k->opts, ev))
		return;
	p = xsr_kineto_begin(k, thread, kinds[ev->aux < 3 ? ev->aux : 0], ev->producer, ev->name,
			     ev->ns);
	p = put_u64(put_lit(p, ",\"args\":{\"Ev Idx\":"), k->index++);
	if (oom) {
		p = put_device(k, walk, p);
		own |= XSR_OWN_DEVICE;
	}
	if (category)
		p = xsr_kineto_put_category(k, category, p);
	p = xsr_kineto_args(k, walk, false, own, p, &any);
	k->w.buf->p = put_lit(p, "}}");
}

void xsr_kineto_counter(struct xsr_kineto *k, const struct xsprof_event *ev,
			struct xsp_track *thread)
{
	bool f64 = ev->type == XSPROF_REC_COUNTER_F64;
	double value = f64 ? xsp_bits_double(ev->value) : 0;
	char *p;

	/* Viewers accept only numbers for counters: other values are shown as instants. */
	p = xsr_kineto_begin(k, thread, isfinite(value) ? "\"C\",\"cat\":\"user_counter\"" :
			     "\"i\",\"cat\":\"cpu_instant_event\",\"s\":\"t\"", ev->producer,
			     ev->name, ev->ns);
	p = put_lit(p, ",\"args\":{\"value\":");
	p = f64 ? xsp_json_double(p, value) : put_i64(p, (int64_t)ev->value);
	k->w.buf->p = put_lit(p, "}}");
}

static void put_metric(struct xsr_kineto *k, struct xsr_walk *walk, uint32_t key, uint32_t device,
		       uint64_t ns, double value)
{
	char *p;

	k->events++;
	p = put_lit(xsr_writer_open(&k->w),
		    "{\"ph\":\"C\",\"cat\":\"user_counter\",\"name\":");
	p = xsr_writer_name(&k->w, walk->ev.producer, key, p);
	p = put_lit(put_u32(put_lit(p, ",\"pid\":"), device), ",\"tid\":0,");
	p = xsr_kineto_ts(k, p, ns);
	p = xsp_json_double(put_lit(p, ",\"args\":{\"value\":"), value);
	k->w.buf->p = put_lit(p, "}}");
}

void xsr_kineto_metrics(struct xsr_kineto *k, const struct xsprof_event *ev,
			struct xsr_walk *walk)
{
	const struct xsprof_rec_gpu *rec = (const struct xsprof_rec_gpu *)ev->rec;
	uint64_t begin = ev->begin_ns, end = ev->end_ns;
	struct xsprof_trace_arg arg;
	uint32_t device;

	if (!xsr_kineto_cut(k, &begin, &end))
		return;
	device = xsr_kineto_device(k, ev->producer, rec->device);
	while (xsr_walk_next(walk, &arg)) {
		if (arg.type != XSPROF_ARG_F64 || !isfinite(arg.u.f64))
			continue;
		put_metric(k, walk, arg.key, device, begin, arg.u.f64);
		/* Those of a kernel end with it. */
		if (ev->value)
			put_metric(k, walk, arg.key, device, end, 0);
	}
}

/* Writes the end of an arrow as viewers expect it: with a number as its id, inside a range. */
static void put_flow(struct xsr_kineto *k, const struct xsprof_event *ev,
		     struct xsp_track *thread, struct xsr_walk *walk)
{
	static const char *const kinds[] = {
		"\"s\",\"cat\":\"user_flow\"", "\"t\",\"cat\":\"user_flow\",\"bp\":\"e\"",
		"\"f\",\"cat\":\"user_flow\",\"bp\":\"e\"",
	};
	bool any = false;
	char *p;

	p = xsr_kineto_begin(k, thread, "\"X\",\"cat\":\"user_flow\"", ev->producer, ev->name,
			     ev->ns);
	p = put_lit(p, ",\"dur\":" XSP_STEP ",\"args\":{");
	k->w.buf->p = put_lit(xsr_kineto_args(k, walk, false, 0, p, &any), "}}");
	p = xsr_kineto_begin(k, thread, kinds[ev->type - XSPROF_REC_FLOW_START], ev->producer,
			     ev->name, ev->ns);
	p = put_u64(put_lit(p, ",\"id\":"), xsp_hash_flow(ev->producer, ev->value));
	k->w.buf->p = put_lit(p, "}");
}

/* Async ranges and flows of the program, whose ids are unique within their process. */
void xsr_kineto_linked(struct xsr_kineto *k, const struct xsprof_event *ev,
		       struct xsp_track *thread, struct xsr_walk *walk)
{
	static const char *const kinds[] = {
		"\"b\",\"cat\":\"user_async\"", "\"n\",\"cat\":\"user_async\"",
		"\"e\",\"cat\":\"user_async\"",
	};
	uint32_t kind = ev->type - XSPROF_REC_ASYNC_BEGIN;
	bool any = false;
	char *p;

	if (ev->type >= XSPROF_REC_FLOW_START) {
		put_flow(k, ev, thread, walk);
		return;
	}
	/* A begin without an end, or an end without a begin, is not a range. */
	if (!xsp_tracks_async(k->tracks, ev))
		kind = XSPROF_REC_ASYNC_INSTANT - XSPROF_REC_ASYNC_BEGIN;
	p = xsr_kineto_begin(k, thread, kinds[kind], ev->producer, ev->name, ev->ns);
	p = put_u32(put_lit(p, ",\"id\":\""), ev->producer);
	*p++ = '.';
	p = put_lit(put_u64(p, ev->value), "\",\"args\":{");
	k->w.buf->p = put_lit(xsr_kineto_args(k, walk, false, 0, p, &any), "}}");
}

/* An async range without an end. */
void xsr_kineto_async_closed(void *data, struct xsp_track *thread,
			     const struct xsprof_range *range, enum xsp_why why)
{
	struct xsr_kineto *k = data;
	char *p = xsr_kineto_begin(k, thread, "\"e\",\"cat\":\"user_async\"", range->producer,
				   range->name, range->end_ns);

	p = put_u32(put_lit(p, ",\"id\":\""), range->producer);
	*p++ = '.';
	p = put_lit(put_u64(p, range->id), "\",\"args\":{");
	p = why == XSP_WHY_CUT ? put_lit(p, "\"cut\":true") :
	    xsr_kineto_unfinished(k, p, range->producer, range->begin_ns, range->end_ns, why);
	if (range->flags & XSPROF_RANGEF_UNCERTAIN)
		p = put_lit(p, ",\"uncertain\":\"lost\"");
	k->w.buf->p = put_lit(p, "}}");
}

/* Writes lost records: a mark at their position, without a count if that is unknown. */
void xsr_kineto_lost(struct xsr_kineto *k, const struct xsprof_event *ev,
		     struct xsp_track *thread)
{
	char *p = put_lit(xsr_writer_open(&k->w), "{\"ph\":\"i\",\"cat\":\"xsprof\",\"s\":\"p\","
			  "\"name\":\"[lost]\",");

	p = xsr_kineto_ts(k, xsr_kineto_track(k, thread, p), ev->ns);
	p = ev->flags & XSPROF_EVF_SLOTS ? put_lit(p, ",\"args\":{\"slots\":") :
					   put_lit(p, ",\"args\":{\"records\":");
	k->w.buf->p = put_lit(put_u64(p, ev->value), "}}");
}
