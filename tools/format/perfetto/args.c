// SPDX-License-Identifier: GPL-2.0-only
/*
 * Arguments of events as annotations in a Perfetto trace: those of the program, typed as it gave
 * them, and the fields of a record.
 *
 * Arguments that come after their range's begin wait for its end as a text: a note has no zero
 * bytes, and a string that goes on in the next record is the note's end.
 */
#include <stdlib.h>

#include "format/perfetto/names.h"
#include "text/put.h"

/* In a note: an item begins, its key ends, the next byte is 0x10 more than it should be. */
enum { ITEM = 2, VALUE = 3, ESCAPE = 4, SHIFT = 0x10 };

/* ---- one annotation ------------------------------------------------------------------------ */

static char *open_arg(char *p, const char *name, size_t len, char **start)
{
	*start = wire_open(p, PF_ANNOTATION);
	return wire_text(*start, PF_ARG_NAME, name, len);
}

char *pf_arg_u64(char *p, const char *name, uint64_t v)
{
	char *start;

	p = open_arg(p, name, strlen(name), &start);
	return wire_close(start, wire_u64(p, PF_ARG_U64, v));
}

static char *arg_i64(char *p, const char *name, int64_t v)
{
	char *start;

	p = open_arg(p, name, strlen(name), &start);
	return wire_close(start, wire_i64(p, PF_ARG_I64, v));
}

static char *arg_ptr(char *p, const char *name, uint64_t v)
{
	char *start;

	p = open_arg(p, name, strlen(name), &start);
	return wire_close(start, wire_u64(p, PF_ARG_PTR, v));
}

char *pf_arg_text(char *p, const char *name, const char *s, size_t len)
{
	char *start;

	p = open_arg(p, name, strlen(name), &start);
	return wire_close(start, wire_text(p, PF_ARG_TEXT, s, len));
}

char *pf_arg_true(char *p, const char *name)
{
	char *start;

	p = open_arg(p, name, strlen(name), &start);
	return wire_close(start, wire_u64(p, PF_ARG_BOOL, 1));
}

static char *arg_word(char *p, const char *name, const char *word)
{
	return pf_arg_text(p, name, word, strlen(word));
}

/* ---- the program's ------------------------------------------------------------------------- */

/* A record of the most slots has so many arguments, each with two names; and its own name. */
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

/* By its number, or where it has none as it stands: that is short. */
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
		start = wire_open(p, PF_ANNOTATION);
		p = put_name(out, PF_IS_KEY, PF_ARG_NAME, ev->producer, arg.key, start);
		p = wire_close(start, put_value(out, ev, &arg, p));
	}
	return p;
}

/* ---- notes --------------------------------------------------------------------------------- */

static char *note_bytes(char *p, const char *s, size_t len)
{
	for (; len; s++, len--) {
		if ((unsigned char)*s <= ESCAPE) {
			*p++ = ESCAPE;
			*p++ = (char)(*s + SHIFT);
		} else {
			*p++ = *s;
		}
	}
	return p;
}

static char *note_value(struct xsp_out *out, const struct xsprof_event *ev,
			const struct xsprof_trace_arg *arg, char *p)
{
	const char *s = arg->str;
	size_t len = arg->len;

	switch (arg->type) {
	case XSPROF_ARG_I64:
		return put_i64(p, arg->u.i64);
	case XSPROF_ARG_NAME:
		s = xsprof_trace_name_len(out->trace, ev->producer, (uint32_t)arg->u.u64, &len);
		return note_bytes(p, s, len < XSPROF_TEXT_MAX ? len : XSPROF_TEXT_MAX);
	case XSPROF_ARG_STR:
		return note_bytes(p, s, len);
	default:
		/* The bits of a double too. */
		return put_u64(p, arg->u.u64);
	}
}

static bool note_arg(struct xsp_out *out, const struct xsprof_event *ev, struct xsp_range *range,
		     const struct xsprof_trace_arg *arg)
{
	static const char types[] = {
		[XSPROF_ARG_I64] = 'i', [XSPROF_ARG_U64] = 'u', [XSPROF_ARG_F64] = 'f',
		[XSPROF_ARG_BOOL] = 'b', [XSPROF_ARG_NAME] = 's', [XSPROF_ARG_STR] = 's',
	};
	char type = arg->type < sizeof(types) && types[arg->type] ? types[arg->type] : 'p';
	char *p = out->scratch;
	const char *key;
	size_t len;

	if (!(arg->type == XSPROF_ARG_STR && arg->flags & XSPROF_ARGF_CONT && range->note)) {
		key = xsprof_trace_name_len(out->trace, ev->producer, arg->key, &len);
		*p++ = ITEM;
		*p++ = type;
		p = note_bytes(p, key, len < XSPROF_TEXT_MAX ? len : XSPROF_TEXT_MAX);
		*p++ = VALUE;
	}
	p = note_value(out, ev, arg, p);
	return xsp_tracks_note(out->tracks, range, 0, out->scratch, (size_t)(p - out->scratch));
}

bool pf_note_args(struct xsp_out *out, const struct xsprof_event *ev, struct xsp_range *range)
{
	char plain[XSP_ARG_TEXT];
	struct xsprof_trace_arg arg;
	size_t pos = 0;

	while (xsprof_trace_args(ev, &pos, &arg)) {
		xsp_arg_plain(out->trace, ev->producer, &arg, plain);
		if (!note_arg(out, ev, range, &arg))
			return false;
	}
	return true;
}

/* Up to @stop or the end; @p has room for as many bytes as there are. */
static const char *read_bytes(const char *note, char stop, char *p, char **end)
{
	for (; *note && *note != stop && *note != ITEM; note++)
		*p++ = *note == ESCAPE && note[1] ? (char)(*++note - SHIFT) : *note;
	*end = p;
	return *note == stop && stop ? note + 1 : note;
}

static char *put_noted(char *p, char type, const char *value, char *end)
{
	uint64_t u64;

	*end = '\0';
	u64 = strtoull(value, NULL, 10);
	switch (type) {
	case 'i':
		return wire_i64(p, PF_ARG_I64, strtoll(value, NULL, 10));
	case 'u':
		return wire_u64(p, PF_ARG_U64, u64);
	case 'f':
		return wire_double(p, PF_ARG_F64, xsp_bits_double(u64));
	case 'b':
		return wire_u64(p, PF_ARG_BOOL, u64 != 0);
	case 's':
		return wire_text(p, PF_ARG_TEXT, value, (size_t)(end - value));
	default:
		return wire_u64(p, PF_ARG_PTR, u64);
	}
}

/* A note has at most 16 KiB, and no byte of it becomes more than three. */
char *pf_put_note(char *p, const char *note)
{
	static char text[16 << 10];
	char type, *start, *end;

	while (note && *note == ITEM && note[1]) {
		type = note[1];
		note = read_bytes(note + 2, VALUE, text, &end);
		p = open_arg(p, text, (size_t)(end - text), &start);
		note = read_bytes(note, 0, text, &end);
		p = wire_close(start, put_noted(p, type, text, end));
	}
	return p;
}

/* ---- fields of records --------------------------------------------------------------------- */

static char *put_mem(const struct xsprof_event *ev, char *p)
{
	const struct xsprof_rec_mem *mem = xsp_record(ev, struct xsprof_rec_mem);
	int64_t bytes = mem ? (int64_t)mem->bytes : 0;

	p = pf_arg_u64(p, "Device Type", ev->aux >> 16);
	p = pf_arg_u64(p, "Device Id", ev->aux & 0xffff);
	p = arg_ptr(p, "Addr", ev->value);
	if (!mem)
		return p;
	if (ev->type == XSPROF_REC_FREE && bytes > 0)
		bytes = -bytes;
	p = arg_i64(p, "Bytes", bytes);
	p = pf_arg_u64(p, "Total Allocated", mem->total_allocated);
	return pf_arg_u64(p, "Total Reserved", mem->total_reserved);
}

static char *put_gpu(const struct xsprof_event *ev, char *p)
{
	const struct xsprof_rec_gpu *gpu = xsp_record(ev, struct xsprof_rec_gpu);

	p = arg_word(p, "kind", xsp_word_gpu(ev->aux));
	p = pf_arg_u64(p, "correlation", ev->value);
	if (!gpu)
		return p;
	p = pf_arg_u64(p, "device", gpu->device);
	p = pf_arg_u64(p, "context", gpu->context);
	p = pf_arg_u64(p, "stream", gpu->stream);
	if (gpu->bytes)
		p = pf_arg_u64(p, "bytes", gpu->bytes);
	if (gpu->graph)
		p = pf_arg_u64(p, "graph id", gpu->graph);
	if (gpu->graph_node)
		p = pf_arg_u64(p, "graph node id", gpu->graph_node);
	return p;
}

static char *put_frames(const struct xsprof_event *ev, char *p)
{
	const char *frames = (const char *)ev->rec + sizeof(*ev->rec);
	size_t n = ev->rec_size > sizeof(*ev->rec) ?
		   (ev->rec_size - sizeof(*ev->rec)) / sizeof(uint64_t) : 0, i;
	char *list, *start;
	uint64_t frame;

	p = pf_arg_u64(p, "kind", ev->value);
	p = open_arg(p, "frames", 6, &list);
	for (i = 0; i < n && i < ev->aux; i++) {
		memcpy(&frame, frames + i * sizeof(frame), sizeof(frame));
		start = wire_open(p, PF_ARG_ARRAY);
		p = wire_close(start, wire_u64(start, PF_ARG_PTR, frame));
	}
	return wire_close(list, p);
}

static char *put_exit(const struct xsprof_event *ev, char *p)
{
	uint32_t how = (uint32_t)(ev->value >> 32);

	p = arg_word(p, "how", xsp_word_how(how));
	if (how == XSPROF_HOW_KILLED)
		return pf_arg_u64(p, "signal", (uint32_t)ev->value);
	return arg_i64(p, "status", (int32_t)ev->value);
}

static char *put_span(const struct xsprof_event *ev, char *p)
{
	const struct xsprof_rec_span *span = xsp_record(ev, struct xsprof_rec_span);

	if (ev->value)
		p = arg_ptr(p, "id", ev->value);
	if (span && span->parent)
		p = arg_ptr(p, "parent", span->parent);
	return arg_word(p, "scope", xsp_word_scope(ev->aux));
}

static char *put_other(const struct xsprof_event *ev, char *p)
{
	p = pf_arg_u64(p, "type", ev->type);
	p = pf_arg_u64(p, "aux", ev->aux);
	return pf_arg_u64(p, "value", ev->value);
}

static char *put_allocator(struct xsp_out *out, const struct xsprof_event *ev, char *p)
{
	const char *name;
	size_t len;

	p = put_mem(ev, p);
	if (!ev->name)
		return p;
	name = xsprof_trace_name_len(out->trace, ev->producer, ev->name, &len);
	return pf_arg_text(p, "allocator", name, len < XSPROF_TEXT_MAX ? len : XSPROF_TEXT_MAX);
}

static char *put_lost(const struct xsprof_event *ev, char *p)
{
	p = pf_arg_u64(p, "pid", ev->pid);
	if (ev->cpu >= 0)
		p = pf_arg_u64(p, "cpu", (uint64_t)ev->cpu);
	return pf_arg_u64(p, ev->flags & XSPROF_EVF_SLOTS ? "slots" : "records", ev->value);
}

static char *put_op(const struct xsprof_event *ev, char *p)
{
	struct xsprof_trace_op op;

	if (!xsprof_trace_op(ev, &op))
		return p;
	p = arg_word(p, "op", xsp_word_op(op.scope));
	if (op.record_function_id)
		p = pf_arg_u64(p, "Record function id", op.record_function_id);
	if (op.sequence >= 0)
		p = pf_arg_u64(p, "Sequence number", (uint64_t)op.sequence);
	if (op.forward_thread)
		p = pf_arg_u64(p, "Fwd thread id", op.forward_thread);
	return op.correlation ? pf_arg_u64(p, "External id", op.correlation) : p;
}

char *pf_put_fields(struct xsp_out *out, const struct xsprof_event *ev, char *p)
{
	const struct xsprof_rec_relation *relation = xsp_record(ev, struct xsprof_rec_relation);
	const char *exe;

	switch (ev->type) {
	case XSPROF_REC_BEGIN:
		return put_op(ev, p);
	case XSPROF_REC_END ... XSPROF_REC_INSTANT:
	case XSPROF_REC_ARGS:
		return p;
	case XSPROF_REC_ASYNC_BEGIN ... XSPROF_REC_FLOW_END:
		return arg_ptr(p, "id", ev->value);
	case XSPROF_REC_CORR_PUSH:
	case XSPROF_REC_CORR_POP:
		return pf_arg_u64(pf_arg_u64(p, "kind", ev->aux), "id", ev->value);
	case XSPROF_REC_ALLOC:
	case XSPROF_REC_FREE:
		return put_allocator(out, ev, p);
	case XSPROF_REC_STEP:
		return pf_arg_u64(p, "step", ev->value);
	case XSPROF_REC_SPAN:
		return put_span(ev, p);
	case XSPROF_REC_SYNC:
		return arg_ptr(arg_word(p, "op", xsp_word_sync(ev->aux)), "object", ev->value);
	case XSPROF_REC_CONTROL:
		return arg_ptr(arg_word(p, "op", xsp_word_control(ev->aux)), "enabled", ev->value);
	case XSPROF_REC_CLOCK:
		return pf_arg_u64(pf_arg_u64(p, "clock", ev->aux), "value", ev->value);
	case XSPROF_REC_GPU:
		return put_gpu(ev, p);
	case XSPROF_REC_STACK:
		return put_frames(ev, p);
	case XSPROF_REC_RELATION:
		p = arg_ptr(pf_arg_u64(p, "kind", ev->aux), "head", ev->value);
		return relation ? arg_ptr(p, "tail", relation->tail) : p;
	case XSPROF_EV_LOST:
		return put_lost(ev, p);
	case XSPROF_EV_PRODUCER:
		exe = xsprof_trace_fact(out->trace, ev->producer, "exe");
		return exe ? pf_arg_text(p, "exe", exe, strnlen(exe, XSPROF_TEXT_MAX)) : p;
	case XSPROF_EV_EXIT:
		return put_exit(ev, p);
	default:
		return put_other(ev, p);
	}
}
