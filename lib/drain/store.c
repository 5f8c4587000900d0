// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Writes the chunks and notes of a recording, and tracks errors. After an error the caller
 * continues, and losses are counted.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "drain/store.h"

int xsp_store_chunk(struct xsp_store *st, struct xsprof_chunk *chunk, const void *raw, size_t len)
{
	int err;

	/*
	 * Slots are not retried after an error: the gap would be lost anyway. The few bytes that
	 * describe the end may fit where a chunk of slots did not.
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
