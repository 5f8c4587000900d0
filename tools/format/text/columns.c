// SPDX-License-Identifier: GPL-2.0-only
/*
 * The columns before the name of an event: thread, CPU, time, type. Parts that rarely change are
 * cached as text. It does not interpret fields of records.
 */
#include <errno.h>
#include <stdlib.h>

#include "format/text/local.h"
#include "text/put.h"

#define CPUS	1024

struct label {
	char		text[16];
	uint32_t	len;
};

/**
 * struct text - state of the text format
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

static void make_label(struct label *label, uint16_t type)
{
	size_t len = strlen(xsp_word_type(type));

	memset(label->text, ' ', sizeof(label->text));
	memcpy(label->text, xsp_word_type(type), len);
	label->text[len] = ':';
	/* Common types are aligned; long ones move the name to the right. */
	label->len = len + 2 > 10 ? (uint32_t)len + 2 : 10;
}

int text_columns_new(struct xsp_out *out)
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
static char *put_prefix(struct xsp_out *out, struct xsp_track *thread, char *p)
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
	width = (size_t)(put_u64(p, xsp_track_tid(out->trace, thread)) - p);
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

char *text_put_thread(struct xsp_out *out, struct xsp_track *thread, char *p)
{
	char *text = p, *end;

	if (xsp_track_stale(thread) || !thread->prefix) {
		/* Reserves room for the longest name, XSP_NAME_BYTES. */
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

static char *put_time(struct xsp_out *out, uint64_t ns, char *p)
{
	struct text *text = out->priv;

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

char *text_put_place(struct xsp_out *out, int32_t cpu, uint64_t ns, char *p)
{
	return put_time(out, ns, put_cpu(out->priv, cpu, p));
}

char *text_put_label(struct xsp_out *out, uint16_t type, char *p)
{
	const struct text *text = out->priv;
	const struct label *label;

	label = &text->label[type <= XSPROF_EV_EXIT ? type : XSPROF_REC_INVALID];
	memcpy(p, label->text, sizeof(label->text));
	return p + label->len;
}
