// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Ranges that may end on another thread, found by producer, name and id. A bounded table of open
 * ones.
 */
#include <errno.h>
#include <stdlib.h>

#include "ranges/pair-local.h"

static uint32_t slot_of(const struct xsprof_pairer *p, uint32_t producer, uint32_t name,
			uint64_t id)
{
	return xst_hash(p, (uint64_t)producer << 32 | name, id) & (p->room_async - 1);
}

/* The slot of the open range, or a free one for it. */
static struct xst_async **find(struct xsprof_pairer *p, uint32_t producer, uint32_t name,
			      uint64_t id)
{
	uint32_t at = slot_of(p, producer, name, id);

	for (;; at = (at + 1) & (p->room_async - 1)) {
		const struct xst_async *a = p->async[at];

		if (!a || (a->id == id && a->name == name && a->producer == producer))
			return &p->async[at];
	}
}

static int grow(struct xsprof_pairer *p)
{
	struct xst_async **old = p->async;
	uint32_t room = p->room_async;

	p->async = calloc(room ? room * 2 : 64, sizeof(*p->async));
	if (!p->async) {
		p->async = old;
		return -ENOMEM;
	}
	p->room_async = room ? room * 2 : 64;
	for (uint32_t i = 0; i < room; i++)
		if (old[i])
			*find(p, old[i]->producer, old[i]->name, old[i]->id) = old[i];
	free(old);
	return 0;
}

/* Closes the gap, so that no later search ends too early. */
static void take_out(struct xsprof_pairer *p, struct xst_async **place)
{
	uint32_t mask = p->room_async - 1;
	uint32_t hole = place - p->async;
	struct xst_async *a = *place;

	for (uint32_t at = (hole + 1) & mask; p->async[at]; at = (at + 1) & mask) {
		struct xst_async *b = p->async[at];
		uint32_t home = slot_of(p, b->producer, b->name, b->id);

		if (((at - home) & mask) >= ((at - hole) & mask)) {
			p->async[hole] = b;
			hole = at;
		}
	}
	p->async[hole] = NULL;
	p->nr_async--;
	if (a->member.by)
		xsp_by_category_unlink(&a->member);
	free(a);
}

static void emit(struct xsprof_pairer *p, const struct xst_async *a, uint64_t ns, uint16_t how)
{
	uint64_t end = ns > a->begin ? ns : a->begin;
	struct xsprof_range range = {
		.begin_ns = a->begin,
		.end_ns = end,
		.self_ns = xst_clipped(p, end) - xst_clipped(p, a->begin),
		.producer = a->producer,
		.pid = a->pid,
		.tid = a->tid,
		.name = a->name,
		.kind = XSPROF_REC_ASYNC_BEGIN,
		.how = how,
		/* An end that came matched name and id; one that did not may be lost. */
		.flags = how != XSPROF_RANGE_ENDED &&
			 xst_losses_since(&p->opens.losses, a->producer, a->seen) ?
			 XSPROF_RANGEF_UNCERTAIN : 0,
		.id = a->id,
	};

	xst_pair_emit(p, &range);
}

/* Creates a range, and adds it to its category's list. NULL: no memory. */
static struct xst_async *make(struct xsprof_pairer *p, const struct xsprof_event *ev)
{
	struct xst_owner *owner = xst_owner_get(p, ev->producer);
	struct xst_async *a = owner ? malloc(sizeof(*a)) : NULL;

	if (!a)
		return NULL;
	a->member.of = a;
	if (xsp_by_category_link(&owner->async, &a->member, xsp_category_of(ev->name))) {
		free(a);
		return NULL;
	}
	p->nr_async++;
	return a;
}

int xst_async_begin(struct xsprof_pairer *p, const struct xsprof_event *ev)
{
	struct xst_async **place, *a;

	if (p->nr_async * 2 >= p->room_async && p->room_async < 2 * XST_MAX_ASYNC) {
		int err = grow(p);

		if (err)
			return err;
	}
	place = find(p, ev->producer, ev->name, ev->value);
	/* It begins again before it ended: an end was lost or never recorded. */
	if (*place) {
		emit(p, *place, ev->ns, XSPROF_RANGE_CUT);
	} else if (p->nr_async >= XST_MAX_ASYNC) {
		p->stats.too_deep++;
		return 0;
	} else {
		*place = make(p, ev);
		if (!*place)
			return -ENOMEM;
	}
	a = *place;
	a->begin = ev->ns;
	a->id = ev->value;
	a->seen = xst_losses_now(&p->opens.losses);
	a->producer = ev->producer;
	a->tid = ev->tid;
	a->name = ev->name;
	a->pid = ev->pid;
	return 0;
}

void xst_async_end(struct xsprof_pairer *p, const struct xsprof_event *ev)
{
	struct xst_async **place = NULL;

	if (p->nr_async)
		place = find(p, ev->producer, ev->name, ev->value);
	if (!place || !*place) {
		p->stats.unmatched_ends++;
		return;
	}
	emit(p, *place, ev->ns, XSPROF_RANGE_ENDED);
	take_out(p, place);
}

bool xst_async_open(struct xsprof_pairer *p, const struct xsprof_event *ev)
{
	return p->nr_async && *find(p, ev->producer, ev->name, ev->value);
}

static int by_begin(const void *x, const void *y)
{
	const struct xst_async *a = *(struct xst_async *const *)x;
	const struct xst_async *b = *(struct xst_async *const *)y;

	if (a->begin != b->begin)
		return a->begin < b->begin ? -1 : 1;
	if (a->name != b->name)
		return a->name < b->name ? -1 : 1;
	return (a->id > b->id) - (a->id < b->id);
}

/* The range that an end belongs to. */
struct ended {
	struct xst_async	**list;
	uint32_t		nr;
	uint32_t		room;
};

static int add(struct ended *ended, struct xst_async *a)
{
	if (ended->nr == ended->room) {
		uint32_t room = ended->room ? 2 * ended->room : 64;
		struct xst_async **list = realloc(ended->list, room * sizeof(*list));

		if (!list)
			return -ENOMEM;
		ended->list = list;
		ended->room = room;
	}
	ended->list[ended->nr++] = a;
	return 0;
}

static int add_all(struct xsprof_pairer *p, struct ended *ended)
{
	int err = 0;

	for (uint32_t i = 0; i < p->room_async && !err; i++)
		if (p->async[i])
			err = add(ended, p->async[i]);
	return err;
}

static int add_some(struct xst_owner *owner, uint64_t categories, struct ended *ended)
{
	struct xst_async *a;
	int err = 0;

	while (!err && (a = xsp_by_category_any(&owner->async, categories)) != NULL) {
		xsp_by_category_unlink(&a->member);
		err = add(ended, a);
	}
	return err;
}

/*
 * Ends those of @producer (~0: all) whose categories are not in @enabled, in the order of their
 * begins; the table's order would differ between runs.
 */
static int end_all(struct xsprof_pairer *p, uint32_t producer, uint64_t enabled, uint64_t ns,
		   uint16_t how)
{
	struct xst_owner *owner = xst_owner_find(p, producer);
	struct ended ended = { 0 };
	int err = 0;

	if (producer == ~0u)
		err = add_all(p, &ended);
	else if (owner)
		err = add_some(owner, ~enabled, &ended);
	if (!err && ended.nr)
		qsort(ended.list, ended.nr, sizeof(*ended.list), by_begin);
	for (uint32_t i = 0; i < ended.nr && !err; i++) {
		const struct xst_async *a = ended.list[i];

		emit(p, a, ns, how);
		take_out(p, find(p, a->producer, a->name, a->id));
	}
	free(ended.list);
	return err;
}

int xst_async_cut(struct xsprof_pairer *p, uint32_t producer, uint64_t enabled, uint64_t ns)
{
	return end_all(p, producer, enabled, ns, XSPROF_RANGE_CUT);
}

int xst_async_finish(struct xsprof_pairer *p, uint32_t producer, uint64_t ns)
{
	return end_all(p, producer, 0, ns, XSPROF_RANGE_OPEN);
}

void xst_async_free(struct xsprof_pairer *p)
{
	for (uint32_t i = 0; i < p->room_async; i++)
		free(p->async[i]);
	free(p->async);
}
