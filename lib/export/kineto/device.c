// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Events of a device that are neither work nor calls, in a Kineto trace: allocations and frees of
 * its memory, the overhead of tracing it, and faults of unified memory.
 */
#include "export/kineto/local.h"

bool xsr_kineto_number(const struct xsr_kineto *k, const struct xsr_walk *from, const char *name,
		       uint64_t *value)
{
	struct xsr_walk walk = *from;
	struct xsprof_trace_arg arg;

	while (xsr_walk_next(&walk, &arg)) {
		if ((arg.type == XSPROF_ARG_I64 || arg.type == XSPROF_ARG_U64) &&
		    !strcmp(xsprof_trace_name(k->w.trace, walk.ev.producer, arg.key), name)) {
			*value = arg.u.u64;
			return true;
		}
	}
	return false;
}

static char *put_place(const struct xsr_kineto *k, uint32_t device, uint64_t ns, char *p)
{
	p = put_lit(put_u32(put_lit(p, ",\"pid\":"), device), ",\"tid\":0,");
	return xsr_kineto_ts(k, p, ns);
}

/* How much is in use from then on, if it is known. */
static void put_in_use(struct xsr_kineto *k, const struct xsprof_event *ev,
		       const struct xsr_walk *args, uint32_t device, uint64_t ns)
{
	uint64_t bytes;
	char *p;

	if (!xsr_kineto_number(k, args, "in use (bytes)", &bytes))
		return;
	k->events++;
	p = put_lit(xsr_writer_open(&k->w), "{\"ph\":\"C\",\"cat\":\"user_counter\",\"name\":"
		    "\"memory in use on GPU ");
	p = put_u32(p, device);
	/* Each counts its own. */
	if (k->main != XSPROF_NO_PRODUCER && ev->producer != k->main)
		p = put_u32(put_lit(p, " by process "), ev->pid);
	p = put_place(k, device, ns, put_lit(p, "\""));
	p = put_u64(put_lit(p, ",\"args\":{\"value\":"), bytes);
	k->w.buf->p = put_lit(p, "}}");
}

/*
 * Not "[memory]": that is PyTorch's allocator's, which gets its memory by such allocations. Viewers
 * would add up both.
 */
void xsr_kineto_device_memory(struct xsr_kineto *k, const struct xsprof_event *ev,
			      const struct xsr_walk *args, uint64_t ns, uint64_t correlation)
{
	const struct xsprof_rec_gpu *rec = (const struct xsprof_rec_gpu *)ev->rec;
	uint32_t device = xsr_kineto_device(k, ev->producer, rec->device);
	struct xsr_walk walk = *args;
	bool any = true;
	char *p;

	k->events++;
	p = put_lit(xsr_writer_open(&k->w),
		    "{\"ph\":\"i\",\"cat\":\"gpu_memory\",\"s\":\"p\",\"name\":");
	p = put_place(k, device, ns, xsr_writer_name(&k->w, ev->producer, ev->name, p));
	p = put_u32(put_lit(p, ",\"args\":{\"device\":"), device);
	p = put_u32(put_lit(p, ",\"context\":"), rec->context);
	p = put_i64(put_lit(p, ",\"stream\":"), xsr_kineto_stream_number(rec));
	p = put_u64(put_lit(p, ",\"correlation\":"), correlation);
	p = put_u64(put_lit(p, ",\"bytes\":"), rec->bytes);
	p = xsr_kineto_args(k, &walk, true, XSR_OWN_PLACE | XSR_OWN_CORRELATION | XSR_OWN_BYTES,
			    p, &any);
	k->w.buf->p = put_lit(p, "}}");
	put_in_use(k, ev, args, device, ns);
}

/*
 * Writes the device and the call that it is of, where there are such. Not as "correlation": what
 * the driver compiles for a launch would be taken for the launch of the kernel.
 */
static char *put_origin(struct xsr_kineto *k, const struct xsprof_event *ev,
			uint64_t correlation, char *p, bool *any)
{
	const struct xsprof_rec_gpu *rec = (const struct xsprof_rec_gpu *)ev->rec;

	if (rec->device != XSPROF_NO_DEVICE) {
		p = put_u32(put_lit(p, "\"device\":"),
			    xsr_number_of(k, ev->producer, rec->device));
		*any = true;
	}
	if (correlation) {
		if (*any)
			*p++ = ',';
		p = put_u64(put_lit(p, "\"call correlation\":"), correlation);
		*any = true;
	}
	return p;
}

static void put_args(struct xsr_kineto *k, const struct xsprof_event *ev,
		     const struct xsr_walk *args, uint64_t correlation)
{
	char *p = put_lit(k->w.buf->p, ",\"args\":{");
	struct xsr_walk walk = *args, first = *args;
	struct xsprof_trace_arg arg;
	bool any = false;

	p = put_origin(k, ev, correlation, p, &any);
	if (!any && !xsr_walk_next(&first, &arg))
		return;
	p = xsr_kineto_args(k, &walk, true, any ? XSR_OWN_PLACE : 0, p, &any);
	k->w.buf->p = put_lit(p, "}");
}

/*
 * Faults have a category of their own: tools take overhead for the cost of the profiler. Those that
 * do not know it leave them out or only draw them.
 */
void xsr_kineto_overhead(struct xsr_kineto *k, const struct xsprof_event *ev,
			 const struct xsr_walk *args, uint64_t begin, uint64_t end,
			 uint64_t correlation)
{
	const struct xsprof_rec_gpu *rec = (const struct xsprof_rec_gpu *)ev->rec;
	bool fault = ev->aux == XSPROF_GPU_FAULT;
	struct xsp_track *track;
	char *p;

	if (fault)
		track = xsr_kineto_faults(k, ev, rec->device);
	else
		track = xsp_tracks_get(k->tracks, ev->producer, ev->pid, XSR_OVERHEAD, 0, ev->ns);
	if (track)
		track = xsr_kineto_beside(k, ev, track, begin, end);
	if (!track)
		return;
	k->overhead |= !fault;
	k->events++;
	p = put_lit(xsr_writer_open(&k->w), "{\"ph\":\"X\",\"cat\":\"");
	p = fault ? put_lit(p, "gpu_fault\",\"name\":") : put_lit(p, "overhead\",\"name\":");
	p = xsr_writer_name(&k->w, ev->producer, ev->name, p);
	*p++ = ',';
	p = xsr_kineto_ts(k, xsr_kineto_track(k, track, p), begin);
	k->w.buf->p = xsr_kineto_dur(k, p, begin, end);
	put_args(k, ev, args, correlation);
	k->w.buf->p = put_lit(k->w.buf->p, "}");
}
