// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The program's queues, each with a pool of command buffers, recorded once, and of queries for
 * timestamps. They are made in chunks when a submit finds none free, and reused when it has ended.
 */
#include <stdlib.h>

#include "gpu/vulkan/local.h"

#define QUEUES		256u	/* per device */
#define CHUNK		32u	/* slots */
#define CHUNKS		64u	/* per queue */

struct vulkan_chunk {
	struct vulkan_chunk	*next;
	vk_object		queries;
	struct vulkan_slot	slots[CHUNK];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t nr_queues;	/* made so far */

/* ---- queues ---------------------------------------------------------------------------------- */

static void families_of(vk_handle physical, uint32_t *nr, struct vk_family *families)
{
	NEXT(vulkan_instance_of(physical), GetPhysicalDeviceQueueFamilyProperties, families_of)
		(physical, nr, families);
}

/* Readers show the name beside the number: if the name table is full there is only the number. */
static void name(const struct vulkan_queue *q, uint32_t flags)
{
	(void)xsprof_stream_name(q->device->gpu->number, q->device->number, q->number,
				 flags & VULKAN_QUEUE_GRAPHICS ? "graphics" :
				 flags & VULKAN_QUEUE_COMPUTE ? "compute" :
				 flags & VULKAN_QUEUE_TRANSFER ? "transfer" : "other");
}

/* Asks for the capabilities of the queue's family. */
static void ask_family(struct vulkan_queue *q)
{
	struct vulkan_device *d = q->device;
	struct vk_family families[64];
	uint32_t nr = ARRAY_SIZE(families), flags, bits;
	bool resets;

	families_of(d->physical, &nr, families);
	if (q->family >= nr)
		return;
	flags = families[q->family].flags;
	name(q, flags);
	if (!d->whole)
		return;
	bits = families[q->family].valid_bits;
	resets = flags & (VULKAN_QUEUE_GRAPHICS | VULKAN_QUEUE_COMPUTE);
	q->transfers = !resets;
	q->host_reset = !resets && d->host_reset;
	if (resets || q->host_reset)
		q->mask = bits >= 64 ? UINT64_MAX : (1ull << bits) - 1;
}

static struct vulkan_queue *find(struct vulkan_device *device, vk_handle handle)
{
	/* Acquire: pairs with the release in vulkan_queue_made(). */
	struct vulkan_queue *q = __atomic_load_n(&device->queues, __ATOMIC_ACQUIRE);

	while (q && q->handle != handle)
		q = q->older;
	return q;
}

void vulkan_queue_made(struct vulkan_device *device, vk_handle handle, uint32_t family)
{
	struct vulkan_queue *q;

	pthread_mutex_lock(&lock);
	if (!find(device, handle) && device->nr_queues < QUEUES && device->gpu &&
	    (q = calloc(1, sizeof(*q)))) {
		q->device = device;
		q->handle = handle;
		q->family = family;
		q->number = ++nr_queues;
		q->pending_end = &q->pending;
		pthread_mutex_init(&q->lock, NULL);
		ask_family(q);
		q->older = device->queues;
		device->nr_queues++;
		__atomic_store_n(&device->queues, q, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&lock);
}

struct vulkan_queue *vulkan_queue_get(struct vulkan_device *device, vk_handle handle)
{
	return find(device, handle);
}

/* ---- timestamps ------------------------------------------------------------------------------ */

static int32_t create_pool(vk_handle device, const struct vk_command_pool_info *info,
			   const void *allocator, vk_object *pool)
{
	return NEXT(vulkan_device_of(device), CreateCommandPool, create_pool)(device, info,
									      allocator, pool);
}

static int32_t allocate(vk_handle device, const struct vk_commands_info *info, vk_handle *commands)
{
	return NEXT(vulkan_device_of(device), AllocateCommandBuffers, allocate)(device, info,
										commands);
}

static int32_t create_queries(vk_handle device, const struct vk_queries_info *info,
			      const void *allocator, vk_object *queries)
{
	return NEXT(vulkan_device_of(device), CreateQueryPool, create_queries)(device, info,
									       allocator, queries);
}

static void reset_by_host(vk_handle device, vk_object queries, uint32_t first, uint32_t nr)
{
	struct vulkan_device *d = vulkan_device_of(device);

	/* Without Vulkan 1.2 the extension is enabled instead. */
	if (d->next[VULKAN_ResetQueryPoolEXT])
		NEXT(d, ResetQueryPoolEXT, reset_by_host)(device, queries, first, nr);
	else
		NEXT(d, ResetQueryPool, reset_by_host)(device, queries, first, nr);
}

static void reset(vk_handle commands, vk_object queries, uint32_t first, uint32_t nr)
{
	NEXT(vulkan_device_of(commands), CmdResetQueryPool, reset)(commands, queries, first, nr);
}

static void write_time(vk_handle commands, uint32_t stage, vk_object queries, uint32_t query)
{
	NEXT(vulkan_device_of(commands), CmdWriteTimestamp, write_time)(commands, stage, queries,
									query);
}

static int32_t begin(vk_handle commands, const struct vk_begin_info *info)
{
	return NEXT(vulkan_device_of(commands), BeginCommandBuffer, begin)(commands, info);
}

static int32_t end(vk_handle commands)
{
	return NEXT(vulkan_device_of(commands), EndCommandBuffer, end)(commands);
}

/*
 * Records the two command buffers: the first writes its timestamp when the queue reaches it, the
 * second when all earlier work has ended. No usage flag is set, so that they can be submitted
 * again.
 */
static int record(const struct vulkan_queue *q, const struct vulkan_slot *slot)
{
	const struct vk_begin_info info = { .type = VULKAN_IS_BEGIN };
	int err;

	err = begin(slot->commands[0], &info);
	if (err)
		return err;
	if (!q->host_reset)
		reset(slot->commands[0], slot->queries, slot->first, 2);
	write_time(slot->commands[0], VULKAN_STAGE_TOP, slot->queries, slot->first);
	err = end(slot->commands[0]);
	if (!err)
		err = begin(slot->commands[1], &info);
	if (err)
		return err;
	write_time(slot->commands[1], VULKAN_STAGE_BOTTOM, slot->queries, slot->first + 1);
	return end(slot->commands[1]);
}

static int fill(struct vulkan_queue *q, struct vulkan_chunk *chunk)
{
	const struct vk_queries_info queries = {
		.type = VULKAN_IS_QUERIES, .query_type = VULKAN_QUERY_TIMESTAMP, .count = 2 * CHUNK,
	};
	const struct vk_commands_info commands = {
		.type = VULKAN_IS_COMMANDS, .pool = q->pool, .count = 2 * CHUNK,
	};
	struct vulkan_device *d = q->device;
	vk_handle list[2 * CHUNK];
	int err;

	err = create_queries(d->handle, &queries, NULL, &chunk->queries);
	if (!err)
		err = allocate(d->handle, &commands, list);
	if (err)
		return err;
	if (q->host_reset)
		reset_by_host(d->handle, chunk->queries, 0, 2 * CHUNK);
	for (uint32_t i = 0; i < 2 * CHUNK && !err; i++) {
		/*
		 * Lower layers find the device by the handle's first word, which the loader must
		 * set.
		 */
		if (!d->set_loader_data)
			*(void **)list[i] = vulkan_key(d->handle);
		else
			err = d->set_loader_data(d->handle, list[i]);
	}
	for (uint32_t i = 0; i < CHUNK && !err; i++) {
		struct vulkan_slot *slot = &chunk->slots[i];

		slot->queries = chunk->queries;
		slot->first = 2 * i;
		slot->commands[0] = list[2 * i];
		slot->commands[1] = list[2 * i + 1];
		err = record(q, slot);
	}
	return err;
}

/*
 * Called with the queue's lock held. If it fails, the device's destruction frees the chunk's
 * objects, and no more chunks are made.
 */
static bool grow(struct vulkan_queue *q)
{
	const struct vk_command_pool_info info = {
		.type = VULKAN_IS_COMMAND_POOL, .family = q->family,
	};
	struct vulkan_chunk *chunk;

	if (!q->pool && create_pool(q->device->handle, &info, NULL, &q->pool)) {
		q->pool = 0;
		return false;
	}
	chunk = calloc(1, sizeof(*chunk));
	if (!chunk)
		return false;
	chunk->next = q->chunks;
	q->chunks = chunk;
	q->nr_chunks++;
	if (fill(q, chunk)) {
		q->nr_chunks = CHUNKS;
		return false;
	}
	for (uint32_t i = 0; i < CHUNK; i++) {
		chunk->slots[i].next = q->free;
		q->free = &chunk->slots[i];
	}
	return true;
}

/* ---- submits --------------------------------------------------------------------------------- */

static int32_t create_fence(vk_handle device, const struct vk_fence_info *info,
			    const void *allocator, vk_object *fence)
{
	return NEXT(vulkan_device_of(device), CreateFence, create_fence)(device, info, allocator,
									 fence);
}

static int32_t reset_fences(vk_handle device, uint32_t nr, const vk_object *fences)
{
	return NEXT(vulkan_device_of(device), ResetFences, reset_fences)(device, nr, fences);
}

/* Called with the queue's lock held. */
static struct vulkan_pending *spare(struct vulkan_queue *q)
{
	const struct vk_fence_info info = { .type = VULKAN_IS_FENCE };
	struct vulkan_pending *p = q->spare;

	if (p) {
		q->spare = p->next;
		return p;
	}
	p = calloc(1, sizeof(*p));
	if (!p || create_fence(q->device->handle, &info, NULL, &p->fence)) {
		free(p);
		return NULL;
	}
	p->queue = q;
	return p;
}

/* The same for its slots. */
static void give_slots(struct vulkan_queue *q, struct vulkan_pending *p)
{
	struct vulkan_slot *slot;

	while ((slot = p->slots)) {
		p->slots = slot->next;
		slot->next = q->free;
		q->free = slot;
	}
	p->nr = 0;
	p->next = q->spare;
	q->spare = p;
}

struct vulkan_pending *vulkan_pending_take(struct vulkan_queue *q, uint32_t nr)
{
	enum vulkan_miss why = VULKAN_MISS_NO_MEMORY;
	struct vulkan_pending *p;
	struct vulkan_slot *slot;
	bool many = false;

	pthread_mutex_lock(&q->lock);
	p = spare(q);
	while (p && p->nr < nr) {
		slot = q->free;
		many |= !slot && q->nr_chunks;
		if (slot) {
			q->free = slot->next;
			slot->next = p->slots;
			p->slots = slot;
			p->nr++;
		} else if (q->nr_chunks >= CHUNKS || !grow(q)) {
			if (q->nr_chunks >= CHUNKS)
				why = VULKAN_MISS_FULL;
			give_slots(q, p);
			p = NULL;
		}
	}
	pthread_mutex_unlock(&q->lock);
	/* No slot was free: have the thread free those of ended submits soon. */
	if (many)
		xsprof_collector_wake(&vulkan_collector);
	if (!p)
		vulkan_miss(why, nr);
	return p;
}

void vulkan_pending_give(struct vulkan_pending *p)
{
	struct vulkan_queue *q = p->queue;

	(void)reset_fences(q->device->handle, 1, &p->fence);
	if (q->host_reset)
		for (struct vulkan_slot *slot = p->slots; slot; slot = slot->next)
			reset_by_host(q->device->handle, slot->queries, slot->first, 2);
	pthread_mutex_lock(&q->lock);
	give_slots(q, p);
	pthread_mutex_unlock(&q->lock);
}

/* ---- the end --------------------------------------------------------------------------------- */

static void destroy_pool(vk_handle device, vk_object pool, const void *allocator)
{
	NEXT(vulkan_device_of(device), DestroyCommandPool, destroy_pool)(device, pool, allocator);
}

static void destroy_queries(vk_handle device, vk_object queries, const void *allocator)
{
	NEXT(vulkan_device_of(device), DestroyQueryPool, destroy_queries)(device, queries,
									  allocator);
}

static void destroy_fence(vk_handle device, vk_object fence, const void *allocator)
{
	NEXT(vulkan_device_of(device), DestroyFence, destroy_fence)(device, fence, allocator);
}

/* Submits still under way keep their objects: the driver would use them after they were freed. */
static void destroy(struct vulkan_queue *q)
{
	vk_handle device = q->device->handle;
	struct vulkan_pending *p;
	struct vulkan_chunk *c;

	if (q->pending)
		return;
	while ((p = q->spare)) {
		q->spare = p->next;
		destroy_fence(device, p->fence, NULL);
		free(p);
	}
	if (q->pool)
		destroy_pool(device, q->pool, NULL);
	while ((c = q->chunks)) {
		q->chunks = c->next;
		if (c->queries)
			destroy_queries(device, c->queries, NULL);
		free(c);
	}
	pthread_mutex_destroy(&q->lock);
	free(q);
}

void vulkan_queues_destroy(struct vulkan_device *device)
{
	struct vulkan_queue *q;

	while ((q = device->queues)) {
		device->queues = q->older;
		destroy(q);
	}
}

/* In a forked child. */
void vulkan_queues_forget(void)
{
	pthread_mutex_init(&lock, NULL);
}
