/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * A pool of memory for texts and small objects that are freed together. Allocated memory never
 * moves.
 */
#ifndef XSP_POOL_H
#define XSP_POOL_H

#include <stddef.h>

struct xsp_pool_block;

/* All zeros: an empty pool. @bytes: size of all its blocks. */
struct xsp_pool {
	struct xsp_pool_block	*blocks;
	char			*at;
	size_t			room;
	size_t			bytes;
};

/* Return: @size bytes, aligned to 8, or NULL. */
void *xsp_pool_get(struct xsp_pool *pool, size_t size);
/* Frees all memory; the pool can be used again. */
void xsp_pool_free(struct xsp_pool *pool);

#endif /* XSP_POOL_H */
