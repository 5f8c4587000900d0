/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What a trace holds as JSON, into a file or into memory.  All write at @p, in @w->buf, and
 * return the end; after xsr_writer_room() there is room for XSP_BUF_ROOM bytes in all.
 */
#ifndef XSR_WRITER_H
#define XSR_WRITER_H

#include "ranges/keep.h"
#include "ranges/names.h"
#include "text/buf.h"
#include "text/json.h"
#include "text/keys.h"

/**
 * struct xsr_writer - where JSON of a trace goes
 * @buf: the output
 * @trace: that names are looked up in
 * @names: names with their quotes; NULL: each is looked up
 * @keys: the same with a colon: keys of arguments
 * @taken: those that the arguments under way have already
 * @text: for a string that is put together
 * @room: bytes of it; what is longer is cut
 * @sep: what stands before the next event
 */
struct xsr_writer {
	struct xsp_buf		*buf;
	struct xsprof_trace	*trace;
	struct xsp_names	*names;
	struct xsp_names	*keys;
	struct xsp_keys		taken;
	char			*text;
	size_t			room;
	char			sep;
};

/* @trace and @buf stay the caller's.  Return: 0 or -errno; then too xsr_writer_done(). */
int xsr_writer_init(struct xsr_writer *w, struct xsprof_trace *trace, struct xsp_buf *buf);
void xsr_writer_done(struct xsr_writer *w);

/* One that writes into memory, for small texts of which each is read before the next. */
struct xsr_scratch {
	struct xsr_writer	w;
	struct xsp_buf		buf;
};

/*
 * Begins a text whose strings have up to @room - 1 bytes; @scratch is NULL before the first.  It is
 * at @buf.base then, and lost where @buf.err is set.  Return: NULL: no memory.
 */
struct xsr_writer *xsr_scratch_writer(struct xsr_scratch **scratch, struct xsprof_trace *trace,
				      size_t room);
void xsr_scratch_free(struct xsr_scratch *scratch);

/* A name with its quotes, however long. */
char *xsr_writer_name(struct xsr_writer *w, uint32_t producer, uint32_t name, char *p);
/* "name#3" */
char *xsr_writer_step_name(struct xsr_writer *w, uint32_t producer, uint32_t name,
			   uint64_t number, char *p);
/* A name as a key, with a number where it is @taken; a comma in front where there was @any. */
char *xsr_writer_key(struct xsr_writer *w, uint32_t producer, uint32_t key, char *p, bool *any);
/* A string with its quotes, in pieces that fit, each ending between two characters. */
char *xsr_writer_text(struct xsr_writer *w, char *p, const char *s, size_t len);
/* The text of a string argument; @walk is behind its last part afterwards. */
char *xsr_writer_string(struct xsr_writer *w, struct xsr_walk *walk,
			const struct xsprof_trace_arg *arg, char *p);
/* The same of one that says it is JSON: as it is, where that is so. */
char *xsr_writer_json(struct xsr_writer *w, struct xsr_walk *walk,
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

/* Begins an event, on a line of its own: it has no arguments yet. */
static inline char *xsr_writer_open(struct xsr_writer *w)
{
	char *p = xsp_buf_room(w->buf, XSP_BUF_ROOM);

	xsp_keys_clear(&w->taken);
	*p++ = w->sep;
	w->sep = ',';
	*p++ = '\n';
	return p;
}

#endif /* XSR_WRITER_H */
