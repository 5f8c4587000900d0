// SPDX-License-Identifier: GPL-2.0-only
/*
 * Arguments of events as annotations in a Perfetto trace: those of the program, with their types,
 * and the fields of a record. A name that the event already has gets a number.
 */
#include "format/perfetto/names.h"
#include "text/put.h"
#include "text/utf8.h"

/* ---- one annotation ------------------------------------------------------------------------ */

/*
 * Names with numbers are not interned: they are truncated and limited in number, so that all
 * arguments of an event fit into a packet.
 */
#define NUMBERED_BYTES	80u
#define NUMBERED_MAX	256u

static char *put_numbered(char *p, const char *name, size_t len, uint32_t number)
{
	char text[NUMBERED_BYTES + XSP_PUT_MAX + 4], *end;

	len = xsp_utf8_piece(name, len, NUMBERED_BYTES);
	memcpy(text, name, len);
	end = put_lit(put_u32(put_lit(text + len, " ("), number), ")");
	return wire_text(p, PF_ARG_NAME, text, (size_t)(end - text));
}

/*
 * The number of the argument among those of the event with the same name: readers keep only the
 * last of two.
 */
static uint32_t number_of(struct xsp_out *out, const char *name, size_t len)
{
	struct xsp_keys *keys = &pf_of(out)->keys;

	return keys->n < NUMBERED_MAX ? xsp_keys_next(keys, xsp_keys_hash(name, len)) : 1;
}

char *pf_open_arg(struct xsp_out *out, char *p, const char *name, size_t len, char **start)
{
	uint32_t number = number_of(out, name, len);

	*start = wire_open(p, PF_ANNOTATION);
	return number == 1 ? wire_text(*start, PF_ARG_NAME, name, len) :
			     put_numbered(*start, name, len, number);
}

char *pf_arg_u64(struct xsp_out *out, char *p, const char *name, uint64_t v)
{
	char *start;

	p = pf_open_arg(out, p, name, strlen(name), &start);
	return wire_close(start, wire_u64(p, PF_ARG_U64, v));
}

static char *arg_i64(struct xsp_out *out, char *p, const char *name, int64_t v)
{
	char *start;

	p = pf_open_arg(out, p, name, strlen(name), &start);
	return wire_close(start, wire_i64(p, PF_ARG_I64, v));
}

static char *arg_ptr(struct xsp_out *out, char *p, const char *name, uint64_t v)
{
	char *start;

	p = pf_open_arg(out, p, name, strlen(name), &start);
	return wire_close(start, wire_u64(p, PF_ARG_PTR, v));
}

char *pf_arg_text(struct xsp_out *out, char *p, const char *name, const char *s, size_t len)
{
	char *start;

	p = pf_open_arg(out, p, name, strlen(name), &start);
	return wire_close(start, wire_text(p, PF_ARG_TEXT, s, len));
}

char *pf_arg_true(struct xsp_out *out, char *p, const char *name)
{
	char *start;

	p = pf_open_arg(out, p, name, strlen(name), &start);
	return wire_close(start, wire_u64(p, PF_ARG_BOOL, 1));
}

static char *arg_word(struct xsp_out *out, char *p, const char *name, const char *word)
{
	return pf_arg_text(out, p, name, word, strlen(word));
}

/* ---- the program's ------------------------------------------------------------------------- */

/* A record of the largest size has this many arguments, each with two names, and its own name. */
#define MOST	34u

void pf_intern_args(struct xsp_out *out, const struct xsprof_event *ev)
{
	struct xsprof_trace_arg arg;
	size_t pos = 0;

	pf_names_room(out, MOST);
	while (xsprof_trace_args(ev, &pos, &arg)) {
		pf_name(out, PF_IS_KEY, ev->producer, arg.key);
		if (arg.type == XSPROF_ARG_NAME)
			pf_name(out, PF_IS_VALUE, ev->producer, (uint32_t)arg.u.u64);
	}
}

/* By its number, or without one as text, which is short. */
static char *put_name(struct xsp_out *out, enum pf_interned kind, uint32_t field,
		      uint32_t producer, uint32_t name, char *p)
{
	uint64_t key = pf_name_key(kind, producer, name);
	const struct pf_name *entry = pf_names_find(out, key);
	const char *s;
	size_t len;

	if (entry) {
		memcpy(p, entry->bytes, 16);
		return p + entry->len;
	}
	s = xsprof_trace_name_len(out->trace, producer, name, &len);
	return wire_text(p, field, s, len < 256 ? len : 256);
}

static char *open_named(struct xsp_out *out, const struct xsprof_event *ev, uint32_t name,
			char *p, char **start)
{
	uint32_t number;
	const char *s;
	size_t len;

	s = xsprof_trace_name_len(out->trace, ev->producer, name, &len);
	number = number_of(out, s, len);
	*start = wire_open(p, PF_ANNOTATION);
	return number == 1 ? put_name(out, PF_IS_KEY, PF_ARG_NAME, ev->producer, name, *start) :
			     put_numbered(*start, s, len, number);
}

static char *put_value(struct xsp_out *out, const struct xsprof_event *ev,
		       const struct xsprof_trace_arg *arg, char *p)
{
	switch (arg->type) {
	case XSPROF_ARG_I64:
		return wire_i64(p, PF_ARG_I64, arg->u.i64);
	case XSPROF_ARG_U64:
		return wire_u64(p, PF_ARG_U64, arg->u.u64);
	case XSPROF_ARG_F64:
		return wire_double(p, PF_ARG_F64, arg->u.f64);
	case XSPROF_ARG_BOOL:
		return wire_u64(p, PF_ARG_BOOL, arg->u.u64 != 0);
	case XSPROF_ARG_NAME:
		return put_name(out, PF_IS_VALUE, PF_ARG_TEXT, ev->producer,
				(uint32_t)arg->u.u64, p);
	case XSPROF_ARG_STR:
		return wire_text(p, PF_ARG_TEXT, arg->str, arg->len);
	default:
		return wire_u64(p, PF_ARG_PTR, arg->u.u64);
	}
}

char *pf_put_args(struct xsp_out *out, const struct xsprof_event *ev, char *p)
{
	char plain[XSP_ARG_TEXT];
	struct xsprof_trace_arg arg;
	size_t pos = 0;
	char *start;

	if (ev->rec_size <= sizeof(struct xsprof_rec))
		return p;
	while (xsprof_trace_args(ev, &pos, &arg)) {
		xsp_arg_plain(out->trace, ev->producer, &arg, plain);
		p = open_named(out, ev, arg.key, p, &start);
		p = wire_close(start, put_value(out, ev, &arg, p));
	}
	return p;
}

/* ---- fields of records --------------------------------------------------------------------- */

static char *put_mem(struct xsp_out *out, const struct xsprof_event *ev, char *p)
{
	const struct xsprof_rec_mem *mem = xsp_record(ev, struct xsprof_rec_mem);
	int64_t bytes = mem ? (int64_t)mem->bytes : 0;

	p = pf_arg_u64(out, p, "Device Type", ev->aux >> 16);
	p = pf_arg_u64(out, p, "Device Id", ev->aux & 0xffff);
	p = arg_ptr(out, p, "Addr", ev->value);
	if (!mem)
		return p;
	if (ev->type == XSPROF_REC_FREE && bytes > 0)
		bytes = -bytes;
	p = arg_i64(out, p, "Bytes", bytes);
	p = pf_arg_u64(out, p, "Total Allocated", mem->total_allocated);
	return pf_arg_u64(out, p, "Total Reserved", mem->total_reserved);
}

/* The range that a kernel of a graph was captured in. */
static char *put_captured(struct xsp_out *out, const struct xsprof_event *ev, char *p)
{
	uint32_t in = xsp_captured_in(&out->captured, ev);
	char *start;

	if (!in)
		return p;
	p = pf_open_arg(out, p, "captured in", 11, &start);
	return wire_close(start, put_name(out, PF_IS_VALUE, PF_ARG_TEXT, ev->producer, in, p));
}

static char *put_gpu(struct xsp_out *out, const struct xsprof_event *ev, char *p)
{
	const struct xsprof_rec_gpu *gpu = xsp_record(ev, struct xsprof_rec_gpu);
	uint64_t early = xsp_early_ns(&out->early, ev);

	p = arg_word(out, p, "kind", xsp_word_gpu(ev->aux));
	p = pf_arg_u64(out, p, "correlation", ev->value);
	if (early)
		p = pf_arg_u64(out, p, xsp_early_key(ev), early);
	if (!gpu)
		return p;
	if (gpu->device != XSPROF_NO_DEVICE) {
		p = pf_arg_u64(out, p, "device", gpu->device);
		p = pf_arg_u64(out, p, "context", gpu->context);
	}
	if (gpu->stream != XSPROF_NO_STREAM)
		p = pf_arg_u64(out, p, "stream", gpu->stream);
	if (gpu->bytes)
		p = pf_arg_u64(out, p, "bytes", gpu->bytes);
	if (gpu->graph)
		p = pf_arg_u64(out, p, "graph id", gpu->graph);
	if (gpu->graph_node)
		p = pf_arg_u64(out, p, "graph node id", gpu->graph_node);
	return put_captured(out, ev, p);
}

static char *put_frames(struct xsp_out *out, const struct xsprof_event *ev, char *p)
{
	const char *frames = (const char *)ev->rec + sizeof(*ev->rec);
	size_t n = ev->rec_size > sizeof(*ev->rec) ?
		   (ev->rec_size - sizeof(*ev->rec)) / sizeof(uint64_t) : 0, i;
	char *list, *start;
	uint64_t frame;

	p = pf_arg_u64(out, p, "kind", ev->value);
	p = pf_open_arg(out, p, "frames", 6, &list);
	for (i = 0; i < n && i < ev->aux; i++) {
		memcpy(&frame, frames + i * sizeof(frame), sizeof(frame));
		start = wire_open(p, PF_ARG_ARRAY);
		p = wire_close(start, wire_u64(start, PF_ARG_PTR, frame));
	}
	return wire_close(list, p);
}

static char *put_sample(struct xsp_out *out, const struct xsprof_event *ev, char *p)
{
	struct xsprof_trace_sample sample;

	if (!xsprof_trace_sample(ev, &sample))
		return p;
	p = pf_arg_u64(out, p, "of", sample.thread);
	p = arg_word(out, p, "how", xsp_word_sample(sample.how));
	if (sample.how == XSPROF_SAMPLE_MISSED)
		return pf_arg_u64(out, p, "missed", sample.missed);
	if (sample.line)
		p = pf_arg_u64(out, p, "line", sample.line);
	return pf_arg_u64(out, p, "stack", sample.stack);
}

static char *put_exit(struct xsp_out *out, const struct xsprof_event *ev, char *p)
{
	uint64_t after = fmt_exit_after(out, ev);
	uint32_t how = (uint32_t)(ev->value >> 32);

	p = arg_word(out, p, "how", xsp_word_how(how));
	if (how == XSPROF_HOW_KILLED)
		p = pf_arg_u64(out, p, "signal", (uint32_t)ev->value);
	else
		p = arg_i64(out, p, "status", (int32_t)ev->value);
	return after ? pf_arg_u64(out, p, "ended_after_ns", after) : p;
}

static char *put_span(struct xsp_out *out, const struct xsprof_event *ev, char *p)
{
	const struct xsprof_rec_span *span = xsp_record(ev, struct xsprof_rec_span);

	if (ev->value)
		p = arg_ptr(out, p, "id", ev->value);
	if (span && span->parent)
		p = arg_ptr(out, p, "parent", span->parent);
	return arg_word(out, p, "scope", xsp_word_scope(ev->aux));
}

static char *put_other(struct xsp_out *out, const struct xsprof_event *ev, char *p)
{
	p = pf_arg_u64(out, p, "type", ev->type);
	p = pf_arg_u64(out, p, "aux", ev->aux);
	return pf_arg_u64(out, p, "value", ev->value);
}

static char *put_allocator(struct xsp_out *out, const struct xsprof_event *ev, char *p)
{
	const char *name;
	size_t len;

	p = put_mem(out, ev, p);
	if (!ev->name)
		return p;
	name = xsprof_trace_name_len(out->trace, ev->producer, ev->name, &len);
	return pf_arg_text(out, p, "allocator", name,
			   len < XSPROF_TEXT_MAX ? len : XSPROF_TEXT_MAX);
}

static char *put_lost(struct xsp_out *out, const struct xsprof_event *ev, char *p)
{
	p = pf_arg_u64(out, p, "pid", ev->pid);
	if (ev->cpu >= 0)
		p = pf_arg_u64(out, p, "cpu", (uint64_t)ev->cpu);
	return pf_arg_u64(out, p, ev->flags & XSPROF_EVF_SLOTS ? "slots" : "records", ev->value);
}

static char *put_op(struct xsp_out *out, const struct xsprof_event *ev, char *p)
{
	struct xsprof_trace_op op;

	if (!xsprof_trace_op(ev, &op))
		return p;
	p = arg_word(out, p, "op", xsp_word_op(op.scope));
	if (op.record_function_id)
		p = pf_arg_u64(out, p, "Record function id", op.record_function_id);
	if (op.sequence >= 0)
		p = pf_arg_u64(out, p, "Sequence number", (uint64_t)op.sequence);
	if (op.forward_thread)
		p = pf_arg_u64(out, p, "Fwd thread id", op.forward_thread);
	return op.correlation ? pf_arg_u64(out, p, "External id", op.correlation) : p;
}

static char *put_control(struct xsp_out *out, const struct xsprof_event *ev, char *p)
{
	const char *off = xsp_words_off(out->trace, ev);

	p = arg_word(out, p, "op", xsp_word_control(ev->aux));
	p = arg_ptr(out, p, "enabled", ev->value);
	return *off ? arg_word(out, p, "off", off) : p;
}

char *pf_put_fields(struct xsp_out *out, const struct xsprof_event *ev, char *p)
{
	const struct xsprof_rec_relation *relation = xsp_record(ev, struct xsprof_rec_relation);
	const char *exe;

	switch (ev->type) {
	case XSPROF_REC_BEGIN:
		return put_op(out, ev, p);
	case XSPROF_REC_END ... XSPROF_REC_INSTANT:
	case XSPROF_REC_ARGS:
	case XSPROF_REC_COUNTER_F64:	/* an instant if it is not finite, with a note */
		return p;
	case XSPROF_REC_ASYNC_BEGIN ... XSPROF_REC_FLOW_END:
		return arg_ptr(out, p, "id", ev->value);
	case XSPROF_REC_CORR_PUSH:
	case XSPROF_REC_CORR_POP:
		return pf_arg_u64(out, pf_arg_u64(out, p, "kind", ev->aux), "id", ev->value);
	case XSPROF_REC_ALLOC:
	case XSPROF_REC_FREE:
		return put_allocator(out, ev, p);
	case XSPROF_REC_STEP:
		return pf_arg_u64(out, p, "step", ev->value);
	case XSPROF_REC_SPAN:
		return put_span(out, ev, p);
	case XSPROF_REC_SYNC:
		p = arg_word(out, p, "op", xsp_word_sync(ev->aux));
		return arg_ptr(out, p, "object", ev->value);
	case XSPROF_REC_CONTROL:
		return put_control(out, ev, p);
	case XSPROF_REC_CLOCK:
		return pf_arg_u64(out, pf_arg_u64(out, p, "clock", ev->aux), "value", ev->value);
	case XSPROF_REC_GPU:
		return put_gpu(out, ev, p);
	case XSPROF_REC_STACK:
		return put_frames(out, ev, p);
	case XSPROF_REC_RELATION:
		p = arg_ptr(out, pf_arg_u64(out, p, "kind", ev->aux), "head", ev->value);
		return relation ? arg_ptr(out, p, "tail", relation->tail) : p;
	case XSPROF_REC_SAMPLE:
		return put_sample(out, ev, p);
	case XSPROF_EV_LOST:
		return put_lost(out, ev, p);
	case XSPROF_EV_PRODUCER:
		exe = xsprof_trace_fact(out->trace, ev->producer, "exe");
		return exe ? pf_arg_text(out, p, "exe", exe, strnlen(exe, XSPROF_TEXT_MAX)) : p;
	case XSPROF_EV_EXIT:
		return put_exit(out, ev, p);
	default:
		return put_other(out, ev, p);
	}
}
