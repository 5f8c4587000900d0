// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The buffers that CUPTI fills.  There are as many as are in use at one time, up to a limit, so
 * that the memory of a program does not grow with what its devices do.
 *
 * The lock is held for some instructions, and nothing is called under it: CUPTI holds locks of its
 * own when it calls.
 */
#include <pthread.h>
#include <sys/mman.h>
#include <time.h>

#include "gpu/cupti/local.h"

/* A CUPTI of 12.3 and newer has one in use for each thread that calls CUDA. */
#define BUFFERS		256u
#define BYTES		(256u << 10)
/*
 * CUPTI gives no buffer back in which an activity is not over, unless it is full: of a thread that
 * keeps its device busy what is in it is told of when that is.  So a thread that launches rarely
 * has a small one, which some 128 launches fill.
 */
#define FEW		(32u << 10)
#define OFTEN_NS	20000000u

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct {
	uint8_t			*free[BUFFERS];
	struct cupti_buffer	full[BUFFERS];	/* a queue: the first at @first */
	uint32_t		made;
	uint32_t		nr_free;
	uint32_t		first;
	uint32_t		nr_full;
} pool;

/* What CUPTI writes when it must get a buffer and there is none. */
static uint8_t *discard;

static uint8_t *map(void)
{
	void *p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* Requests come seldom: how large is this one to be? */
static size_t wanted(void)
{
	static uint64_t last;
	struct timespec ts;
	uint64_t now, before;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
	now = (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
	/* Relaxed: whichever thread's it is, it is a guess. */
	before = __atomic_exchange_n(&last, now, __ATOMIC_RELAXED);
	return now - before < OFTEN_NS ? BYTES : FEW;
}

static uint8_t *get(void)
{
	uint8_t *data = NULL;
	bool make;

	pthread_mutex_lock(&lock);
	make = !pool.nr_free && pool.made < BUFFERS;
	if (pool.nr_free)
		data = pool.free[--pool.nr_free];
	pool.made += make;
	pthread_mutex_unlock(&lock);
	if (!make)
		return data;
	data = map();
	if (data)
		return data;
	pthread_mutex_lock(&lock);
	pool.made--;
	pthread_mutex_unlock(&lock);
	return NULL;
}

void cupti_pool_request(uint8_t **buffer, size_t *size, size_t *max_records)
{
	*buffer = get();
	*size = *buffer ? wanted() : 0;
	*max_records = 0;
	/* One that may be refused counts what it drops then. */
	if (*buffer || cupti_version >= CUPTI_MAY_REFUSE)
		return;
	pthread_mutex_lock(&lock);
	if (!discard)
		__atomic_store_n(&discard, map(), __ATOMIC_RELAXED);
	*buffer = discard;
	*size = discard ? BYTES : 0;
	pthread_mutex_unlock(&lock);
}

void cupti_pool_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size,
			 size_t valid)
{
	struct cupti_buffer b = { .data = buffer, .valid = valid < size ? valid : size };
	bool wake;

	(void)context, (void)stream;
	if (!buffer)
		return;
	/* Relaxed: it is set before CUPTI has it, and never again. */
	if (buffer != __atomic_load_n(&discard, __ATOMIC_RELAXED))
		cupti_texts_keep(buffer, b.valid);
	pthread_mutex_lock(&lock);
	if (buffer == discard) {
		cupti_miss(CUPTI_MISS_BUFFERS, 1);
	} else if (b.valid) {
		pool.full[(pool.first + pool.nr_full++) % BUFFERS] = b;
	} else {
		pool.free[pool.nr_free++] = buffer;
	}
	wake = pool.nr_full;
	pthread_mutex_unlock(&lock);
	if (wake)
		xsprof_collector_wake(&cupti_collector);
}

bool cupti_pool_take(struct cupti_buffer *buffer)
{
	bool any;

	pthread_mutex_lock(&lock);
	any = pool.nr_full;
	if (any) {
		*buffer = pool.full[pool.first];
		pool.first = (pool.first + 1) % BUFFERS;
		pool.nr_full--;
	}
	pthread_mutex_unlock(&lock);
	return any;
}

void cupti_pool_give(const struct cupti_buffer *buffer)
{
	/* Else CUPTI does that, for all of it, in the thread that launches. */
	memset(buffer->data, 0, buffer->valid);
	pthread_mutex_lock(&lock);
	pool.free[pool.nr_free++] = buffer->data;
	pthread_mutex_unlock(&lock);
}

uint32_t cupti_pool_used(void)
{
	uint32_t n;

	pthread_mutex_lock(&lock);
	n = pool.made - pool.nr_free;
	pthread_mutex_unlock(&lock);
	return n;
}
