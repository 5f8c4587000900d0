// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The stacks of threads, and whose time is whose.
 *
 * A COMPLETE record arrives at its end, after all that happened inside it.  So a thread keeps the
 * finished ranges that no parent has claimed; who turns out to be their parent, by time, takes
 * their time off its own.  The list is bounded: when it is full, neighbours become one entry, the
 * small ones first, so that only a COMPLETE with thousands of children gets a self time that is
 * off, and by the little that was merged across its own beginning.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ranges/pair-local.h"

/* ---- finished ranges --------------------------------------------------------------------- */

static uint32_t done_limit(const struct xsprof_pairer *p)
{
	uint32_t limit = XST_ALL_DONE / (p->nr_threads + 1);

	if (limit > XST_MAX_DONE)
		return XST_MAX_DONE;
	return limit < XST_MIN_DONE ? XST_MIN_DONE : limit;
}

static void merge_done(struct xst_done *to, const struct xst_done *from)
{
	to->end = from->end;
	to->time += from->time;
	to->count += from->count;
}

/* Makes neighbours above @base one, as long as they are of few ranges, until there is room. */
static void thin(struct xst_thread *th, uint32_t base)
{
	uint32_t nr = th->nr_done - base;
	struct xst_done *list = th->done + base;

	for (uint64_t most = 2; th->nr_done - base > nr / 4 * 3; most *= 2) {
		uint32_t kept = 0, n = th->nr_done - base;

		for (uint32_t i = 0; i < n; i++) {
			if (i + 1 < n && list[i].count + list[i + 1].count <= most) {
				list[kept] = list[i];
				merge_done(&list[kept++], &list[i + 1]);
				i++;
			} else {
				list[kept++] = list[i];
			}
		}
		th->nr_done = base + kept;
	}
}

/* Entries right inside the innermost open range begin here. */
static uint32_t base_of(const struct xst_thread *th)
{
	return th->depth ? th->open[th->depth - 1].base : 0;
}

/*
 * Finished ranges are only of use while something can claim them; with no memory for them the
 * parent's self time is too long, and nothing else is wrong.
 */
static void push_done(struct xsprof_pairer *p, struct xst_thread *th, uint64_t begin, uint64_t end)
{
	uint32_t base = base_of(th);

	if (th->nr_done - base >= done_limit(p))
		thin(th, base);
	if (th->nr_done == th->room_done) {
		uint32_t room = th->room_done ? th->room_done * 2 : 16;
		struct xst_done *done = realloc(th->done, room * sizeof(*done));

		if (!done)
			return;
		th->done = done;
		th->room_done = room;
	}
	th->done[th->nr_done++] = (struct xst_done){
		.begin = begin,
		.end = end > begin ? end : begin,
		.time = end > begin ? end - begin : 0,
		.count = 1,
	};
}

/* Takes the entries from @from on; Return: their time. */
static uint64_t claim(struct xst_thread *th, uint32_t from)
{
	uint64_t sum = 0;

	while (th->nr_done > from)
		sum += th->done[--th->nr_done].time;
	return sum;
}

/*
 * Entries that were made one across the beginning of their parent: how much of their time is
 * inside is not known any more, so it is taken to be spread evenly.
 */
static uint64_t claim_part(struct xst_done *done, uint64_t begin)
{
	uint64_t inside, part;

	if (done->count == 1 || done->end <= begin)
		return 0;
	inside = done->end - begin;
	part = (uint64_t)((unsigned __int128)done->time * inside / (done->end - done->begin));
	if (part > inside)
		part = inside;
	done->time -= part;
	done->end = begin;
	return part;
}

uint64_t xst_thread_complete(struct xsprof_pairer *p, struct xst_thread *th, uint64_t begin,
			     uint64_t end)
{
	uint32_t base = base_of(th), from = th->nr_done;
	uint64_t children;

	while (from > base && th->done[from - 1].begin >= begin)
		from--;
	children = claim(th, from);
	if (from > base)
		children += claim_part(&th->done[from - 1], begin);
	/* Only what lies inside the open range can be taken off that. */
	if (th->depth && begin < th->open[th->depth - 1].begin)
		begin = th->open[th->depth - 1].begin;
	push_done(p, th, begin, end);
	return children;
}

/* ---- open ranges ------------------------------------------------------------------------- */

void xst_thread_losses(struct xsprof_pairer *p, struct xst_thread *th)
{
	if (!xst_losses_pass(&p->losses, th->producer, &th->mark))
		return;
	for (uint32_t i = 0; i < th->depth; i++)
		th->open[i].lost = true;
}

bool xst_thread_is_in(const struct xst_thread *th, uint32_t depth, uint32_t name)
{
	/* One whose end may have been lost may have ended long ago. */
	while (depth && (th->open[depth - 1].name != name || th->open[depth - 1].lost))
		depth--;
	return depth;
}

static void emit_open(struct xsprof_pairer *p, const struct xst_thread *th, uint32_t at,
		      uint64_t ns, uint64_t children, uint16_t how)
{
	const struct xst_open *open = &th->open[at];
	uint64_t time = ns > open->begin ? ns - open->begin : 0;
	struct xsprof_range range = {
		.begin_ns = open->begin,
		.end_ns = open->begin + time,
		.self_ns = time > children ? time - children : 0,
		.producer = th->producer,
		.pid = xst_producer_pid(p, th->producer),
		.tid = th->tid,
		.name = open->name,
		.depth = at,
		.kind = XSPROF_REC_BEGIN,
		.how = how,
	};

	/* Where no end was seen, it may be missing in any ring: the thread may have moved there. */
	if (open->lost || (how == XSPROF_RANGE_OPEN &&
			   xst_losses_since(&p->losses, th->producer, open->seen)))
		range.flags |= XSPROF_RANGEF_UNCERTAIN;
	if (xst_thread_is_in(th, at, open->name))
		range.flags |= XSPROF_RANGEF_RECURSIVE;
	xst_pair_emit(p, &range);
}

/* Closes the innermost open range. */
static void close_top(struct xsprof_pairer *p, struct xst_thread *th, uint64_t ns, uint16_t how)
{
	uint32_t at = th->depth - 1;
	uint64_t begin = th->open[at].begin;

	emit_open(p, th, at, ns, claim(th, th->open[at].base), how);
	th->depth = at;
	push_done(p, th, begin, ns);
}

int xst_thread_begin(struct xsprof_pairer *p, struct xst_thread *th, uint64_t ns, uint32_t name)
{
	if (th->depth == XST_MAX_DEPTH) {
		th->too_deep++;
		p->stats.too_deep++;
		return 0;
	}
	if (th->depth == th->room) {
		uint32_t room = th->room ? th->room * 2 : 16;
		struct xst_open *open = realloc(th->open, room * sizeof(*open));

		if (!open)
			return -ENOMEM;
		th->open = open;
		th->room = room;
	}
	if (xsp_by_category_join(&th->owner->open, &th->member, th, xsp_category_of(name)) < 0)
		return -ENOMEM;
	th->open[th->depth++] = (struct xst_open){
		.begin = ns,
		.seen = p->losses.count,
		.name = name,
		.base = th->nr_done,
	};
	return 0;
}

/*
 * While other categories are on, a range whose own was turned off inside it still gets its end,
 * which must not end another: those around it owe it.
 */
static uint32_t *owed_by_top(struct xst_thread *th)
{
	return th->depth ? &th->open[th->depth - 1].owed : &th->owed;
}

void xst_thread_end(struct xsprof_pairer *p, struct xst_thread *th, uint64_t ns, uint32_t name)
{
	uint32_t at = th->depth;
	uint32_t *owed = owed_by_top(th);

	/* The innermost are those that were left out. */
	if (th->too_deep) {
		th->too_deep--;
		return;
	}
	if (name)
		while (at && th->open[at - 1].name != name)
			at--;
	if (*owed && (!name || !at)) {
		(*owed)--;
		return;
	}
	if (!at) {
		p->stats.unmatched_ends++;
		return;
	}
	while (th->depth > at)
		close_top(p, th, ns, XSPROF_RANGE_CUT);
	close_top(p, th, ns, XSPROF_RANGE_ENDED);
}

/* ---- pauses and ends --------------------------------------------------------------------- */

/* One entry in place of those in [@from, @to), which may be none. */
static void replace_done(struct xst_thread *th, uint32_t above, uint32_t from, uint32_t to,
			 struct xst_done entry)
{
	if (from == to && th->nr_done == th->room_done) {
		uint32_t room = th->room_done ? th->room_done * 2 : 16;
		struct xst_done *done = realloc(th->done, room * sizeof(*done));

		if (!done)
			return;
		th->done = done;
		th->room_done = room;
	}
	memmove(&th->done[from + 1], &th->done[to], (th->nr_done - to) * sizeof(entry));
	th->done[from] = entry;
	th->nr_done = th->nr_done - to + from + 1;
	for (uint32_t i = above; i < th->depth; i++)
		th->open[i].base = th->open[i].base - to + from + 1;
}

/*
 * Takes an open range out of the middle: what is open above it goes on.  To its parent it is a
 * finished range up to where the one above begins, which accounts for the rest.
 */
static void cut_middle(struct xsprof_pairer *p, struct xst_thread *th, uint32_t at, uint64_t ns)
{
	struct xst_open *open = &th->open[at], *above = open + 1;
	uint64_t children = ns > above->begin ? ns - above->begin : 0;
	uint64_t time = above->begin > open->begin ? above->begin - open->begin : 0;

	for (uint32_t i = open->base; i < above->base; i++)
		children += th->done[i].time;
	emit_open(p, th, at, ns, children, XSPROF_RANGE_CUT);
	replace_done(th, at + 1, open->base, above->base, (struct xst_done){
		     open->begin, open->begin + time, time, 1 });
	memmove(open, above, (th->depth - at - 1) * sizeof(*open));
	th->depth--;
}

static void cut_thread(struct xsprof_pairer *p, struct xst_thread *th, uint64_t enabled,
		       uint64_t ns)
{
	xst_thread_losses(p, th);
	for (uint32_t at = th->depth; at--;) {
		if (enabled >> (th->open[at].name >> XSPROF_NAME_SHIFT) & 1)
			continue;
		*(at ? &th->open[at - 1].owed : &th->owed) += 1 + th->open[at].owed;
		if (at == th->depth - 1)
			close_top(p, th, ns, XSPROF_RANGE_CUT);
		else
			cut_middle(p, th, at, ns);
	}
}

void xst_threads_cut(struct xsprof_pairer *p, uint32_t producer, uint64_t enabled, uint64_t ns)
{
	struct xst_owner *owner = xst_owner_find(p, producer);
	struct xst_thread *th;

	if (!owner)
		return;
	while ((th = xsp_by_category_any(&owner->open, ~enabled)) != NULL) {
		xst_thread_catch_up(th);
		xsp_by_category_leave(&th->member, ~enabled);
		cut_thread(p, th, enabled, ns);
	}
	owner->controls++;
	owner->pauses += !enabled;
}

static void end_thread(struct xsprof_pairer *p, struct xst_thread *th, uint64_t ns)
{
	while (th->depth)
		close_top(p, th, ns, XSPROF_RANGE_OPEN);
	xst_thread_forget(p, th);
}

void xst_threads_end(struct xsprof_pairer *p, uint32_t producer, uint64_t ns)
{
	struct xst_owner *owner = xst_owner_find(p, producer);

	memset(p->cache, 0, sizeof(p->cache));
	while (producer == ~0u && p->oldest)
		end_thread(p, p->oldest, ns);
	while (owner && owner->oldest)
		end_thread(p, owner->oldest, ns);
}
