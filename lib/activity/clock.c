// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The markers' clock in nanoseconds, for runtimes that need these; and devices' clocks relative to
 * it.
 *
 * Pairs bound the offset between a device's clock and ours: the device showed some time between two
 * of our timestamps. The intersection of recent pairs is used, so that clocks of slightly different
 * rates do no harm.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "activity/local.h"
#include "base/clock.h"
#include "ring/state.h"

#define SHIFT		32
#define BACK_SHIFT	60
#define APART_NS	20000000u
#define TRIES		16
/* 20 ms: our clock's rate is known to 10 parts in a million, so the offset drifts by 200 ns. */
#define WINDOW_NS	20000000u

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct {
	bool		known;
	uint64_t	ticks;
	uint64_t	ns;
	uint64_t	rate;		/* ns << SHIFT per tick */
	uint64_t	back;		/* ticks << BACK_SHIFT per ns: avoids divisions */
} base;

uint64_t xsp_monotonic(void)
{
	return xsp_clock_ns(CLOCK_MONOTONIC);
}

/* Reads both clocks at the same time: of several readings the fastest. */
static void read_both(uint64_t *ticks, uint64_t *ns)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		uint64_t before = xsprof_now(), at = xsp_clock_ns(CLOCK_MONOTONIC_RAW);
		uint64_t took = xsprof_now() - before;

		if (took >= best)
			continue;
		best = took;
		*ticks = before + took / 2;
		*ns = at;
	}
}

static void set_rate(uint64_t rate)
{
	unsigned __int128 back = ((unsigned __int128)1 << (SHIFT + BACK_SHIFT)) / rate;

	base.rate = rate;
	/* Up to 16 ticks per ns. */
	base.back = back > UINT64_MAX ? UINT64_MAX : (uint64_t)back;
}

static void measure(void)
{
	const struct xsprof_sync *attach = &xsprof_ctl_page.ctl.attach;
	const struct timespec pause = { .tv_nsec = APART_NS };
	uint64_t ticks, ns;

	base.ticks = attach->ticks;
	base.ns = attach->mono_raw;
	if (!base.ticks || !base.ns)
		read_both(&base.ticks, &base.ns);
	set_rate(1ull << SHIFT);
	if ((xsp_kept.clock ? xsp_kept.clock : xsp_clock_kind()) == XSPROF_CLOCK_MONO_RAW)
		return;
	if (xsp_clock_ns(CLOCK_MONOTONIC_RAW) - base.ns < APART_NS)
		nanosleep(&pause, NULL);
	read_both(&ticks, &ns);
	if (ticks > base.ticks && ns > base.ns)
		set_rate((uint64_t)(((unsigned __int128)(ns - base.ns) << SHIFT) /
				    (ticks - base.ticks)));
}

static XSP_COLD void know(void)
{
	int err = errno, state;

	/* It sleeps: a thread that is cancelled then would die with the lock. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	pthread_mutex_lock(&lock);
	if (!base.known) {
		measure();
		__atomic_store_n(&base.known, true, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&lock);
	pthread_setcancelstate(state, NULL);
	errno = err;
}

/* Acquire: pairs with the release in know(). */
static inline bool has_rate(void)
{
	return likely(__atomic_load_n(&base.known, __ATOMIC_ACQUIRE));
}

static inline void need_rate(void)
{
	if (!has_rate())
		know();
}

uint64_t xsprof_ticks_ns(uint64_t ticks)
{
	int64_t passed;

	need_rate();
	passed = (int64_t)(ticks - base.ticks);
	return base.ns + (uint64_t)((__int128)passed * (__int128)base.rate >> SHIFT);
}

uint64_t xsprof_ns_ticks(uint64_t ns)
{
	int64_t passed;

	need_rate();
	passed = (int64_t)(ns - base.ns);
	return base.ticks + (uint64_t)((__int128)passed * (__int128)base.back >> BACK_SHIFT);
}

/* ---- clocks of devices ----------------------------------------------------------------------- */

/**
 * struct bounds - bounds of the offset between our clock and a device's
 * @low: our time minus the device's is at least this, ns
 * @high: ... and at most this
 */
struct bounds {
	int64_t	low;
	int64_t	high;
};

/**
 * struct pair - a reading of a device's clock
 * @device_ns: its time
 * @before: our time before it, ticks
 * @after: our time after it, ticks
 */
struct pair {
	uint64_t	device_ns;
	uint64_t	before;
	uint64_t	after;
};

/**
 * struct clock - a device's clock
 * @lock: guards the fields below
 * @name: name of its counter in the trace
 * @now: bounds in the current window
 * @before: bounds in the previous window
 * @until: end of the current window, ns of our clock
 * @offset: offset in use; unchanged while it is within the bounds
 * @known: @offset is valid
 * @early: latest pair before our clock's rate was known
 * @has_early: @early is valid
 * @said: time of the counter's last record, ns of our clock
 * @shown: value of that record
 */
struct clock {
	pthread_mutex_t	lock;
	xsprof_name_t	name;
	struct bounds	now;
	struct bounds	before;
	uint64_t	until;
	int64_t		offset;
	bool		known;
	struct pair	early;
	bool		has_early;
	uint64_t	said;
	uint64_t	shown;
};

/* By device number; never freed. */
static struct clock *clocks[XSP_DEVICES];

/* Acquire: pairs with the release in xsp_clock_add(). */
static struct clock *clock_of(uint32_t number)
{
	return number < XSP_DEVICES ? __atomic_load_n(&clocks[number], __ATOMIC_ACQUIRE) : NULL;
}

int xsp_clock_add(uint32_t number, const char *kind)
{
	char text[64];
	struct clock *c, *none = NULL;

	if (clock_of(number))
		return 0;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	pthread_mutex_init(&c->lock, NULL);
	snprintf(text, sizeof(text), "clock of device %u: known within ns", number);
	c->name = xsprof_name_in(xsprof_category(kind), text);
	/* Another thread may have been faster. */
	if (!__atomic_compare_exchange_n(&clocks[number], &none, c, false, __ATOMIC_RELEASE,
					 __ATOMIC_RELAXED))
		free(c);
	return 0;
}

static struct bounds both(const struct bounds *a, const struct bounds *b)
{
	return (struct bounds){
		.low = a->low > b->low ? a->low : b->low,
		.high = a->high < b->high ? a->high : b->high,
	};
}

static struct bounds agreed(const struct clock *c)
{
	struct bounds b = both(&c->now, &c->before);

	return b.low <= b.high ? b : c->now;
}

/* Adds a pair. Return: its time, ns of our clock. */
static uint64_t see(struct clock *c, const struct pair *pair)
{
	uint64_t low = xsprof_ticks_ns(pair->before), high = xsprof_ticks_ns(pair->after);
	const struct bounds seen = {
		.low = (int64_t)(low - pair->device_ns), .high = (int64_t)(high - pair->device_ns),
	};
	struct bounds b;

	if (!c->known || high > c->until) {
		c->before = c->known ? c->now : seen;
		c->now = seen;
		c->until = high + WINDOW_NS;
	} else {
		c->now = both(&c->now, &seen);
		/* No overlap: the clock was set, or an earlier pair was wrong. */
		if (c->now.low > c->now.high)
			c->now = c->before = seen;
	}
	b = agreed(c);
	if (!c->known || c->offset < b.low || c->offset > b.high)
		c->offset = b.low + (b.high - b.low) / 2;
	c->known = true;
	return high;
}

/* Records the uncertainty of the clock, where an activity is drawn. */
static void show(struct clock *c, uint64_t now)
{
	struct bounds b = agreed(c);
	uint64_t below = (uint64_t)(c->offset - b.low), above = (uint64_t)(b.high - c->offset);
	uint64_t error = below > above ? below : above;

	if ((c->said && error == c->shown) || !xsprof_wants(c->name))
		return;
	xsprof_counter(c->name, (int64_t)error);
	c->shown = error;
	c->said = now;
}

void xsprof_device_clock(uint32_t device, uint64_t device_ns, uint64_t before, uint64_t after)
{
	const struct pair pair = { device_ns, before, after };
	struct clock *c = clock_of(device);
	uint64_t now;

	if (!c || after < before)
		return;
	pthread_mutex_lock(&c->lock);
	/* This may be a call of the program, which must not wait for the rate to be measured. */
	if (!has_rate()) {
		c->early = pair;
		c->has_early = true;
	} else {
		c->has_early = false;
		now = see(c, &pair);
		if (!c->said || now - c->said >= XSP_SECOND)
			show(c, now);
	}
	pthread_mutex_unlock(&c->lock);
}

uint64_t xsprof_device_ticks(uint32_t device, uint64_t device_ns)
{
	struct clock *c = clock_of(device);
	int64_t offset = 0;

	need_rate();
	if (c) {
		pthread_mutex_lock(&c->lock);
		if (c->has_early)
			(void)see(c, &c->early);
		c->has_early = false;
		offset = c->offset;
		pthread_mutex_unlock(&c->lock);
	}
	return xsprof_ns_ticks(device_ns + (uint64_t)offset);
}

void xsp_clocks_show(void)
{
	for (uint32_t i = 0; i < XSP_DEVICES; i++) {
		struct clock *c = clock_of(i);

		if (!c)
			continue;
		pthread_mutex_lock(&c->lock);
		if (c->known)
			show(c, xsprof_ticks_ns(xsprof_now()));
		pthread_mutex_unlock(&c->lock);
	}
}

void xsp_clocks_forget(void)
{
	pthread_mutex_init(&lock, NULL);
	for (uint32_t i = 0; i < XSP_DEVICES; i++) {
		if (!clocks[i])
			continue;
		pthread_mutex_init(&clocks[i]->lock, NULL);
		/* Another thread of the parent may have been changing it. */
		clocks[i]->known = clocks[i]->has_early = false;
		clocks[i]->offset = 0;
		clocks[i]->said = 0;
	}
}
