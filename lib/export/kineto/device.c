// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Events of a device that are neither work nor calls, in a Kineto trace: allocations and frees of
 * its memory, and overhead: of tracing it, and of faults of unified memory.
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
static void put_in_use(struct xsr_kineto *k, const struct xsr_walk *args, uint32_t device,
		       uint64_t ns)
{
	uint64_t bytes;
	char *p;

	if (!xsr_kineto_number(k, args, "in use (bytes)", &bytes))
		return;
	k->events++;
	p = put_lit(xsr_writer_open(&k->w), "{\"ph\":\"C\",\"cat\":\"user_counter\",\"name\":"
		    "\"memory in use on GPU ");
	p = put_place(k, device, ns, put_lit(put_u32(p, device), "\""));
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
	struct xsr_walk walk = *args;
	bool any = true;
	char *p;

	xsr_kineto_device(k, rec->device);
	k->events++;
	p = put_lit(xsr_writer_open(&k->w),
		    "{\"ph\":\"i\",\"cat\":\"gpu_memory\",\"s\":\"p\",\"name\":");
	p = put_place(k, rec->device, ns, xsr_writer_name(&k->w, ev->producer, ev->name, p));
	p = put_u32(put_lit(p, ",\"args\":{\"device\":"), rec->device);
	p = put_u32(put_lit(p, ",\"context\":"), rec->context);
	p = put_i64(put_lit(p, ",\"stream\":"), xsr_kineto_stream_number(rec));
	p = put_u64(put_lit(p, ",\"correlation\":"), correlation);
	p = put_u64(put_lit(p, ",\"bytes\":"), rec->bytes);
	p = xsr_kineto_args(k, &walk, true, XSR_OWN_PLACE | XSR_OWN_CORRELATION | XSR_OWN_BYTES,
			    p, &any);
	k->w.buf->p = put_lit(p, "}}");
	put_in_use(k, args, rec->device, ns);
}

/* A fault is a device's or the host's; other overhead is the host's. */
static char *put_device(const struct xsprof_event *ev, char *p, bool *any)
{
	const struct xsprof_rec_gpu *rec = (const struct xsprof_rec_gpu *)ev->rec;

	if (ev->aux != XSPROF_GPU_FAULT || rec->device == XSPROF_NO_DEVICE)
		return p;
	*any = true;
	return put_u32(put_lit(p, "\"device\":"), rec->device);
}

void xsr_kineto_overhead(struct xsr_kineto *k, const struct xsprof_event *ev,
			 const struct xsr_walk *args, uint64_t begin, uint64_t end)
{
	struct xsr_walk walk = *args;
	struct xsprof_trace_arg arg;
	bool any = false;
	char *p;

	k->overhead = true;
	k->events++;
	p = put_lit(xsr_writer_open(&k->w),
		    "{\"ph\":\"X\",\"cat\":\"overhead\",\"name\":");
	p = put_lit(xsr_writer_name(&k->w, ev->producer, ev->name, p), ",\"pid\":-1,\"tid\":0,");
	p = xsr_kineto_dur(k, xsr_kineto_ts(k, p, begin), begin, end);
	if (xsr_walk_next(&walk, &arg)) {
		walk = *args;
		p = put_device(ev, put_lit(p, ",\"args\":{"), &any);
		p = xsr_kineto_args(k, &walk, true, 0, p, &any);
		*p++ = '}';
	}
	k->w.buf->p = put_lit(p, "}");
}
