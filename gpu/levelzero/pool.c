// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The buffers that PTI fills, one of each thread that calls Level Zero.  There are as many as are
 * in use at one time, up to a limit, so that the memory of a program does not grow with what its
 * devices do.
 *
 * PTI asks with a lock held that all recorded calls need: the lock here is held for some
 * instructions, and nothing is called under it.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include "gpu/levelzero/local.h"

#define BUFFERS		256u
#define BYTES		(64u << 10)
/*
 * PTI gives a buffer back when it has no room for its longest record.  So a thread that launches
 * rarely has a small one, which some three launches fill.
 */
#define FEW		(1u << 10)
#define OFTEN_NS	20000000u
/*
 * When all are in use a thread gets a small one, which is read no further than to count what is in
 * it: without one PTI would drop records, and print a line for each on standard error.
 */
#define DISCARDED	512u

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct {
	uint8_t			*free[BUFFERS];
	struct levelzero_buffer	full[BUFFERS];	/* a queue: the first at @first */
	uint32_t		made;
	uint32_t		nr_free;
	uint32_t		first;
	uint32_t		nr_full;
} pool;

static uint8_t *map(void)
{
	void *p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* How large is this one to be, as requests come? */
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

/* Without any memory PTI drops the one record that it asks for, and asks again for the next. */
void levelzero_pool_request(unsigned char **buffer, size_t *size)
{
	*buffer = get();
	*size = *buffer ? wanted() : DISCARDED;
	if (!*buffer)
		*buffer = malloc(DISCARDED);
	if (*buffer)
		return;
	*size = 0;
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
	struct levelzero_buffer b = { .data = buffer, .valid = valid < size ? valid : size };

	if (!buffer)
		return;
	if (size == DISCARDED) {
		discard(buffer, b.valid);
		return;
	}
	pthread_mutex_lock(&lock);
	if (b.valid)
		pool.full[(pool.first + pool.nr_full++) % BUFFERS] = b;
	else
		pool.free[pool.nr_free++] = buffer;
	pthread_mutex_unlock(&lock);
	if (b.valid)
		xsprof_collector_wake(&levelzero_collector);
}

bool levelzero_pool_take(struct levelzero_buffer *buffer)
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

void levelzero_pool_give(const struct levelzero_buffer *buffer)
{
	pthread_mutex_lock(&lock);
	pool.free[pool.nr_free++] = buffer->data;
	pthread_mutex_unlock(&lock);
}

uint32_t levelzero_pool_full(void)
{
	uint32_t n;

	pthread_mutex_lock(&lock);
	n = pool.nr_full;
	pthread_mutex_unlock(&lock);
	return n;
}
