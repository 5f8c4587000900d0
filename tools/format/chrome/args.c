// SPDX-License-Identifier: GPL-2.0-only
/*
 * Arguments of events in Chrome's JSON: those of the program, and the fields of a record as
 * arguments. Numbers that a double would round are written as strings of digits.
 */
#include <stdlib.h>

#include "format/chrome/local.h"

#define ARG(p, any, key, put, value)	put(put_lit(json_comma(p, any), "\"" key "\":"), value)

static char *put_word(char *p, const char *word)
{
	return json_string(p, word, strlen(word), NULL);
}

static char *put_ptr(char *p, uint64_t v)
{
	*p++ = '"';
	p = put_hex(p, v);
	*p++ = '"';
	return p;
}

static char *put_name(struct xsp_out *out, const struct xsprof_event *ev, uint32_t name, char *p)
{
	size_t len;
	const char *s = xsprof_trace_name_len(out->trace, ev->producer, name, &len);

	/* A name used as a value is truncated where viewers would truncate it. */
	return json_string(p, s, len < XSPROF_TEXT_MAX ? len : XSPROF_TEXT_MAX, NULL);
}

static char *put_value(struct xsp_out *out, const struct xsprof_event *ev,
		       const struct xsprof_trace_arg *arg, char *p)
{
	switch (arg->type) {
	case XSPROF_ARG_I64:
		return xsp_json_safe_i64(p, arg->u.i64);
	case XSPROF_ARG_U64:
		return xsp_json_safe_u64(p, arg->u.u64);
	case XSPROF_ARG_F64:
		return xsp_json_double(p, arg->u.f64);
	case XSPROF_ARG_BOOL:
		return arg->u.u64 ? put_lit(p, "true") : put_lit(p, "false");
	case XSPROF_ARG_NAME:
		return put_name(out, ev, (uint32_t)arg->u.u64, p);
	case XSPROF_ARG_STR:
		return json_string(p, arg->str, arg->len, NULL);
	default:
		return put_ptr(p, arg->u.u64);
	}
}

/* @key: `"name":` */
static char *put_key(struct xsp_out *out, const char *key, size_t len, char *p, bool *any)
{
	uint32_t number = xsp_keys_take(&((struct chrome *)out->priv)->keys, key, len);

	out->buf.p = json_comma(p, any);
	xsp_buf_put(&out->buf, key, len - 2);
	p = xsp_buf_room(&out->buf, XSP_BUF_ROOM);
	return xsp_keys_number(put_lit(p, "\":"), number);
}

char *chrome_put_args(struct xsp_out *out, const struct xsprof_event *ev, char *p, bool *any)
{
	char plain[XSP_ARG_TEXT];
	struct xsprof_trace_arg arg;
	const struct xsp_name *key;
	size_t pos = 0;

	while (xsprof_trace_args(ev, &pos, &arg)) {
		xsp_arg_plain(out->trace, ev->producer, &arg, plain);
		key = xsp_names_get(out->keys, ev->producer, arg.key);
		p = put_key(out, key->text, key->len, p, any);
		p = put_value(out, ev, &arg, p);
	}
	return p;
}

/* ---- notes --------------------------------------------------------------------------------- */

/* A note begins with this byte and the hash of each key that the range's begin has. */
#define KEY	'~'
#define KEY_LEN	9u

void chrome_note_keys(struct xsp_out *out, struct xsp_range *range)
{
	const struct xsp_keys *keys = &((const struct chrome *)out->priv)->keys;
	char text[64 * KEY_LEN], *p = text;

	for (uint32_t i = 0; i < keys->n && i < 64; i++, p += KEY_LEN) {
		*p = KEY;
		memcpy(p + 1, &keys->v[i].hash, KEY_LEN - 1);
	}
	/* If memory runs out, the end may repeat a key of the begin. */
	if (p > text)
		(void)xsp_tracks_note(out->tracks, range, 0, text, (size_t)(p - text));
}

/* The arguments in the note, after the keys. */
static const char *arguments(const struct xsp_range *range)
{
	const char *p = range->note, *end = p + range->note_len;

	while (p < end && *p == KEY)
		p += KEY_LEN;
	return p;
}

bool chrome_has_note(const struct xsp_range *range)
{
	return range->note && arguments(range) < range->note + range->note_len;
}

static void claim_keys(struct xsp_keys *keys, const struct xsp_range *range, const char *end)
{
	uint64_t hash;

	for (const char *p = range->note; p < end; p += KEY_LEN) {
		memcpy(&hash, p + 1, sizeof(hash));
		xsp_keys_claim(keys, hash);
	}
}

char *chrome_put_note(struct xsp_out *out, const struct xsp_range *range, char *p, bool *any)
{
	const char *at = arguments(range);
	struct xsp_member member;

	claim_keys(&((struct chrome *)out->priv)->keys, range, at);
	while (xsp_keys_member(&at, range->note + range->note_len, &member)) {
		out->buf.p = put_key(out, member.key, member.key_len, p, any);
		xsp_buf_put(&out->buf, member.value, member.value_len);
		p = xsp_buf_room(&out->buf, XSP_BUF_ROOM);
	}
	return p;
}

/* For a string in several records, the closing quote of the previous part is removed. */
static bool note_arg(struct xsp_out *out, const struct xsprof_event *ev, struct xsp_range *range,
		     const struct xsprof_trace_arg *arg)
{
	size_t old = range->note_len;
	bool any = old != 0;
	const struct xsp_name *key;
	char *p;

	if (arg->type == XSPROF_ARG_STR && arg->flags & XSPROF_ARGF_CONT &&
	    chrome_has_note(range) && range->note[old - 1] == '"') {
		p = xsp_escape_json(out->scratch, arg->str, arg->len, NULL);
		*p++ = '"';
		return xsp_tracks_note(out->tracks, range, 1, out->scratch,
				       (size_t)(p - out->scratch));
	}
	p = json_comma(out->scratch, &any);
	key = xsp_names_get(out->keys, ev->producer, arg->key);
	memcpy(p, key->text, key->len);
	p = put_value(out, ev, arg, p + key->len);
	return xsp_tracks_note(out->tracks, range, 0, out->scratch, (size_t)(p - out->scratch));
}

bool chrome_note_args(struct xsp_out *out, const struct xsprof_event *ev, struct xsp_range *range)
{
	return xsp_each_plain(out, ev, range, note_arg);
}

/* Keys are those of PyTorch's profiler, so that tools for its traces find them. */
static char *put_mem(const struct xsprof_event *ev, char *p, bool *any)
{
	const struct xsprof_rec_mem *mem = xsp_record(ev, struct xsprof_rec_mem);
	int64_t bytes = mem ? (int64_t)mem->bytes : 0;

	p = ARG(p, any, "Device Type", put_u32, ev->aux >> 16);
	p = ARG(p, any, "Device Id", put_u32, ev->aux & 0xffff);
	p = ARG(p, any, "Addr", xsp_json_safe_u64, ev->value);
	if (!mem)
		return p;
	if (ev->type == XSPROF_REC_FREE && bytes > 0)
		bytes = -bytes;
	p = ARG(p, any, "Bytes", xsp_json_safe_i64, bytes);
	p = ARG(p, any, "Total Allocated", xsp_json_safe_u64, mem->total_allocated);
	return ARG(p, any, "Total Reserved", xsp_json_safe_u64, mem->total_reserved);
}

/* The clocks of device and host differ. */
static char *put_early(const struct xsprof_event *ev, uint64_t ns, char *p)
{
	*p++ = '"';
	p = put_lit(stpcpy(p, xsp_early_key(ev)), "\":");
	return xsp_json_safe_u64(p, ns);
}

static char *put_gpu(struct xsp_out *out, const struct xsprof_event *ev, char *p, bool *any)
{
	const struct xsprof_rec_gpu *gpu = xsp_record(ev, struct xsprof_rec_gpu);
	uint32_t in = xsp_captured_in(&out->captured, ev);
	uint64_t early = xsp_early_ns(&out->early, ev);

	p = ARG(p, any, "kind", put_word, xsp_word_gpu(ev->aux));
	p = ARG(p, any, "correlation", xsp_json_safe_u64, ev->value);
	if (early)
		p = put_early(ev, early, json_comma(p, any));
	if (!gpu)
		return p;
	if (gpu->device != XSPROF_NO_DEVICE) {
		p = ARG(p, any, "device", put_u32, gpu->device);
		p = ARG(p, any, "context", put_u32, gpu->context);
	}
	if (gpu->stream != XSPROF_NO_STREAM)
		p = ARG(p, any, "stream", put_u32, gpu->stream);
	if (gpu->bytes)
		p = ARG(p, any, "bytes", xsp_json_safe_u64, gpu->bytes);
	if (gpu->graph)
		p = ARG(p, any, "graph id", xsp_json_safe_u64, gpu->graph);
	if (gpu->graph_node)
		p = ARG(p, any, "graph node id", xsp_json_safe_u64, gpu->graph_node);
	return in ? put_name(out, ev, in, put_lit(json_comma(p, any), "\"captured in\":")) : p;
}

static char *put_frames(const struct xsprof_event *ev, char *p, bool *any)
{
	const char *frames = (const char *)ev->rec + sizeof(*ev->rec);
	size_t n = ev->rec_size > sizeof(*ev->rec) ?
		   (ev->rec_size - sizeof(*ev->rec)) / sizeof(uint64_t) : 0, i;
	uint64_t frame;

	p = ARG(p, any, "kind", xsp_json_safe_u64, ev->value);
	p = put_lit(json_comma(p, any), "\"frames\":\"");
	for (i = 0; i < n && i < ev->aux; i++) {
		memcpy(&frame, frames + i * sizeof(frame), sizeof(frame));
		if (i)
			*p++ = ' ';
		p = put_hex(p, frame);
	}
	*p++ = '"';
	return p;
}

static char *put_sample(const struct xsprof_event *ev, char *p, bool *any)
{
	struct xsprof_trace_sample sample;

	if (!xsprof_trace_sample(ev, &sample))
		return p;
	p = ARG(p, any, "of", put_u32, sample.thread);
	p = ARG(p, any, "how", put_word, xsp_word_sample(sample.how));
	if (sample.how == XSPROF_SAMPLE_MISSED)
		return ARG(p, any, "missed", put_u32, sample.missed);
	if (sample.line)
		p = ARG(p, any, "line", put_u32, sample.line);
	return ARG(p, any, "stack", put_u32, sample.stack);
}

static char *put_exit(const struct xsp_out *out, const struct xsprof_event *ev, char *p, bool *any)
{
	uint64_t after = fmt_exit_after(out, ev);
	uint32_t how = (uint32_t)(ev->value >> 32);

	p = ARG(p, any, "how", put_word, xsp_word_how(how));
	if (how == XSPROF_HOW_KILLED)
		p = ARG(p, any, "signal", put_u32, (uint32_t)ev->value);
	else
		p = ARG(p, any, "status", put_i64, (int32_t)ev->value);
	return after ? ARG(p, any, "ended_after", put_micros, chrome_rel(out, after)) : p;
}

static char *put_sched(const struct xsprof_event *ev, char *p, bool *any)
{
	char state[2] = { fmt_sched_state(ev->aux) };
	const char *comm;
	size_t len;

	if (ev->type == XSPROF_REC_SCHED_IN)
		return p;
	if (ev->type == XSPROF_REC_SCHED_MIGRATE) {
		p = ARG(p, any, "from", put_u32, (uint32_t)ev->value);
		return ARG(p, any, "to", put_u32, (uint32_t)(ev->value >> 32));
	}
	if (ev->type == XSPROF_REC_SCHED_OUT) {
		p = ARG(p, any, "state", put_word, state);
		if (ev->aux & XSPROF_SCHED_PREEMPTED)
			p = put_lit(json_comma(p, any), "\"preempted\":true");
	} else if (ev->aux & XSPROF_SCHED_NEW) {
		p = put_lit(json_comma(p, any), "\"new\":true");
	}
	p = ARG(p, any, "other", put_word, xsp_word_sched(ev->aux & XSPROF_SCHED_WHO));
	if ((uint32_t)ev->value)
		p = ARG(p, any, "other_tid", put_u32, (uint32_t)ev->value);
	comm = fmt_sched_comm(ev, &len);
	if (comm)
		p = json_string(put_lit(json_comma(p, any), "\"other_comm\":"), comm, len, NULL);
	return p;
}

/* Keys are those of PyTorch's profiler. */
static char *put_op(const struct xsprof_event *ev, char *p, bool *any)
{
	struct xsprof_trace_op op;

	if (!xsprof_trace_op(ev, &op))
		return p;
	p = ARG(p, any, "op", put_word, xsp_word_op(op.scope));
	if (op.record_function_id)
		p = ARG(p, any, "Record function id", xsp_json_safe_u64, op.record_function_id);
	if (op.sequence >= 0)
		p = ARG(p, any, "Sequence number", xsp_json_safe_i64, op.sequence);
	if (op.forward_thread)
		p = ARG(p, any, "Fwd thread id", xsp_json_safe_u64, op.forward_thread);
	return op.correlation ? ARG(p, any, "External id", xsp_json_safe_u64, op.correlation) : p;
}

static char *put_control(struct xsp_out *out, const struct xsprof_event *ev, char *p, bool *any)
{
	const char *off = xsp_words_off(out->trace, ev);

	p = ARG(p, any, "op", put_word, xsp_word_control(ev->aux));
	p = ARG(p, any, "enabled", put_ptr, ev->value);
	return *off ? ARG(p, any, "off", put_word, off) : p;
}

char *chrome_put_fields(struct xsp_out *out, const struct xsprof_event *ev, char *p, bool *any)
{
	const struct xsprof_rec_relation *relation = xsp_record(ev, struct xsprof_rec_relation);
	const struct xsprof_rec_span *span = xsp_record(ev, struct xsprof_rec_span);
	const char *exe;

	switch (ev->type) {
	case XSPROF_REC_BEGIN:
		return put_op(ev, p, any);
	case XSPROF_REC_ASYNC_BEGIN ... XSPROF_REC_FLOW_END:
		return ARG(p, any, "id", put_ptr, ev->value);
	case XSPROF_REC_CORR_PUSH:
	case XSPROF_REC_CORR_POP:
		p = ARG(p, any, "kind", put_u32, ev->aux);
		return ARG(p, any, "id", xsp_json_safe_u64, ev->value);
	case XSPROF_REC_ALLOC:
	case XSPROF_REC_FREE:
		return put_mem(ev, p, any);
	case XSPROF_REC_STEP:
		return ARG(p, any, "step", xsp_json_safe_u64, ev->value);
	case XSPROF_REC_SPAN:
		if (ev->value)
			p = ARG(p, any, "id", put_ptr, ev->value);
		if (span && span->parent)
			p = ARG(p, any, "parent", put_ptr, span->parent);
		return ARG(p, any, "scope", put_word, xsp_word_scope(ev->aux));
	case XSPROF_REC_SYNC:
		p = ARG(p, any, "op", put_word, xsp_word_sync(ev->aux));
		return ARG(p, any, "object", put_ptr, ev->value);
	case XSPROF_REC_CONTROL:
		return put_control(out, ev, p, any);
	case XSPROF_REC_CLOCK:
		p = ARG(p, any, "clock", put_u32, ev->aux);
		return ARG(p, any, "value", xsp_json_safe_u64, ev->value);
	case XSPROF_REC_GPU:
		return put_gpu(out, ev, p, any);
	case XSPROF_REC_STACK:
		return put_frames(ev, p, any);
	case XSPROF_REC_RELATION:
		p = ARG(p, any, "kind", put_u32, ev->aux);
		p = ARG(p, any, "head", put_ptr, ev->value);
		return relation ? ARG(p, any, "tail", put_ptr, relation->tail) : p;
	case XSPROF_REC_SAMPLE:
		return put_sample(ev, p, any);
	case XSPROF_REC_SCHED_IN ... XSPROF_REC_SCHED_MIGRATE:
		return put_sched(ev, ARG(p, any, "cpu", put_i64, ev->cpu), any);
	case XSPROF_EV_LOST:
		return ev->flags & XSPROF_EVF_SLOTS ?
		       ARG(p, any, "slots", xsp_json_safe_u64, ev->value) :
		       ARG(p, any, "records", xsp_json_safe_u64, ev->value);
	case XSPROF_EV_PRODUCER:
		exe = xsprof_trace_fact(out->trace, ev->producer, "exe");
		return exe ? json_string(put_lit(json_comma(p, any), "\"exe\":"), exe,
					 strnlen(exe, XSPROF_TEXT_MAX), NULL) : p;
	case XSPROF_EV_EXIT:
		return put_exit(out, ev, p, any);
	case XSPROF_REC_END:
	case XSPROF_REC_COMPLETE:
	case XSPROF_REC_INSTANT:
	case XSPROF_REC_ARGS:
		return p;
	default:
		p = ARG(p, any, "type", put_u32, ev->type);
		p = ARG(p, any, "aux", put_u32, ev->aux);
		return ARG(p, any, "value", xsp_json_safe_u64, ev->value);
	}
}
