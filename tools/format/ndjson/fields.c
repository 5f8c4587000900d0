// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fields of an object that depend on the type of its record: the meaning of aux, value and payload.
 */
#include "format/common/fields.h"
#include "format/common/stack.h"
#include "format/ndjson/local.h"
#include "ranges/program.h"
#include "text/json.h"

char *ndjson_put_word(char *p, const char *word)
{
	size_t len = strlen(word);

	*p++ = '"';
	memcpy(p, word, len);
	p[len] = '"';
	return p + len + 1;
}

/* Records were lost inside the range: its end may be that of another. */
char *ndjson_put_uncertain(const struct xsp_range *range, char *p)
{
	return range->lost ? put_lit(p, ",\"uncertain\":\"lost\"") : p;
}

static char *put_range(const struct xsprof_event *ev, char *p)
{
	p = FIELD(p, "begin_ns", put_u64, ev->begin_ns);
	return FIELD(p, "end_ns", put_u64, ev->end_ns);
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

static char *put_field(struct xsp_out *out, const struct fmt_field *f, char *p)
{
	size_t len = strlen(f->json);

	if (f->kind == FMT_RANGE) {
		p = FIELD(p, "begin_ns", put_u64, f->value);
		return FIELD(p, "end_ns", put_u64, f->end);
	}
	if (f->kind == FMT_DEVICE)
		p = FIELD(p, "device_type", put_u64, f->value >> 16);
	p = mempcpy(put_lit(p, ",\""), f->json, len);
	p = put_lit(p, "\":");
	switch (f->kind) {
	case FMT_I64:
		return put_i64(p, (int64_t)f->value);
	case FMT_WORD:
		return ndjson_put_word(p, f->word);
	case FMT_NAME:
		return put_quoted(out, f->word, f->value, p);
	case FMT_DEVICE:
		return put_u64(p, f->value & 0xffff);
	default:
		return put_u64(p, f->value);
	}
}

static char *put_listed(struct xsp_out *out, const struct xsprof_event *ev, char *p)
{
	struct fmt_field fields[FMT_FIELDS];
	size_t nr = fmt_fields(out, ev, fields);

	for (size_t i = 0; i < nr; i++)
		if (fields[i].json)
			p = put_field(out, &fields[i], p);
	return p;
}

/* Frames of samples have names; others are addresses. */
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

	p = put_listed(out, ev, p);
	if (!xsprof_trace_sample(ev, &sample) || sample.how == XSPROF_SAMPLE_MISSED)
		return p;
	return put_stack(out, ev, sample.stack, p);
}

static char *put_sched(const struct xsprof_event *ev, char *p)
{
	const char *comm;
	size_t len;

	if (ev->type == XSPROF_REC_SCHED_OUT) {
		p = put_lit(p, ",\"state\":\"");
		*p++ = fmt_sched_state(ev->aux);
		p = put_lit(p, "\",\"preempted\":");
		p = ev->aux & XSPROF_SCHED_PREEMPTED ? put_lit(p, "true") : put_lit(p, "false");
	} else {
		p = put_lit(p, ",\"new\":");
		p = ev->aux & XSPROF_SCHED_NEW ? put_lit(p, "true") : put_lit(p, "false");
	}
	p = FIELD(p, "other", ndjson_put_word, xsp_word_sched(ev->aux & XSPROF_SCHED_WHO));
	if ((uint32_t)ev->value)
		p = FIELD(p, "other_tid", put_u32, (uint32_t)ev->value);
	comm = fmt_sched_comm(ev, &len);
	return comm ? xsp_json_field(put_lit(p, ","), "other_comm", comm, len) : p;
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

static char *put_control(struct xsp_out *out, const struct xsprof_event *ev, char *p)
{
	const char *off = xsp_words_off(out->trace, ev);

	p = FIELD(p, "op", ndjson_put_word, xsp_word_control(ev->aux));
	return *off ? xsp_json_field(put_lit(p, ","), "off", off, strlen(off)) : p;
}

char *ndjson_put_fields(struct xsp_out *out, const struct xsp_view *view, char *p)
{
	const struct xsprof_event *ev = view->ev;
	double f64;

	switch (ev->type) {
	case XSPROF_REC_END:
		if (ev->aux & XSPROF_END_CONTINUED && !view->earlier)
			p = put_lit(p, ",\"continued\":true");
		if (view->earlier)
			p = put_lit(p, ",\"earlier\":true");
		if (view->range)
			return ndjson_put_uncertain(view->range, p);
		return view->unmatched ? put_lit(p, ",\"unmatched\":true") : p;
	case XSPROF_REC_COMPLETE:
		return put_range(ev, p);
	case XSPROF_REC_INSTANT:
		return FIELD(p, "scope", ndjson_put_word, xsp_word_scope(ev->aux));
	case XSPROF_REC_COUNTER_I64:
		return FIELD(p, "i64", put_i64, (int64_t)ev->value);
	case XSPROF_REC_COUNTER_F64:
		f64 = xsp_bits_double(ev->value);
		return FIELD(p, "f64", xsp_json_double, f64);
	case XSPROF_REC_CONTROL:
		return put_control(out, ev, p);
	case XSPROF_REC_STACK:
		return put_frames(ev, p);
	case XSPROF_REC_SAMPLE:
		return put_sample(out, ev, p);
	case XSPROF_REC_SCHED_OUT:
	case XSPROF_REC_SCHED_WAKE:
		return put_sched(ev, p);
	case XSPROF_EV_PRODUCER:
		return put_producer(out, ev, p);
	default:
		return put_listed(out, ev, p);
	}
}
