// SPDX-License-Identifier: GPL-2.0-only
/*
 * One JSON object an event and line, for programs: every field of every record, names resolved
 * and ids kept.  Where a string is no UTF-8 its bytes stand beside it in hex, so nothing is
 * lost.  The fields are documented in xsprof-dump(1).
 */
#include <errno.h>
#include <stdlib.h>

#include "format/common/stack.h"
#include "format/ndjson/local.h"
#include "ranges/program.h"
#include "text/json.h"

static size_t bounded(size_t len)
{
	/* A name and its category share the scratch of a name. */
	return len < XSP_NAME_BYTES - XSPROF_TEXT_MAX ? len : XSP_NAME_BYTES - XSPROF_TEXT_MAX;
}

static char *name_text(const struct xsprof_trace *trace, uint32_t producer, uint32_t name, char *p)
{
	const char *s, *category;
	size_t len;

	if (!name)
		return p;
	s = xsprof_trace_name_len(trace, producer, name, &len);
	category = xsprof_trace_category(trace, producer, name);
	p = xsp_json_field(put_lit(p, ","), "name", s, bounded(len));
	p = put_u32(put_lit(p, ",\"name_id\":"), name);
	return xsp_json_field(put_lit(p, ","), "cat", category, strnlen(category, XSPROF_TEXT_MAX));
}

static char *key_text(const struct xsprof_trace *trace, uint32_t producer, uint32_t name, char *p)
{
	const char *s;
	size_t len;

	s = xsprof_trace_name_len(trace, producer, name, &len);
	p = xsp_json_field(p, "key", s, bounded(len));
	return put_u32(put_lit(p, ",\"key_id\":"), name);
}

static char *put_entry(struct xsp_out *out, const struct xsp_name *entry, char *p)
{
	out->buf.p = p;
	xsp_buf_put(&out->buf, entry->text, entry->len);
	return xsp_buf_room(&out->buf, XSP_BUF_ROOM);
}

/* ,"producer":0,"pid":1,"tid":2,"thread":"x" */
static char *make_prefix(struct xsp_out *out, const struct xsp_track *thread, char *p)
{
	const char *comm = xsprof_trace_thread(out->trace, thread->producer,
					       (uint32_t)thread->tid);

	p = put_u32(put_lit(p, ",\"producer\":"), thread->producer);
	p = put_u32(put_lit(p, ",\"pid\":"), thread->pid);
	p = put_u64(put_lit(p, ",\"tid\":"), thread->tid);
	return xsp_json_field(put_lit(p, ","), "thread", comm, bounded(strlen(comm)));
}

static char *put_thread(struct xsp_out *out, struct xsp_track *thread, char *p)
{
	const char *text = thread->prefix;
	size_t len = thread->prefix_len;

	if (xsp_track_stale(thread) || !text) {
		len = (size_t)(make_prefix(out, thread, out->scratch) - out->scratch);
		text = out->scratch;
		xsp_tracks_prefix(out->tracks, thread, text, len);
	}
	out->buf.p = p;
	xsp_buf_put(&out->buf, text, len);
	return xsp_buf_room(&out->buf, XSP_BUF_ROOM);
}

static char *put_word(char *p, const char *word)
{
	size_t len = strlen(word);

	*p++ = '"';
	memcpy(p, word, len);
	p[len] = '"';
	return p + len + 1;
}

#define FIELD(p, key, put, value)	put(put_lit(p, ",\"" key "\":"), value)

static char *put_value(struct xsp_out *out, const struct xsprof_event *ev,
		       const struct xsprof_trace_arg *arg, char *p)
{
	const char *s;
	size_t len;

	switch (arg->type) {
	case XSPROF_ARG_I64:
		return FIELD(p, "value", put_i64, arg->u.i64);
	case XSPROF_ARG_F64:
		p = FIELD(p, "value", xsp_json_double, arg->u.f64);
		/* Which NaN it is. */
		return arg->u.f64 == arg->u.f64 ? p : FIELD(p, "bits", put_u64, arg->u.u64);
	case XSPROF_ARG_BOOL:
		p = put_lit(p, ",\"value\":");
		return arg->u.u64 ? put_lit(p, "true") : put_lit(p, "false");
	case XSPROF_ARG_NAME:
		s = xsprof_trace_name_len(out->trace, ev->producer, (uint32_t)arg->u.u64, &len);
		len = (size_t)(xsp_json_field(put_lit(out->scratch, ","), "value", s,
					      bounded(len)) - out->scratch);
		out->buf.p = p;
		xsp_buf_put(&out->buf, out->scratch, len);
		p = xsp_buf_room(&out->buf, XSP_BUF_ROOM);
		return FIELD(p, "value_id", put_u64, arg->u.u64);
	case XSPROF_ARG_STR:
		p = xsp_json_field(put_lit(p, ","), "value", arg->str, arg->len);
		if (arg->flags & XSPROF_ARGF_CUT)
			p = put_lit(p, ",\"cut\":true");
		return arg->flags & XSPROF_ARGF_CONT ? put_lit(p, ",\"cont\":true") : p;
	default:
		return FIELD(p, "value", put_u64, arg->u.u64);
	}
}

static char *put_args(struct xsp_out *out, const struct xsprof_event *ev, char *p)
{
	char plain[XSP_ARG_TEXT];
	struct xsprof_trace_arg arg;
	size_t pos = 0;
	bool any = false;

	while (xsprof_trace_args(ev, &pos, &arg)) {
		p = any ? put_lit(p, ",{") : put_lit(p, ",\"args\":[{");
		any = true;
		p = put_entry(out, xsp_names_get(out->keys, ev->producer, arg.key), p);
		p = FIELD(p, "type", put_word, xsp_word_arg(arg.type));
		/* A string as it is: a field says that it was longer. */
		if (arg.type != XSPROF_ARG_STR)
			xsp_arg_plain(out->trace, ev->producer, &arg, plain);
		p = put_value(out, ev, &arg, p);
		*p++ = '}';
	}
	if (any)
		*p++ = ']';
	return p;
}

static char *put_range(const struct xsprof_event *ev, char *p)
{
	p = FIELD(p, "begin_ns", put_u64, ev->begin_ns);
	return FIELD(p, "end_ns", put_u64, ev->end_ns);
}

static char *put_gpu(const struct xsprof_event *ev, char *p)
{
	const struct xsprof_rec_gpu *gpu = xsp_record(ev, struct xsprof_rec_gpu);

	p = FIELD(p, "kind", put_word, xsp_word_gpu(ev->aux));
	p = put_range(ev, p);
	if (!gpu)
		return p;
	p = FIELD(p, "start", put_u64, gpu->start);
	p = FIELD(p, "end", put_u64, gpu->end);
	p = FIELD(p, "clock", put_u32, gpu->clock);
	p = FIELD(p, "device", put_u32, gpu->device);
	p = FIELD(p, "context", put_u32, gpu->context);
	p = FIELD(p, "stream", put_u32, gpu->stream);
	p = FIELD(p, "bytes", put_u64, gpu->bytes);
	p = FIELD(p, "graph", put_u64, gpu->graph);
	p = FIELD(p, "graph_node", put_u64, gpu->graph_node);
	return FIELD(p, "thread_id", put_u64, gpu->thread);
}

static char *put_mem(const struct xsprof_event *ev, char *p)
{
	const struct xsprof_rec_mem *mem = xsp_record(ev, struct xsprof_rec_mem);

	if (mem) {
		p = FIELD(p, "bytes", put_u64, mem->bytes);
		p = FIELD(p, "total_allocated", put_u64, mem->total_allocated);
		p = FIELD(p, "total_reserved", put_u64, mem->total_reserved);
	}
	p = FIELD(p, "device_type", put_u32, ev->aux >> 16);
	return FIELD(p, "device", put_u32, ev->aux & 0xffff);
}

static char *put_frames(const struct xsprof_event *ev, char *p)
{
	const char *frames = (const char *)ev->rec + sizeof(*ev->rec);
	size_t n = ev->rec_size > sizeof(*ev->rec) ?
		   (ev->rec_size - sizeof(*ev->rec)) / sizeof(uint64_t) : 0, i;
	uint64_t frame;

	p = put_lit(p, ",\"frames\":[");
	for (i = 0; i < n && i < ev->aux; i++) {
		memcpy(&frame, frames + i * sizeof(frame), sizeof(frame));
		if (i)
			*p++ = ',';
		p = put_u64(p, frame);
	}
	*p++ = ']';
	return p;
}

static char *put_quoted(struct xsp_out *out, const char *text, size_t len, char *p)
{
	*p++ = '"';
	out->buf.p = p;
	p = xsp_escape_json(out->scratch, text, len < XSP_NAME_BYTES ? len : XSP_NAME_BYTES,
			    NULL);
	xsp_buf_put(&out->buf, out->scratch, (size_t)(p - out->scratch));
	p = xsp_buf_room(&out->buf, XSP_BUF_ROOM);
	*p++ = '"';
	return p;
}

/* A sample's have names; any other one is its address. */
static char *put_stack(struct xsp_out *out, const struct xsprof_event *ev, uint32_t stack,
		       char *p)
{
	uint32_t left_out = 0;
	const char *const *texts;
	const uint64_t *frame;
	const char *name;
	size_t nr = 0, len;

	frame = xsprof_trace_stack(out->trace, ev->producer, stack, &nr, &left_out);
	texts = fmt_stack_texts(out->trace, &out->frames, ev->producer, stack, &nr);
	p = put_lit(p, ",\"frames\":[");
	for (size_t i = 0; frame && i < nr; i++) {
		out->buf.p = p;
		p = xsp_buf_room(&out->buf, XSP_BUF_ROOM);
		if (i)
			*p++ = ',';
		if (texts) {
			p = put_quoted(out, texts[i], strlen(texts[i]), p);
			continue;
		}
		if (!(frame[i] & XSPROF_FRAME_NAMED)) {
			*p++ = '"';
			p = put_hex(p, frame[i]);
			*p++ = '"';
			continue;
		}
		name = xsprof_trace_name_len(out->trace, ev->producer, (uint32_t)frame[i], &len);
		p = put_quoted(out, name, len, p);
	}
	*p++ = ']';
	return left_out ? FIELD(p, "left_out", put_u32, left_out) : p;
}

static char *put_sample(struct xsp_out *out, const struct xsprof_event *ev, char *p)
{
	struct xsprof_trace_sample sample;

	if (!xsprof_trace_sample(ev, &sample))
		return p;
	p = FIELD(p, "of", put_u32, sample.thread);
	p = FIELD(p, "how", put_word, xsp_word_sample(sample.how));
	if (sample.how == XSPROF_SAMPLE_MISSED)
		return FIELD(p, "missed", put_u32, sample.missed);
	if (sample.line)
		p = FIELD(p, "line", put_u32, sample.line);
	p = FIELD(p, "stack", put_u32, sample.stack);
	return put_stack(out, ev, sample.stack, p);
}

static char *put_span_record(const struct xsprof_event *ev, char *p)
{
	const struct xsprof_rec_span *span = xsp_record(ev, struct xsprof_rec_span);

	p = put_range(ev, p);
	if (span) {
		p = FIELD(p, "begin_ticks", put_u64, span->begin);
		p = FIELD(p, "end_ticks", put_u64, span->end);
		p = FIELD(p, "parent", put_u64, span->parent);
	}
	return FIELD(p, "scope", put_word, xsp_word_scope(ev->aux));
}

static char *put_sched(const struct xsprof_event *ev, char *p)
{
	const char *comm;
	size_t len;

	if (ev->type == XSPROF_REC_SCHED_IN)
		return p;
	if (ev->type == XSPROF_REC_SCHED_MIGRATE) {
		p = FIELD(p, "from", put_u32, (uint32_t)ev->value);
		return FIELD(p, "to", put_u32, (uint32_t)(ev->value >> 32));
	}
	if (ev->type == XSPROF_REC_SCHED_OUT) {
		p = put_lit(p, ",\"state\":\"");
		*p++ = fmt_sched_state(ev->aux);
		p = put_lit(p, "\",\"preempted\":");
		p = ev->aux & XSPROF_SCHED_PREEMPTED ? put_lit(p, "true") : put_lit(p, "false");
	} else {
		p = put_lit(p, ",\"new\":");
		p = ev->aux & XSPROF_SCHED_NEW ? put_lit(p, "true") : put_lit(p, "false");
	}
	p = FIELD(p, "other", put_word, xsp_word_sched(ev->aux & XSPROF_SCHED_WHO));
	if ((uint32_t)ev->value)
		p = FIELD(p, "other_tid", put_u32, (uint32_t)ev->value);
	comm = fmt_sched_comm(ev, &len);
	return comm ? xsp_json_field(put_lit(p, ","), "other_comm", comm, len) : p;
}

static char *put_lost(const struct xsprof_event *ev, char *p)
{
	return ev->flags & XSPROF_EVF_SLOTS ? put_lit(p, ",\"unit\":\"slots\"") :
					      put_lit(p, ",\"unit\":\"records\"");
}

static char *put_exit(const struct xsp_out *out, const struct xsprof_event *ev, char *p)
{
	uint64_t after = fmt_exit_after(out, ev);
	uint32_t how = (uint32_t)(ev->value >> 32);

	p = FIELD(p, "how", put_word, xsp_word_how(how));
	if (how == XSPROF_HOW_KILLED)
		p = FIELD(p, "signal", put_u32, (uint32_t)ev->value);
	else
		p = FIELD(p, "status", put_i64, (int32_t)ev->value);
	return after ? FIELD(p, "ended_after_ns", put_u64, after) : p;
}

static char *put_producer(struct xsp_out *out, const struct xsprof_event *ev, char *p)
{
	const char *exe = xsprof_trace_fact(out->trace, ev->producer, "exe");
	char text[XSP_PROGRAM_MAX];
	const char *name = xsp_program(out->trace, ev->producer, text);

	if (exe)
		p = xsp_json_field(put_lit(p, ","), "exe", exe, strnlen(exe, XSPROF_TEXT_MAX));
	return name ? xsp_json_field(put_lit(p, ","), "program", name, strlen(name)) : p;
}

static char *put_op(const struct xsprof_event *ev, char *p)
{
	struct xsprof_trace_op op;

	if (!xsprof_trace_op(ev, &op))
		return p;
	p = FIELD(p, "op", put_word, xsp_word_op(op.scope));
	p = FIELD(p, "record_function_id", put_u64, op.record_function_id);
	p = FIELD(p, "sequence", put_i64, op.sequence);
	p = FIELD(p, "forward_thread", put_u64, op.forward_thread);
	p = FIELD(p, "correlation", put_u64, op.correlation);
	return FIELD(p, "stack", put_u64, op.stack);
}

static char *put_control(struct xsp_out *out, const struct xsprof_event *ev, char *p)
{
	const char *off = xsp_words_off(out->trace, ev);

	p = FIELD(p, "op", put_word, xsp_word_control(ev->aux));
	return *off ? xsp_json_field(put_lit(p, ","), "off", off, strlen(off)) : p;
}

/* Records were lost inside the range: its end may be that of another. */
static char *put_uncertain(const struct xsp_range *range, char *p)
{
	return range->lost ? put_lit(p, ",\"uncertain\":\"lost\"") : p;
}

/* What a type means by its aux, value and payload, besides the numbers themselves. */
static char *put_fields(struct xsp_out *out, const struct xsp_view *view, char *p)
{
	const struct xsprof_event *ev = view->ev;
	const struct xsprof_rec_relation *relation;
	const struct xsprof_rec_clock *clock;
	double f64;

	switch (ev->type) {
	case XSPROF_REC_BEGIN:
		return put_op(ev, p);
	case XSPROF_REC_END:
		if (ev->aux & XSPROF_END_CONTINUED && !view->earlier)
			p = put_lit(p, ",\"continued\":true");
		if (view->earlier)
			p = put_lit(p, ",\"earlier\":true");
		if (view->range)
			return put_uncertain(view->range, p);
		return view->unmatched ? put_lit(p, ",\"unmatched\":true") : p;
	case XSPROF_REC_COMPLETE:
		return put_range(ev, p);
	case XSPROF_REC_INSTANT:
		return FIELD(p, "scope", put_word, xsp_word_scope(ev->aux));
	case XSPROF_REC_COUNTER_I64:
		return FIELD(p, "i64", put_i64, (int64_t)ev->value);
	case XSPROF_REC_COUNTER_F64:
		f64 = xsp_bits_double(ev->value);
		return FIELD(p, "f64", xsp_json_double, f64);
	case XSPROF_REC_ALLOC:
	case XSPROF_REC_FREE:
		return put_mem(ev, p);
	case XSPROF_REC_SPAN:
		return put_span_record(ev, p);
	case XSPROF_REC_SYNC:
		return FIELD(p, "op", put_word, xsp_word_sync(ev->aux));
	case XSPROF_REC_CONTROL:
		return put_control(out, ev, p);
	case XSPROF_REC_CLOCK:
		clock = xsp_record(ev, struct xsprof_rec_clock);
		if (!clock)
			return p;
		p = FIELD(p, "clock_ticks", put_u64, clock->ticks);
		return FIELD(p, "window", put_u64, clock->window);
	case XSPROF_REC_GPU:
		return put_gpu(ev, p);
	case XSPROF_REC_STACK:
		return put_frames(ev, p);
	case XSPROF_REC_RELATION:
		relation = xsp_record(ev, struct xsprof_rec_relation);
		return relation ? FIELD(p, "tail", put_u64, relation->tail) : p;
	case XSPROF_REC_SAMPLE:
		return put_sample(out, ev, p);
	case XSPROF_REC_SCHED_IN ... XSPROF_REC_SCHED_MIGRATE:
		return put_sched(ev, p);
	case XSPROF_EV_LOST:
		return put_lost(ev, p);
	case XSPROF_EV_PRODUCER:
		return put_producer(out, ev, p);
	case XSPROF_EV_EXIT:
		return put_exit(out, ev, p);
	default:
		return p;
	}
}

static bool known(uint16_t type)
{
	return xsp_word_type(type)[0] != '?' && type != XSPROF_REC_INVALID;
}

static void ndjson_event(struct xsp_out *out, const struct xsp_view *view)
{
	const struct xsprof_event *ev = view->ev;
	char *p = xsp_buf_room(&out->buf, XSP_BUF_ROOM);

	p = put_u64(put_lit(p, "{\"ns\":"), ev->ns);
	p = FIELD(p, "type", put_word, xsp_word_type(ev->type));
	p = put_thread(out, view->thread, p);
	p = FIELD(p, "cpu", put_i64, ev->cpu);
	p = FIELD(p, "ticks", put_u64, ev->ticks);
	if (view->name)
		p = put_entry(out, xsp_names_get(out->names, ev->producer, view->name), p);
	if (view->name != ev->name)
		p = put_lit(p, ",\"name_from\":\"begin\"");
	p = FIELD(p, "aux", put_u32, ev->aux);
	p = FIELD(p, "value", put_u64, ev->value);
	if (ev->type != XSPROF_REC_BEGIN || ev->flags & XSPROF_EVF_OP)
		p = put_fields(out, view, p);
	if (!ev->tid)
		p = put_lit(p, ",\"tid_given\":false");
	if (ev->flags & XSPROF_EVF_BACK)
		p = put_lit(p, ",\"back\":true");
	if (ev->rec && ev->rec->size >> 4 & XSPROF_RECF_MORE)
		p = put_lit(p, ",\"more\":true");
	if (ev->rec_size > sizeof(struct xsprof_rec)) {
		p = put_args(out, ev, p);
		if (!known(ev->type))
			p = xsp_json_hex(put_lit(p, ",\"record_hex\":"), ev->rec, ev->rec_size);
	}
	if (!known(ev->type))
		p = FIELD(p, "type_id", put_u32, ev->type);
	p = put_lit(p, "}\n");
	out->buf.p = p;
}

/* What its process or its thread was in when that ended: an object before the one of the end. */
static void ndjson_closed(void *data, struct xsp_track *thread, struct xsp_range *range,
			  uint64_t ns, enum xsp_why why)
{
	struct xsp_out *out = data;
	uint64_t after;
	char *p;

	if ((why != XSP_WHY_EXIT && why != XSP_WHY_THREAD) || !range->shown)
		return;
	after = xsp_ended_after(out->trace, thread->producer, range->begin, ns, why);
	p = put_u64(put_lit(xsp_buf_room(&out->buf, XSP_BUF_ROOM), "{\"ns\":"), ns);
	p = put_thread(out, thread, put_lit(p, ",\"type\":\"open\""));
	p = put_lit(p, ",\"cpu\":-1");
	if (range->name)
		p = put_entry(out, xsp_names_get(out->names, thread->producer, range->name), p);
	p = FIELD(p, "begin_ns", put_u64, range->begin);
	p = FIELD(p, "end_ns", put_u64, ns);
	if (after < ns)
		p = FIELD(p, "ended_after_ns", put_u64, after);
	if (why == XSP_WHY_THREAD)
		p = put_lit(p, ",\"thread_ended\":true");
	p = put_lit(put_uncertain(range, p), "}\n");
	out->buf.p = p;
}

static void ndjson_async_closed(void *data, struct xsp_track *thread,
				const struct xsprof_range *range, enum xsp_why why)
{
	struct xsp_range open = {
		.begin = range->begin_ns, .name = range->name, .shown = true,
		.lost = range->flags & XSPROF_RANGEF_UNCERTAIN,
	};
	struct xsp_out *out = data;

	if (why != XSP_WHY_EXIT)
		return;
	ndjson_closed(data, thread, &open, range->end_ns, why);
	/* The same object, with the id at its end. */
	out->buf.p = put_lit(put_u64(put_lit(out->buf.p - 2, ",\"value\":"), range->id), "}\n");
}

const struct xsp_format xsp_format_ndjson = {
	.name		= "ndjson",
	.name_text	= name_text,
	.key_text	= key_text,
	.event		= ndjson_event,
	.kernel_event	= ndjson_kernel_event,
	.ops		= { .closed = ndjson_closed, .async_closed = ndjson_async_closed },
};
