// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Events that are not in rings: producers' begins and ends, switches of their categories by others,
 * ends of threads whose number was reused, and losses without a ring. They form two more streams of
 * the merge, one before and one after all rings.
 */
#include <errno.h>
#include <stdlib.h>

#include "decode/local.h"

size_t xst_marks_run(struct xsprof_trace *t, struct xst_marks *marks, struct xsprof_event *evs,
		     size_t max, uint64_t limit)
{
	size_t n = 0;

	for (; n < max && marks->next < marks->nr; marks->next++) {
		const struct xst_mark *mark = &marks->list[marks->next];
		struct xst_producer *p = t->found.producers[mark->producer];
		uint64_t ns = mark->ns > t->reading.now ? mark->ns : t->reading.now;

		if (mark->ns > limit)
			break;
		xst_event_init(&evs[n], p, mark->type, ns);
		evs[n].value = mark->value;
		if (mark->type == XSPROF_REC_CONTROL) {
			evs[n].aux = XSPROF_CONTROL_SWITCH;
			p->said_switches++;
		} else if (mark->type == XSPROF_EV_THREAD_EXIT) {
			evs[n].tid = (uint32_t)mark->value;
			evs[n].value = 0;
			p->said_renewed++;
		}
		/* Losses of its rings after their last records count up to here. */
		if (mark->type == XSPROF_EV_EXIT && p->holes)
			evs[n].flags |= XSPROF_EVF_HOLE;
		p->began |= mark->type == XSPROF_EV_PRODUCER;
		p->exited |= mark->type == XSPROF_EV_EXIT;
		t->reading.now = ns;
		n += xst_event_wanted(t, ns);
	}
	return n;
}

static int by_time(const void *a, const void *b)
{
	const struct xst_mark *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	if (x->producer != y->producer)
		return x->producer < y->producer ? -1 : 1;
	/* A producer's begin first, then its other events. */
	if (x->type != y->type && (x->type == XSPROF_EV_PRODUCER || y->type == XSPROF_EV_PRODUCER))
		return x->type == XSPROF_EV_PRODUCER ? -1 : 1;
	return (int)x->type - (int)y->type;
}

static void add_mark(struct xst_marks *marks, const struct xst_producer *p, uint16_t type,
		     uint64_t ns, uint64_t value)
{
	marks->list[marks->nr++] = (struct xst_mark){
		.ns = ns,
		.value = value,
		.producer = p->number,
		.type = type,
	};
}

/* Its attach precedes all its records; the recorder may have found it later. */
static uint64_t begin_time(const struct xst_producer *p)
{
	if (p->known && p->attach.ticks)
		return xst_fit_ns(p->fit, p->attach.ticks);
	return p->found ? xst_fit_ns(p->fit, p->found) : 0;
}

/*
 * Adds switches not yet yielded, in order of time, which the count relies on. None is before its
 * producer's begin.
 */
static void add_switches(struct xsprof_trace *t, const struct xst_producer *p)
{
	uint64_t begin = begin_time(p);

	for (uint32_t i = p->said_switches; i < p->nr_switches; i++) {
		uint64_t ns = xst_fit_ns(p->fit, p->switches[i].ticks);

		add_mark(&t->reading.begins, p, XSPROF_REC_CONTROL, ns < begin ? begin : ns,
			 p->switches[i].enabled);
	}
}

/*
 * Likewise for renewed thread numbers. The earlier thread's end time is unknown. A followed trace
 * has no ends of threads.
 */
static void add_renewed(struct xsprof_trace *t, const struct xst_producer *p)
{
	uint64_t begin = begin_time(p);

	if (t->flags & XSPROF_TRACE_FOLLOW)
		return;
	for (uint32_t i = p->said_renewed; i < p->nr_renewed; i++) {
		uint64_t ns = xst_fit_ns(p->fit, p->renewed[i].ticks);

		add_mark(&t->reading.begins, p, XSPROF_EV_THREAD_EXIT, ns < begin ? begin : ns,
			 p->renewed[i].tid);
	}
}

static void add_ends(struct xsprof_trace *t, const struct xst_producer *p)
{
	uint64_t begin = begin_time(p), ns = xst_producer_end_ns(p);

	if (!ns)
		ns = xst_last_ns(t);
	if (ns < begin)
		ns = begin;
	/* LOST sorts before EXIT by its type number. */
	if (p->nomem + p->late)
		add_mark(&t->reading.ends, p, XSPROF_EV_LOST, ns, p->nomem + p->late);
	if (p->has_exit)
		add_mark(&t->reading.ends, p, XSPROF_EV_EXIT, ns,
			 (uint64_t)p->how << 32 | (uint32_t)p->status);
}

static bool complete(const struct xsprof_trace *t)
{
	return !(t->flags & XSPROF_TRACE_FOLLOW) || t->found.has_end || t->found.snapshot;
}

int xst_marks_make(struct xsprof_trace *t)
{
	size_t room = t->found.nr_producers + 1;
	struct xst_mark *begins, *ends;

	for (uint32_t i = 0; i < t->found.nr_producers; i++)
		if (t->found.producers[i])
			room += (size_t)t->found.producers[i]->nr_switches +
				t->found.producers[i]->nr_renewed;
	begins = realloc(t->reading.begins.list, room * sizeof(*begins));
	if (begins)
		t->reading.begins.list = begins;
	ends = realloc(t->reading.ends.list,
		       (2 * (size_t)t->found.nr_producers + 1) * sizeof(*ends));
	if (ends)
		t->reading.ends.list = ends;
	if (!begins || !ends)
		return xst_fail(t, -ENOMEM, "no memory for %u producers", t->found.nr_producers);
	t->reading.begins.nr = t->reading.begins.next = 0;
	t->reading.ends.nr = t->reading.ends.next = 0;
	for (uint32_t i = 0; i < t->found.nr_producers; i++) {
		struct xst_producer *p = t->found.producers[i];

		if (!p)
			continue;
		if (!p->began)
			add_mark(&t->reading.begins, p, XSPROF_EV_PRODUCER, begin_time(p), 0);
		add_switches(t, p);
		add_renewed(t, p);
		if (!p->exited && (p->has_exit || complete(t)))
			add_ends(t, p);
	}
	qsort(t->reading.begins.list, t->reading.begins.nr, sizeof(struct xst_mark), by_time);
	qsort(t->reading.ends.list, t->reading.ends.nr, sizeof(struct xst_mark), by_time);
	return 0;
}
