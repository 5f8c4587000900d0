// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The buffers that CUPTI fills.  CUPTI holds locks of its own when it calls.
 */
#include <stdlib.h>
#include <sys/mman.h>

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

/*
 * What CUPTI writes when it must get a buffer and there is none. Each request gets another one:
 * CUPTI completes the records of activities that are not over in the buffer that it has.
 */
struct thrown {
	struct thrown	*next;
	uint8_t		*data;
};

static pthread_mutex_t thrown_lock = PTHREAD_MUTEX_INITIALIZER;
static struct thrown *thrown;
static bool lost;

/* Return: NULL without memory. */
static uint8_t *throw_away(void)
{
	struct thrown *t = malloc(sizeof(*t));

	if (!t)
		return NULL;
	t->data = gpu_pool_map(BYTES);
	if (!t->data) {
		free(t);
		return NULL;
	}
	pthread_mutex_lock(&thrown_lock);
	t->next = thrown;
	__atomic_store_n(&thrown, t, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&thrown_lock);
	return t->data;
}

/* Return: it was one of these, and is gone. */
static bool throw_out(const uint8_t *buffer)
{
	struct thrown **at = &thrown, *t;
	bool is;

	/* Relaxed: one that CUPTI gives back was put there before CUPTI had it. */
	if (!__atomic_load_n(&thrown, __ATOMIC_RELAXED))
		return false;
	pthread_mutex_lock(&thrown_lock);
	while (*at && (*at)->data != buffer)
		at = &(*at)->next;
	t = *at;
	is = t;
	if (is)
		__atomic_store_n(at, t->next, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&thrown_lock);
	if (is)
		munmap(t->data, BYTES);
	free(t);
	return is;
}

void cupti_pool_request(uint8_t **buffer, size_t *size, size_t *max_records)
{
	*buffer = gpu_pool_get(&pool, size);
	*max_records = 0;
	/* One that may be refused counts what it drops then. */
	if (*buffer || cupti_version >= CUPTI_MAY_REFUSE)
		return;
	*buffer = throw_away();
	*size = *buffer ? BYTES : 0;
}

void cupti_pool_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size,
			 size_t valid)
{
	struct gpu_buffer b = { .data = buffer, .valid = valid < size ? valid : size };

	(void)context, (void)stream;
	if (!buffer)
		return;
	if (throw_out(buffer)) {
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
	pthread_mutex_init(&thrown_lock, NULL);
	gpu_pool_forget(&pool);
}
