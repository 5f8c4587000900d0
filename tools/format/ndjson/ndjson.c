// SPDX-License-Identifier: GPL-2.0-only
/*
 * One JSON object per event and line, for programs: every field of every record, with resolved
 * names and ids. A string that is not valid UTF-8 is followed by its bytes in hex, so that nothing
 * is lost. xsprof-dump(1) documents the fields.
 */
#include <errno.h>
#include <stdlib.h>

#include "format/ndjson/local.h"
#include "ranges/program.h"
#include "text/json.h"

static size_t bounded(size_t len)
{
	/* A name and its category share the scratch buffer of a name. */
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
		/* The payload of the NaN. */
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
		p = FIELD(p, "type", ndjson_put_word, xsp_word_arg(arg.type));
		/* The string as recorded: a field says that it was longer. */
		if (arg.type != XSPROF_ARG_STR)
			xsp_arg_plain(out->trace, ev->producer, &arg, plain);
		p = put_value(out, ev, &arg, p);
		*p++ = '}';
	}
	if (any)
		*p++ = ']';
	return p;
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
	p = FIELD(p, "type", ndjson_put_word, xsp_word_type(ev->type));
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
		p = ndjson_put_fields(out, view, p);
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

/* Open ranges of a process or thread at its end: objects before that of the end. */
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
	p = put_lit(ndjson_put_uncertain(range, p), "}\n");
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
