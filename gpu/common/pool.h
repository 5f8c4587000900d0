/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * A pool of buffers that a vendor's library fills and the collector reads.  The number of buffers
 * follows the most in use at one time, up to a limit: memory does not grow with the devices' work.
 */
#ifndef XSPROF_GPU_COMMON_POOL_H
#define XSPROF_GPU_COMMON_POOL_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#define GPU_BUFFERS	256u

/**
 * struct gpu_buffer - a filled buffer
 * @data: its begin
 * @valid: bytes filled
 * @records: number of records in it, where that is counted when it is filled
 */
struct gpu_buffer {
	uint8_t		*data;
	size_t		valid;
	uint32_t	records;
};

/**
 * struct gpu_pool - buffers of one size
 * @lock: guards the fields below; held for a few instructions, without calls
 * @bytes: size of a buffer
 * @few: size handed out if requests are rare
 * @free: free buffers
 * @full: queue of filled buffers, from index @first
 * @last: time of the last request, ns
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

/* Maps @bytes of memory.  Return: NULL without memory. */
uint8_t *gpu_pool_map(size_t bytes);
/* Takes a free buffer, sets its usable @size.  Return: NULL if all are in use or without memory. */
uint8_t *gpu_pool_get(struct gpu_pool *pool, size_t *size);
/* Returns a filled buffer, or an empty one.  Return: the number of buffers to read. */
uint32_t gpu_pool_put(struct gpu_pool *pool, const struct gpu_buffer *buffer);
/* Takes the next filled buffer.  Return: 1; 0 if there is none. */
int gpu_pool_take(struct gpu_pool *pool, struct gpu_buffer *buffer);
/* In a forked child: resets the pool, whose lock another thread of the parent may have held. */
void gpu_pool_forget(struct gpu_pool *pool);
/* Returns a buffer that was read to the free ones. */
void gpu_pool_give(struct gpu_pool *pool, const struct gpu_buffer *buffer);
/* Number of filled buffers; number of buffers that are not free. */
uint32_t gpu_pool_full(struct gpu_pool *pool);
uint32_t gpu_pool_used(struct gpu_pool *pool);

#endif /* XSPROF_GPU_COMMON_POOL_H */
