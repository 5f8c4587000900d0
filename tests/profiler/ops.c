// SPDX-License-Identifier: GPL-2.0-only
/*
 * Captures with ops, see ops.h.
 */
#include <stdlib.h>
#include <string.h>

#include "profiler/ops.h"
#include "common/tap.h"

#define PAYLOAD	(XSPROF_RECORD_SLOTS * XSPROF_SLOT_SIZE - sizeof(struct xsprof_rec))

static void grow(struct cap *c, const void *data, size_t len)
{
	if (c->len + len > c->room) {
		c->room = (c->len + len) * 2;
		c->data = realloc(c->data, c->room);
		if (!c->data)
			tap_bail("no memory");
	}
	if (data)
		memcpy(c->data + c->len, data, len);
	else
		memset(c->data + c->len, 0, len);
	c->len += len;
}

void ops_begin_by(struct ops *o, const struct xsprof_sync *syncs, size_t nr)
{
	struct xsprof_ctl ctl = ctl_make(1, 1, 1 << 20, XSPROF_MODE_DISCARD);

	memset(o, 0, sizeof(*o));
	cap_begin(&o->cap);
	cap_clock(&o->cap, syncs, nr);
	cap_producer(&o->cap, 0, PID, &ctl);
}

void ops_begin(struct ops *o)
{
	struct xsprof_sync syncs[] = { sync_at(1000, 0), sync_at(1000000000, 0) };

	ops_begin_by(o, syncs, 2);
}

void ops_free(struct ops *o)
{
	cap_free(&o->cap);
	cap_free(&o->arena);
	ring_free(&o->ring);
}

/* ---- the arena ------------------------------------------------------------------------------ */

uint32_t ops_name_in(struct ops *o, uint32_t category, const char *name)
{
	uint32_t id;

	if (!name)
		return 0;
	for (uint32_t i = 0; i < o->nr_names; i++)
		if (!strcmp(o->names[i], name))
			return category << XSPROF_NAME_SHIFT | (i + 1);
	if (o->nr_names == 256 || strlen(name) >= sizeof(o->names[0]))
		tap_bail("a name too many, or too long");
	strcpy(o->names[o->nr_names++], name);
	id = category << XSPROF_NAME_SHIFT | o->nr_names;
	cap_entry(&o->arena, XSPROF_ENTRY_NAME, id, 0, name);
	return id;
}

uint32_t ops_name(struct ops *o, const char *name)
{
	return ops_name_in(o, 0, name);
}

void ops_category(struct ops *o, uint32_t number, const char *name)
{
	cap_entry(&o->arena, XSPROF_ENTRY_CATEGORY, number, 0, name);
}

void ops_map(struct ops *o, const char *text)
{
	cap_entry(&o->arena, XSPROF_ENTRY_MAP, 0, 0, text);
}

void ops_stack(struct ops *o, uint32_t id, const uint64_t *address, size_t nr, uint32_t left_out)
{
	struct xsprof_entry entry = {
		.size = (uint32_t)(sizeof(entry) + nr * 8), .type = XSPROF_ENTRY_STACK,
		.text_len = (uint16_t)(nr * 8), .id = id, .aux = left_out,
	};

	grow(&o->arena, &entry, sizeof(entry));
	grow(&o->arena, address, nr * 8);
}

/* ---- arguments ------------------------------------------------------------------------------ */

void blob_put(struct blob *b, uint32_t key, uint8_t type, uint64_t value, const void *bytes,
	      size_t len)
{
	struct xsprof_arg arg = { .key = key, .type = type, .len = (uint16_t)len, .value = value };
	size_t padded = (len + 15) & ~(size_t)15;

	if (b->nr == 1024 || sizeof(arg) + padded > sizeof(b->data) - b->len)
		tap_bail("too many arguments");
	b->starts[b->nr++] = b->len;
	memcpy(b->data + b->len, &arg, sizeof(arg));
	memset(b->data + b->len + sizeof(arg), 0, padded);
	if (len)
		memcpy(b->data + b->len + sizeof(arg), bytes, len);
	b->len += sizeof(arg) + padded;
}

void blob_i64(struct blob *b, uint32_t place, int64_t v)
{
	blob_put(b, IN(place), XSPROF_ARG_I64, (uint64_t)v, NULL, 0);
}

void blob_f64(struct blob *b, uint32_t place, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, 8);
	blob_put(b, IN(place), XSPROF_ARG_F64, bits, NULL, 0);
}

void blob_str(struct blob *b, uint32_t key, const char *s)
{
	blob_put(b, key, XSPROF_ARG_STR, 0, s, strlen(s));
}

void blob_i64s(struct blob *b, uint32_t place, uint32_t nr, const int64_t *v)
{
	blob_put(b, IN(place), XSPROF_ARG_I64S, 0, v, nr * 8);
}

void blob_tensor(struct blob *b, uint32_t key, uint32_t dtype, uint32_t ndim, const int64_t *sizes)
{
	struct { struct xsprof_tensor_arg t; int64_t sizes[XSPROF_TENSOR_DIMS]; } raw = {
		.t = { .dtype = dtype, .ndim = (uint8_t)ndim, .stored = (uint8_t)ndim,
		       .flags = XSPROF_TENSORF_WIDE | XSPROF_TENSORF_SIZES, .itemsize = 4 },
	};

	if (ndim)
		memcpy(raw.sizes, sizes, ndim * 8);
	blob_put(b, key, XSPROF_ARG_TENSOR, 7, &raw, sizeof(raw.t) + ndim * 8);
}

void blob_strided(struct blob *b, uint32_t place, uint8_t ndim, uint8_t stored, uint8_t flags,
		  const uint32_t *numbers, size_t nr)
{
	struct { struct xsprof_tensor_arg t; uint32_t n[8]; } raw = {
		.t = { .ndim = ndim, .stored = stored, .flags = flags } };

	if (nr)
		memcpy(raw.n, numbers, nr * 4);
	blob_put(b, IN(place), XSPROF_ARG_TENSOR, 1, &raw, sizeof(raw.t) + nr * 4);
}

/* ---- records -------------------------------------------------------------------------------- */

void ops_args(struct ops *o, uint8_t type, uint32_t tid, uint64_t ts, uint32_t name, uint32_t aux,
	      uint64_t value, const void *payload, size_t size, const struct blob *args)
{
	struct xsprof_rec rec = { .tid = tid, .type = type, .ts = ts, .name = name, .aux = aux,
				  .value = value };
	uint8_t extra[PAYLOAD];
	size_t next = 0, nr = args ? args->nr : 0;

	if (size)
		memcpy(extra, payload, size);
	do {
		size_t len = size;

		/* As many as fit. */
		while (next < nr) {
			size_t end = next + 1 < nr ? args->starts[next + 1] : args->len;
			size_t need = end - args->starts[next];

			if (need > sizeof(extra) - len)
				break;
			memcpy(extra + len, args->data + args->starts[next++], need);
			len += need;
		}
		if (len == size && next < nr)
			tap_bail("an argument too long for a record");
		if (next < nr)
			rec.size = XSPROF_RECF_MORE << 4;
		ring_put(&o->ring, rec, extra, len);
		rec = (struct xsprof_rec){ .tid = tid, .type = XSPROF_REC_ARGS, .ts = ts };
		size = 0;
	} while (next < nr);
}

void ops_op_as(struct ops *o, uint32_t tid, uint64_t ts, const char *name, uint32_t scope,
	       uint64_t id, struct xsprof_rec_op op, const struct blob *args)
{
	ops_args(o, XSPROF_REC_OP, tid, ts, ops_name(o, name), scope, id, &op.sequence,
		 sizeof(op) - sizeof(op.rec), args);
}

void ops_op(struct ops *o, uint32_t tid, uint64_t ts, const char *name, const struct blob *args)
{
	ops_op_as(o, tid, ts, name, XSPROF_OP_FUNCTION, 0, (struct xsprof_rec_op){ .sequence = -1 },
		  args);
}

void ops_stacked(struct ops *o, uint32_t stack, uint64_t ts)
{
	ops_op_as(o, TID, ts, "op", 0, 0, (struct xsprof_rec_op){ .sequence = -1, .stack = stack },
		  NULL);
	ops_end(o, TID, ts + 10);
}

void ops_rec(struct ops *o, uint8_t type, uint32_t tid, uint64_t ts, const char *name,
	     uint32_t aux, uint64_t value)
{
	ops_args(o, type, tid, ts, ops_name(o, name), aux, value, NULL, 0, NULL);
}

void ops_end(struct ops *o, uint32_t tid, uint64_t ts)
{
	ops_rec(o, XSPROF_REC_END, tid, ts, NULL, 0, 0);
}

void ops_span(struct ops *o, uint32_t tid, uint64_t ts, uint32_t name, uint64_t begin,
	      uint64_t end, uint64_t id)
{
	ops_args(o, XSPROF_REC_SPAN, tid, ts, name, 0, id, (uint64_t[]){ begin, end, 0, 0 }, 32,
		 NULL);
}

void ops_memory(struct ops *o, uint32_t tid, uint64_t ts, int64_t bytes, uint32_t device,
		uint64_t address)
{
	ops_args(o, bytes < 0 ? XSPROF_REC_FREE : XSPROF_REC_ALLOC, tid, ts, 0, device, address,
		 (uint64_t[]){ (uint64_t)(bytes < 0 ? -bytes : bytes), 4096, 8192, 0 }, 32, NULL);
}

void ops_gpu(struct ops *o, uint64_t ts, uint32_t kind, const char *name, uint64_t correlation,
	     struct xsprof_rec_gpu gpu)
{
	ops_args(o, XSPROF_REC_GPU, 900, ts, ops_name(o, name), kind, correlation, &gpu.start,
		 sizeof(gpu) - sizeof(gpu.rec), NULL);
}

/* ---- the result ----------------------------------------------------------------------------- */

struct xsprof_result *ops_result(struct ops *o, const struct xsprof_result_options *opts)
{
	struct xsprof_result *r;
	int err;

	if (!o->done) {
		cap_arena(&o->cap, 0, 0, &o->arena);
		if (o->ring.len)
			cap_ring(&o->cap, 0, 0, 0, &o->ring);
		cap_end(&o->cap, 2000000000);
	}
	o->done = true;
	err = xsprof_result_open(cap_path(o->cap.data, o->cap.len), opts, &r);
	if (err)
		tap_bail("xsprof_result_open: %s", strerror(-err));
	return r;
}

const struct xsprof_profiler_event *ops_find(struct xsprof_result *r, const char *name,
					     unsigned int nth)
{
	int64_t nr = xsprof_result_nr_events(r);

	for (int64_t i = 0; i < nr; i++) {
		const struct xsprof_profiler_event *ev = xsprof_result_event(r, (uint64_t)i);

		if (!strcmp(xsprof_event_name(ev), name) && !nth--)
			return ev;
	}
	return NULL;
}

/* ---- one of everything ---------------------------------------------------------------------- */

static void put_activity(struct ops *o, uint8_t type, uint64_t ts, const char *kind,
			 const char *name, uint64_t id)
{
	struct blob b = { 0 };

	blob_put(&b, XSPROF_KEY_ACTIVITY, XSPROF_ARG_NAME, ops_name(o, kind), NULL, 0);
	blob_put(&b, XSPROF_KEY_DEVICE, XSPROF_ARG_I64, PID, NULL, 0);
	blob_put(&b, XSPROF_KEY_RESOURCE, XSPROF_ARG_I64, 101, NULL, 0);
	blob_str(&b, ops_name(o, "json"), "[1, {}]");
	b.data[b.starts[3] + 5] = XSPROF_ARGF_JSON;
	ops_args(o, type, TID, ts, ops_name(o, name), 0, id, (uint64_t[]){ 2460, 2480, 0, 0 },
		 type == XSPROF_REC_SPAN ? 32 : 0, &b);
}

static void put_inputs(struct ops *o, struct blob *b, unsigned int kind)
{
	int64_t sizes[] = { 2, 3, 8, 10 }, weights[] = { 4, 3, 3, 5 };

	blob_tensor(b, IN(0), ops_name(o, "float"), 4 - kind, sizes);
	blob_tensor(b, IN(1), ops_name(o, "float"), 4 - kind, weights);
	blob_put(b, IN(2), XSPROF_ARG_LIST, 2, NULL, 0);
	blob_tensor(b, ITEM(0), 0, 2, sizes);
	blob_tensor(b, ITEM(1), 0, 1, sizes);
	for (unsigned int i = 3; i < 6; i++)
		blob_i64s(b, i, 2, (int64_t[]){ 1, 1 });
	blob_i64(b, 6, 1);
	blob_f64(b, 7, 0.5);
	blob_str(b, IN(8), "text");
	blob_str(b, XSPROF_KEY_MODULE, "net.0");
	blob_put(b, ops_name(o, "key"), XSPROF_ARG_BOOL, 1, NULL, 0);
}

void ops_sample(struct ops *o, unsigned int kind)
{
	static const char *const names[] = { "aten::conv2d", "aten::bmm", "aten::mm", "aten::add" };
	struct blob b = { 0 };

	ops_category(o, 2, "profiler");
	ops_map(o, "1000-2000 0 - /nonexistent");
	ops_stack(o, 1, (uint64_t[]){ 0x1100, 0x1200, 0x5000 }, 3, 1);
	put_inputs(o, &b, kind);
	ops_rec(o, XSPROF_REC_STEP, TID, 2010, "ProfilerStep", 0, kind);
	ops_op_as(o, TID, 2100, names[kind], kind, kind, (struct xsprof_rec_op){ .sequence = 1,
		  .correlation = 5, .stack = 1 }, &b);
	ops_memory(o, TID, 2150, 100, XSPROF_DEVICE(kind & 1, 0), 9);
	ops_op(o, 101, 2200, "other", NULL);
	ops_rec(o, XSPROF_REC_CORR_PUSH, TID, 2210, NULL, 0, 5);
	ops_rec(o, XSPROF_REC_BEGIN, TID, 2220, "range", 0, 0);
	ops_rec(o, XSPROF_REC_INSTANT, TID, 2230, "point", 0, 0);
	ops_end(o, TID, 2300);
	ops_rec(o, XSPROF_REC_COMPLETE, TID, 2400, "whole", 0, 90);
	ops_rec(o, XSPROF_REC_CORR_POP, TID, 2410, NULL, 0, 0);
	ops_rec(o, XSPROF_REC_ASYNC_BEGIN, TID, 2420, "async", 0, 3);
	ops_end(o, TID, 2500);
	ops_rec(o, XSPROF_REC_ASYNC_END, 101, 2510, "async", 0, 3);
	ops_args(o, XSPROF_REC_INSTANT, TID, 2600, ops_name_in(o, 2, "[OutOfMemory]"), 0, 0, NULL,
		 0, NULL);
	ops_span(o, TID, 2700, ops_name(o, "span"), 2150, 2450, 4);
	ops_rec(o, XSPROF_REC_CORR_PUSH, TID, 2702, NULL, 1, 8);
	put_activity(o, XSPROF_REC_SPAN, 2704, "user_annotation", "activity", 8);
	put_activity(o, XSPROF_REC_SPAN, 2705, "kernel", "done", 0);
	put_activity(o, XSPROF_REC_INSTANT, 2706, "thread_info", "thread_info", 0);
	ops_rec(o, XSPROF_REC_CONTROL, TID, 2710, NULL, XSPROF_CONTROL_PAUSE, 0);
	ops_gpu(o, 2800, XSPROF_GPU_RUNTIME, "launch", 6, (struct xsprof_rec_gpu){
		.start = 2110, .end = 2120, .thread = TID });
	ops_gpu(o, 2800, XSPROF_GPU_KERNEL, "kern", 6, (struct xsprof_rec_gpu){
		.start = 2600, .end = 2650 });
}
