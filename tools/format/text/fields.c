// SPDX-License-Identifier: GPL-2.0-only
/*
 * The fields after the name in a line of text, for each type of record.
 */
#include "format/common/fields.h"
#include "format/text/local.h"
#include "text/put.h"

static char *put_word(char *p, const char *word)
{
	size_t len = strlen(word);

	memcpy(p, word, len);
	return p + len;
}

#define FIELD(p, key, put, value)	put(put_lit(p, " " key "="), value)

char *text_put_quoted(char *p, const char *s, size_t len)
{
	const char *quote;
	size_t n;

	*p++ = '"';
	for (; (quote = memchr(s, '"', len)); s += n + 1, len -= n + 1) {
		n = (size_t)(quote - s);
		p = put_lit(xsp_escape_text(p, s, n), "\\\"");
	}
	p = xsp_escape_text(p, s, len);
	*p++ = '"';
	return p;
}

static char *put_span(uint64_t begin, uint64_t end, char *p)
{
	p = FIELD(p, "begin", put_seconds, begin);
	p = FIELD(p, "end", put_seconds, end);
	return FIELD(p, "dur", put_u64, end > begin ? end - begin : 0);
}

static char *put_field(const struct fmt_field *f, char *p)
{
	if (f->kind == FMT_RANGE)
		return put_span(f->value, f->end, p);
	p = put_lit(put_word(put_lit(p, " "), f->text), "=");
	switch (f->kind) {
	case FMT_I64:
		return put_i64(p, (int64_t)f->value);
	case FMT_HEX:
		return put_hex(p, f->value);
	case FMT_WORD:
		return put_word(p, f->word);
	case FMT_NAME:
		return text_put_quoted(p, f->word, f->value < 1024 ? f->value : 1024);
	case FMT_TIME:
		return put_seconds(p, f->value);
	case FMT_DEVICE:
		p = put_u64(p, f->value >> 16);
		*p++ = ':';
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
		if (fields[i].text && !fields[i].unset)
			p = put_field(&fields[i], p);
	return p;
}

static char *put_frames(const struct xsprof_event *ev, char *p)
{
	const unsigned char *frames = (const unsigned char *)ev->rec + sizeof(*ev->rec);
	uint32_t n = ev->aux, i;
	uint64_t frame;

	if (!ev->rec || ev->rec_size < sizeof(*ev->rec))
		n = 0;
	else if (n > (ev->rec_size - sizeof(*ev->rec)) / sizeof(frame))
		n = (uint32_t)((ev->rec_size - sizeof(*ev->rec)) / sizeof(frame));
	p = FIELD(p, "kind", put_u64, ev->value);
	p = put_lit(p, " frames=");
	for (i = 0; i < n; i++) {
		memcpy(&frame, frames + i * sizeof(frame), sizeof(frame));
		if (i)
			*p++ = ',';
		p = put_hex(p, frame);
	}
	return p;
}

static char *put_producer(struct xsp_out *out, const struct xsprof_event *ev, char *p)
{
	const char *exe = xsprof_trace_fact(out->trace, ev->producer, "exe");

	p = FIELD(p, "producer", put_u32, ev->producer);
	p = FIELD(p, "pid", put_u32, ev->pid);
	return exe ? text_put_quoted(put_lit(p, " exe="), exe, strnlen(exe, 4096)) : p;
}

/* The other task, as far as the reader may know it. */
static char *put_who(const struct xsprof_event *ev, char *p)
{
	const char *comm;
	size_t len;

	p = put_word(p, xsp_word_sched(ev->aux & XSPROF_SCHED_WHO));
	if ((uint32_t)ev->value)
		p = FIELD(p, "other", put_u32, (uint32_t)ev->value);
	comm = fmt_sched_comm(ev, &len);
	return comm ? text_put_quoted(put_lit(p, " comm="), comm, len) : p;
}

static char *put_sched(const struct xsprof_event *ev, char *p)
{
	if (ev->type == XSPROF_REC_SCHED_WAKE) {
		if (ev->aux & XSPROF_SCHED_NEW)
			p = put_lit(p, " new");
		return put_who(ev, put_lit(p, " by="));
	}
	p = put_lit(p, " state=");
	*p++ = fmt_sched_state(ev->aux);
	if (ev->aux & XSPROF_SCHED_PREEMPTED)
		p = put_lit(p, " preempted");
	return put_who(ev, put_lit(p, " next="));
}

static char *put_control(struct xsp_out *out, const struct xsprof_event *ev, char *p)
{
	const char *off = xsp_words_off(out->trace, ev);

	p = FIELD(p, "op", put_word, xsp_word_control(ev->aux));
	p = FIELD(p, "enabled", put_hex, ev->value);
	return *off ? text_put_quoted(put_lit(p, " off="), off, strlen(off)) : p;
}

char *text_put_fields(struct xsp_out *out, const struct xsp_view *view, char *p)
{
	const struct xsprof_event *ev = view->ev;

	switch (ev->type) {
	case XSPROF_REC_END:
		if (ev->aux & XSPROF_END_CONTINUED && !view->earlier)
			p = put_lit(p, " continued");
		if (view->earlier)
			p = put_lit(p, " earlier");
		if (!view->range)
			return view->unmatched ? put_lit(p, " unmatched") : p;
		return view->range->lost ? put_lit(p, " uncertain=lost") : p;
	case XSPROF_REC_COMPLETE:
		return put_span(ev->begin_ns, ev->end_ns, p);
	case XSPROF_REC_INSTANT:
		return ev->aux ? FIELD(p, "scope", put_word, xsp_word_scope(ev->aux)) : p;
	case XSPROF_REC_COUNTER_I64:
		return FIELD(p, "value", put_i64, (int64_t)ev->value);
	case XSPROF_REC_COUNTER_F64:
		return FIELD(p, "value", xsp_put_double, xsp_bits_double(ev->value));
	case XSPROF_REC_CONTROL:
		return put_control(out, ev, p);
	case XSPROF_REC_STACK:
		return put_frames(ev, p);
	case XSPROF_REC_SCHED_OUT:
	case XSPROF_REC_SCHED_WAKE:
		return put_sched(ev, p);
	case XSPROF_EV_PRODUCER:
		return put_producer(out, ev, p);
	default:
		return put_listed(out, ev, p);
	}
}
