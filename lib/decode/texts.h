/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Texts of a capture: stored in a pool, listed, or found by producer and id.
 */
#ifndef XST_TEXTS_H
#define XST_TEXTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/pool.h"

struct xst_text {
	uint32_t	len;
	char		s[];	/* terminated */
};

/* Return: a copy, or NULL without memory. */
const struct xst_text *xst_pool_text(struct xsp_pool *pool, const char *s, size_t len);

/* A list of texts. */
struct xst_lines {
	const struct xst_text	**list;
	uint32_t		nr;
};

/* Return: 0, -E2BIG: too many, -ENOMEM. */
int xst_lines_add(struct xsp_pool *pool, struct xst_lines *lines, const char *s, size_t len);

/* A map from (producer, id) to pointers. */
const void *xst_map_get(const struct xsp_map *map, uint32_t producer, uint32_t id);
int xst_map_set(struct xsp_map *map, uint32_t producer, uint32_t id, const void *value);
/* A text of the pool is aligned to 4, the data after this header to 8. */
struct xst_stack_head {
	uint32_t	left_out;
	uint32_t	maps;		/* maps of its producer before it */
	uint32_t	unused;
};

/* Splits a key of the map; the key is one of @keys and not 0. */
void xst_map_key(uint64_t key, uint32_t *producer, uint32_t *id);

#endif /* XST_TEXTS_H */
