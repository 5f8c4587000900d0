// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Memory pool: see pool.h.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/pool.h"

#define FIRST	(4u << 10)	/* most pools are small */
#define BLOCK	(64u << 10)

struct xsp_pool_block {
	struct xsp_pool_block	*next;
	uint64_t		data[];
};

void *xsp_pool_get(struct xsp_pool *pool, size_t size)
{
	size_t need = (size + 7) & ~(size_t)7;
	void *got;

	if (need < size || need > PTRDIFF_MAX)
		return NULL;
	if (pool->room < need || !pool->at) {
		size_t most = pool->blocks ? BLOCK : FIRST;
		size_t room = need > most ? need : most;
		struct xsp_pool_block *block = malloc(sizeof(*block) + room);

		if (!block)
			return NULL;
		block->next = pool->blocks;
		pool->blocks = block;
		pool->at = (char *)block->data;
		pool->room = room;
		pool->bytes += room;
	}
	got = pool->at;
	pool->at += need;
	pool->room -= need;
	return got;
}

void xsp_pool_free(struct xsp_pool *pool)
{
	while (pool->blocks) {
		struct xsp_pool_block *block = pool->blocks;

		pool->blocks = block->next;
		free(block);
	}
	*pool = (struct xsp_pool){ 0 };
}
