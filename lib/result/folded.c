// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Folded stacks: a line per call path to an event, with the time spent there. The path is the
 * event's own stack, if any, together with the ranges around it at the same place, else all events
 * around it in the tree; the event's name comes last.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "result/frames.h"
#include "result/handle.h"
#include "text/buf.h"

#define MOST_LEVELS	256u	/* per path: outer levels beyond are left out */

/* A path and its time. */
struct way {
	const char	*text;
	uint64_t	ns;
};

struct ways {
	struct xsp_map	index;	/* text to the number + 1 */
	struct way	*list;
	size_t		nr;
	size_t		room;
};

/* One level; separators of levels and lines are replaced. */
static void put_level(struct xsr_buf *b, const char *s)
{
	if (b->len)
		xsr_put(b, ";", 1);
	for (; *s; s++) {
		char c = *s == ';' ? ':' : (unsigned char)*s < 0x20 ? ' ' : *s;

		xsr_put(b, &c, 1);
	}
}

/* @place: only events with this stack, which an interpreter's ops share; 0: all. */
static void put_parents(struct xsr_buf *b, const struct xsprof_profiler_event *e, uint32_t place)
{
	const struct xsprof_profiler_event *chain[MOST_LEVELS];
	uint32_t nr = 0;

	while ((e = xsprof_event_parent(e)) && nr < MOST_LEVELS && (!place || e->stack == place))
		chain[nr++] = e;
	if (place && nr < MOST_LEVELS)
		e = NULL;
	if (e)
		put_level(b, "[more]");
	while (nr--)
		put_level(b, chain[nr]->name);
}

static int add(struct ways *ways, struct xsprof_result *r, const struct xsprof_profiler_event *e,
	       uint64_t ns)
{
	const struct xsr_stack *stack = xsr_event_stack(e);
	struct xsr_buf b = { 0 };
	const char *text;
	uint64_t *at;

	if (stack)
		for (size_t i = stack->nr; i--;)
			put_level(&b, stack->frames[i]);
	put_parents(&b, e, stack ? e->stack : 0);
	put_level(&b, e->name);
	text = b.err ? NULL : xsr_text(&r->texts, b.s ? b.s : "", b.len);
	xsr_buf_free(&b);
	if (!text)
		return -ENOMEM;
	at = xsp_map_get(&ways->index, (uintptr_t)text);
	if (at) {
		ways->list[*at].ns += ns;
		return 0;
	}
	if (ways->nr == ways->room) {
		size_t room = ways->room ? ways->room * 2 : 64;
		void *list = realloc(ways->list, room * sizeof(*ways->list));

		if (!list)
			return -ENOMEM;
		ways->list = list;
		ways->room = room;
	}
	ways->list[ways->nr] = (struct way){ text, ns };
	return xsp_map_set(&ways->index, (uintptr_t)text, ways->nr++);
}

static bool on_host(const struct xsprof_profiler_event *e)
{
	return e->kind == XSPROF_EVENT_OP || e->kind == XSPROF_EVENT_ANNOTATION ||
	       e->kind == XSPROF_EVENT_RUNTIME || e->kind == XSPROF_EVENT_DRIVER;
}

static int add_all(struct ways *ways, struct xsprof_result *r, uint32_t what)
{
	int err = 0;

	for (uint32_t i = 0; i < r->nr && !err; i++) {
		const struct xsprof_profiler_event *e = &r->events[i];

		if (what == XSPROF_STACKS_CPU && on_host(e) && e->self &&
		    !xsprof_event_uncertain(e))
			err = add(ways, r, e, e->self);
		/* On devices: the time of an activity counts for the op that launched it. */
		if (what == XSPROF_STACKS_DEVICE && e->flags & XSR_EVF_DEVICE &&
		    (e->kind == XSPROF_EVENT_KERNEL || e->kind == XSPROF_EVENT_MEMCPY ||
		     e->kind == XSPROF_EVENT_MEMSET) && e->parent < r->nr)
			err = add(ways, r, &r->events[e->parent], e->end - e->begin);
	}
	return err;
}

static int compare(const void *one, const void *two)
{
	const struct way *a = one, *b = two;

	return strcmp(a->text, b->text);
}

static int write_ways(const struct ways *ways, const char *path)
{
	struct xsp_buf buf;
	char ns[24];
	int err = xsp_buf_open(&buf, path);

	if (err)
		return err;
	for (size_t i = 0; i < ways->nr; i++) {
		if (ways->list[i].ns < 1000)
			continue;
		xsp_buf_puts(&buf, ways->list[i].text);
		snprintf(ns, sizeof(ns), " %" PRIu64 "\n", ways->list[i].ns / 1000);
		xsp_buf_puts(&buf, ns);
	}
	return xsp_buf_close(&buf, 1);
}

int xsprof_result_save_stacks(struct xsprof_result *r, const char *path, uint32_t what)
{
	struct ways ways = { 0 };
	int err = xsr_build(r);

	if (err)
		return err;
	if (what > XSPROF_STACKS_DEVICE)
		return xsr_fail(r, -EINVAL, "unknown kind of stacks");
	err = add_all(&ways, r, what);
	if (err) {
		xsr_fail(r, err, "no memory for stacks");
		goto out;
	}
	if (ways.nr)
		qsort(ways.list, ways.nr, sizeof(*ways.list), compare);
	err = write_ways(&ways, path);
	if (err)
		xsr_fail(r, err, "%s: %s", path, strerror(-err));
out:
	free(ways.list);
	xsp_map_free(&ways.index);
	return err;
}
