// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Commands under way.  Calls of the program push them to a list that the collector's thread takes
 * whole; that asks the runtime for each when it is over, and writes what the device did.  No lock
 * is held in a call of the runtime: it may have locks of its own, and call the program.
 */
#include <pthread.h>
#include <stdlib.h>

#include "gpu/opencl/local.h"

#define UNDER_WAY_MAX	65536u
#define WAKE_EACH	1024u
#define CREDIT		32u	/* commands that a thread may add before it counts again */
/* Above those that CUDA counts from 1, of 32 bits: a process may use both. */
#define FIRST_CORRELATION	((1ull << 31) + 1)

enum key { KEY_GLOBAL, KEY_LOCAL, KEY_QUEUED, KEY_SUBMITTED, KEY_MOVED, NR_KEYS };

static const char *const key_texts[NR_KEYS] = {
	[KEY_GLOBAL] = "global size", [KEY_LOCAL] = "local size",
	[KEY_QUEUED] = "queued before start (ns)", [KEY_SUBMITTED] = "submitted before start (ns)",
	[KEY_MOVED] = "moved into its call (ns)",
};

static xsprof_name_t keys[NR_KEYS];
static struct opencl_command *pushed;	/* the newest first */
/* With the credit of threads: an atomic word for each command would be a tenth of its cost. */
static uint32_t under_way;
static __thread uint32_t credit;
static __thread bool many;

/* The thread's, the oldest first. */
static struct opencl_command *waiting, **waiting_end = &waiting;
static uint32_t nr_waiting;

/* How often what was pushed has been taken; see opencl_queue_made(). */
uint32_t opencl_takes;

/*
 * The collector's thread returns finished commands to the threads that make new ones: memory that
 * one thread allocates and another frees is expensive.  A thread takes the whole list, and returns
 * what it has left when it ends.
 */
#define FREED_MAX	4096u

static struct opencl_command *freed;
static uint32_t nr_freed;
static __thread struct opencl_command *spare;
static pthread_key_t at_thread_end;
static bool has_key;

static void give_back(struct opencl_command *list)
{
	struct opencl_command *last = list;

	if (!list)
		return;
	while (last->next)
		last = last->next;
	last->next = __atomic_load_n(&freed, __ATOMIC_RELAXED);
	/* Release: pairs with take_spare().  The list is taken whole: no ABA. */
	while (!__atomic_compare_exchange_n(&freed, &last->next, list, true, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED))
		;
}

/* In the child of a fork: these are its parent's. */
void opencl_commands_forget(void)
{
	pushed = freed = spare = waiting = NULL;
	waiting_end = &waiting;
	under_way = nr_freed = nr_waiting = credit = 0;
}

static void thread_ends(void *unused)
{
	(void)unused;
	give_back(spare);
	spare = NULL;
	__atomic_fetch_sub(&under_way, credit, __ATOMIC_RELAXED);
	credit = 0;
}

void opencl_commands_init(void)
{
	for (int i = 0; i < NR_KEYS; i++)
		keys[i] = xsprof_name(key_texts[i]);
	/* Without one what ended threads had is not used again. */
	has_key = !pthread_key_create(&at_thread_end, thread_ends);
}

static struct opencl_command *take_spare(void)
{
	struct opencl_command *c = spare;

	if (!c) {
		/* Acquire: with the release in give_back(). */
		c = __atomic_exchange_n(&freed, NULL, __ATOMIC_ACQUIRE);
		__atomic_store_n(&nr_freed, 0, __ATOMIC_RELAXED);
		if (!c)
			return aligned_alloc(OPENCL_LINE, sizeof(*c));
	}
	spare = c->next;
	/* The collector's thread wrote it last, on another CPU: fetched while the runtime works. */
	__builtin_prefetch(spare, 1);
	__builtin_prefetch((char *)spare + OPENCL_LINE, 1);
	return c;
}

/* Return: no room. */
static bool get_credit(void)
{
	/* What a thread has left comes back when it ends. */
	uint32_t n = has_key && !pthread_setspecific(at_thread_end, &under_way) ? CREDIT : 1;
	uint32_t before = __atomic_fetch_add(&under_way, n, __ATOMIC_RELAXED);

	if (before + n > UNDER_WAY_MAX) {
		__atomic_fetch_sub(&under_way, n, __ATOMIC_RELAXED);
		return true;
	}
	many = before / WAKE_EACH != (before + n) / WAKE_EACH;
	credit = n;
	return false;
}

struct opencl_command *opencl_command_new(void)
{
	struct opencl_command *c = credit || !get_credit() ? take_spare() : NULL;

	if (c)
		credit--;
	else
		opencl_miss(OPENCL_MISS_FULL, 1);
	return c;
}

void opencl_command_add(struct opencl_command *c)
{
	c->next = __atomic_load_n(&pushed, __ATOMIC_RELAXED);
	/*
	 * Release: who takes the list sees what is in it.  It is taken whole: no ABA.  Acquire:
	 * what is pushed behind a take is pushed by a thread that sees @opencl_takes of before it.
	 */
	while (!__atomic_compare_exchange_n(&pushed, &c->next, c, true, __ATOMIC_ACQ_REL,
					    __ATOMIC_RELAXED))
		;
	/* Else it comes by itself: to wake it costs more than a short call. */
	if (many) {
		many = false;
		xsprof_collector_wake(&opencl_collector);
	}
}

void opencl_fill_call(struct xsprof_device_activity *a, enum opencl_call call, uint64_t begin,
		      uint64_t end, const struct opencl_queue *queue)
{
	*a = (struct xsprof_device_activity){
		.size = sizeof(*a), .name = opencl_call_name(call), .kind = XSPROF_GPU_RUNTIME,
		.begin = begin, .end = end,
		.device = queue ? queue->device->number : XSPROF_NO_DEVICE,
		.context = queue ? queue->context : 0,
		.stream = queue ? queue->number : XSPROF_NO_STREAM,
	};
}

static void put_call(struct opencl_command *c)
{
	static uint64_t correlation = FIRST_CORRELATION;
	struct xsprof_device_activity a;

	c->correlation = correlation++;
	opencl_fill_call(&a, c->call, c->begin, c->end, c->queue);
	a.correlation = c->correlation;
	a.thread = c->thread;
	xsprof_collector_put(&opencl_collector, &a, NULL, 0);
}

/* The newest come first. */
static void take_pushed(void)
{
	/* Both with opencl_command_add(), which pushes with both. */
	struct opencl_command *c = __atomic_exchange_n(&pushed, NULL, __ATOMIC_ACQ_REL), *next;
	struct opencl_command *oldest = NULL, **end = waiting_end;

	if (c)
		waiting_end = &c->next;
	for (; c; c = next) {
		next = c->next;
		c->next = oldest;
		oldest = c;
		c->queue->under_way++;
		nr_waiting++;
	}
	/* Release: pairs with is_idle(). */
	__atomic_store_n(&opencl_takes, opencl_takes + 1, __ATOMIC_RELEASE);
	*end = oldest;
	for (c = oldest; c; c = c->next)
		put_call(c);
}

/* ---- the runtime ----------------------------------------------------------------------------- */

static int32_t event_info(cl_handle event, uint32_t what, size_t size, void *value, size_t *len)
{
	return NEXT(GetEventInfo, event_info)(event, what, size, value, len);
}

static int32_t event_times(cl_handle event, uint32_t what, size_t size, void *value, size_t *len)
{
	return NEXT(GetEventProfilingInfo, event_times)(event, what, size, value, len);
}

static int32_t event_release(cl_handle event)
{
	return NEXT(ReleaseEvent, event_release)(event);
}

static bool over(struct opencl_command *c)
{
	int32_t status = CL_COMPLETE;

	if (event_info(c->event, CL_STATUS_OF_EVENT, sizeof(status), &status, NULL))
		c->failed = true;
	else if (status > CL_COMPLETE)
		return false;
	else
		c->failed = status < 0;
	return true;
}

static bool ask_times(struct opencl_command *c)
{
	static const uint32_t what[] = {
		CL_AT_QUEUED, CL_AT_SUBMITTED, CL_AT_STARTED, CL_AT_ENDED,
	};

	for (size_t i = 0; i < ARRAY_SIZE(what); i++)
		if (event_times(c->event, what[i], sizeof(c->times[i]), &c->times[i], NULL))
			return false;
	/* Where a runtime has no time it says 0. */
	return c->times[2] && c->times[3] >= c->times[2];
}

/* ---- what became of them --------------------------------------------------------------------- */

/* Queued within its call, on the markers' clock: what its times are moved by so that it is. */
static int64_t into_call(const struct opencl_command *c)
{
	uint64_t queued;

	if (!c->times[0])
		return 0;
	queued = xsprof_device_ticks(c->queue->device->number, c->times[0]);
	return (int64_t)(queued < c->begin ? c->begin - queued :
			 queued > c->end ? c->end - queued : 0);
}

static void put_work(const struct opencl_command *c)
{
	uint32_t device = c->queue->device->number;
	uint64_t moved = (uint64_t)into_call(c);
	const struct xsprof_device_activity a = {
		.size = sizeof(a), .name = c->name, .kind = opencl_work_kind(c->call),
		.begin = xsprof_device_ticks(device, c->times[2]) + moved,
		.end = xsprof_device_ticks(device, c->times[3]) + moved,
		.correlation = c->correlation, .device = device, .context = c->queue->context,
		.stream = c->queue->number, .bytes = c->bytes,
	};
	struct xsprof_kv kv[NR_KEYS];
	size_t n = 0;

	if (c->dimensions)
		kv[n++] = xsprof_i32s(keys[KEY_GLOBAL], c->sizes, c->dimensions);
	if (c->dimensions && c->local)
		kv[n++] = xsprof_i32s(keys[KEY_LOCAL], c->sizes + 3, c->dimensions);
	if (c->times[0] && c->times[0] <= c->times[2])
		kv[n++] = xsprof_i64(keys[KEY_QUEUED], (int64_t)(c->times[2] - c->times[0]));
	if (c->times[1] && c->times[1] <= c->times[2])
		kv[n++] = xsprof_i64(keys[KEY_SUBMITTED], (int64_t)(c->times[2] - c->times[1]));
	if (moved)
		kv[n++] = xsprof_i64(keys[KEY_MOVED], (int64_t)(xsprof_ticks_ns(a.begin) -
						       xsprof_ticks_ns(a.begin - moved)));
	xsprof_collector_put(&opencl_collector, &a, kv, n);
}

static void settle(struct opencl_command *done)
{
	struct opencl_command *c, *next, *back = NULL;
	uint32_t n = 0;

	for (c = done; c; c = next) {
		next = c->next;
		if (c->failed)
			opencl_miss(OPENCL_MISS_FAILED, 1);
		else if (!c->timed)
			opencl_miss(OPENCL_MISS_NO_TIMES, 1);
		else
			put_work(c);
		(void)event_release(c->event);
		/* Release: pairs with is_idle(); the place is written again only after this. */
		__atomic_store_n(&c->queue->under_way, c->queue->under_way - 1, __ATOMIC_RELEASE);
		n++;
		/* One thread may take all: not more than it needs for a burst. */
		if (__atomic_fetch_add(&nr_freed, 1, __ATOMIC_RELAXED) >= FREED_MAX) {
			free(c);
			continue;
		}
		c->next = back;
		back = c;
	}
	give_back(back);
	nr_waiting -= n;
	__atomic_fetch_sub(&under_way, n, __ATOMIC_RELAXED);
}

uint32_t opencl_commands_left(void)
{
	uint32_t n = nr_waiting;

	/* This thread alone takes them: what is on the list stays there. */
	for (struct opencl_command *c = __atomic_load_n(&pushed, __ATOMIC_ACQUIRE); c; c = c->next)
		n++;
	return n;
}

/* All that is over is known before the first is written: their times then move by the same. */
bool opencl_commands_look(void)
{
	static uint32_t looks;
	struct opencl_command *done = NULL, **end = &done, **at, *c;

	looks++;
	take_pushed();
	for (at = &waiting; (c = *at);) {
		/* What is behind one that is not over in such a queue is not over either. */
		if ((c->queue->in_order && c->queue->held == looks) || !over(c)) {
			c->queue->held = looks;
			at = &c->next;
			continue;
		}
		*at = c->next;
		c->next = NULL;
		*end = c;
		end = &c->next;
		c->timed = !c->failed && ask_times(c);
		if (c->timed && c->times[0])
			xsprof_device_clock(c->queue->device->number, c->times[0], c->begin,
					    c->end);
	}
	waiting_end = at;
	settle(done);
	return nr_waiting || __atomic_load_n(&pushed, __ATOMIC_RELAXED);
}
