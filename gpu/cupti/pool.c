// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The buffers that CUPTI fills.  CUPTI holds locks of its own when it calls.
 */
#include "gpu/cupti/local.h"

#define BYTES		(256u << 10)
/*
 * CUPTI gives no buffer back in which an activity is not over, unless it is full: of a thread that
 * keeps its device busy what is in it is told of when that is.  So a thread that launches rarely
 * has a small one, which some 128 launches fill.
 */
#define FEW		(32u << 10)

/* A CUPTI of 12.3 and newer has one in use for each thread that calls CUDA. */
static struct gpu_pool pool = GPU_POOL(BYTES, FEW);

/* What CUPTI writes when it must get a buffer and there is none. */
static pthread_mutex_t discard_lock = PTHREAD_MUTEX_INITIALIZER;
static uint8_t *discard;
static bool lost;

void cupti_pool_request(uint8_t **buffer, size_t *size, size_t *max_records)
{
	*buffer = gpu_pool_get(&pool, size);
	*max_records = 0;
	/* One that may be refused counts what it drops then. */
	if (*buffer || cupti_version >= CUPTI_MAY_REFUSE)
		return;
	pthread_mutex_lock(&discard_lock);
	if (!discard)
		__atomic_store_n(&discard, gpu_pool_map(BYTES), __ATOMIC_RELAXED);
	*buffer = discard;
	*size = discard ? BYTES : 0;
	pthread_mutex_unlock(&discard_lock);
}

void cupti_pool_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size,
			 size_t valid)
{
	struct gpu_buffer b = { .data = buffer, .valid = valid < size ? valid : size };

	(void)context, (void)stream;
	if (!buffer)
		return;
	/* Relaxed: it is set before CUPTI has it, and never again. */
	if (buffer == __atomic_load_n(&discard, __ATOMIC_RELAXED)) {
		cupti_miss(CUPTI_MISS_BUFFERS, 1);
		/* Relaxed, as it tells of nothing else. */
		__atomic_store_n(&lost, true, __ATOMIC_RELAXED);
		return;
	}
	b.records = cupti_texts_keep(buffer, b.valid);
	if (gpu_pool_put(&pool, &b))
		xsprof_collector_wake(&cupti_collector);
}

bool cupti_pool_take(struct gpu_buffer *buffer)
{
	return gpu_pool_take(&pool, buffer);
}

void cupti_pool_give(const struct gpu_buffer *buffer)
{
	/* Else CUPTI does that, for all of it, in the thread that launches. */
	memset(buffer->data, 0, buffer->valid);
	gpu_pool_give(&pool, buffer);
}

bool cupti_pool_lost(void)
{
	return __atomic_exchange_n(&lost, false, __ATOMIC_RELAXED);
}

uint32_t cupti_pool_used(void)
{
	return gpu_pool_used(&pool);
}

void cupti_pool_forget(void)
{
	pthread_mutex_init(&discard_lock, NULL);
	gpu_pool_forget(&pool);
}
