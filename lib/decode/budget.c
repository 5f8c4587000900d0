// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Limits the memory for everything that a capture makes the decoder keep: producers, rings, texts,
 * clocks, event descriptions. Windows of rings have a limit of their own (buffers.c). Real captures
 * need about 5 bytes per byte of the file, compressed ones 10.
 */
#include "decode/local.h"

#define FREE_BYTES	(8ull << 20)	/* allowed for any file */
#define RATIO		16u		/* plus this many times the bytes read of it */

static uint64_t map_bytes(const struct xsp_map *map)
{
	return map->room * (sizeof(*map->keys) + sizeof(*map->values));
}

uint64_t xst_kept(const struct xsprof_trace *t)
{
	const struct xst_found *f = &t->found;
	uint64_t n = f->pool.bytes + f->lists;

	n += map_bytes(&f->stream_map) + map_bytes(&f->names) + map_bytes(&f->categories);
	n += map_bytes(&f->threads) + map_bytes(&f->comms) + map_bytes(&f->stacks);
	n += map_bytes(&f->others) + map_bytes(&f->begun) + map_bytes(&f->earlier);
	n += map_bytes(&f->kernel.tasks) + map_bytes(&f->kernel.tgids);
	n += f->nr_streams * (sizeof(struct xst_stream) + sizeof(struct xst_head) + sizeof(void *));
	n += f->room_syncs * (sizeof(struct xsprof_sync) + sizeof(struct xst_point) +
			      sizeof(struct xst_seg));
	return n + f->ring_chunks * 2 * sizeof(uint64_t);
}

bool xst_full(const struct xsprof_trace *t)
{
	return xst_kept(t) > FREE_BYTES + RATIO * t->found.seen;
}
