// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Threads of collectors: each collector has one, which calls it from its registration to the end of
 * the program. What the collector records, and how it was loaded, is up to the collector.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "activity/local.h"
#include "activity/thread.h"
#include "base/recording-off.h"
#include "process/life.h"
#include "ring/activity.h"
#include "ring/state.h"

#define PERIOD		(XSP_SECOND / 4)
#define GONE		(2ull * XSP_SECOND)	/* a recorder without reads for this long is gone */
#define FLUSH_NS	((uint64_t)XSP_SECOND)
#define EXIT_S		10u
#define WAIT_S		5u	/* ... for the recorder */
#define FIRST_US	20u
#define TRY_US		1000u
/* Of the structure of a collector as it was first. */
#define FIRST_SIZE	offsetof(struct xsprof_collector, handle_named)

/* From the C++ ABI: atexit() with an argument. */
extern int __cxa_atexit(void (*function)(void *data), void *data, void *object);

/* Guards the list, and which collectors have a thread. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct xsp_collector *collectors;

struct xsp_collector *xsp_collectors(void)
{
	/* Acquire: pairs with the release when one is added: it is complete. */
	return __atomic_load_n(&collectors, __ATOMIC_ACQUIRE);
}

/* ---- waking ---------------------------------------------------------------------------------- */

static int make_bell(struct xsp_collector *k)
{
	pthread_condattr_t attr;
	int err = -pthread_mutex_init(&k->lock, NULL);

	if (!err)
		err = -pthread_condattr_init(&attr);
	if (err)
		return err;
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	err = -pthread_cond_init(&k->wake, &attr);
	pthread_condattr_destroy(&attr);
	return err;
}

/* Waits until work() is to be called, or the deadline. */
static void wait_for_ring(struct xsp_collector *k, uint64_t deadline_ns)
{
	const struct timespec until = {
		.tv_sec = (time_t)(deadline_ns / XSP_SECOND),
		.tv_nsec = (long)(deadline_ns % XSP_SECOND),
	};

	while (!k->rung && pthread_cond_timedwait(&k->wake, &k->lock, &until) != ETIMEDOUT)
		;
}

static void ring(struct xsp_collector *k, bool *flag)
{
	pthread_mutex_lock(&k->lock);
	*flag = k->rung = true;
	pthread_cond_broadcast(&k->wake);
	pthread_mutex_unlock(&k->lock);
}

void xsprof_collector_wake(struct xsprof_collector *collector)
{
	struct xsp_collector *k = __atomic_load_n(&collector->own, __ATOMIC_ACQUIRE);

	if (k)
		ring(k, &k->rung);
}

int xsprof_collector_asked(struct xsprof_collector *collector)
{
	/* Acquire: pairs with the release at its registration: its lock is initialised. */
	struct xsp_collector *k = __atomic_load_n(&collector->own, __ATOMIC_ACQUIRE);
	bool asked;

	if (!k)
		return 0;
	pthread_mutex_lock(&k->lock);
	asked = k->done != k->asked;
	pthread_mutex_unlock(&k->lock);
	return asked;
}

/*
 * @asked: value of @k->asked before the current work; set to that for the next. Return: true to
 *	continue.
 */
static bool wait_next(struct xsp_collector *k, uint64_t ns, uint32_t *asked)
{
	bool end;

	ns = ns && ns < PERIOD ? ns : PERIOD;
	pthread_mutex_lock(&k->lock);
	if (k->done != *asked) {
		k->done = *asked;
		pthread_cond_broadcast(&k->wake);
	}
	wait_for_ring(k, xsp_monotonic() + ns);
	k->rung = false;
	*asked = k->asked;
	end = k->end;
	pthread_mutex_unlock(&k->lock);
	return !end;
}

static void flush(struct xsp_collector *k, uint64_t deadline_ns)
{
	const struct timespec until = {
		.tv_sec = (time_t)(deadline_ns / XSP_SECOND),
		.tv_nsec = (long)(deadline_ns % XSP_SECOND),
	};
	uint32_t asked;
	int state;

	if (k->pid != getpid() || pthread_equal(k->thread, pthread_self()))
		return;
	/* A wait that is cancelled takes the lock again: this thread would die with it. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	pthread_mutex_lock(&k->lock);
	asked = ++k->asked;
	k->rung = true;
	pthread_cond_broadcast(&k->wake);
	while ((int32_t)(k->done - asked) < 0 && !k->over &&
	       pthread_cond_timedwait(&k->wake, &k->lock, &until) != ETIMEDOUT)
		;
	pthread_mutex_unlock(&k->lock);
	pthread_setcancelstate(state, NULL);
}

void xsp_collectors_flush(void)
{
	uint64_t until = xsp_monotonic() + FLUSH_NS;
	int err = errno;

	for (struct xsp_collector *k = xsp_collectors(); k; k = k->next)
		flush(k, until);
	errno = err;
}

/* ---- the thread ------------------------------------------------------------------------------ */

/*
 * Recording was off since @off_since, and is on again: what devices did in that time is unknown. It
 * includes the time since the program resumed recording, which this thread sees at its next turn.
 */
static void record_off(struct xsp_collector *k)
{
	const struct xsprof_device_activity a = {
		.size = sizeof(a), .kind = XSPROF_GPU_UNRECORDED, .begin = k->off_since,
		.end = xsprof_now(), .device = XSPROF_NO_DEVICE, .stream = XSPROF_NO_STREAM,
		.name = xsprof_name_in(k->category, XSP_RECORDING_OFF),
	};

	xsp_device_activity(&a, NULL, 0);
	k->off_since = 0;
}

/*
 * The program may cancel threads that it does not know: this one would die with its lock, for which
 * others wait. A collector may have allowed it.
 */
static void stay(void)
{
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
}

/* When the recorder leaves, the program gets its old speed back. */
static void follow(struct xsp_collector *k)
{
	uint64_t now = xsprof_now(), since = xsp_paused_since();
	bool gone = xsp_recorder_gone(k, GONE);
	bool wanted = !gone && xsprof_enabled() >> k->category & 1;

	if (wanted)
		__atomic_store_n(&k->wanted_at, now, __ATOMIC_RELAXED);
	/*
	 * What comes next is another recording, or a session that waits for our start. Relaxed: a
	 * change that is not seen now is seen at the next turn.
	 */
	if (gone || !xsp_attached() ||
	    __atomic_load_n(&xsprof_ctl_page.ctl.paused, __ATOMIC_RELAXED) &
	    XSPROF_PAUSED_RECORDER)
		k->off_since = 0;
	else if (!wanted && !k->off_since)
		k->off_since = since ? since : now;
	if (!k->c.start || (k->told && wanted == k->on))
		return;
	k->told = true;
	k->on = wanted && !k->c.start(k->c.data);
	if (!wanted && k->c.stop)
		k->c.stop(k->c.data, 0);
	stay();
	if (wanted && k->off_since)
		record_off(k);
}

static void *run(void *data)
{
	struct xsp_collector *k = data;
	uint32_t asked = 0;
	uint64_t next;

	stay();
	/* Measures the clock's rate here, so that the program need not wait for it. */
	(void)xsprof_ticks_ns(0);
	do {
		follow(k);
		next = k->on || !k->c.start ? k->c.work(k->c.data) : 0;
		stay();
		xsp_misses_show(k, false);
	} while (wait_next(k, next, &asked));
	k->patience = xsp_monotonic() + WAIT_S * (uint64_t)XSP_SECOND;
	if (k->c.stop && (k->on || !k->c.start))
		k->c.stop(k->c.data, 1);
	stay();
	xsp_clocks_show();
	xsp_misses_show(k, true);
	ring(k, &k->over);
	return NULL;
}

/* Tells the thread that the program ends, and waits for it. Return: it is over. */
static bool end(struct xsp_collector *k)
{
	uint64_t deadline = xsp_monotonic() + EXIT_S * (uint64_t)XSP_SECOND;
	bool told = false, over = false;

	/*
	 * Never waits without a limit: a handler that ends the program may have interrupted a
	 * thread that has the lock.
	 */
	for (useconds_t us = FIRST_US; !over; us = us < TRY_US ? 2 * us : us) {
		if (!pthread_mutex_trylock(&k->lock)) {
			over = k->over;
			if (!told) {
				told = k->end = k->rung = true;
				pthread_cond_broadcast(&k->wake);
			}
			pthread_mutex_unlock(&k->lock);
		}
		if (!over && xsp_monotonic() > deadline)
			return false;
		if (!over)
			usleep(us);
	}
	return over;
}

/* Waits for the thread, with a time limit. */
static void at_exit(void *data)
{
	struct xsp_collector *k = data;
	struct timespec until;
	bool over;
	int state;

	/* A forked child lacks the thread, and the thread cannot wait for itself. */
	if (k->pid != getpid() || pthread_equal(k->thread, pthread_self()))
		return;
	/* The thread that ends the program: it may be cancelled, but not in between. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	over = end(k);
	k->pid = 0;
	if (over) {
		/* Others' destructors of its own data may be endless. */
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_sec += EXIT_S;
		(void)pthread_timedjoin_np(k->thread, NULL, &until);
	}
	pthread_setcancelstate(state, NULL);
	if (over)
		return;
	if (k->c.gave_up)
		k->c.gave_up(k->c.data);
	xsp_misses_show(k, true);
	xsp_say("%s did not deliver the last activities of its devices within %u s: they are not "
		"recorded", k->c.name, EXIT_S);
}

/*
 * For collectors added before main(): functions passed to atexit() by a library's constructor run
 * after all destructors. Runs before the library's own destructor, while records are still read.
 */
__attribute__((destructor)) static void all_at_exit(void)
{
	int err = errno;

	for (struct xsp_collector *k = xsp_collectors(); k; k = k->next)
		at_exit(k);
	errno = err;
}

static int begin(struct xsp_collector *k)
{
	char name[16];
	pthread_attr_t attr;
	size_t stack = 0;
	int err;

	/*
	 * As large as the program's threads: functions called by a collector may call the program.
	 */
	if (!pthread_attr_init(&attr)) {
		(void)pthread_attr_getstacksize(&attr, &stack);
		pthread_attr_destroy(&attr);
	}
	snprintf(name, sizeof(name), "xsprof-%s", k->c.name);
	err = xsp_thread_start(&k->thread, name, stack, run, k);
	if (!err)
		k->pid = getpid();
	else
		xsp_say("no thread can be started (%s): %s is not recorded",
			strerror(-err), k->c.name);
	return err;
}

/* ---- adding one ------------------------------------------------------------------------------ */

static void forget(void)
{
	pthread_mutex_init(&lock, NULL);
	xsp_clocks_forget();
	xsp_devices_forget();
	for (struct xsp_collector *k = __atomic_load_n(&collectors, __ATOMIC_ACQUIRE); k;
	     k = k->next) {
		(void)make_bell(k);
		k->pid = 0;
		k->rung = k->end = k->over = k->on = k->told = false;
		k->asked = k->done = 0;
		k->written = k->stalled = k->patience = k->wanted_at = k->off_since = 0;
		xsp_misses_forget(k);
		if (k->c.forget)
			k->c.forget(k->c.data);
	}
}

static struct xsp_fork_hook fork_hook = { .forget = forget };

static int check(const struct xsprof_collector *c)
{
	const char *rest;

	if (!c || c->size < offsetof(struct xsprof_collector, nr_misses))
		return -EINVAL;
	if (c->version != XSPROF_COLLECTOR_VERSION)
		return -EPROTO;
	if (c->size < FIRST_SIZE || !c->name || !c->category || !*c->category || !c->work ||
	    (c->nr_misses && !c->misses))
		return -EINVAL;
	rest = (const char *)c;
	for (size_t i = sizeof(*c); i < c->size; i++)
		if (rest[i])
			return -E2BIG;
	return 0;
}

/* Attaches if needed. */
static bool is_recorded(void)
{
	int err = xsprof_init(NULL);

	return !err || err == -EAGAIN || err == -EBUSY || err == -EALREADY;
}

/* Called with the lock held. */
static int make(struct xsprof_collector *collector)
{
	struct xsp_collector *k = calloc(1, sizeof(*k));
	uint64_t *stated = calloc(collector->nr_misses + 1ull, sizeof(*stated));
	int err = k && stated ? make_bell(k) : -ENOMEM;

	if (err) {
		free(stated);
		free(k);
		return err;
	}
	k->stated = stated;
	memcpy(&k->c, collector,
	       collector->size < sizeof(k->c) ? collector->size : sizeof(k->c));
	k->category = xsprof_category(collector->category);
	k->off.text = "activities that began after recording was paused";
	k->next = collectors;
	xsp_at_fork(&fork_hook);
	/* Release: a forked child and xsprof_collector_wake() see it complete. */
	__atomic_store_n(&collectors, k, __ATOMIC_RELEASE);
	__atomic_store_n(&collector->own, k, __ATOMIC_RELEASE);
	return 0;
}

int xsprof_collector_add(struct xsprof_collector *collector)
{
	struct xsp_collector *k;
	int ret, err = errno;

	ret = check(collector);
	if (ret)
		return ret;
	if (!is_recorded()) {
		errno = err;
		return -ENOTCONN;
	}
	pthread_mutex_lock(&lock);
	if (!collector->own)
		ret = make(collector);
	k = collector->own;
	/* No start after the end of the program's work. */
	if (!ret && k->pid != getpid() && !k->end)
		ret = begin(k);
	/* Not NULL, for which sanitizers take it for atexit(). */
	if (!ret && __cxa_atexit(at_exit, k, &collectors))
		ret = -ENOMEM;
	pthread_mutex_unlock(&lock);
	errno = err;
	return ret;
}
