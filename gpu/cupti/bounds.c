// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Bounds the error of devices' times, each second, by two counters for each device.
 *
 * CUPTI converts a device's times to the clock of the timestamp callback, and tells neither the
 * device's own times nor the error of the conversion.  But no activity begins before the call that
 * launched it, so its times are late by at most its begin less the call's.  And a wait of the host
 * returns after what it waited for, so times are early by at most the wait's end less the
 * activity's.  A negative bound is an error in the other direction: at least that much.
 *
 * A bound that is not found makes the result wider, never wrong: tables are of fixed size, and what
 * is overwritten is left out.  Nothing here changes an activity.  All is of the collector's thread.
 */
#include <stdio.h>

#include "gpu/cupti/local.h"

#define CALLS		4096u	/* a power of two: the latest calls, by correlation id */
#define WAITS		32u	/* the latest of a flush */
#define DEVICES		XSPROF_DEVICES_OF_KIND
#define SECOND		1000000000u
#define UNKNOWN		INT64_MAX
#define ANY_STREAM	UINT32_MAX
#define STREAM_SYNC	3u
#define CONTEXT_SYNC	4u

/**
 * struct launch - a call, and what the device did for it
 * @correlation: of both; 0: none
 * @device: where it ran
 * @context: likewise
 * @stream: likewise; ANY_STREAM: in several, or in those of a graph
 * @called: the call is known
 * @failed: ... and returned an error
 * @ran: its activities are known
 * @mixed: ... and were in several devices or contexts
 * @begin: of the call
 * @returned: end of the call
 * @start: of its first activity
 * @end: of its last activity
 */
struct launch {
	uint32_t	correlation;
	uint32_t	device;
	uint32_t	context;
	uint32_t	stream;
	bool		called;
	bool		failed;
	bool		ran;
	bool		mixed;
	uint64_t	begin;
	uint64_t	returned;
	uint64_t	start;
	uint64_t	end;
};

/**
 * struct error - bounds of the error of a device's times, ns
 * @late: they are late by at most this
 * @early: ... and early by at most this
 */
struct error {
	int64_t	late;
	int64_t	early;
};

static struct launch launches[CALLS];
static struct cupti_sync waits[WAITS];
static uint32_t nr_waits;
/* Of this second, and of all since the begin. */
static struct error second[DEVICES], all[DEVICES];
static uint64_t until;
static bool begun;

static void forget(struct error *e)
{
	*e = (struct error){ UNKNOWN, UNKNOWN };
}

static struct launch *launch_of(uint32_t correlation)
{
	struct launch *l = &launches[correlation % CALLS];

	if (l->correlation != correlation)
		*l = (struct launch){ .correlation = correlation };
	return l;
}

static void least(int64_t *bound, int64_t ns)
{
	if (ns < *bound)
		*bound = ns;
}

static void bound_late(const struct launch *l)
{
	if (l->called && l->ran && !l->mixed)
		least(&second[l->device].late, (int64_t)(l->start - l->begin));
}

void cupti_bounds_init(void)
{
	for (uint32_t i = 0; i < DEVICES; i++) {
		forget(&second[i]);
		forget(&all[i]);
	}
}

/* A call of the runtime and the driver's within it may have one id: the outer one counts. */
void cupti_bounds_call(const struct cupti_call *c)
{
	struct launch *l = launch_of(c->correlation);

	if (!c->correlation || !c->start || c->end < c->start)
		return;
	l->begin = l->called && l->begin < c->start ? l->begin : c->start;
	l->returned = l->called && l->returned > c->end ? l->returned : c->end;
	l->failed |= c->result != 0;
	l->called = true;
	bound_late(l);
}

/* In a graph an activity's stream need not be the one that the graph was launched in. */
void cupti_bounds_work(const struct xsprof_device_activity *a, uint64_t start, uint64_t end)
{
	uint32_t stream = a->graph ? ANY_STREAM : a->stream;
	struct launch *l = launch_of((uint32_t)a->correlation);

	if (!a->correlation || a->device >= DEVICES)
		return;
	if (!l->ran) {
		l->device = a->device;
		l->context = a->context;
		l->stream = stream;
		l->start = start;
		l->end = end;
		l->ran = true;
	} else {
		l->mixed |= l->device != a->device || l->context != a->context;
		l->stream = l->stream == stream ? stream : ANY_STREAM;
		l->start = start < l->start ? start : l->start;
		l->end = end > l->end ? end : l->end;
	}
	bound_late(l);
}

void cupti_bounds_wait(const struct cupti_sync *s)
{
	if ((s->type == STREAM_SYNC || s->type == CONTEXT_SYNC) && s->correlation && s->start &&
	    s->end >= s->start)
		waits[nr_waits++ % WAITS] = *s;
}

/* A wait that fails may return before. */
static bool is_good(const struct cupti_sync *s)
{
	const struct launch *l = &launches[s->correlation % CALLS];

	return l->correlation == s->correlation && l->called && !l->failed;
}

/* Only what was launched before the wait began was certainly waited for. */
static void bound_early(const struct cupti_sync *s)
{
	for (uint32_t i = 0; i < CALLS; i++) {
		const struct launch *l = &launches[i];

		if (l->ran && l->called && !l->failed && !l->mixed && l->context == s->context &&
		    l->returned <= s->start &&
		    (s->type == CONTEXT_SYNC || l->stream == s->stream))
			least(&second[l->device].early, (int64_t)(s->end - l->end));
	}
}

static void put(uint32_t device, const char *what, int64_t ns)
{
	char text[64];

	snprintf(text, sizeof(text), "clock of device %u: %s ns", device, what);
	xsprof_counter(xsprof_name_in(cupti_category(), text), ns);
}

static int64_t size(int64_t ns)
{
	return ns < 0 ? -ns : ns;
}

/* Counters of what is known, and none of what is not. */
static void tell(uint32_t device)
{
	struct error *e = &second[device];
	int64_t late = size(e->late), early = size(e->early);

	if (e->late != UNKNOWN)
		put(device, "late by at most", e->late);
	if (e->early != UNKNOWN)
		put(device, "early by at most", e->early);
	if (e->late != UNKNOWN && e->early != UNKNOWN)
		put(device, "known within", late > early ? late : early);
	least(&all[device].late, e->late);
	least(&all[device].early, e->early);
	forget(e);
}

static void tell_all(uint64_t now)
{
	for (uint32_t i = 0; i < DEVICES; i++)
		tell(i);
	until = now + SECOND;
}

void cupti_bounds_settle(void)
{
	uint64_t now = xsprof_ticks_ns(xsprof_now());

	for (uint32_t i = 0; i < WAITS && i < nr_waits; i++)
		if (is_good(&waits[i]))
			bound_early(&waits[i]);
	nr_waits = 0;
	if (!begun)
		until = now + SECOND;
	begun = true;
	if (now >= until)
		tell_all(now);
}

/* As a fact too: the best bounds of all seconds, "null" for one that is not known. */
static void state(uint32_t device)
{
	const struct error *e = &all[device];
	char key[32], text[96], late[24] = "null", early[24] = "null";

	if (e->late == UNKNOWN && e->early == UNKNOWN)
		return;
	if (e->late != UNKNOWN)
		snprintf(late, sizeof(late), "%lld", (long long)e->late);
	if (e->early != UNKNOWN)
		snprintf(early, sizeof(early), "%lld", (long long)e->early);
	snprintf(key, sizeof(key), "device_clock.%u", device);
	snprintf(text, sizeof(text), "{\"late_at_most_ns\": %s, \"early_at_most_ns\": %s}", late,
		 early);
	(void)xsprof_fact(key, text);
}

void cupti_bounds_end(void)
{
	tell_all(xsprof_ticks_ns(xsprof_now()));
	for (uint32_t i = 0; i < DEVICES; i++)
		state(i);
}
