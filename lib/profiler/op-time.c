// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Times of ops on a device without a collector for its kernels: each op of a session records an
 * event in the device's stream at its begin and its end, and the time between them is written into
 * the rings when the device has reached both. Owns these events.
 *
 * Callbacks of the program are called without any lock that an op needs. An op waits for a device
 * only if too many events are pending; it then waits for the oldest.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "profiler/op-time.h"
#include "ring/op-wanted.h"

#define PAIRS		(1u << 16)	/* open and pending; 2.5 MiB of memory, allocated as used */
#define DUE_MOST	4096u
#define DUE_TAKEN	512u

/**
 * struct pair - events of an op
 * @begin: NULL: not available
 * @end: NULL: not available
 * @id: identifies the op's record
 * @device: type << 16 | index
 * @next: open: the enclosing one of its thread; pending: the next; free: another
 * @left_out: open: number of inner ops, outside of the next pair, without a time
 * @open: the op is open
 */
struct pair {
	void		*begin;
	void		*end;
	uint32_t	id;
	uint32_t	device;
	uint32_t	next;
	uint32_t	left_out;
	bool		open;
};

static struct {
	pthread_mutex_t		lock;
	pthread_cond_t		idle;
	/* for GPUs, and for a custom backend */
	const struct xsprof_device_stubs *registered[2];
	const struct xsprof_device_stubs *stubs;	/* of the running session */
	uint32_t		session;	/* session whose ops are timed, 0: none */
	uint32_t		calls;		/* threads that are in a callback */
	struct pair		*pairs;		/* from index 1 on; never freed */
	uint32_t		used;
	uint32_t		free;
	uint32_t		first;		/* first pending one */
	uint32_t		last;
	uint32_t		due;
	uint32_t		id;
} d = { .lock = PTHREAD_MUTEX_INITIALIZER, .idle = PTHREAD_COND_INITIALIZER };

static __thread struct {
	uint32_t	session;
	uint32_t	open;		/* its innermost pair, 0 for none */
	uint32_t	left_out;	/* open ops inside it without a time */
	bool		inside;		/* in a callback, whose own ops are ignored */
} mine __attribute__((tls_model("initial-exec")));

/* Records an event in the device's stream; NULL: not available. */
static void *record(const struct xsprof_device_stubs *stubs, int32_t *device)
{
	bool inside = mine.inside;
	void *event = NULL;

	mine.inside = true;
	if (stubs->record(stubs->data, device, &event, NULL))
		event = NULL;
	mine.inside = inside;
	return event;
}

/* ---- registered callbacks ------------------------------------------------------------------- */

int xsprof_register_device_stubs(const struct xsprof_device_stubs *stubs)
{
	int err = 0, saved = errno;

	if (stubs && (stubs->size < sizeof(*stubs) || !stubs->record || !stubs->elapsed ||
		      !stubs->release || !stubs->synchronize ||
		      !stubs->range_push != !stubs->range_pop || !stubs->device_type ||
		      stubs->device_type > UINT16_MAX))
		return -EINVAL;
	pthread_mutex_lock(&d.lock);
	if (d.stubs)
		err = -EBUSY;
	else if (!stubs)
		d.registered[0] = d.registered[1] = NULL;
	else
		d.registered[stubs->device_type == XSPROF_DEVICE_PRIVATEUSE1] = stubs;
	pthread_mutex_unlock(&d.lock);
	errno = saved;
	return err;
}

struct count {
	const struct xsprof_device_stubs *stubs;
	uint32_t devices;
};

/* The first event on a device takes long. */
static void warm_up(void *data, int device)
{
	struct count *c = data;
	void *event;

	(void)device;
	c->devices++;
	event = record(c->stubs, NULL);
	if (event)
		c->stubs->release(c->stubs->data, event);
}

static uint32_t count_devices(const struct xsprof_device_stubs *stubs)
{
	struct count c = { .stubs = stubs };

	if (stubs->enabled && !stubs->enabled(stubs->data))
		return 0;
	if (!stubs->on_each_device)
		return 1;
	mine.inside = true;
	stubs->on_each_device(stubs->data, warm_up, &c);
	mine.inside = false;
	return c.devices;
}

int xsp_op_time_find(uint32_t state, const struct xsprof_device_stubs **stubs)
{
	bool own = state == XSPROF_PROFILER_KINETO_PRIVATEUSE1_FALLBACK;

	*stubs = NULL;
	if (!own && state != XSPROF_PROFILER_CUDA && state != XSPROF_PROFILER_KINETO_GPU_FALLBACK)
		return 0;
	pthread_mutex_lock(&d.lock);
	*stubs = d.registered[own];
	if (!d.pairs)
		d.pairs = calloc(PAIRS, sizeof(*d.pairs));
	pthread_mutex_unlock(&d.lock);
	if (*stubs && count_devices(*stubs))
		return d.pairs ? 0 : -ENOMEM;
	*stubs = NULL;
	/* A GPU's collector may provide times nevertheless. */
	return state == XSPROF_PROFILER_CUDA ? 0 : -ENODEV;
}

/* ---- pairs; the lock is held ---------------------------------------------------------------- */

static uint32_t new_pair(void)
{
	uint32_t at = d.free;

	if (at)
		d.free = d.pairs[at].next;
	else if (d.used < PAIRS - 1)
		at = ++d.used;
	return at;
}

static void free_pairs(uint32_t first, uint32_t last)
{
	d.pairs[last].next = d.free;
	d.free = first;
}

static void make_due(uint32_t at)
{
	d.pairs[at].open = false;
	d.pairs[at].next = 0;
	*(d.first ? &d.pairs[d.last].next : &d.first) = at;
	d.last = at;
	d.due++;
}

/* Takes the oldest @n pending ones, as a list that ends with 0. */
static uint32_t take_due(uint32_t n)
{
	uint32_t first = d.first, last = first;

	if (!first)
		return 0;
	for (d.due--; --n && d.pairs[last].next; d.due--)
		last = d.pairs[last].next;
	d.first = d.pairs[last].next;
	d.pairs[last].next = 0;
	return first;
}

static void call_ends(void)
{
	if (!--d.calls)
		pthread_cond_broadcast(&d.idle);
}

/* ---- what lies between two events ----------------------------------------------------------- */

static void write_elapsed(const struct pair *p, double us)
{
	int category = xsprof_category("profiler");
	struct xsprof_kv kv[3] = {
		xsprof_u64(XSPROF_NAME("Op"), p->id), xsprof_u64(XSPROF_NAME("Device"), p->device),
		xsprof_f64(XSPROF_NAME("Elapsed us"), us),
	};

	xsprof_instant_args(XSPROF_NAME_IN(category, "[device elapsed]"), kv, 3);
}

/* Writes their times; waits if the device has not reached the events. */
static void settle(const struct xsprof_device_stubs *stubs, uint32_t first)
{
	uint32_t last = first;
	double us;

	mine.inside = true;
	for (uint32_t at = first; at; last = at, at = d.pairs[at].next) {
		struct pair *p = &d.pairs[at];

		if (p->begin && p->end && !stubs->elapsed(stubs->data, p->begin, p->end, &us))
			write_elapsed(p, us);
		if (p->begin)
			stubs->release(stubs->data, p->begin);
		if (p->end)
			stubs->release(stubs->data, p->end);
	}
	mine.inside = false;
	if (!first)
		return;
	pthread_mutex_lock(&d.lock);
	free_pairs(first, last);
	pthread_mutex_unlock(&d.lock);
}

/* ---- ops ------------------------------------------------------------------------------------ */

/* Pairs of an earlier session were freed at its end. */
static void forget_stale(void)
{
	uint32_t session = __atomic_load_n(&xsp_ops.session, __ATOMIC_RELAXED);

	if (mine.session == session)
		return;
	mine.session = session;
	mine.open = mine.left_out = 0;
}

uint32_t xsp_op_time_begins(bool keep)
{
	uint32_t at = 0, id = 0;

	if (mine.inside)
		return 0;
	forget_stale();
	if (!keep) {
		mine.left_out++;
		return 0;
	}
	pthread_mutex_lock(&d.lock);
	if (d.session && d.session == mine.session)
		at = new_pair();
	if (at) {
		id = ++d.id ? d.id : ++d.id;
		d.pairs[at] = (struct pair){ .id = id, .next = mine.open, .open = true,
					     .left_out = mine.left_out };
		d.calls++;
	}
	pthread_mutex_unlock(&d.lock);
	if (at) {
		mine.open = at;
		mine.left_out = 0;
	} else {
		mine.left_out++;
	}
	return id;
}

void xsp_op_time_began(void)
{
	/* The end of a session waits for calls in progress, but the end of the program does not. */
	const struct xsprof_device_stubs *stubs = __atomic_load_n(&d.stubs, __ATOMIC_ACQUIRE);
	struct pair *p = &d.pairs[mine.open];
	int32_t device = 0;

	if (stubs) {
		p->begin = record(stubs, &device);
		p->device = XSPROF_DEVICE(stubs->device_type, device & 0xffff);
	}
	pthread_mutex_lock(&d.lock);
	call_ends();
	pthread_mutex_unlock(&d.lock);
}

void xsp_op_time_ends(bool now)
{
	const struct xsprof_device_stubs *stubs;
	uint32_t at, due = 0;
	void *event;

	if (mine.inside)
		return;
	forget_stale();
	if (mine.left_out || !mine.open) {
		mine.left_out -= mine.left_out != 0;
		return;
	}
	pthread_mutex_lock(&d.lock);
	if (!d.session || d.session != mine.session) {
		pthread_mutex_unlock(&d.lock);
		return;
	}
	at = mine.open;
	mine.open = d.pairs[at].next;
	mine.left_out = d.pairs[at].left_out;
	d.calls++;
	stubs = d.stubs;
	pthread_mutex_unlock(&d.lock);
	event = now && d.pairs[at].begin ? record(stubs, NULL) : NULL;
	pthread_mutex_lock(&d.lock);
	d.pairs[at].end = event;
	make_due(at);
	if (d.due >= DUE_MOST)
		due = take_due(DUE_TAKEN);
	pthread_mutex_unlock(&d.lock);
	settle(stubs, due);
	pthread_mutex_lock(&d.lock);
	call_ends();
	pthread_mutex_unlock(&d.lock);
}

/* ---- sessions ------------------------------------------------------------------------------- */

void xsp_op_time_begin(const struct xsprof_device_stubs *stubs, uint32_t number)
{
	if (!stubs)
		return;
	mine.inside = true;
	stubs->synchronize(stubs->data);
	if (stubs->mark)
		stubs->mark(stubs->data, "__start_profile");
	mine.inside = false;
	pthread_mutex_lock(&d.lock);
	d.used = d.free = d.first = d.due = 0;
	__atomic_store_n(&d.stubs, stubs, __ATOMIC_RELEASE);
	d.session = number;
	pthread_mutex_unlock(&d.lock);
}

void xsp_op_time_end(void)
{
	const struct xsprof_device_stubs *stubs;
	uint32_t due;

	pthread_mutex_lock(&d.lock);
	d.session = 0;
	while (d.calls)
		pthread_cond_wait(&d.idle, &d.lock);
	stubs = d.stubs;
	due = take_due(PAIRS);
	pthread_mutex_unlock(&d.lock);
	if (!stubs)
		return;
	mine.inside = true;
	stubs->synchronize(stubs->data);
	mine.inside = false;
	settle(stubs, due);
	mine.inside = true;
	for (uint32_t at = 1; at <= d.used; at++)
		if (d.pairs[at].open && d.pairs[at].begin)
			stubs->release(stubs->data, d.pairs[at].begin);
	if (stubs->mark)
		stubs->mark(stubs->data, "__stop_profile");
	mine.inside = false;
	pthread_mutex_lock(&d.lock);
	__atomic_store_n(&d.stubs, NULL, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&d.lock);
}

void xsp_op_time_quit(void)
{
	pthread_mutex_lock(&d.lock);
	d.session = 0;
	__atomic_store_n(&d.stubs, NULL, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&d.lock);
}

void xsp_op_time_forget(void)
{
	pthread_mutex_init(&d.lock, NULL);
	pthread_cond_init(&d.idle, NULL);
	d.stubs = NULL;
	d.session = d.calls = d.used = d.free = d.first = d.due = 0;
	mine.session = mine.open = mine.left_out = 0;
	mine.inside = false;
}

/* ---- ranges --------------------------------------------------------------------------------- */

void xsp_op_time_push(const char *name)
{
	const struct xsprof_device_stubs *stubs =
		__atomic_load_n(&d.registered[1], __ATOMIC_ACQUIRE);

	if (stubs && stubs->range_push)
		stubs->range_push(stubs->data, name);
}

void xsp_op_time_pop(void)
{
	const struct xsprof_device_stubs *stubs =
		__atomic_load_n(&d.registered[1], __ATOMIC_ACQUIRE);

	if (stubs && stubs->range_pop)
		stubs->range_pop(stubs->data);
}
