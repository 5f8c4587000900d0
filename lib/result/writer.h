/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Writes parts of a trace as JSON, to a file or memory. All functions write at @p, in @w->buf, and
 * return the end; after xsr_writer_room() there are XSP_BUF_ROOM bytes of room.
 */
#ifndef XSR_WRITER_H
#define XSR_WRITER_H

#include "ranges/keep.h"
#include "ranges/names.h"
#include "text/buf.h"
#include "text/json.h"
#include "text/keys.h"

/**
 * struct xsr_writer - destination of JSON
 * @buf: the output
 * @trace: source of names
 * @names: cache of names with quotes; NULL: each is looked up
 * @keys: the same with a colon, for keys of arguments
 * @taken: keys already used by the current arguments
 * @text: buffer to assemble a string
 * @room: its size; longer strings are cut
 * @convert: changes a whole number among the arguments of a device's event; NULL: all are written
 *	as they are
 * @data: its first argument
 * @sep: separator before the next event
 */
struct xsr_writer {
	struct xsp_buf		*buf;
	struct xsprof_trace	*trace;
	struct xsp_names	*names;
	struct xsp_names	*keys;
	struct xsp_keys		taken;
	char			*text;
	size_t			room;
	uint64_t		(*convert)(void *data, uint32_t producer, const char *key,
						   uint64_t value);
	void			*data;
	char			sep;
};

/* @trace and @buf stay the caller's. Return: 0 or -errno; call xsr_writer_done() in both cases. */
int xsr_writer_init(struct xsr_writer *w, struct xsprof_trace *trace, struct xsp_buf *buf);
void xsr_writer_done(struct xsr_writer *w);

/* A writer to memory, for small texts that are each read before the next one. */
struct xsr_scratch {
	struct xsr_writer	w;
	struct xsp_buf		buf;
};

/*
 * Begins a text whose strings have up to @room - 1 bytes; @scratch is NULL before the first. The
 * text is at @buf.base, and incomplete if @buf.err is set. Return: NULL: no memory.
 */
struct xsr_writer *xsr_scratch_writer(struct xsr_scratch **scratch, struct xsprof_trace *trace,
				      size_t room);
void xsr_scratch_free(struct xsr_scratch *scratch);

/* Writes a name with quotes, of any length. */
char *xsr_writer_name(struct xsr_writer *w, uint32_t producer, uint32_t name, char *p);
/* Writes "name#3". */
char *xsr_writer_step_name(struct xsr_writer *w, uint32_t producer, uint32_t name,
			   uint64_t number, char *p);
/* Writes a name as a key, with a number if it is @taken; preceded by a comma if @any. */
char *xsr_writer_key(struct xsr_writer *w, uint32_t producer, uint32_t key, char *p, bool *any);
/* Writes a string with quotes, in pieces that fit, split at character boundaries. */
char *xsr_writer_text(struct xsr_writer *w, char *p, const char *s, size_t len);
/* Writes a string argument; advances @walk past its last part. */
char *xsr_writer_string(struct xsr_writer *w, struct xsr_walk *walk,
			const struct xsprof_trace_arg *arg, char *p);
/* The same for an argument marked as JSON: verbatim if it is valid JSON. */
char *xsr_writer_json(struct xsr_writer *w, struct xsr_walk *walk,
		      const struct xsprof_trace_arg *arg, char *p);
/* The same for a list of numbers; @python: as Python prints it. */
char *xsr_writer_numbers(struct xsr_writer *w, struct xsr_walk *walk,
			 const struct xsprof_trace_arg *arg, bool python, char *p);

/* Everything before @p is final: makes room for XSP_BUF_ROOM more bytes. */
static inline char *xsr_writer_room(struct xsr_writer *w, char *p)
{
	w->buf->p = p;
	return xsp_buf_room(w->buf, XSP_BUF_ROOM);
}

/* Begins an event on a new line, without arguments yet. */
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
