// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tracks other than those of threads: see lane.h.
 */
#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "format/common/lane.h"
#include "format/common/rows.h"
#include "ranges/device-names.h"
#include "text/put.h"
#include "text/utf8.h"

bool fmt_gpu_in_use(const struct xsprof_trace *trace, const struct xsprof_event *ev,
		    uint64_t *bytes)
{
	struct xsprof_trace_arg arg;
	size_t pos = 0;

	while (xsprof_trace_args(ev, &pos, &arg)) {
		if (arg.type != XSPROF_ARG_U64 ||
		    strcmp(xsprof_trace_name(trace, ev->producer, arg.key), "in use (bytes)"))
			continue;
		*bytes = arg.u.u64;
		return true;
	}
	return false;
}

bool fmt_gpu_metric(const struct xsprof_event *ev, size_t *pos, struct xsprof_trace_arg *arg)
{
	while (xsprof_trace_args(ev, pos, arg))
		/* Viewers accept only numbers. */
		if (arg->type == XSPROF_ARG_F64 && isfinite(arg->u.f64))
			return true;
	return false;
}

bool fmt_gpu_of_kernel(const struct xsprof_event *ev)
{
	return ev->aux == XSPROF_GPU_METRICS && ev->value;
}

size_t fmt_gpu_metric_name(const struct xsprof_trace *trace, const struct xsprof_event *ev,
			   uint32_t key, char *text)
{
	const struct xsprof_rec_gpu *gpu = xsp_record(ev, struct xsprof_rec_gpu);
	size_t len, room;
	const char *name = xsprof_trace_name_len(trace, ev->producer, key, &len);
	char *p = put_u32(put_lit(text, "GPU "), gpu ? gpu->device : 0);

	*p++ = ' ';
	room = FMT_METRIC_BYTES - (size_t)(p - text);
	p = mempcpy(p, name, len < room ? len : room);
	return (size_t)(p - text);
}

void xsp_lane_place(const struct xsprof_event *ev, const struct xsp_track *thread,
		    struct xsp_place *place)
{
	const struct xsprof_rec_gpu *gpu = xsp_record(ev, struct xsprof_rec_gpu);

	*place = (struct xsp_place){
		.begin = ev->begin_ns, .end = ev->end_ns > ev->begin_ns ? ev->end_ns : ev->begin_ns,
		.kind = XSP_LANE_OVERLAP, .key = thread->tid,
	};
	if (ev->type == XSPROF_REC_SPAN && ev->aux != XSPROF_SCOPE_THREAD) {
		place->kind = XSP_LANE_SPANS;
		place->key = 0;
	} else if (gpu && ev->type == XSPROF_REC_GPU) {
		place->kind = XSP_LANE_GPU;
		place->key = ((uint64_t)gpu->device << 48) ^ ((uint64_t)gpu->context << 24) ^
			     gpu->stream;
		/* A wait for a stream overlaps the stream's activities. */
		if (ev->aux == XSPROF_GPU_SYNC)
			place->key |= 1ull << 59;
		if (ev->aux == XSPROF_GPU_ALLOC || ev->aux == XSPROF_GPU_FREE)
			place->key = 1ull << 57 | gpu->device;
		if (ev->aux == XSPROF_GPU_FAULT)
			place->key = 1ull << 56 | gpu->device;
		/* Overhead is time of the host. */
		if (ev->aux == XSPROF_GPU_OVERHEAD || ev->aux == XSPROF_GPU_UNRECORDED)
			place->key = 1ull << 58;
		if (ev->aux == XSPROF_GPU_RUNTIME || ev->aux == XSPROF_GPU_DRIVER) {
			place->kind = XSP_LANE_CALLS;
			place->key = gpu->thread ? gpu->thread : thread->tid;
		}
	} else {
		place->own = place->end <= ev->ns;
	}
	/* The number of one of them is appended later. */
	place->key &= UINT64_MAX >> 3;
}

bool xsp_lane_take(struct xsp_out *out, const struct xsp_track *lane, uint64_t begin,
		   uint64_t end)
{
	uint64_t key = xsp_hash_pair((uint64_t)lane->producer << 32 | lane->kind, lane->tid);

	if (!out->rows)
		out->rows = fmt_rows_new();
	return out->rows && fmt_rows_take(out->rows, key, begin, end);
}

#define STREAM_BYTES	64	/* bytes shown of a stream's name */
#define CONTEXT_BYTES	32

static char *put_name(const char *name, size_t size, char *p)
{
	size_t n = name ? xsp_utf8_piece(name, strlen(name), size) : 0;

	if (!n)
		return p;
	p = (char *)memcpy(put_lit(p, " ("), name, n) + n;
	return put_lit(p, ")");
}

static char *put_stream(const struct xsp_out *out, const struct xsprof_event *ev,
			const struct xsprof_rec_gpu *gpu, char *p)
{
	p = put_u32(put_lit(p, " stream "), gpu->stream);
	return put_name(xsp_stream_name(out->trace, ev->producer, gpu->device, gpu->context,
					gpu->stream), STREAM_BYTES, p);
}

static char *put_context(const struct xsp_out *out, const struct xsprof_event *ev,
			 const struct xsprof_rec_gpu *gpu, char *p)
{
	p = put_u32(put_lit(p, ", context "), gpu ? gpu->context : 0);
	return gpu ? put_name(xsp_context_name(out->trace, ev->producer, gpu->device,
					       gpu->context), CONTEXT_BYTES, p) : p;
}

static char *put_faults(const struct xsprof_rec_gpu *gpu, const struct xsp_track *lane, char *p)
{
	if (gpu && gpu->device == XSPROF_NO_DEVICE)
		p = put_lit(p, "CPU faults of unified memory");
	else
		p = put_lit(put_u32(put_lit(p, "GPU "), gpu ? gpu->device : 0), " memory faults");
	if (lane->tid % XSP_LANES)
		p = put_u64(put_lit(p, ", track "), lane->tid % XSP_LANES + 1);
	return p;
}

char *xsp_lane_name(const struct xsp_out *out, const struct xsprof_event *ev,
		    const struct xsp_track *lane, char *p)
{
	const struct xsprof_rec_gpu *gpu = xsp_record(ev, struct xsprof_rec_gpu);

	switch (lane->kind) {
	case XSP_LANE_SPANS:
		p = put_lit(p, "spans");
		break;
	case XSP_LANE_OVERLAP:
		p = put_u64(put_lit(p, "overlapping ranges of "), lane->tid / XSP_LANES);
		break;
	case XSP_LANE_CALLS:
		p = put_u64(put_lit(p, "runtime calls of "), lane->tid / XSP_LANES);
		break;
	case XSP_LANE_GPU:
		if (ev->aux == XSPROF_GPU_OVERHEAD || ev->aux == XSPROF_GPU_UNRECORDED) {
			p = put_lit(p, "GPU overhead: tracing, loading");
			break;
		}
		if (ev->aux == XSPROF_GPU_FAULT)
			return put_faults(gpu, lane, p);
		p = put_u32(put_lit(p, "GPU "), gpu ? gpu->device : 0);
		if (ev->aux == XSPROF_GPU_ALLOC || ev->aux == XSPROF_GPU_FREE) {
			p = put_lit(p, " memory");
			break;
		}
		/* A wait for a whole context has no stream. */
		if (gpu && gpu->stream != XSPROF_NO_STREAM)
			p = put_stream(out, ev, gpu, p);
		if (ev->aux == XSPROF_GPU_SYNC)
			p = put_lit(p, " waits");
		/*
		 * Last, because viewers show some 30 characters, and most processes have one
		 * context.
		 */
		if (lane->tid % XSP_LANES)
			p = put_u64(put_lit(p, " #"), lane->tid % XSP_LANES + 1);
		return put_context(out, ev, gpu, p);
	default:
		p = put_u64(put_lit(p, "scheduling of "), lane->tid / XSP_LANES);
	}
	if (lane->tid % XSP_LANES)
		p = put_u64(put_lit(p, ", track "), lane->tid % XSP_LANES + 1);
	return p;
}
