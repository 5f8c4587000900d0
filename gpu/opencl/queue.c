// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The program's queues: device, context and number of a handle. A handle that the runtime reuses is
 * a new queue; the old one is kept while its commands are in flight.
 */
#include <pthread.h>
#include <stdlib.h>

#include "gpu/opencl/local.h"

#define QUEUES		4096u
#define SLOTS		(2 * QUEUES)
#define CONTEXTS	1024u
#define RETIRED_MANY	64u
#define NAMED		64u	/* a program may make queues without end, and names stay */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct opencl_queue *queues[SLOTS];
static struct opencl_queue *retired;	/* handle reused, commands in flight */
static uint32_t nr_retired;
static uint32_t handles;	/* in use in the table */
static uint32_t nr_queues;	/* ever created in this process */
static uint32_t changes;	/* of the table: queues created, and forks */
/* The number of a handle is its index here plus 1; 0 if it does not fit. */
static cl_handle contexts[CONTEXTS];

static int32_t queue_info(cl_handle queue, uint32_t what, size_t size, void *value, size_t *len)
{
	return NEXT(GetCommandQueueInfo, queue_info)(queue, what, size, value, len);
}

static uint32_t context_number(cl_handle context)
{
	for (uint32_t i = 0; i < CONTEXTS; i++) {
		if (!contexts[i])
			contexts[i] = context;
		if (contexts[i] == context)
			return i + 1;
	}
	return 0;
}

static struct opencl_queue **slot_of(cl_handle handle)
{
	uint32_t i = (uint32_t)(((uintptr_t)handle * 0x9e3779b97f4a7c15u) >> 32) % SLOTS;

	while (queues[i] && queues[i]->handle != handle)
		i = (i + 1) % SLOTS;
	return &queues[i];
}

/*
 * Does no command point to the retired queue any more? New ones cannot: the program used the handle
 * before the runtime reused it. Commands added before are taken at the latest by the take that
 * began afterwards, which is the second one counted.
 */
static bool is_idle(const struct opencl_queue *q)
{
	/* Acquire: pairs with the releases when the thread takes commands and finishes one. */
	return __atomic_load_n(&opencl_takes, __ATOMIC_ACQUIRE) - q->retired >= 2 &&
	       !__atomic_load_n(&q->under_way, __ATOMIC_ACQUIRE);
}

/* Return: a retired queue without commands, else new memory; NULL without memory. */
static struct opencl_queue *find_idle(void)
{
	struct opencl_queue **at, *q;

	for (at = &retired; (q = *at); at = &q->next) {
		if (is_idle(q)) {
			*at = q->next;
			nr_retired--;
			return q;
		}
	}
	return aligned_alloc(OPENCL_LINE, sizeof(*q));
}

/* The slot of a new or reused handle. Return: NULL without memory, or if there are too many. */
static struct opencl_queue *room_for(struct opencl_queue **slot)
{
	struct opencl_queue *old = *slot, *q;

	if (!old && handles == QUEUES)
		return NULL;
	q = find_idle();
	if (!q)
		return NULL;
	handles += !old;
	if (old) {
		old->next = retired;
		old->retired = __atomic_load_n(&opencl_takes, __ATOMIC_ACQUIRE);
		retired = old;
		/* There are as many of these as are created between two looks. */
		if (++nr_retired % RETIRED_MANY == 0)
			xsprof_collector_wake(&opencl_collector);
	}
	*slot = q;
	return q;
}

/* Called with the lock held. */
static struct opencl_queue *make(cl_handle handle, uint64_t properties)
{
	cl_handle context = NULL, device = NULL;
	struct opencl_queue *q;

	if (queue_info(handle, CL_CONTEXT_OF_QUEUE, sizeof(context), &context, NULL) ||
	    queue_info(handle, CL_DEVICE_OF_QUEUE, sizeof(device), &device, NULL))
		return NULL;
	q = room_for(slot_of(handle));
	if (!q)
		return NULL;
	*q = (struct opencl_queue){
		.handle = handle,
		.device = opencl_device_get(device),
		.context = context_number(context),
		.number = ++nr_queues,
		.in_order = !(properties & CL_QUEUE_OUT_OF_ORDER),
	};
	__atomic_store_n(&changes, changes + 1, __ATOMIC_RELEASE);
	if (q->device && q->number <= NAMED)
		(void)xsprof_stream_name(q->device->number, q->context, q->number,
					 q->in_order ? "in order" : "out of order");
	return q;
}

void opencl_queues_forget(void)
{
	pthread_mutex_init(&lock, NULL);
	memset(queues, 0, sizeof(queues));
	retired = NULL;
	handles = nr_retired = nr_queues = 0;
	/* The last queue of the forking thread is the parent's: its device is no longer known. */
	changes++;
}

void opencl_queue_made(cl_handle handle, uint64_t properties)
{
	(void)gpu_thread_ready(&opencl_thread);
	/* The runtime has registered its exit handler: ours is registered later, runs earlier. */
	gpu_thread_at_exit(&opencl_thread);
	pthread_mutex_lock(&lock);
	(void)make(handle, properties);
	pthread_mutex_unlock(&lock);
}

struct opencl_queue *opencl_queue_get(cl_handle handle)
{
	static __thread struct opencl_queue *last;
	static __thread uint32_t last_of;
	struct opencl_queue *q = last;
	/* Acquire: pairs with the release when a handle becomes another queue's. */
	uint32_t now = __atomic_load_n(&changes, __ATOMIC_ACQUIRE);
	uint64_t properties = 0;

	/* If no queue was created since, the handle was not reused. */
	if (q && last_of == now && q->handle == handle)
		return q;
	pthread_mutex_lock(&lock);
	q = *slot_of(handle);
	/* Created by a function that layers do not see, such as an extension's. */
	if (!q && !queue_info(handle, CL_PROPERTIES_OF_QUEUE, sizeof(properties), &properties,
			      NULL))
		q = make(handle, properties);
	pthread_mutex_unlock(&lock);
	if (q && q->device) {
		last = q;
		last_of = now;
		return q;
	}
	opencl_miss(OPENCL_MISS_QUEUES, 1);
	return NULL;
}
