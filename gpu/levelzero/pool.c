// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Buffers for PTI to fill, one per thread that calls Level Zero. PTI requests them under a lock
 * that all recorded calls take.
 */
#include <stdlib.h>

#include "gpu/levelzero/local.h"

#define BYTES		(64u << 10)
/*
 * PTI returns a buffer that has no room for its longest record. So a thread that launches rarely
 * gets a small one, which about three launches fill.
 */
#define FEW		(1u << 10)
/*
 * If all buffers are in use, a thread gets a small one whose records are only counted: with no
 * buffer at all PTI would drop records and print a line on standard error for each.
 */
#define DISCARDED	512u

static struct gpu_pool pool = GPU_POOL(BYTES, FEW);

/* Without memory PTI drops the current record and asks again at the next. */
void levelzero_pool_request(unsigned char **buffer, size_t *size)
{
	*buffer = gpu_pool_get(&pool, size);
	if (*buffer)
		return;
	*buffer = malloc(DISCARDED);
	*size = *buffer ? DISCARDED : 0;
	if (!*buffer)
		levelzero_miss(LEVELZERO_MISS_DROPPED, 1);
}

static void discard(unsigned char *buffer, size_t valid)
{
	void *record = NULL;
	uint64_t n = 0;

	while (!pti.get_next(buffer, valid, &record) && (uint8_t *)record < buffer + valid)
		n++;
	levelzero_miss(LEVELZERO_MISS_DROPPED, n);
	free(buffer);
}

void levelzero_pool_complete(unsigned char *buffer, size_t size, size_t valid)
{
	const struct gpu_buffer b = { .data = buffer, .valid = valid < size ? valid : size };

	if (!buffer)
		return;
	if (size == DISCARDED) {
		discard(buffer, b.valid);
		return;
	}
	if (gpu_pool_put(&pool, &b))
		xsprof_collector_wake(&levelzero_collector);
}

bool levelzero_pool_take(struct gpu_buffer *buffer)
{
	return gpu_pool_take(&pool, buffer);
}

void levelzero_pool_give(const struct gpu_buffer *buffer)
{
	gpu_pool_give(&pool, buffer);
}

uint32_t levelzero_pool_full(void)
{
	return gpu_pool_full(&pool);
}
