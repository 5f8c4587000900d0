/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Buffers that a vendor's library fills and the collector reads.  There are as many as are in use
 * at one time, up to a limit, so that the memory of a program does not grow with what its devices
 * do.
 */
#ifndef XSPROF_GPU_COMMON_POOL_H
#define XSPROF_GPU_COMMON_POOL_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#define GPU_BUFFERS	256u

/**
 * struct gpu_buffer - one that was filled
 * @data: at its begin
 * @valid: bytes of it
 */
struct gpu_buffer {
	uint8_t	*data;
	size_t	valid;
};

/**
 * struct gpu_pool - buffers of one size
 * @lock: of all that follows; held for some instructions, and nothing is called under it
 * @bytes: of a buffer
 * @few: as much of it is given where requests are rare
 * @free: those that can be given
 * @full: a queue: the first at @first
 * @last: when the last request was, ns
 */
struct gpu_pool {
	pthread_mutex_t		lock;
	size_t			bytes;
	size_t			few;
	uint8_t			*free[GPU_BUFFERS];
	struct gpu_buffer	full[GPU_BUFFERS];
	uint32_t		made;
	uint32_t		nr_free;
	uint32_t		first;
	uint32_t		nr_full;
	uint64_t		last;
};

#define GPU_POOL(bytes_of, few_of) \
	{ .lock = PTHREAD_MUTEX_INITIALIZER, .bytes = (bytes_of), .few = (few_of) }

/* Memory of @bytes; NULL without any. */
uint8_t *gpu_pool_map(size_t bytes);
/* One, and how much of it is to be filled.  Return: NULL: all are in use, or without memory. */
uint8_t *gpu_pool_get(struct gpu_pool *pool, size_t *size);
/* It was filled, or not at all.  Return: how many are to be read. */
uint32_t gpu_pool_put(struct gpu_pool *pool, const struct gpu_buffer *buffer);
/* Return: 1, or 0: none is to be read. */
int gpu_pool_take(struct gpu_pool *pool, struct gpu_buffer *buffer);
/* In the child of a fork: whichever thread of the parent had the lock. */
void gpu_pool_forget(struct gpu_pool *pool);
/* It was read. */
void gpu_pool_give(struct gpu_pool *pool, const struct gpu_buffer *buffer);
/* Those that are to be read; and those that are not free. */
uint32_t gpu_pool_full(struct gpu_pool *pool);
uint32_t gpu_pool_used(struct gpu_pool *pool);

#endif /* XSPROF_GPU_COMMON_POOL_H */
