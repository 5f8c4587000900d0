// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Writes many activities at once, and counts what a collector does not record.
 *
 * A ring in DISCARD mode drops records without room: so wait for its reader. A ring in OVERWRITE
 * mode keeps the latest records, and has no reader.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "activity/local.h"
#include "ring/activity.h"
#include "ring/state.h"

#define RECORD_BYTES	256u	/* of an activity with as many arguments */
#define ARGS		7u
#define FLUSH_MS	1000u

/* ---- many activities ------------------------------------------------------------------------- */

/* Waits until the recorder has read everything, or no longer waits: it may be gone. */
static void wait_for_recorder(struct xsp_collector *k, uint32_t ms)
{
	uint64_t now = xsp_monotonic();

	k->written = 0;
	if (k->stalled || (k->patience && now >= k->patience))
		ms = 0;
	if (xsprof_flush((int)ms) != -ETIMEDOUT)
		k->stalled = 0;
	else if (!k->stalled)
		k->stalled = now;
}

bool xsp_recorder_gone(struct xsp_collector *k, uint64_t ns)
{
	if (k->stalled)
		wait_for_recorder(k, 0);
	return k->stalled && xsp_monotonic() - k->stalled > ns;
}

void xsprof_collector_put(struct xsprof_collector *collector,
			  const struct xsprof_device_activity *activity, const struct xsprof_kv *kv,
			  size_t n)
{
	struct xsp_collector *k = collector->own;

	/* Before the collector is added there is no recorder to wait for. */
	if (!k) {
		xsprof_device_activity(activity, kv, n);
		return;
	}
	/* What began before a pause comes after it. */
	if (!xsprof_wants(activity->name) &&
	    !xsp_was_wanted(k->category, __atomic_load_n(&k->wanted_at, __ATOMIC_RELAXED),
			    activity->begin)) {
		/* Samples go on until the collector stops: they are not the program's. */
		if (activity->kind != XSPROF_GPU_METRICS)
			xsprof_collector_missed(&k->off, 1);
		return;
	}
	xsp_device_activity(activity, kv, n);
	k->written += n > ARGS ? 2 * RECORD_BYTES : RECORD_BYTES;
	if (k->written >= xsprof_ctl_page.ctl.ring_size / 2 &&
	    xsprof_ctl_page.ctl.mode == XSPROF_MODE_DISCARD)
		wait_for_recorder(k, FLUSH_MS);
}

/* ---- what is not recorded -------------------------------------------------------------------- */

/*
 * A counter may be lost: a full ring drops it, and a ring that is overwritten does not keep it. A
 * fact stays; it takes room of the arena, so it is stated when the count has doubled, and at the
 * end.
 */
static void state(struct xsp_collector *k, const struct xsprof_miss *miss, uint64_t n,
		  uint64_t *stated, bool last)
{
	char key[XSPROF_TEXT_MAX], value[24];

	if (n == *stated || (!last && n / 2 < *stated))
		return;
	snprintf(key, sizeof(key), "not recorded (%s): %s", k->c.category, miss->text);
	snprintf(value, sizeof(value), "%" PRIu64, n);
	if (!xsprof_fact(key, value))
		*stated = n;
}

/*
 * Called by a collector's thread, and by the end of the program if that thread did not stop in
 * time. Relaxed: both record the same counter with the same sum.
 */
static void show(struct xsp_collector *k, struct xsprof_miss *miss, uint64_t *stated, bool last)
{
	uint64_t n = __atomic_load_n(&miss->n, __ATOMIC_RELAXED);
	char text[XSPROF_TEXT_MAX];
	xsprof_name_t name;

	state(k, miss, n, stated, last);
	if (n == __atomic_load_n(&miss->shown, __ATOMIC_RELAXED))
		return;
	snprintf(text, sizeof(text), "not recorded: %s", miss->text);
	name = xsprof_name_in(k->category, text);
	/* Recording is paused: try later. */
	if (!name || !xsprof_wants(name))
		return;
	xsprof_counter(name, (int64_t)n);
	/* Release: a thread that reads the sum from here finds the record in its ring. */
	__atomic_store_n(&miss->shown, n, __ATOMIC_RELEASE);
}

void xsp_misses_show(struct xsp_collector *k, bool last)
{
	for (uint32_t i = 0; i < k->c.nr_misses; i++)
		show(k, &k->c.misses[i], &k->stated[i], last);
	show(k, &k->off, &k->stated[k->c.nr_misses], last);
}

static void forget(struct xsprof_miss *miss)
{
	miss->n = miss->shown = 0;
}

void xsp_misses_forget(struct xsp_collector *k)
{
	for (uint32_t i = 0; i < k->c.nr_misses; i++)
		forget(&k->c.misses[i]);
	forget(&k->off);
	memset(k->stated, 0, (k->c.nr_misses + 1) * sizeof(*k->stated));
}
