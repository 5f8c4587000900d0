// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Chunks and notes of a recording, with what became of them.  It never gives up: after an error
 * the caller goes on, and what is lost is counted.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "drain/store.h"

int xsp_store_chunk(struct xsp_store *st, struct xsprof_chunk *chunk, const void *raw, size_t len)
{
	int err;

	/*
	 * Slots are not tried again after an error: a hole would be none the less lost.  The few
	 * bytes that say what happened may find room where a chunk of slots found none.
	 */
	if (st->error && chunk->type == XSPROF_CHUNK_RING)
		return st->error;
	if (st->error)
		xsp_cap_retry(st->cap);
	err = xsp_cap_chunk(st->cap, chunk, raw, len);
	if (!err || st->error)
		return err;
	st->error = err;
	xsp_store_note(st, "the file could not be written: %s; nothing is stored after this",
		       strerror(-err));
	return err;
}

static void say(struct xsp_store *st, bool note, const char *text)
{
	if (st->ops && st->ops->say)
		st->ops->say(st->data, note, text);
}

void xsp_store_note(struct xsp_store *st, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	xsp_cap_note(st->cap, text);
	say(st, true, text);
}

void xsp_store_say(struct xsp_store *st, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	say(st, false, text);
}
