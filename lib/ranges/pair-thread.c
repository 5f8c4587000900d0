// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Stacks of threads, and self times.
 *
 * A COMPLETE record arrives at its end, after everything that happened inside it. So a thread keeps
 * finished ranges without a parent; a later range that encloses them in time subtracts their time
 * from its own. The list is bounded: when it is full, adjacent entries are merged, small ones
 * first, so that only a COMPLETE with thousands of children gets a slightly wrong self time, by
 * what was merged across its begin.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ranges/pair-local.h"
#include "ranges/pair.h"

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

/* Merges adjacent entries above @base, those with few ranges first, until there is room. */
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

/* The first entry inside the innermost of the lowest @depth open ranges. */
static uint32_t base_at(const struct xst_thread *th, uint32_t depth)
{
	return depth ? (uint32_t)th->opens.stack.v[depth - 1].index : 0;
}

static int grow_done(struct xst_thread *th)
{
	uint32_t room = th->room_done ? th->room_done * 2 : 16;
	struct xst_done *done = realloc(th->done, room * sizeof(*done));

	if (!done)
		return -ENOMEM;
	th->done = done;
	th->room_done = room;
	return 0;
}

/*
 * Finished ranges matter only while a parent can still claim them; without memory only the parent's
 * self time becomes too long.
 */
static void push_done(struct xsprof_pairer *p, struct xst_thread *th, uint32_t base,
		      uint64_t begin, uint64_t end)
{
	begin = xst_clipped(p, begin);
	end = xst_clipped(p, end);
	if (th->nr_done - base >= done_limit(p))
		thin(th, base);
	if (th->nr_done == th->room_done && grow_done(th))
		return;
	th->done[th->nr_done++] = (struct xst_done){
		.begin = begin,
		.end = end > begin ? end : begin,
		.time = end > begin ? end - begin : 0,
		.count = 1,
	};
}

/* Removes the entries from @from on. Return: their time. */
static uint64_t claim(struct xst_thread *th, uint32_t from)
{
	uint64_t sum = 0;

	while (th->nr_done > from)
		sum += th->done[--th->nr_done].time;
	return sum;
}

/*
 * An entry that was merged across the begin of its parent: the time inside is unknown, and assumed
 * to be spread evenly.
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
	const struct xsp_range *top = xsp_stack_top(&th->opens.stack);
	uint32_t base = base_at(th, th->opens.stack.n), from = th->nr_done;
	uint64_t children;

	/* As in finished ranges, time before the clip does not count. */
	begin = xst_clipped(p, begin);
	while (from > base && th->done[from - 1].begin >= begin)
		from--;
	children = claim(th, from);
	if (from > base)
		children += claim_part(&th->done[from - 1], begin);
	/* Only the part inside the open range can be subtracted from it. */
	if (top && begin < top->begin)
		begin = top->begin;
	push_done(p, th, base, begin, end);
	return children;
}

/* ---- open ranges ------------------------------------------------------------------------- */

bool xst_thread_is_in(const struct xst_thread *th, uint32_t depth, uint32_t name)
{
	const struct xsp_range *v = th->opens.stack.v;

	/* A range whose end may be lost may have ended long ago. */
	while (depth && (v[depth - 1].name != name || v[depth - 1].lost || v[depth - 1].cut))
		depth--;
	return depth;
}

/* The innermost range below @at that was not cut. */
static struct xsp_range *innermost(const struct xst_thread *th, uint32_t at)
{
	struct xsp_range *v = th->opens.stack.v;

	while (at && v[at - 1].cut)
		at--;
	return at ? &v[at - 1] : NULL;
}

uint32_t xst_thread_depth(const struct xst_thread *th, uint32_t at)
{
	uint32_t depth = at;

	if (th->opens.cut)
		for (uint32_t i = 0; i < at; i++)
			depth -= th->opens.stack.v[i].cut;
	return depth;
}

struct xsp_range *xst_pairer_top(struct xsprof_pairer *p, uint32_t producer, uint32_t tid)
{
	struct xst_thread *th = xst_thread_find(p, producer, tid);

	if (!th)
		return NULL;
	xsp_opens_losses(&p->opens, &th->opens);
	return innermost(th, th->opens.stack.n);
}

bool xst_pairer_given(const struct xsprof_pairer *p, struct xst_given *given)
{
	const struct xst_thread *th = p->giving;

	if (!th)
		return false;
	given->range = &th->opens.stack.v[p->giving_at];
	given->outer = innermost(th, p->giving_at);
	given->inner = th->opens.stack.n - p->giving_at - 1;
	return true;
}

static void emit_open(struct xsprof_pairer *p, const struct xst_thread *th, uint32_t at,
		      uint64_t ns, uint64_t children, uint16_t how, uint32_t flags)
{
	const struct xsp_range *open = &th->opens.stack.v[at];
	uint64_t end = ns > open->begin ? ns : open->begin;
	uint64_t time = xst_clipped(p, end) - xst_clipped(p, open->begin);
	struct xsprof_range range = {
		.begin_ns = open->begin,
		.end_ns = end,
		.self_ns = time > children ? time - children : 0,
		.producer = th->producer,
		.pid = xst_producer_pid(p, th->producer),
		.tid = th->tid,
		.name = open->name,
		.depth = xst_thread_depth(th, at),
		.kind = XSPROF_REC_BEGIN,
		.how = how,
		.flags = flags,
	};

	if (open->lost)
		range.flags |= XSPROF_RANGEF_UNCERTAIN;
	if (xst_thread_is_in(th, at, open->name))
		range.flags |= XSPROF_RANGEF_RECURSIVE;
	p->giving = th;
	p->giving_at = at;
	xst_pair_emit(p, &range);
	p->giving = NULL;
}

int xst_thread_begin(struct xsprof_pairer *p, struct xst_thread *th, uint64_t ns, uint32_t name)
{
	int err = xsp_opens_begin(&p->opens, &th->opens, ns, name, false, false);

	if (!err)
		xsp_stack_top(&th->opens.stack)->index = th->nr_done;
	p->stats.too_deep += err == -E2BIG;
	return err == -E2BIG ? 0 : err;
}

/* Closes the innermost range, which becomes a finished one for the range around it. */
static void close_top(struct xsprof_pairer *p, struct xst_thread *th, uint64_t ns, uint16_t how,
		      uint32_t flags)
{
	uint32_t at = th->opens.stack.n - 1;

	emit_open(p, th, at, ns, claim(th, base_at(th, at + 1)), how, flags);
	push_done(p, th, base_at(th, at), th->opens.stack.v[at].begin, ns);
}

void xst_thread_end(struct xsprof_pairer *p, struct xst_thread *th, const struct xsprof_event *ev)
{
	struct xsp_range *range;
	int err = xsp_opens_end(&p->opens, &th->opens, ev->ns, ev->name, ev->aux, &range);

	p->stats.unmatched_ends += err == -ENOENT;
	if (err == -ETIME)
		xsp_opens_cut(&p->opens, &th->opens, range, ev->ns);
	if (err)
		return;
	close_top(p, th, ev->ns, XSPROF_RANGE_ENDED,
		  ev->aux & XSPROF_END_CONTINUED ? XSPROF_RANGEF_CONTINUED : 0);
	xsp_opens_take(&p->opens, &th->opens, ev->ns);
}

/* ---- pauses and ends --------------------------------------------------------------------- */

/* Replaces the entries [@from, @to), which may be empty, by one. */
static void replace_done(struct xst_thread *th, uint32_t above, uint32_t from, uint32_t to,
			 struct xst_done entry)
{
	struct xsp_stack *stack = &th->opens.stack;

	if (from == to && th->nr_done == th->room_done && grow_done(th))
		return;
	memmove(&th->done[from + 1], &th->done[to], (th->nr_done - to) * sizeof(entry));
	th->done[from] = entry;
	th->nr_done = th->nr_done - to + from + 1;
	for (uint32_t i = above; i < stack->n; i++)
		stack->v[i].index = stack->v[i].index - to + from + 1;
}

/*
 * Ranges inside a cut range continue. For its parent it is finished up to the begin of the range
 * inside, which accounts for the rest.
 */
static void cut_range(void *data, struct xsp_opens *opens, uint32_t at, uint64_t ns)
{
	struct xst_thread *th = (struct xst_thread *)opens;
	struct xsprof_pairer *p = data;
	const struct xsp_range *range = &opens->stack.v[at];
	bool top = at + 1 == opens->stack.n;
	uint64_t until = top ? ns : range[1].begin;
	uint32_t from = base_at(th, at + 1), to = top ? th->nr_done : base_at(th, at + 2);
	uint64_t begin = xst_clipped(p, range->begin), children;

	until = xst_clipped(p, until);
	children = ns > until ? ns - until : 0;
	for (uint32_t i = from; i < to; i++)
		children += th->done[i].time;
	emit_open(p, th, at, ns, children, XSPROF_RANGE_CUT, 0);
	if (until < begin)
		until = begin;
	replace_done(th, at + 1, from, to,
		     (struct xst_done){ begin, until, until - begin, 1 });
}

/* For a range that was cut before there is nothing to report. */
static void close_range(void *data, struct xsp_opens *opens, uint64_t ns, bool cut)
{
	struct xsprof_pairer *p = data;

	if (!cut)
		close_top(p, (struct xst_thread *)opens, ns, p->how, p->how_flags);
}

const struct xsp_opens_ops xst_thread_ops = { .cut = cut_range, .close = close_range };

static void end_thread(struct xsprof_pairer *p, struct xst_thread *th, uint64_t ns)
{
	p->how = XSPROF_RANGE_OPEN;
	xsp_opens_close_all(&p->opens, &th->opens, ns);
	p->how = XSPROF_RANGE_CUT;
	xst_thread_forget(p, th);
}

void xst_thread_exit(struct xsprof_pairer *p, uint32_t producer, uint32_t tid, uint64_t ns)
{
	struct xst_thread *th = xst_thread_find(p, producer, tid);

	if (!th)
		return;
	p->cache[(tid ^ producer * 31) % XST_CACHE] = NULL;
	xsp_opens_losses(&p->opens, &th->opens);
	p->how_flags = XSPROF_RANGEF_THREAD_EXIT;
	end_thread(p, th, ns);
	p->how_flags = 0;
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
