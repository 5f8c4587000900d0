// SPDX-License-Identifier: GPL-2.0-only
/*
 * One line an event, for people, grep and awk: the columns of trace-cmd report and perf script.
 *
 *	            comm-TID     [CPU] SECONDS.NANOSECONDS: TYPE: NAME key=value... {arguments}
 *
 * The columns are documented in xsprof-dump(1) and stay as they are; what a type prints after
 * its name may grow.  It never prints what a terminal would act on.
 */
#include <errno.h>
#include <stdlib.h>

#include "format/text/text.h"
#include "text/put.h"

#define CPUS	1024

struct label {
	char		text[16];
	uint32_t	len;
};

/**
 * struct text - what the text format keeps
 * @second_ns: start of the second that @second is about
 * @second: " SECONDS." of it, right-aligned
 * @cpu: "[007] " of the CPU, 8 bytes each
 * @label: "begin: " of the type, padded
 */
struct text {
	uint64_t	second_ns;
	uint32_t	second_len;
	char		second[32];
	char		cpu[CPUS][8];
	struct label	label[XSPROF_EV_EXIT + 1];
};

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

static void make_label(struct label *label, uint16_t type)
{
	size_t len = strlen(xsp_word_type(type));

	memset(label->text, ' ', sizeof(label->text));
	memcpy(label->text, xsp_word_type(type), len);
	label->text[len] = ':';
	/* The common types line up; the long ones move their names to the right. */
	label->len = len + 2 > 10 ? (uint32_t)len + 2 : 10;
}

static int text_start(struct xsp_out *out)
{
	struct text *text = calloc(1, sizeof(*text));
	uint32_t i;
	char *p;

	if (!text)
		return -ENOMEM;
	for (i = 0; i <= XSPROF_EV_EXIT; i++)
		make_label(&text->label[i], (uint16_t)i);
	for (i = 0; i < CPUS; i++) {
		memcpy(text->cpu[i], "[       ", 8);
		p = text->cpu[i] + 1;
		p = i < 1000 ? put_d3(p, i) : put_u32(p, i);
		*p = ']';
	}
	memcpy(text->second, "     0.", 7);
	text->second_len = 7;
	out->priv = text;
	return 0;
}

/* "            comm-TID     ": the name right-aligned to 16, the id left-aligned to 8. */
static char *put_prefix(struct xsp_out *out, struct xsp_thread *thread, char *p)
{
	const char *comm = xsprof_trace_thread(out->trace, thread->producer,
					       (uint32_t)thread->tid);
	size_t len = strlen(comm), width;
	const char *end;
	char *text = out->scratch;

	if (!len)
		comm = "?", len = 1;
	end = xsp_escape_text(text, comm, len < XSP_NAME_BYTES ? len : XSP_NAME_BYTES);
	width = 0;
	for (const char *s = text; s < end; s++)
		width += ((unsigned char)*s & 0xc0) != 0x80;
	if (width < 16) {
		memset(p, ' ', 16 - width);
		p += 16 - width;
	}
	memcpy(p, text, (size_t)(end - text));
	p += end - text;
	*p++ = '-';
	width = (size_t)(put_u64(p, xsp_thread_tid(out->trace, thread)) - p);
	memset(p + width, ' ', 8);
	return p + (width < 8 ? 8 : width) + 1;
}

static char *copy32(char *p, const char *s, uint32_t len)
{
	uint32_t i;

	for (i = 0; i < len; i += 32)
		memcpy(p + i, s + i, 32);
	return p + len;
}

static char *put_thread(struct xsp_out *out, struct xsp_thread *thread, char *p)
{
	char *text = p, *end;

	if (xsp_thread_stale(thread) || !thread->prefix) {
		/* A name has at most XSP_NAME_BYTES: room is made for it in the buffer. */
		end = put_prefix(out, thread, out->scratch + XSP_SCRATCH / 2);
		text = out->scratch + XSP_SCRATCH / 2;
		if (!xsp_tracks_prefix(out->tracks, thread, text, (size_t)(end - text))) {
			out->buf.p = p;
			xsp_buf_put(&out->buf, text, (size_t)(end - text));
			return xsp_buf_room(&out->buf, XSP_BUF_ROOM);
		}
	}
	if (thread->prefix_len > 256) {
		out->buf.p = p;
		xsp_buf_put(&out->buf, thread->prefix, thread->prefix_len);
		return xsp_buf_room(&out->buf, XSP_BUF_ROOM);
	}
	return copy32(p, thread->prefix, thread->prefix_len);
}

static char *put_cpu(const struct text *text, int32_t cpu, char *p)
{
	if (__builtin_expect(cpu >= 0 && cpu < CPUS, 1)) {
		memcpy(p, text->cpu[cpu], 8);
		return p + (cpu < 1000 ? 6 : 7);
	}
	if (cpu < 0)
		return put_lit(p, "[---] ");
	*p++ = '[';
	p = put_u32(p, (uint32_t)cpu);
	return put_lit(p, "] ");
}

static char *put_time(struct xsp_out *out, struct text *text, uint64_t ns, char *p)
{
	if (out->relative)
		ns = ns > out->base_ns ? ns - out->base_ns : 0;
	if (__builtin_expect(ns - text->second_ns >= 1000000000u, 0)) {
		char tmp[XSP_PUT_MAX];
		size_t n = (size_t)(put_u64(tmp, ns / 1000000000u) - tmp);
		size_t pad = n < 6 ? 6 - n : 0;

		text->second_ns = ns - ns % 1000000000u;
		memset(text->second, ' ', pad);
		memcpy(text->second + pad, tmp, n);
		text->second[pad + n] = '.';
		text->second_len = (uint32_t)(pad + n + 1);
	}
	memcpy(p, text->second, sizeof(text->second));
	p = put_d9(p + text->second_len, (uint32_t)(ns - text->second_ns));
	*p++ = ':';
	*p++ = ' ';
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

char *text_put_place(struct xsp_out *out, const struct xsprof_event *ev, char *p)
{
	return put_time(out, out->priv, ev->ns, put_cpu(out->priv, ev->cpu, p));
}

static void text_event(struct xsp_out *out, const struct xsp_view *view)
{
	const struct xsprof_event *ev = view->ev;
	struct text *text = out->priv;
	const struct label *label;
	char *p = xsp_buf_room(&out->buf, XSP_BUF_ROOM);

	p = put_thread(out, view->thread, p);
	p = put_cpu(text, ev->cpu, p);
	p = put_time(out, text, ev->ns, p);
	label = &text->label[ev->type <= XSPROF_EV_EXIT ? ev->type : XSPROF_REC_INVALID];
	memcpy(p, label->text, sizeof(label->text));
	p += label->len;
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

/* What its process was in when that ended: a line before the one of the end. */
static void text_closed(void *data, struct xsp_thread *thread, struct xsp_range *range,
			uint64_t ns, enum xsp_why why)
{
	struct xsp_out *out = data;
	char *p;

	if (why != XSP_WHY_EXIT || !range->shown)
		return;
	p = put_thread(out, thread, xsp_buf_room(&out->buf, XSP_BUF_ROOM));
	p = put_time(out, out->priv, ns, put_cpu(out->priv, -1, p));
	p = put_name(out, thread->producer, range->name, put_lit(p, "open:     "));
	p = put_seconds(put_lit(p, " begin="), range->begin);
	p = put_u64(put_lit(p, " dur="), ns > range->begin ? ns - range->begin : 0);
	*p++ = '\n';
	out->buf.p = p;
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
	.start		= text_start,
	.event		= text_event,
	.kernel_event	= text_kernel_event,
	.ops		= { .closed = text_closed },
	.finish		= text_finish,
};
