// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Links device activities to the ops that launched them: the runtime call is inside the op, or
 * inside a correlation id that it pushed; the activity carries the call's correlation id. Also
 * numbers the ops, and marks events that a result for certain threads or activities leaves out.
 */
#include <errno.h>
#include <stdlib.h>

#include "result/build-local.h"

/* An entry found by correlation id; @index: of the event. */
struct known {
	uint64_t	correlation;
	uint32_t	producer;
	uint32_t	index;
};

struct list {
	struct known	*list;
	uint32_t	nr;
};

static int compare(const void *one, const void *two)
{
	const struct known *a = one, *b = two;

	if (a->correlation != b->correlation)
		return a->correlation < b->correlation ? -1 : 1;
	if (a->producer != b->producer)
		return a->producer < b->producer ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

static bool is_call(const struct xsprof_profiler_event *e)
{
	return e->kind == XSPROF_EVENT_RUNTIME || e->kind == XSPROF_EVENT_DRIVER;
}

static bool is_op(const struct xsprof_profiler_event *e)
{
	return e->kind == XSPROF_EVENT_OP;
}

/* Collects all events of a kind with a correlation id, sorted. Return: 0, -ENOMEM. */
static int collect(const struct xsprof_result *r, struct list *l,
		   bool (*of)(const struct xsprof_profiler_event *e))
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < r->nr; i++)
		nr += of(&r->events[i]) && r->events[i].correlation;
	*l = (struct list){ .list = malloc((nr + !nr) * sizeof(*l->list)) };
	if (!l->list)
		return -ENOMEM;
	for (uint32_t i = 0; i < r->nr; i++) {
		const struct xsprof_profiler_event *e = &r->events[i];

		if (of(e) && e->correlation)
			l->list[l->nr++] = (struct known){ e->correlation, e->producer, i };
	}
	qsort(l->list, l->nr, sizeof(*l->list), compare);
	return 0;
}

/* The first entry with that id; of any producer if @any. */
static const struct known *find(const struct list *l, uint64_t correlation, uint32_t producer,
				bool any)
{
	struct known key = { correlation, any ? 0 : producer, 0 };
	uint32_t from = 0, to = l->nr;

	while (from < to) {
		uint32_t mid = from + (to - from) / 2;

		if (compare(&l->list[mid], &key) < 0)
			from = mid + 1;
		else
			to = mid;
	}
	if (from == l->nr || l->list[from].correlation != correlation)
		return NULL;
	return any || l->list[from].producer == producer ? &l->list[from] : NULL;
}

static void number_ops(struct xsprof_result *r, const struct list *ops)
{
	uint64_t next = 0;

	for (uint32_t i = 0; i < r->nr; i++) {
		struct xsprof_profiler_event *e = &r->events[i];

		if (e->kind != XSPROF_EVENT_OP || e->correlation)
			continue;
		do {
			next++;
		} while (find(ops, next, 0, true));
		e->correlation = next;
	}
}

/* Links runtime calls by the events around them. */
static void link_calls(struct xsprof_result *r, const struct list *ops)
{
	for (uint32_t i = 0; i < r->nr; i++) {
		struct xsprof_profiler_event *e = &r->events[i];
		const struct xsprof_profiler_event *by = NULL;

		if (!is_call(e))
			continue;
		for (uint32_t at = e->parent; (by = xsr_event(r, at)); at = by->parent)
			if (by->kind == XSPROF_EVENT_OP || by->kind == XSR_KIND_PUSHED)
				break;
		if (!by)
			continue;
		e->linked = by->correlation;
		/* Temporarily holds the op, until the tree is made again. */
		e->self = by - r->events;
		if (by->kind == XSR_KIND_PUSHED) {
			const struct known *op = find(ops, e->linked, e->producer, false);

			e->self = op ? op->index : XSR_NONE;
		}
	}
}

static void link_device(struct xsprof_result *r, struct xsprof_profiler_event *e,
			const struct list *calls, const struct list *ops)
{
	const struct known *found = find(calls, e->correlation, e->producer, false);

	e->parent = XSR_NONE;
	if (!e->correlation)
		return;
	if (found) {
		const struct xsprof_profiler_event *call = &r->events[found->index];

		e->linked = call->linked;
		e->parent = call->linked ? (uint32_t)call->self : XSR_NONE;
		if (call->flags & XSR_EVF_DROP)
			e->flags |= XSR_EVF_DROP;
		return;
	}
	/* A collector without calls stores the op's number. */
	found = find(ops, e->correlation, e->producer, false);
	if (found) {
		e->linked = e->correlation;
		e->parent = found->index;
	}
}

static bool activity_wanted(const struct xsprof_result *r, const struct xsprof_profiler_event *e)
{
	uint32_t wanted = r->opts.activities;
	bool host = e->kind < XSPROF_EVENT_KERNEL || e->kind == XSPROF_EVENT_PYTHON_FUNCTION;

	if (!wanted)
		return true;
	if (e->kind == XSPROF_EVENT_ANNOTATION && e->flags & XSR_EVF_DEVICE)
		host = false;
	return wanted & (host ? XSPROF_ACTIVITY(CPU) : ~XSPROF_ACTIVITY(CPU));
}

int xsr_link(struct xsprof_result *r)
{
	struct list calls = { 0 }, ops = { 0 };
	int err = collect(r, &ops, is_op);

	if (!err)
		err = collect(r, &calls, is_call);
	if (err)
		goto out;
	number_ops(r, &ops);
	link_calls(r, &ops);
	for (uint32_t i = 0; i < r->nr; i++) {
		struct xsprof_profiler_event *e = &r->events[i];

		if (e->flags & XSR_EVF_DEVICE && e->kind >= XSPROF_EVENT_KERNEL)
			link_device(r, e, &calls, &ops);
	}
	for (uint32_t i = 0; i < r->nr; i++)
		if (!activity_wanted(r, &r->events[i]))
			r->events[i].flags |= XSR_EVF_DROP;
out:
	free(calls.list);
	free(ops.list);
	return err;
}
