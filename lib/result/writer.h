/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Events of a trace as JSON, into a buffer.  All write at @p, which is in @w->buf, and return the
 * end; without xsr_writer_room() there is room for XSP_BUF_ROOM bytes in all since the last one.
 */
#ifndef XSR_WRITER_H
#define XSR_WRITER_H

#include "ranges/keep.h"
#include "ranges/names.h"
#include "text/buf.h"
#include "text/json.h"

/**
 * struct xsr_writer - where JSON of a trace goes
 * @buf: the output
 * @trace: that names are looked up in
 * @names: names with their quotes
 * @keys: the same with a colon: keys of arguments
 * @sep: what stands before the next event
 * @text: for a string that is put together
 */
struct xsr_writer {
	struct xsp_buf		*buf;
	struct xsprof_trace	*trace;
	struct xsp_names	*names;
	struct xsp_names	*keys;
	char			sep;
	char			text[XSR_TEXT_MAX];
};

/* @trace and @buf stay the caller's.  Return: 0 or -errno; then too xsr_writer_done(). */
int xsr_writer_init(struct xsr_writer *w, struct xsprof_trace *trace, struct xsp_buf *buf);
void xsr_writer_done(struct xsr_writer *w);

/* A name with its quotes, however long. */
char *xsr_writer_name(struct xsr_writer *w, uint32_t producer, uint32_t name, char *p);
/* "name#3" */
char *xsr_writer_step_name(struct xsr_writer *w, uint32_t producer, uint32_t name,
			   uint64_t number, char *p);
/* A name as a key; a comma in front where there was @any before. */
char *xsr_writer_key(struct xsr_writer *w, uint32_t producer, uint32_t key, char *p, bool *any);
/* A string with its quotes, in pieces that fit, each ending between two characters. */
char *xsr_writer_text(struct xsr_writer *w, char *p, const char *s, size_t len);
/* The text of a string argument; @walk is behind its last part afterwards. */
char *xsr_writer_string(struct xsr_writer *w, struct xsr_walk *walk,
			const struct xsprof_trace_arg *arg, char *p);
/* A list of numbers likewise; @python: as that prints it. */
char *xsr_writer_numbers(struct xsr_writer *w, struct xsr_walk *walk,
			 const struct xsprof_trace_arg *arg, bool python, char *p);

/* What is before @p is done: room for XSP_BUF_ROOM bytes more. */
static inline char *xsr_writer_room(struct xsr_writer *w, char *p)
{
	w->buf->p = p;
	return xsp_buf_room(w->buf, XSP_BUF_ROOM);
}

/* Begins an event, on a line of its own. */
static inline char *xsr_writer_open(struct xsr_writer *w)
{
	char *p = xsp_buf_room(w->buf, XSP_BUF_ROOM);

	*p++ = w->sep;
	w->sep = ',';
	*p++ = '\n';
	return p;
}

#endif /* XSR_WRITER_H */
