// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The typed arguments of a record.  It never reads beyond the record, whatever that says.
 */
#include <string.h>

#include "trace-local.h"

/* Where a record's arguments begin. */
static size_t payload(const struct xsprof_event *ev)
{
	switch (ev->type) {
	case XSPROF_REC_BEGIN:
	case XSPROF_REC_END:
	case XSPROF_REC_COMPLETE:
	case XSPROF_REC_INSTANT:
	case XSPROF_REC_COUNTER_I64:
	case XSPROF_REC_COUNTER_F64:
	case XSPROF_REC_ASYNC_BEGIN:
	case XSPROF_REC_ASYNC_INSTANT:
	case XSPROF_REC_ASYNC_END:
	case XSPROF_REC_FLOW_START:
	case XSPROF_REC_FLOW_STEP:
	case XSPROF_REC_FLOW_END:
	case XSPROF_REC_CORR_PUSH:
	case XSPROF_REC_CORR_POP:
	case XSPROF_REC_ARGS:
	case XSPROF_REC_STEP:
	case XSPROF_REC_SYNC:
	case XSPROF_REC_CONTROL:
		return sizeof(struct xsprof_rec);
	case XSPROF_REC_ALLOC:
	case XSPROF_REC_FREE:
		return sizeof(struct xsprof_rec_mem);
	case XSPROF_REC_SPAN:
		return sizeof(struct xsprof_rec_span);
	case XSPROF_REC_CLOCK:
		return sizeof(struct xsprof_rec_clock);
	case XSPROF_REC_GPU:
		return sizeof(struct xsprof_rec_gpu);
	case XSPROF_REC_RELATION:
		return sizeof(struct xsprof_rec_relation);
	case XSPROF_REC_STACK:
		return sizeof(struct xsprof_rec) + (((size_t)ev->aux * 8 + 15) & ~(size_t)15);
	default:
		return SIZE_MAX;
	}
}

bool xsprof_trace_args(const struct xsprof_event *ev, size_t *pos, struct xsprof_trace_arg *arg)
{
	const uint8_t *rec = (const uint8_t *)ev->rec;
	struct xsprof_arg raw;
	size_t at = *pos ? *pos : payload(ev);
	size_t len;

	/* What the kernel's tracer wrote is no record, and has no arguments. */
	if (!rec || ev->type == XSPROF_EV_KERNEL)
		return false;
	if (at > ev->rec_size || ev->rec_size - at < sizeof(raw))
		return false;
	memcpy(&raw, rec + at, sizeof(raw));
	if (raw.type == XSPROF_ARG_END)
		return false;
	len = raw.type == XSPROF_ARG_STR ? raw.len : 0;
	if (len > ev->rec_size - at - sizeof(raw))
		return false;
	*arg = (struct xsprof_trace_arg){
		.key = raw.key,
		.type = raw.type,
		.flags = raw.flags,
		.len = len,
		.u.u64 = raw.value,
		.str = len ? (const char *)rec + at + sizeof(raw) : "",
	};
	*pos = at + sizeof(raw) + ((len + 15) & ~(size_t)15);
	return true;
}
