// SPDX-License-Identifier: GPL-2.0-only
/*
 * One line per event, for people, grep and awk: the columns of trace-cmd report and perf script.
 *
 *	            comm-TID     [CPU] SECONDS.NANOSECONDS: TYPE: NAME key=value... {arguments}
 *
 * xsprof-dump(1) documents the columns, which are stable; the fields after the name may be
 * extended. It never prints characters that control a terminal.
 */
#include <stdlib.h>

#include "format/text/local.h"
#include "text/put.h"

static char *name_text(const struct xsprof_trace *trace, uint32_t producer, uint32_t name, char *p)
{
	const char *s;
	size_t len;

	if (!name)
		return put_lit(p, "-");
	s = xsprof_trace_name_len(trace, producer, name, &len);
	return xsp_escape_text(p, s, len < XSP_NAME_BYTES ? len : XSP_NAME_BYTES);
}

static char *key_text(const struct xsprof_trace *trace, uint32_t producer, uint32_t name, char *p)
{
	p = name_text(trace, producer, name, p);
	*p++ = '=';
	return p;
}

static char *put_name(struct xsp_out *out, uint32_t producer, uint32_t name, char *p)
{
	const struct xsp_name *entry = xsp_names_get(out->names, producer, name);

	if (__builtin_expect(entry->len <= 1024, 1)) {
		memcpy(p, entry->text, entry->len);
		return p + entry->len;
	}
	out->buf.p = p;
	xsp_buf_put(&out->buf, entry->text, entry->len);
	return xsp_buf_room(&out->buf, XSP_BUF_ROOM);
}

static char *put_args(struct xsp_out *out, const struct xsprof_event *ev, char *p)
{
	char plain[XSP_ARG_TEXT];
	struct xsprof_trace_arg arg;
	const struct xsp_name *key;
	char sep = '{';
	size_t pos = 0;

	*p++ = ' ';
	while (xsprof_trace_args(ev, &pos, &arg)) {
		xsp_arg_plain(out->trace, ev->producer, &arg, plain);
		*p++ = sep;
		sep = ' ';
		out->buf.p = p;
		key = xsp_names_get(out->keys, ev->producer, arg.key);
		xsp_buf_put(&out->buf, key->text, key->len);
		p = xsp_buf_room(&out->buf, XSP_BUF_ROOM);
		switch (arg.type) {
		case XSPROF_ARG_I64:
			p = put_i64(p, arg.u.i64);
			break;
		case XSPROF_ARG_U64:
			p = put_u64(p, arg.u.u64);
			break;
		case XSPROF_ARG_F64:
			p = xsp_put_double(p, arg.u.f64);
			break;
		case XSPROF_ARG_BOOL:
			p = arg.u.u64 ? put_lit(p, "true") : put_lit(p, "false");
			break;
		case XSPROF_ARG_NAME:
			p = put_name(out, ev->producer, (uint32_t)arg.u.u64, p);
			break;
		case XSPROF_ARG_STR:
			if (arg.flags & XSPROF_ARGF_CONT)
				p = put_lit(p, "...");
			p = text_put_quoted(p, arg.str, arg.len);
			break;
		default:
			p = put_hex(p, arg.u.u64);
		}
	}
	if (sep == '{')
		return p - 1;
	*p++ = '}';
	return p;
}

static void text_event(struct xsp_out *out, const struct xsp_view *view)
{
	const struct xsprof_event *ev = view->ev;
	char *p = xsp_buf_room(&out->buf, XSP_BUF_ROOM);

	p = text_put_thread(out, view->thread, p);
	p = text_put_place(out, ev->cpu, ev->ns, p);
	p = text_put_label(out, ev->type, p);
	p = put_name(out, ev->producer, view->name, p);
	if (ev->type != XSPROF_REC_BEGIN || ev->flags & XSPROF_EVF_OP)
		p = text_put_fields(out, view, p);
	if (ev->flags & XSPROF_EVF_BACK)
		p = put_lit(p, " clock=back");
	/* A record of one slot has no room for arguments. */
	if (ev->rec_size > sizeof(struct xsprof_rec))
		p = put_args(out, ev, p);
	*p++ = '\n';
	out->buf.p = p;
}

/* Open ranges of a process or thread at its end: lines before that of the end. */
static void text_closed(void *data, struct xsp_track *thread, struct xsp_range *range,
			uint64_t ns, enum xsp_why why)
{
	struct xsp_out *out = data;
	uint64_t after;
	char *p;

	if ((why != XSP_WHY_EXIT && why != XSP_WHY_THREAD) || !range->shown)
		return;
	after = xsp_ended_after(out->trace, thread->producer, range->begin, ns, why);
	p = text_put_thread(out, thread, xsp_buf_room(&out->buf, XSP_BUF_ROOM));
	p = text_put_place(out, -1, ns, p);
	p = put_name(out, thread->producer, range->name, put_lit(p, "open:     "));
	p = put_seconds(put_lit(p, " begin="), range->begin);
	p = put_u64(put_lit(p, " dur="), ns > range->begin ? ns - range->begin : 0);
	if (after < ns)
		p = put_seconds(put_lit(p, " ended_after="), after);
	if (why == XSP_WHY_THREAD)
		p = put_lit(p, " thread=ended");
	if (range->lost)
		p = put_lit(p, " uncertain=lost");
	*p++ = '\n';
	out->buf.p = p;
}

static void text_async_closed(void *data, struct xsp_track *thread,
			      const struct xsprof_range *range, enum xsp_why why)
{
	struct xsp_range open = {
		.begin = range->begin_ns, .name = range->name, .shown = true,
		.lost = range->flags & XSPROF_RANGEF_UNCERTAIN,
	};
	struct xsp_out *out = data;

	if (why != XSP_WHY_EXIT)
		return;
	text_closed(data, thread, &open, range->end_ns, why);
	/* The same line, with the id at its end. */
	out->buf.p = put_lit(put_hex(put_lit(out->buf.p - 1, " id="), range->id), "\n");
}

static void text_finish(struct xsp_out *out)
{
	free(out->priv);
	out->priv = NULL;
}

const struct xsp_format xsp_format_text = {
	.name		= "text",
	.name_text	= name_text,
	.key_text	= key_text,
	.start		= text_columns_new,
	.event		= text_event,
	.kernel_event	= text_kernel_event,
	.kernel_info	= true,
	.ops		= { .closed = text_closed, .async_closed = text_async_closed },
	.finish		= text_finish,
};
