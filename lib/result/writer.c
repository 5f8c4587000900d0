// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Writes the JSON parts of a trace: names, texts and numbers: see writer.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "result/numbers.h"
#include "result/writer.h"
#include "text/json-valid.h"
#include "text/json.h"
#include "text/utf8.h"

#define NAMES_MEMORY	(4u << 20)
#define KEYS_MEMORY	(1u << 20)

static char *name_text(const struct xsprof_trace *trace, uint32_t producer, uint32_t name, char *p)
{
	size_t len;
	const char *s = xsprof_trace_name_len(trace, producer, name, &len);

	return json_string(p, s, len < XSP_NAME_BYTES ? len : XSP_NAME_BYTES, NULL);
}

static char *key_text(const struct xsprof_trace *trace, uint32_t producer, uint32_t name, char *p)
{
	p = name_text(trace, producer, name, p);
	*p++ = ':';
	return p;
}

int xsr_writer_init(struct xsr_writer *w, struct xsprof_trace *trace, struct xsp_buf *buf)
{
	int ret;

	w->trace = trace;
	w->buf = buf;
	w->sep = ' ';
	w->room = XSR_TEXT_MAX;
	w->text = malloc(w->room);
	if (!w->text)
		return -ENOMEM;
	ret = xsp_names_new(trace, name_text, NAMES_MEMORY, &w->names);
	return ret ? ret : xsp_names_new(trace, key_text, KEYS_MEMORY, &w->keys);
}

void xsr_writer_done(struct xsr_writer *w)
{
	xsp_names_free(w->names);
	xsp_names_free(w->keys);
	xsp_keys_free(&w->taken);
	free(w->text);
}

struct xsr_writer *xsr_scratch_writer(struct xsr_scratch **scratch, struct xsprof_trace *trace,
				      size_t room)
{
	struct xsr_scratch *s = *scratch;
	char *text;

	if (!s) {
		s = calloc(1, sizeof(*s));
		if (!s || xsp_buf_memory(&s->buf)) {
			free(s);
			return NULL;
		}
		s->w.trace = trace;
		s->w.buf = &s->buf;
		*scratch = s;
	}
	if (s->w.room < room) {
		text = realloc(s->w.text, room);
		if (!text)
			return NULL;
		s->w.text = text;
		s->w.room = room;
	}
	xsp_keys_clear(&s->w.taken);
	s->buf.p = s->buf.base;
	s->buf.err = 0;
	return &s->w;
}

void xsr_scratch_free(struct xsr_scratch *s)
{
	if (!s)
		return;
	xsp_buf_free(&s->buf);
	xsr_writer_done(&s->w);
	free(s);
}

/* ---- names ---------------------------------------------------------------------------------- */

/*
 * Writes a name without its last @cut bytes; the end of a long one may be at the begin of the
 * buffer.
 */
static char *put_name(struct xsr_writer *w, uint32_t producer, uint32_t name, uint32_t cut,
		      char *p)
{
	const struct xsp_name *entry;
	const char *s;
	size_t len;

	if (!name)
		return put_lit(p, "\"range\"") - cut;
	if (!w->names) {
		s = xsprof_trace_name_len(w->trace, producer, name, &len);
		return xsr_writer_text(w, p, s, len) - cut;
	}
	entry = xsp_names_get(w->names, producer, name);
	if (__builtin_expect(entry->len <= 1024, 1)) {
		memcpy(p, entry->text, entry->len);
		return p + entry->len - cut;
	}
	w->buf->p = p;
	xsp_buf_put(w->buf, entry->text, entry->len - cut);
	return xsp_buf_room(w->buf, XSP_BUF_ROOM);
}

char *xsr_writer_name(struct xsr_writer *w, uint32_t producer, uint32_t name, char *p)
{
	return put_name(w, producer, name, 0, p);
}

char *xsr_writer_step_name(struct xsr_writer *w, uint32_t producer, uint32_t name,
			   uint64_t number, char *p)
{
	p = put_name(w, producer, name, 1, p);
	*p++ = '#';
	p = put_u64(p, number);
	*p++ = '"';
	return p;
}

char *xsr_writer_key(struct xsr_writer *w, uint32_t producer, uint32_t key, char *p, bool *any)
{
	const struct xsp_name *entry;
	uint32_t number;
	size_t start;

	if (*any)
		*p++ = ',';
	*any = true;
	if (!w->keys) {
		/* Growing memory is moved, never flushed. */
		start = (size_t)(p - w->buf->base);
		p = xsr_writer_name(w, producer, key, p);
		*p++ = ':';
		if (w->buf->err)
			return p;
		number = xsp_keys_take(&w->taken, w->buf->base + start,
				       (size_t)(p - w->buf->base) - start);
		return xsp_keys_number(p, number);
	}
	entry = xsp_names_get(w->keys, producer, key);
	number = xsp_keys_take(&w->taken, entry->text, entry->len);
	w->buf->p = p;
	xsp_buf_put(w->buf, entry->text, entry->len - 2);
	p = xsp_buf_room(w->buf, XSP_BUF_ROOM);
	return xsp_keys_number(put_lit(p, "\":"), number);
}

/* ---- texts ---------------------------------------------------------------------------------- */

char *xsr_writer_text(struct xsr_writer *w, char *p, const char *s, size_t len)
{
	size_t n;

	*p++ = '"';
	while (len) {
		n = xsp_utf8_piece(s, len, 4096);
		p = xsp_escape_json(xsr_writer_room(w, p), s, n, NULL);
		s += n;
		len -= n;
	}
	*p++ = '"';
	return p;
}

/* Assembled in w->text first, as it may come in parts. */
char *xsr_writer_string(struct xsr_writer *w, struct xsr_walk *walk,
			const struct xsprof_trace_arg *arg, char *p)
{
	size_t len = xsr_walk_bytes(walk, arg, w->text, w->room);

	if (walk->cut && len + 3 <= w->room) {
		memcpy(w->text + len, "...", 3);
		len += 3;
	}
	return xsr_writer_text(w, p, w->text, len);
}

char *xsr_writer_json(struct xsr_writer *w, struct xsr_walk *walk,
		      const struct xsprof_trace_arg *arg, char *p)
{
	size_t len = xsr_walk_bytes(walk, arg, w->text, w->room);

	if (len == w->room || memchr(w->text, 0, len))
		return xsr_writer_text(w, p, w->text, len);
	w->text[len] = '\0';
	if (!xsp_json_valid(w->text))
		return xsr_writer_text(w, p, w->text, len);
	w->buf->p = p;
	xsp_json_put_valid(w->buf, w->text, len);
	return xsp_buf_room(w->buf, XSP_BUF_ROOM);
}

/* Numbers that fit between two pieces of a list. */
#define PIECE	1024u

char *xsr_writer_numbers(struct xsr_writer *w, struct xsr_walk *walk,
			 const struct xsprof_trace_arg *arg, bool python, char *p)
{
	size_t unit = arg->type == XSPROF_ARG_I32S ? 4 : 8;
	size_t nr = xsr_walk_bytes(walk, arg, w->text, w->room) / unit;

	_Static_assert(PIECE * XSR_NUMBER_MAX < XSP_BUF_ROOM, "a piece of a list fits");
	p = xsr_writer_room(w, p);
	*p++ = '[';
	for (size_t i = 0; i < nr; i++) {
		if (i && i % PIECE == 0)
			p = xsr_writer_room(w, p);
		if (i)
			*p++ = ',';
		if (i && python)
			*p++ = ' ';
		p = xsr_put_number(p, arg->type, w->text + unit * i, python);
	}
	*p++ = ']';
	return xsr_writer_room(w, p);
}
