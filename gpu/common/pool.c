// SPDX-License-Identifier: LGPL-2.1-only
/*
 * A pool of buffers, see pool.h.  A buffer is allocated when none is free, and never freed.
 */
#include <sys/mman.h>
#include <time.h>

#include "gpu/common/pool.h"

#define OFTEN_NS	20000000u

uint8_t *gpu_pool_map(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* How much of the buffer to hand out: less if requests are rare. */
static size_t wanted(struct gpu_pool *pool)
{
	struct timespec ts;
	uint64_t now, before;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
	now = (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
	/* Relaxed: a heuristic; threads may overwrite each other's time. */
	before = __atomic_exchange_n(&pool->last, now, __ATOMIC_RELAXED);
	return now - before < OFTEN_NS ? pool->bytes : pool->few;
}

static uint8_t *get(struct gpu_pool *pool)
{
	uint8_t *data = NULL;
	int make;

	pthread_mutex_lock(&pool->lock);
	make = !pool->nr_free && pool->made < GPU_BUFFERS;
	if (pool->nr_free)
		data = pool->free[--pool->nr_free];
	pool->made += (uint32_t)make;
	pthread_mutex_unlock(&pool->lock);
	if (!make)
		return data;
	data = gpu_pool_map(pool->bytes);
	if (data)
		return data;
	pthread_mutex_lock(&pool->lock);
	pool->made--;
	pthread_mutex_unlock(&pool->lock);
	return NULL;
}

uint8_t *gpu_pool_get(struct gpu_pool *pool, size_t *size)
{
	uint8_t *data = get(pool);

	*size = data ? wanted(pool) : 0;
	return data;
}

uint32_t gpu_pool_put(struct gpu_pool *pool, const struct gpu_buffer *buffer)
{
	uint32_t n;

	pthread_mutex_lock(&pool->lock);
	if (buffer->valid)
		pool->full[(pool->first + pool->nr_full++) % GPU_BUFFERS] = *buffer;
	else
		pool->free[pool->nr_free++] = buffer->data;
	n = pool->nr_full;
	pthread_mutex_unlock(&pool->lock);
	return n;
}

int gpu_pool_take(struct gpu_pool *pool, struct gpu_buffer *buffer)
{
	int any;

	pthread_mutex_lock(&pool->lock);
	any = pool->nr_full > 0;
	if (any) {
		*buffer = pool->full[pool->first];
		pool->first = (pool->first + 1) % GPU_BUFFERS;
		pool->nr_full--;
	}
	pthread_mutex_unlock(&pool->lock);
	return any;
}

void gpu_pool_give(struct gpu_pool *pool, const struct gpu_buffer *buffer)
{
	pthread_mutex_lock(&pool->lock);
	pool->free[pool->nr_free++] = buffer->data;
	pthread_mutex_unlock(&pool->lock);
}

uint32_t gpu_pool_full(struct gpu_pool *pool)
{
	uint32_t n;

	pthread_mutex_lock(&pool->lock);
	n = pool->nr_full;
	pthread_mutex_unlock(&pool->lock);
	return n;
}

uint32_t gpu_pool_used(struct gpu_pool *pool)
{
	uint32_t n;

	pthread_mutex_lock(&pool->lock);
	n = pool->made - pool->nr_free;
	pthread_mutex_unlock(&pool->lock);
	return n;
}

/* Another thread may have held the lock at the fork: make a new one.  The parent reads @full. */
void gpu_pool_forget(struct gpu_pool *pool)
{
	pthread_mutex_init(&pool->lock, NULL);
	pool->first = pool->nr_full = 0;
}
