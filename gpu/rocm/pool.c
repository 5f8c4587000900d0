// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Copies of the records that rocprofiler-sdk hands over, which are gone when its callback returns.
 * The callback is called by a thread of rocprofiler-sdk's, one at a time, for which threads of the
 * program wait when its buffer is full: so it does nothing but copy.
 */
#include "gpu/rocm/local.h"

#define BYTES		(64u << 10)
#define LONGEST		128u		/* that is read of a record */

static struct gpu_pool pool = GPU_POOL(BYTES, BYTES);

/* Records follow one another, each no longer than is read of it, and as it is otherwise. */
static size_t copied_length(const struct rocp_record *r)
{
	return ((r->size < LONGEST ? r->size : LONGEST) + 7) & ~(size_t)7;
}

static void count_dropped(uint64_t dropped)
{
	static uint64_t before;

	/* It is told as the number of all that were. */
	if (dropped > before)
		rocm_miss(ROCM_MISS_DROPPED, dropped - before);
	before = dropped;
}

static void pass_on(struct gpu_buffer *b)
{
	if (b->data && gpu_pool_put(&pool, b))
		xsprof_collector_wake(&rocm_collector);
	*b = (struct gpu_buffer){ .data = NULL };
}

/* Return: there is room in @b for the longest one. */
static bool get_room(struct gpu_buffer *b)
{
	size_t size;

	if (b->data && b->valid + LONGEST <= BYTES)
		return true;
	pass_on(b);
	b->data = gpu_pool_get(&pool, &size);
	return b->data;
}

void rocm_pool_fill(struct rocp_id context, struct rocp_id buffer, struct rocp_header **headers,
		    size_t n, void *data, uint64_t dropped)
{
	struct gpu_buffer b = { .data = NULL };

	(void)context, (void)buffer, (void)data;
	count_dropped(dropped);
	for (size_t i = 0; i < n; i++) {
		const struct rocp_record *r = headers[i]->record;
		size_t len;

		if (headers[i]->category != ROCP_TRACING || !r || r->size < sizeof(*r)) {
			rocm_miss(ROCM_MISS_UNKNOWN, 1);
			continue;
		}
		if (!get_room(&b)) {
			rocm_miss(ROCM_MISS_BUFFERS, 1);
			continue;
		}
		len = r->size < LONGEST ? r->size : LONGEST;
		memcpy(b.data + b.valid, r, len);
		b.valid += copied_length(r);
	}
	pass_on(&b);
}

const struct rocp_record *rocm_pool_next(const struct gpu_buffer *buffer, size_t *at)
{
	const struct rocp_record *r = (const struct rocp_record *)(buffer->data + *at);

	if (*at >= buffer->valid)
		return NULL;
	*at += copied_length(r);
	return r;
}

bool rocm_pool_take(struct gpu_buffer *buffer)
{
	return gpu_pool_take(&pool, buffer);
}

void rocm_pool_give(const struct gpu_buffer *buffer)
{
	gpu_pool_give(&pool, buffer);
}

uint32_t rocm_pool_full(void)
{
	return gpu_pool_full(&pool);
}

void rocm_pool_forget(void)
{
	gpu_pool_forget(&pool);
}
