// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Iterates over a producer's names and facts. Keeps none of them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "read/peek-arena.h"

#define PIECE	(64u << 10)

/*
 * Walks the entries of a buffer. Return: bytes of complete entries; -EBADMSG for an invalid entry;
 * a non-zero result of @visit.
 */
static long walk(const uint8_t *buf, size_t len, void *data,
		 int (*visit)(void *data, const struct xsprof_entry *entry, const char *text))
{
	char text[XSPROF_TEXT_MAX + 1];
	struct xsprof_entry entry;
	size_t at = 0, n;
	int ret;

	while (len - at >= sizeof(entry)) {
		memcpy(&entry, buf + at, sizeof(entry));
		if (entry.size < sizeof(entry) || entry.size % 8 || entry.size > PIECE ||
		    entry.text_len > entry.size - sizeof(entry))
			return at ? (long)at : -EBADMSG;
		if (entry.size > len - at)
			break;
		n = entry.text_len < XSPROF_TEXT_MAX ? entry.text_len : XSPROF_TEXT_MAX;
		memcpy(text, buf + at + sizeof(entry), n);
		text[n] = '\0';
		ret = visit(data, &entry, text);
		if (ret)
			return ret;
		at += entry.size;
	}
	return at;
}

long peek_arena(const struct xsp_ring_file *rf, uint64_t pos, void *data,
		int (*visit)(void *data, const struct xsprof_entry *entry, const char *text))
{
	uint64_t used = __atomic_load_n(&xsp_ring_arena(rf)->used, __ATOMIC_ACQUIRE);
	uint64_t room = rf->ctl.arena_size - sizeof(struct xsprof_arena);
	uint8_t *buf;
	long n = 0;

	if (used > room)
		used = room;
	if (pos >= used)
		return pos;
	buf = malloc(PIECE);
	if (!buf)
		return -ENOMEM;
	while (pos < used) {
		size_t len = used - pos < PIECE ? used - pos : PIECE;

		n = xsp_ring_copy_arena(rf, pos, buf, len);
		if (!n)
			n = walk(buf, len, data, visit);
		if (n <= 0)
			break;
		pos += n;
	}
	free(buf);
	return n < 0 ? n : (long)pos;
}
