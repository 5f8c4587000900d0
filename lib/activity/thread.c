// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Collectors: each has a thread here that calls it, from when it is added to the end of the
 * program.  What a collector records is its own affair, and how it comes into the program too.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "activity/local.h"
#include "activity/thread.h"
#include "process/life.h"

#define PERIOD		(XSP_SECOND / 4)
#define GONE		(2ull * XSP_SECOND)	/* a recorder that takes nothing for so long */
#define FLUSH_NS	((uint64_t)XSP_SECOND)
#define EXIT_S		10u
#define WAIT_S		5u	/* of these, for the recorder */

/* As the C++ ABI has it: atexit() with an argument. */
extern int __cxa_atexit(void (*function)(void *data), void *data, void *object);

/* Of the list, and of which collectors have a thread. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct xsp_collector *collectors;

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

/* Waits until @flag, or the time. */
static void wait_for(struct xsp_collector *k, const bool *flag, uint64_t deadline_ns)
{
	const struct timespec until = {
		.tv_sec = (time_t)(deadline_ns / XSP_SECOND),
		.tv_nsec = (long)(deadline_ns % XSP_SECOND),
	};

	while (!*flag && pthread_cond_timedwait(&k->wake, &k->lock, &until) != ETIMEDOUT)
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
	/* Acquire: pairs with the release where it was added: its lock is ready. */
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
 * @asked: what @k->asked was before the work that is done now, and is set to for the next.
 * Return: go on.
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
	wait_for(k, &k->rung, xsp_monotonic() + ns);
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

	if (k->pid != getpid() || pthread_equal(k->thread, pthread_self()))
		return;
	pthread_mutex_lock(&k->lock);
	asked = ++k->asked;
	k->rung = true;
	pthread_cond_broadcast(&k->wake);
	while ((int32_t)(k->done - asked) < 0 && !k->over &&
	       pthread_cond_timedwait(&k->wake, &k->lock, &until) != ETIMEDOUT)
		;
	pthread_mutex_unlock(&k->lock);
}

void xsp_collectors_flush(void)
{
	uint64_t until = xsp_monotonic() + FLUSH_NS;
	int err = errno;

	for (struct xsp_collector *k = __atomic_load_n(&collectors, __ATOMIC_ACQUIRE); k;
	     k = k->next)
		flush(k, until);
	errno = err;
}

/* ---- the thread ------------------------------------------------------------------------------ */

/* A recorder that goes leaves a program at its old speed. */
static void follow(struct xsp_collector *k)
{
	bool wanted = !xsp_recorder_gone(k, GONE) && xsprof_enabled() >> k->category & 1;

	if (!k->c.start || (k->told && wanted == k->on))
		return;
	k->told = true;
	k->on = wanted && !k->c.start(k->c.data);
	if (!wanted && k->c.stop)
		k->c.stop(k->c.data, 0);
}

static void *run(void *data)
{
	struct xsp_collector *k = data;
	uint32_t asked = 0;
	uint64_t next;

	/* The rate of the clock is measured here, so that the program need not wait for it. */
	(void)xsprof_ticks_ns(0);
	do {
		follow(k);
		next = k->on || !k->c.start ? k->c.work(k->c.data) : 0;
		xsp_misses_show(k);
	} while (wait_next(k, next, &asked));
	k->patience = xsp_monotonic() + WAIT_S * (uint64_t)XSP_SECOND;
	if (k->c.stop && (k->on || !k->c.start))
		k->c.stop(k->c.data, 1);
	xsp_clocks_show();
	xsp_misses_show(k);
	ring(k, &k->over);
	return NULL;
}

/* The program waits, but not for ever. */
static void at_exit(void *data)
{
	struct xsp_collector *k = data;
	bool over;

	/* The child of a fork has no such thread, and the thread cannot wait for itself. */
	if (k->pid != getpid() || pthread_equal(k->thread, pthread_self()))
		return;
	ring(k, &k->end);
	pthread_mutex_lock(&k->lock);
	wait_for(k, &k->over, xsp_monotonic() + EXIT_S * (uint64_t)XSP_SECOND);
	over = k->over;
	pthread_mutex_unlock(&k->lock);
	k->pid = 0;
	if (over) {
		(void)pthread_join(k->thread, NULL);
		return;
	}
	if (k->c.gave_up)
		k->c.gave_up(k->c.data);
	xsp_misses_show(k);
	xsp_say("%s did not give the last activities of its devices within %u s: they are not "
		"recorded", k->c.name, EXIT_S);
}

/*
 * Of those that were added before main(): what a library's constructor gives to atexit() is called
 * after all destructors.  Before the library's own end, while records are still read.
 */
__attribute__((destructor)) static void all_at_exit(void)
{
	int err = errno;

	for (struct xsp_collector *k = __atomic_load_n(&collectors, __ATOMIC_ACQUIRE); k;
	     k = k->next)
		at_exit(k);
	errno = err;
}

static int begin(struct xsp_collector *k)
{
	char name[16];
	pthread_attr_t attr;
	size_t stack = 0;
	int err;

	/* As the program's threads have it: what a collector calls may call the program. */
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
		k->written = k->stalled = k->patience = 0;
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
	if (c->size < sizeof(*c) || !c->name || !c->category || !*c->category || !c->work ||
	    (c->nr_misses && !c->misses))
		return -EINVAL;
	rest = (const char *)c + sizeof(*c);
	for (size_t i = 0; i < c->size - sizeof(*c); i++)
		if (rest[i])
			return -E2BIG;
	return 0;
}

/* Attaches if need be. */
static bool is_recorded(void)
{
	int err = xsprof_init(NULL);

	return !err || err == -EAGAIN || err == -EBUSY || err == -EALREADY;
}

/* The lock is held. */
static int make(struct xsprof_collector *collector)
{
	struct xsp_collector *k = calloc(1, sizeof(*k));
	int err = k ? make_bell(k) : -ENOMEM;

	if (err) {
		free(k);
		return err;
	}
	k->c = *collector;
	k->category = xsprof_category(collector->category);
	k->off.text = "activities that came after recording was paused";
	k->next = collectors;
	xsp_at_fork(&fork_hook);
	/* Release: the child of a fork and xsprof_collector_wake() see it whole. */
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
	/* After the end of the program's work there is no beginning any more. */
	if (!ret && k->pid != getpid() && !k->end)
		ret = begin(k);
	/* Not NULL, for which sanitizers take it for atexit(). */
	if (!ret && __cxa_atexit(at_exit, k, &collectors))
		ret = -ENOMEM;
	pthread_mutex_unlock(&lock);
	errno = err;
	return ret;
}
