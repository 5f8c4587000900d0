// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Stores texts in a pool, in a map by (producer, id), and in lists of lines. Memory is in
 * proportion to the text in a capture: large ids cost no more than small ones.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "decode/texts.h"

const struct xst_text *xst_pool_text(struct xsp_pool *pool, const char *s, size_t len)
{
	struct xst_text *text = xsp_pool_get(pool, sizeof(*text) + len + 1);

	if (!text)
		return NULL;
	text->len = len;
	memcpy(text->s, s, len);
	text->s[len] = 0;
	return text;
}

#define MAX_LINES	65536u

int xst_lines_add(struct xsp_pool *pool, struct xst_lines *lines, const char *s, size_t len)
{
	const struct xst_text *text;

	if (lines->nr >= MAX_LINES)
		return -E2BIG;
	/* The capacity is a power of two: full when the number is one. */
	if (!(lines->nr & (lines->nr - 1))) {
		void *list = realloc(lines->list, (lines->nr ? 2 * lines->nr : 1) *
				     sizeof(*lines->list));

		if (!list)
			return -ENOMEM;
		lines->list = list;
	}
	text = xst_pool_text(pool, s, len);
	if (!text)
		return -ENOMEM;
	lines->list[lines->nr++] = text;
	return 0;
}

/* ---- the map ----------------------------------------------------------------------------- */

#define KEY_USED	(1ull << 63)

/* Producer numbers are far below 2^31: the top bit marks used slots. */
static uint64_t make_key(uint32_t producer, uint32_t id)
{
	return KEY_USED | (uint64_t)producer << 32 | id;
}

void xst_map_key(uint64_t key, uint32_t *producer, uint32_t *id)
{
	*producer = (uint32_t)((key & ~KEY_USED) >> 32);
	*id = (uint32_t)key;
}

const void *xst_map_get(const struct xsp_map *map, uint32_t producer, uint32_t id)
{
	const uint64_t *value = xsp_map_get(map, make_key(producer, id));

	return value ? (const void *)(uintptr_t)*value : NULL;
}

int xst_map_set(struct xsp_map *map, uint32_t producer, uint32_t id, const void *value)
{
	return xsp_map_set(map, make_key(producer, id), (uintptr_t)value);
}
