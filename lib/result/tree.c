// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Computes the nesting of events by time and thread. Ranges with begin and end records nest; of
 * ranges with explicit times, one that overlaps another partially is left out of the tree.
 *
 * No recursion: the stack of a thread is the chain of parents of its innermost open event.
 */
#include <errno.h>
#include <stdlib.h>

#include "result/build-local.h"

/* ---- order ---------------------------------------------------------------------------------- */

/*
 * Outer events first. With equal times, of two BEGINs the earlier record is the outer one, and of
 * two whole ranges the later record.
 */
static int compare(const void *one, const void *two)
{
	const struct xsprof_profiler_event *a = one, *b = two;
	uint32_t whole = a->flags & XSR_EVF_WHOLE;

	if (a->begin != b->begin)
		return a->begin < b->begin ? -1 : 1;
	if (a->end != b->end)
		return a->end > b->end ? -1 : 1;
	if (whole != (b->flags & XSR_EVF_WHOLE))
		return whole ? 1 : -1;
	return (a->next < b->next) == !whole ? -1 : 1;
}

void xsr_tree_sort(struct xsprof_result *r)
{
	bool sorted = true;

	for (uint32_t i = 0; i < r->nr; i++)
		r->events[i].next = i;
	for (uint32_t i = 1; i < r->nr && sorted; i++)
		sorted = compare(&r->events[i - 1], &r->events[i]) < 0;
	if (!sorted)
		qsort(r->events, r->nr, sizeof(*r->events), compare);
}

/* ---- nesting -------------------------------------------------------------------------------- */

/* By thread: the innermost open event at the current position. */
struct tops {
	struct xsp_map	map;
	uint64_t	last_key;
	uint64_t	*last;
};

static uint64_t *top_of(struct tops *tops, const struct xsprof_profiler_event *e)
{
	uint64_t key = xsr_key(e->producer, e->tid);

	if (key == tops->last_key)
		return tops->last;
	tops->last = xsp_map_get(&tops->map, key);
	if (!tops->last && !xsp_map_set(&tops->map, key, XSR_NONE))
		tops->last = xsp_map_get(&tops->map, key);
	tops->last_key = tops->last ? key : 0;
	return tops->last;
}

static bool gives_way(const struct xsprof_profiler_event *e)
{
	return e->flags & XSR_EVF_SOFT;
}

/*
 * Adds @e as a child of the open event around it. Return: false if it overlaps partially and must
 * be left out, or is left out already.
 */
static bool place(struct xsprof_result *r, struct xsprof_profiler_event *e, uint64_t *top)
{
	struct xsprof_profiler_event *around;
	bool fits = true;

	while ((around = xsr_event(r, (uint32_t)*top))) {
		bool over = around->end <= e->begin;

		if (!over && (e->end <= around->end || e->flags & XSR_EVF_ASYNC))
			break;
		if (!over) {
			fits = false;
			/* If neither or both give way, the later one does. */
			if (!gives_way(around) || (gives_way(e) &&
						   around->kind != XSR_KIND_PUSHED)) {
				e->flags |= XSR_EVF_ASYNC;
				break;
			}
			around->flags |= XSR_EVF_ASYNC;
		}
		*top = around->parent;
	}
	e->parent = (uint32_t)*top;
	return fits;
}

/* Return: 1: all nest, 0: not all, -ENOMEM. */
static int place_all(struct xsprof_result *r)
{
	struct tops tops = { 0 };
	int fits = 1;

	for (uint32_t i = 0; i < r->nr; i++) {
		struct xsprof_profiler_event *e = &r->events[i];
		uint64_t *top;

		e->parent = e->flags & XSR_EVF_DEVICE ? e->parent : XSR_NONE;
		e->child = e->next = XSR_NONE;
		if (e->flags & XSR_EVF_DEVICE)
			continue;
		top = top_of(&tops, e);
		if (!top) {
			fits = -ENOMEM;
			break;
		}
		if (!place(r, e, top))
			fits = 0;
		if (e->end > e->begin && !(e->flags & XSR_EVF_ASYNC))
			*top = i;
	}
	xsp_map_free(&tops.map);
	return fits;
}

static void hang_up(struct xsprof_result *r)
{
	r->root = XSR_NONE;
	for (uint32_t i = 0; i < r->nr; i++)
		r->events[i].self = r->events[i].end - r->events[i].begin;
	for (uint32_t i = r->nr; i--;) {
		struct xsprof_profiler_event *e = &r->events[i], *parent;
		uint64_t time = e->end - e->begin;

		if (e->flags & (XSR_EVF_DEVICE | XSR_EVF_ASYNC))
			continue;
		parent = xsr_event(r, e->parent);
		e->next = parent ? parent->child : r->root;
		*(parent ? &parent->child : &r->root) = i;
		if (parent)
			parent->self -= time < parent->self ? time : parent->self;
	}
}

int xsr_tree_make(struct xsprof_result *r)
{
	int fits = place_all(r);

	/* An event that was left out may have children, which move to its parent. */
	if (!fits)
		fits = place_all(r);
	if (fits < 0)
		return fits;
	hang_up(r);
	return 0;
}

/* ---- leaving out ---------------------------------------------------------------------------- */

void xsr_tree_drop(struct xsprof_result *r)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < r->nr; i++)
		nr += !(r->events[i].flags & XSR_EVF_DROP);
	if (nr == r->nr)
		return;
	/*
	 * Move the events first, as the tree is made anew anyway; device links use the new indices.
	 */
	for (uint32_t i = 0, to = 0; i < r->nr; i++)
		r->events[i].child = r->events[i].flags & XSR_EVF_DROP ? XSR_NONE : to++;
	for (uint32_t i = 0; i < r->nr; i++) {
		struct xsprof_profiler_event *e = &r->events[i];
		const struct xsprof_profiler_event *by = xsr_event(r, e->parent);

		if (e->flags & XSR_EVF_DEVICE)
			e->parent = by ? by->child : XSR_NONE;
	}
	for (uint32_t i = 0, to = 0; i < r->nr; i++)
		if (!(r->events[i].flags & XSR_EVF_DROP))
			r->events[to++] = r->events[i];
	r->nr = nr;
}
