// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Submits under way. The collector's thread polls the fence of each; when it is signalled, the
 * thread reads the timestamps of the batches and writes them as activities of the device.
 */
#include <unistd.h>

#include "gpu/vulkan/local.h"

#define SECOND		1000000000u
#define END_NS		(SECOND / 5)	/* wait for unfinished submits when a device is destroyed */
#define END_STEP_US	1000u

/* Serializes vulkan_pending_look() by the thread and by calls that destroy a device. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Set for the latter, which must not wait for the recorder. */
static bool by_program;

/* All Vulkan devices share these ids; they wrap around. */
uint64_t vulkan_correlation(void)
{
	static uint32_t made;

	/* Relaxed: the id orders nothing. */
	return XSPROF_CORRELATION(VULKAN_GPU_FIRST) +
	       __atomic_fetch_add(&made, 1, __ATOMIC_RELAXED) % (VULKAN_GPUS << 20);
}

void vulkan_pending_add(struct vulkan_pending *p)
{
	struct vulkan_queue *q = p->queue;

	p->next = NULL;
	pthread_mutex_lock(&q->lock);
	*q->pending_end = p;
	q->pending_end = &p->next;
	pthread_mutex_unlock(&q->lock);
}

/* ---- the driver ------------------------------------------------------------------------------ */

static int32_t fence_status(vk_handle device, vk_object fence)
{
	return NEXT(vulkan_device_of(device), GetFenceStatus, fence_status)(device, fence);
}

static int32_t query_results(vk_handle device, vk_object queries, uint32_t first, uint32_t nr,
			     size_t size, void *results, uint64_t stride, uint32_t flags)
{
	return NEXT(vulkan_device_of(device), GetQueryPoolResults, query_results)
		(device, queries, first, nr, size, results, stride, flags);
}

static void read_times(const struct vulkan_queue *q, struct vulkan_slot *slot)
{
	struct { uint64_t ticks, available; } r[2] = { { 0, 0 }, { 0, 0 } };
	int32_t err = query_results(q->device->handle, slot->queries, slot->first, 2, sizeof(r), r,
				    sizeof(r[0]), VULKAN_RESULT_64 | VULKAN_RESULT_AVAILABLE);

	slot->timed = !err && r[0].available && r[1].available;
	slot->times[0] = r[0].ticks & q->mask;
	slot->times[1] = r[1].ticks & q->mask;
}

/* ---- what became of them --------------------------------------------------------------------- */

/* The batch's timestamps on the device's clock, ns. */
static struct vulkan_times times_of(const struct vulkan_queue *q, const struct vulkan_slot *slot)
{
	struct vulkan_clock *clock = &q->device->gpu->clock;
	uint64_t begin = vulkan_clock_ns(clock, slot->times[0], q->mask);

	return (struct vulkan_times){ begin, vulkan_clock_ns(clock, slot->times[1], q->mask) };
}

/*
 * Converted to the markers' clock: not before the call began and not after @seen. @moved: ns by
 * which it was moved for that.
 */
static struct vulkan_times ticks_of(const struct vulkan_slot *slot, const struct vulkan_pending *p,
				    uint64_t seen, int64_t *moved)
{
	struct vulkan_times t = times_of(p->queue, slot);
	uint64_t late, room, was;

	t.begin = xsprof_device_ticks(p->queue->device->gpu->number, t.begin);
	t.end = xsprof_device_ticks(p->queue->device->gpu->number, t.end);
	if (t.end < t.begin)
		t.end = t.begin;
	was = t.begin;
	if (t.begin < p->begin) {
		t.end += p->begin - t.begin;
		t.begin = p->begin;
	} else if (t.end > seen) {
		late = t.end - seen;
		room = t.begin - p->begin;
		t.begin -= late < room ? late : room;
		t.end -= late < room ? late : room;
	}
	*moved = t.begin == was ? 0 : (int64_t)(xsprof_ticks_ns(t.begin) - xsprof_ticks_ns(was));
	return t;
}

static void put_batch(const struct vulkan_pending *p, const struct vulkan_slot *slot, uint64_t seen)
{
	struct vulkan_queue *q = p->queue;
	int64_t moved;
	struct vulkan_times t = ticks_of(slot, p, seen, &moved);
	const struct xsprof_device_activity a = {
		.size = sizeof(a),
		.name = slot->name ? slot->name : vulkan_batch_name(slot->nr_commands),
		.kind = q->transfers ? XSPROF_GPU_MEMCPY : XSPROF_GPU_KERNEL,
		.begin = t.begin, .end = t.end,
		.correlation = p->correlation, .device = q->device->gpu->number,
		.context = q->device->number, .stream = q->number,
	};
	const struct xsprof_kv kv[] = {
		xsprof_i64(vulkan_batch_key(), slot->nr_commands),
		xsprof_i64(vulkan_moved_key(), moved),
	};
	size_t n = moved ? 2 : 1;

	if (!by_program)
		xsprof_collector_put(&vulkan_collector, &a, kv, n);
	else if (xsprof_wants(a.name))
		xsprof_device_activity(&a, kv, n);
	else
		vulkan_miss(VULKAN_MISS_DESTROYED, 1);
}

static void settle(struct vulkan_pending *done)
{
	struct vulkan_pending *next;
	uint64_t seen = xsprof_now();

	for (struct vulkan_pending *p = done; p; p = p->next)
		for (struct vulkan_slot *slot = p->slots; slot; slot = slot->next)
			if (slot->timed)
				vulkan_gpu_bound(p->queue->device->gpu, times_of(p->queue, slot),
						 (struct vulkan_times){ p->begin, seen });
	for (; done; done = next) {
		next = done->next;
		for (struct vulkan_slot *slot = done->slots; slot; slot = slot->next) {
			if (slot->timed)
				put_batch(done, slot, seen);
			else
				vulkan_miss(VULKAN_MISS_NO_TIMES, 1);
		}
		vulkan_pending_give(done);
	}
}

/* ---- looks ----------------------------------------------------------------------------------- */

static void take_first(struct vulkan_queue *q)
{
	struct vulkan_pending *p = q->pending;

	pthread_mutex_lock(&q->lock);
	q->pending = p->next;
	if (!q->pending)
		q->pending_end = &q->pending;
	pthread_mutex_unlock(&q->lock);
}

static struct vulkan_pending *first(struct vulkan_queue *q)
{
	struct vulkan_pending *p;

	pthread_mutex_lock(&q->lock);
	p = q->pending;
	pthread_mutex_unlock(&q->lock);
	return p;
}

static uint32_t batches(struct vulkan_queue *q)
{
	uint32_t n = 0;

	pthread_mutex_lock(&q->lock);
	for (struct vulkan_pending *p = q->pending; p; p = p->next)
		n += p->nr;
	pthread_mutex_unlock(&q->lock);
	return n;
}

/* Submits of a queue end in order. Return: the end of the list of ended ones. */
static struct vulkan_pending **take_over(struct vulkan_queue *q, struct vulkan_pending **end)
{
	struct vulkan_pending *p;
	int32_t status;

	while ((p = first(q))) {
		status = fence_status(q->device->handle, p->fence);
		if (status == VULKAN_NOT_READY)
			break;
		take_first(q);
		if (status) {
			/* A lost device is never used again. */
			vulkan_miss(VULKAN_MISS_FAILED, p->nr);
			vulkan_pending_give(p);
			continue;
		}
		for (struct vulkan_slot *slot = p->slots; slot; slot = slot->next)
			read_times(q, slot);
		p->next = NULL;
		*end = p;
		end = &p->next;
	}
	return end;
}

/* Called with the lock held. Collects all ended submits before it writes the first activity. */
static uint32_t look(struct vulkan_device *device)
{
	struct vulkan_pending *done = NULL, **end = &done;
	uint32_t left = 0;

	for (struct vulkan_queue *q = __atomic_load_n(&device->queues, __ATOMIC_ACQUIRE); q;
	     q = q->older) {
		end = take_over(q, end);
		left += batches(q);
	}
	vulkan_gpu_ask(device, done ? 0 : SECOND);
	settle(done);
	return left;
}

uint32_t vulkan_pending_look(void)
{
	uint32_t left = 0;

	pthread_mutex_lock(&lock);
	for (struct vulkan_device *d = vulkan_devices(); d; d = d->older)
		if (vulkan_device_is_there(d) && d->on && d->gpu)
			left += look(d);
	pthread_mutex_unlock(&lock);
	return left;
}

void vulkan_pending_end(struct vulkan_device *device)
{
	uint64_t until = vulkan_now_ns() + END_NS;
	uint32_t left = 0;

	pthread_mutex_lock(&lock);
	if (device->on && device->gpu) {
		/* A program must wait for its work before it destroys what the work uses. */
		by_program = true;
		while ((left = look(device)) && vulkan_now_ns() < until)
			usleep(END_STEP_US);
		by_program = false;
		vulkan_miss(VULKAN_MISS_DESTROYED, left);
		vulkan_queues_destroy(device);
	}
	vulkan_device_gone(device);
	pthread_mutex_unlock(&lock);
}

void vulkan_pending_forget(void)
{
	pthread_mutex_init(&lock, NULL);
	by_program = false;
}
