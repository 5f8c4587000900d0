// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ranges of zero length in Chrome's JSON. Perfetto sorts the end of a range before a begin of the
 * same time, unless the file is sorted by time, which it is not if it has ranges that were written
 * at their end. The range would then seem to last until the end of the range around it. So the
 * begin, which is still in the buffer, is changed to an "X" of duration 0 when its end follows.
 */
#include "format/chrome/local.h"

/* Offset of the phase in an event's text: after the comma, a newline and `{"ph":"`. */
#define PHASE	9u

/* Space left before the buffer is written out. */
static size_t left(const struct xsp_out *out)
{
	return out->buf.p < out->buf.limit ? (size_t)(out->buf.limit - out->buf.p) : 0;
}

void chrome_empty_open(struct xsp_out *out, uint64_t ns)
{
	struct chrome_empty *empty = &((struct chrome *)out->priv)->empty;

	ns = chrome_rel(out, ns);
	if (empty->n && (empty->ns != ns || empty->total != out->buf.total))
		empty->n = 0;
	/* The begin must still be in the buffer when its end follows. */
	if (!empty->n && left(out) < CHROME_ROOM)
		xsp_buf_flush(&out->buf);
	empty->ns = ns;
	empty->total = out->buf.total;
	empty->from = chrome_offset(out);
}

void chrome_empty_begin(struct xsp_out *out, const struct xsp_track *thread)
{
	struct chrome_empty *empty = &((struct chrome *)out->priv)->empty;

	if (empty->total != out->buf.total) {
		empty->n = 0;
		return;
	}
	if (empty->n == CHROME_EMPTY)
		memmove(empty->v, empty->v + 1, --empty->n * sizeof(empty->v[0]));
	empty->v[empty->n++] = (struct chrome_begin){
		.thread = thread, .from = empty->from,
		.to = (size_t)(out->buf.p - out->buf.base),
	};
}

void chrome_empty_forget(struct xsp_out *out, const struct xsp_track *thread)
{
	struct chrome_empty *empty = &((struct chrome *)out->priv)->empty;
	uint32_t n = 0;

	for (uint32_t i = 0; i < empty->n; i++)
		if (empty->v[i].thread != thread)
			empty->v[n++] = empty->v[i];
	empty->n = n;
}

/* Removes the innermost range of the thread that begins at @ns. Return: false: none. */
static bool take(struct xsp_out *out, const struct xsp_track *thread, uint64_t ns,
		 struct chrome_begin *begin)
{
	struct chrome_empty *empty = &((struct chrome *)out->priv)->empty;
	uint32_t i = empty->n;

	if (empty->ns != chrome_rel(out, ns) || empty->total != out->buf.total)
		return false;
	while (i && empty->v[i - 1].thread != thread)
		i--;
	if (!i)
		return false;
	*begin = empty->v[i - 1];
	memmove(&empty->v[i - 1], &empty->v[i], (--empty->n - (i - 1)) * sizeof(empty->v[0]));
	return true;
}

/* Adjusts the positions after @at. */
static void moved(struct xsp_out *out, size_t at, size_t by)
{
	struct chrome_empty *empty = &((struct chrome *)out->priv)->empty;

	for (uint32_t i = 0; i < empty->n; i++) {
		if (empty->v[i].from >= at) {
			empty->v[i].from += by;
			empty->v[i].to += by;
		}
	}
}

/* An event without arguments ends in `"}`, one with arguments in `"}}`. */
bool chrome_empty_end(struct xsp_out *out, const struct xsp_track *thread, uint64_t begin,
		      uint64_t ns, size_t end, size_t args)
{
	static const char key[] = ",\"args\":{";
	size_t len = (size_t)(out->buf.p - out->buf.base) - args, between;
	char *base = out->buf.base, *p = out->scratch;
	struct chrome_begin b;
	bool had;

	if (chrome_rel(out, begin) != chrome_rel(out, ns) || !take(out, thread, ns, &b))
		return false;
	between = end - b.to;
	if (len + between + 64 > XSP_SCRATCH)
		return false;
	had = base[b.to - 2] == '}';
	/* The text that replaces the closing brackets of the begin. */
	if (len == 1) {
		p = had ? put_lit(p, "}") : p;
	} else if (had) {
		*p++ = ',';
		p = mempcpy(p, base + args + sizeof(key) - 1, len - sizeof(key));
	} else {
		p = mempcpy(p, base + args, len - 1);
	}
	p = put_lit(p, ",\"dur\":0.0}");
	moved(out, b.to, (size_t)(p - out->scratch) - (had ? 2 : 1));
	p = mempcpy(p, base + b.to, between);
	len = (size_t)(p - out->scratch);
	out->buf.p = mempcpy(base + b.to - (had ? 2 : 1), out->scratch, len);
	base[b.from + PHASE] = 'X';
	return true;
}
