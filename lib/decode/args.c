// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Decodes the typed arguments of a record. Never reads beyond the record.
 */
#include <string.h>

#include "decode/local.h"

/* Offset of a record's arguments. */
static size_t payload(const struct xsprof_event *ev)
{
	switch (ev->type) {
	case XSPROF_REC_BEGIN:
		/* An op has one slot or, with details, two slots and arguments. */
		return ev->flags & XSPROF_EVF_OP ? sizeof(struct xsprof_rec_op) :
						   sizeof(struct xsprof_rec);
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
	case XSPROF_REC_SAMPLE:
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

	/* An event of the kernel's tracer is not a record and has no arguments. */
	if (!rec || ev->type == XSPROF_EV_KERNEL)
		return false;
	if (at > ev->rec_size || ev->rec_size - at < sizeof(raw))
		return false;
	memcpy(&raw, rec + at, sizeof(raw));
	if (raw.type == XSPROF_ARG_END)
		return false;
	len = raw.type >= XSPROF_ARG_STR ? raw.len : 0;
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

bool xsprof_trace_op(const struct xsprof_event *ev, struct xsprof_trace_op *op)
{
	const struct xsprof_rec_op *rec = (const struct xsprof_rec_op *)ev->rec;

	if (!(ev->flags & XSPROF_EVF_OP))
		return false;
	*op = (struct xsprof_trace_op){
		.scope = ev->aux, .record_function_id = ev->value, .sequence = -1,
	};
	if (ev->rec_size >= sizeof(*rec)) {
		op->sequence = rec->sequence;
		op->forward_thread = rec->forward_thread;
		op->correlation = rec->correlation;
		op->stack = rec->stack;
	}
	return true;
}

bool xsprof_trace_sample(const struct xsprof_event *ev, struct xsprof_trace_sample *sample)
{
	if (ev->type != XSPROF_REC_SAMPLE)
		return false;
	*sample = (struct xsprof_trace_sample){
		.thread = (uint32_t)(ev->value >> 32),
		.how = ev->aux & XSPROF_SAMPLE_HOW,
		.line = ev->aux >> XSPROF_SAMPLE_LINE_SHIFT,
	};
	if (sample->how == XSPROF_SAMPLE_MISSED)
		sample->missed = (uint32_t)ev->value;
	else
		sample->stack = (uint32_t)ev->value;
	return true;
}

/* Number @i of the array at @at. */
static int64_t number_at(const uint8_t *at, uint32_t i, bool wide)
{
	uint32_t narrow;
	int64_t v;

	if (wide) {
		memcpy(&v, at + 8 * (size_t)i, 8);
		return v;
	}
	memcpy(&narrow, at + 4 * (size_t)i, 4);
	return narrow;
}

bool xsprof_trace_tensor(const struct xsprof_trace_arg *arg, struct xsprof_trace_tensor *tensor)
{
	const uint8_t *at = (const uint8_t *)arg->str, *end = at + arg->len;
	struct xsprof_tensor_arg raw;
	size_t width;
	bool wide;

	if (arg->type != XSPROF_ARG_TENSOR || arg->len < sizeof(raw))
		return false;
	memcpy(&raw, at, sizeof(raw));
	at += sizeof(raw);
	/* Member by member: clearing the arrays too would take longer than the rest. */
	tensor->id = arg->u.u64;
	tensor->storage_id = tensor->offset = tensor->numel = 0;
	tensor->dtype = raw.dtype;
	tensor->device = raw.device;
	tensor->ndim = raw.ndim;
	tensor->itemsize = raw.itemsize;
	tensor->nr_sizes = tensor->nr_strides = 0;
	tensor->cut = raw.flags & XSPROF_TENSORF_CUT;
	if (raw.flags & XSPROF_TENSORF_STORAGE) {
		if (end - at < 24)
			return false;
		tensor->storage_id = (uint64_t)number_at(at, 0, true);
		tensor->offset = (uint64_t)number_at(at, 1, true);
		tensor->numel = (uint64_t)number_at(at, 2, true);
		at += 24;
	}
	wide = raw.flags & XSPROF_TENSORF_WIDE;
	width = (wide ? 8 : 4) * (size_t)raw.stored;
	if (raw.stored > raw.ndim || raw.stored > XSPROF_TENSOR_DIMS)
		return false;
	if (raw.flags & XSPROF_TENSORF_SIZES) {
		if ((size_t)(end - at) < width)
			return false;
		tensor->nr_sizes = raw.stored;
		for (uint32_t i = 0; i < raw.stored; i++)
			tensor->sizes[i] = number_at(at, i, wide);
		at += width;
	}
	if (raw.flags & XSPROF_TENSORF_STRIDES) {
		if ((size_t)(end - at) < width)
			return false;
		tensor->nr_strides = raw.stored;
		for (uint32_t i = 0; i < raw.stored; i++)
			tensor->strides[i] = number_at(at, i, wide);
	}
	return true;
}
