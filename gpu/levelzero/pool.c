// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The buffers that PTI fills, one of each thread that calls Level Zero.  PTI asks with a lock held
 * that all recorded calls need.
 */
#include <stdlib.h>

#include "gpu/levelzero/local.h"

#define BYTES		(64u << 10)
/*
 * PTI gives a buffer back when it has no room for its longest record.  So a thread that launches
 * rarely has a small one, which some three launches fill.
 */
#define FEW		(1u << 10)
/*
 * When all are in use a thread gets a small one, which is read no further than to count what is in
 * it: without one PTI would drop records, and print a line for each on standard error.
 */
#define DISCARDED	512u

static struct gpu_pool pool = GPU_POOL(BYTES, FEW);

/* Without any memory PTI drops the one record that it asks for, and asks again for the next. */
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
