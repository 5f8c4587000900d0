// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Ranges that begin on one thread and may end on another: found by producer, name and id.  A
 * table of open ones with a bound; it never keeps what has ended.
 */
#include <errno.h>
#include <stdlib.h>

#include "ranges/pair-local.h"

static uint32_t slot_of(const struct xsprof_pairer *p, uint32_t producer, uint32_t name,
			uint64_t id)
{
	return xst_hash(p, (uint64_t)producer << 32 | name, id) & (p->room_async - 1);
}

/* The open range, or the free place where it would be. */
static struct xst_async *find(struct xsprof_pairer *p, uint32_t producer, uint32_t name,
			      uint64_t id)
{
	uint32_t at = slot_of(p, producer, name, id);

	for (;; at = (at + 1) & (p->room_async - 1)) {
		struct xst_async *a = &p->async[at];

		if (!a->producer ||
		    (a->id == id && a->name == name && a->producer == producer + 1))
			return a;
	}
}

static int grow(struct xsprof_pairer *p)
{
	struct xst_async *old = p->async;
	uint32_t room = p->room_async;

	p->async = calloc(room ? room * 2 : 64, sizeof(*p->async));
	if (!p->async) {
		p->async = old;
		return -ENOMEM;
	}
	p->room_async = room ? room * 2 : 64;
	for (uint32_t i = 0; i < room; i++)
		if (old[i].producer)
			*find(p, old[i].producer - 1, old[i].name, old[i].id) = old[i];
	free(old);
	return 0;
}

/* Closes the hole, so that no search ends at it too early. */
static void take_out(struct xsprof_pairer *p, struct xst_async *a)
{
	uint32_t mask = p->room_async - 1;
	uint32_t hole = a - p->async;

	for (uint32_t at = (hole + 1) & mask; p->async[at].producer; at = (at + 1) & mask) {
		const struct xst_async *b = &p->async[at];
		uint32_t home = slot_of(p, b->producer - 1, b->name, b->id);

		if (((at - home) & mask) >= ((at - hole) & mask)) {
			p->async[hole] = *b;
			hole = at;
		}
	}
	p->async[hole].producer = 0;
	p->nr_async--;
}

static void emit(struct xsprof_pairer *p, const struct xst_async *a, uint64_t ns, uint16_t how)
{
	uint64_t end = ns > a->begin ? ns : a->begin;
	struct xsprof_range range = {
		.begin_ns = a->begin,
		.end_ns = end,
		.self_ns = end - a->begin,
		.producer = a->producer - 1,
		.pid = a->pid,
		.tid = a->tid,
		.name = a->name,
		.kind = XSPROF_REC_ASYNC_BEGIN,
		.how = how,
		/* An end that came has its name and id; one that did not may be lost. */
		.flags = how != XSPROF_RANGE_ENDED &&
			 xst_losses_since(&p->losses, a->producer - 1, a->seen) ?
			 XSPROF_RANGEF_UNCERTAIN : 0,
		.id = a->id,
	};

	xst_pair_emit(p, &range);
}

int xst_async_begin(struct xsprof_pairer *p, const struct xsprof_event *ev)
{
	struct xst_async *a;

	if (p->nr_async * 2 >= p->room_async && p->room_async < 2 * XST_MAX_ASYNC) {
		int err = grow(p);

		if (err)
			return err;
	}
	a = find(p, ev->producer, ev->name, ev->value);
	/* Begun again before it ended: an end was lost, or never given. */
	if (a->producer) {
		emit(p, a, ev->ns, XSPROF_RANGE_CUT);
	} else if (p->nr_async >= XST_MAX_ASYNC) {
		p->stats.too_deep++;
		return 0;
	} else {
		p->nr_async++;
	}
	*a = (struct xst_async){
		.begin = ev->ns,
		.id = ev->value,
		.seen = p->losses.count,
		.producer = ev->producer + 1,
		.tid = ev->tid,
		.name = ev->name,
		.pid = ev->pid,
	};
	return 0;
}

void xst_async_end(struct xsprof_pairer *p, const struct xsprof_event *ev)
{
	struct xst_async *a = NULL;

	if (p->nr_async)
		a = find(p, ev->producer, ev->name, ev->value);
	if (!a || !a->producer) {
		p->stats.unmatched_ends++;
		return;
	}
	emit(p, a, ev->ns, XSPROF_RANGE_ENDED);
	take_out(p, a);
}

static int by_begin(const void *x, const void *y)
{
	const struct xst_async *a = x, *b = y;

	if (a->begin != b->begin)
		return a->begin < b->begin ? -1 : 1;
	if (a->name != b->name)
		return a->name < b->name ? -1 : 1;
	return (a->id > b->id) - (a->id < b->id);
}

/*
 * Ends those of @producer (~0: all) whose categories are not in @enabled; in the order in which
 * they began, not in that of the table, which differs from run to run.
 */
static int end_all(struct xsprof_pairer *p, uint32_t producer, uint64_t enabled, uint64_t ns,
		   uint16_t how)
{
	struct xst_async *ended;
	uint32_t nr = 0;

	if (!p->nr_async)
		return 0;
	ended = calloc(p->nr_async, sizeof(*ended));
	if (!ended)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->room_async; i++) {
		const struct xst_async *a = &p->async[i];

		if (a->producer && (producer == ~0u || a->producer == producer + 1) &&
		    !(enabled >> (a->name >> XSPROF_NAME_SHIFT) & 1))
			ended[nr++] = *a;
	}
	qsort(ended, nr, sizeof(*ended), by_begin);
	for (uint32_t i = 0; i < nr; i++) {
		const struct xst_async *a = &ended[i];

		emit(p, a, ns, how);
		take_out(p, find(p, a->producer - 1, a->name, a->id));
	}
	free(ended);
	return 0;
}

int xst_async_cut(struct xsprof_pairer *p, uint32_t producer, uint64_t enabled, uint64_t ns)
{
	return end_all(p, producer, enabled, ns, XSPROF_RANGE_CUT);
}

int xst_async_finish(struct xsprof_pairer *p, uint32_t producer, uint64_t ns)
{
	return end_all(p, producer, 0, ns, XSPROF_RANGE_OPEN);
}
