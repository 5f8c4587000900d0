// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ranges in parts: see join.h. Parts that continue end innermost first, and their continuations
 * begin outermost first, before any other event of the thread: parts that wait for their
 * continuation are a stack, and so are the continuations, which are on the thread's stack.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/map.h"
#include "ranges/losses.h"
#include "report/join.h"

#define PARTS_MAX	16384u	/* of all threads; parts beyond are not joined */
#define EPOCHS		1024u	/* of producers; a slot may be shared by several */

/**
 * struct kept - a part that continues
 * @part: the part
 * @rest_ns: begin of its continuation
 * @gone: it is included in that
 */
struct kept {
	struct report_part	part;
	uint64_t		rest_ns;
	bool			gone;
};

struct stack {
	struct kept	*v;
	uint32_t	n;
	uint32_t	room;
};

/**
 * struct join_thread - a thread with such parts
 * @waits: parts that wait for their continuation
 * @rests: parts whose continuation has begun, in the order of these begins
 * @pauses: of its producer, at the time of the first of @waits
 * @losses: of its producer, likewise
 * @full: a part did not fit: continuations cannot be assigned safely
 */
struct join_thread {
	struct stack	waits;
	struct stack	rests;
	uint32_t	pauses;
	uint32_t	losses;
	bool		full;
};

/**
 * struct report_join - parts of ranges
 * @lone: called for parts without a continuation
 * @data: passed to @lone
 * @threads: threads with parts
 * @nr: how many
 * @room: capacity of @threads
 * @by_thread: index + 1, by producer and thread
 * @parts: number of parts kept
 * @waiting: number of threads with @waits, or @full
 * @pauses: of producers: number of pauses, and ends
 * @losses: of producers: number of losses
 */
struct report_join {
	void			(*lone)(void *data, const struct report_part *part);
	void			*data;
	struct join_thread	*threads;
	uint32_t		nr;
	uint32_t		room;
	struct xsp_map		by_thread;
	uint32_t		parts;
	uint32_t		waiting;
	uint32_t		pauses[EPOCHS];
	uint32_t		losses[EPOCHS];
};

int report_join_new(void (*lone)(void *data, const struct report_part *part), void *data,
		    struct report_join **join)
{
	*join = calloc(1, sizeof(**join));
	if (!*join)
		return -ENOMEM;
	(*join)->lone = lone;
	(*join)->data = data;
	return 0;
}

void report_join_free(struct report_join *join)
{
	if (!join)
		return;
	for (uint32_t i = 0; i < join->nr; i++) {
		free(join->threads[i].waits.v);
		free(join->threads[i].rests.v);
	}
	free(join->threads);
	xsp_map_free(&join->by_thread);
	free(join);
}

/* ---- threads -------------------------------------------------------------------------------- */

static uint64_t key_of(uint32_t producer, uint32_t tid)
{
	return ((uint64_t)producer + 1) << 32 | tid;
}

static struct join_thread *find(const struct report_join *join, uint32_t producer, uint32_t tid)
{
	const uint64_t *at = xsp_map_get(&join->by_thread, key_of(producer, tid));

	return at ? &join->threads[*at] : NULL;
}

static struct join_thread *get(struct report_join *join, uint32_t producer, uint32_t tid)
{
	struct join_thread *th = find(join, producer, tid), *list;
	uint32_t room = join->room ? join->room * 2 : 8;

	if (th)
		return th;
	if (join->nr == join->room) {
		list = room <= PARTS_MAX ? realloc(join->threads, room * sizeof(*list)) : NULL;
		if (!list)
			return NULL;
		join->threads = list;
		join->room = room;
	}
	if (xsp_map_set(&join->by_thread, key_of(producer, tid), join->nr))
		return NULL;
	th = &join->threads[join->nr++];
	*th = (struct join_thread){ 0 };
	return th;
}

/* ---- parts ---------------------------------------------------------------------------------- */

static bool push(struct stack *stack, const struct kept *kept)
{
	uint32_t room = stack->room ? stack->room * 2 : 8;
	struct kept *v;

	if (stack->n == stack->room) {
		v = realloc(stack->v, room * sizeof(*v));
		if (!v)
			return false;
		stack->v = v;
		stack->room = room;
	}
	stack->v[stack->n++] = *kept;
	return true;
}

/* No continuation can come any more: the parts end where they are. */
static void let_go(struct report_join *join, struct stack *stack, uint32_t flags)
{
	while (stack->n) {
		struct kept kept = stack->v[--stack->n];

		join->parts--;
		if (kept.gone)
			continue;
		kept.part.range.how = XSPROF_RANGE_CUT;
		kept.part.range.flags |= flags;
		join->lone(join->data, &kept.part);
	}
}

/* The latest continuation that began at @ns; NULL: none. They begin one after the other. */
static struct kept *rest_at(const struct stack *rests, uint64_t ns)
{
	uint32_t low = 0, high = rests->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (rests->v[middle].rest_ns <= ns)
			low = middle + 1;
		else
			high = middle;
	}
	/* Of several with the same begin, the innermost ends first. */
	while (low && rests->v[low - 1].rest_ns == ns && rests->v[low - 1].gone)
		low--;
	return low && rests->v[low - 1].rest_ns == ns ? &rests->v[low - 1] : NULL;
}

const struct report_part *report_join_before(struct report_join *join,
					     const struct xsprof_range *range)
{
	const struct join_thread *th;
	struct kept *kept;

	if (!join->parts || range->kind != XSPROF_REC_BEGIN)
		return NULL;
	th = find(join, range->producer, range->tid);
	kept = th ? rest_at(&th->rests, range->begin_ns) : NULL;
	return kept && kept->part.range.name == range->name ? &kept->part : NULL;
}

/* Those in the middle stay until all above them are gone. */
static void forget(struct report_join *join, struct stack *rests, struct kept *kept)
{
	kept->gone = true;
	for (; rests->n && rests->v[rests->n - 1].gone; rests->n--)
		join->parts--;
}

void report_join_to(struct report_join *join, const struct report_part *before,
		    struct report_part *part)
{
	struct xsprof_range *range = &part->range;

	if (!before)
		return;
	range->self_ns += before->range.self_ns + (range->begin_ns - before->range.end_ns);
	range->begin_ns = before->range.begin_ns;
	part->began = before->began;
	range->flags |= before->range.flags & XSPROF_RANGEF_UNCERTAIN;
	/* It is not inside another of its name: it outlives the one that it began in. */
	range->flags &= ~XSPROF_RANGEF_RECURSIVE;
	for (int i = 0; part->told && i < CAUSE_SUMS; i++)
		part->cause.v[i] += before->cause.v[i];
	if (before->uses && part->uses)
		report_used_add(&part->used, &before->used);
	else if (before->uses)
		part->used = before->used;
	part->uses |= before->uses;
	/* The attributes from its begin are in its first part. */
	part->words = before->words;
	part->words.inside = false;
	forget(join, &find(join, range->producer, range->tid)->rests, (struct kept *)before);
}

bool report_join_keep(struct report_join *join, const struct report_part *part)
{
	const struct xsprof_range *range = &part->range;
	struct kept kept = { .part = *part };
	struct join_thread *th;
	bool waited;

	if (!(range->flags & XSPROF_RANGEF_CONTINUED))
		return false;
	th = get(join, range->producer, range->tid);
	if (!th || th->full)
		return false;
	waited = th->waits.n;
	if (!waited) {
		th->pauses = join->pauses[range->producer % EPOCHS];
		th->losses = join->losses[range->producer % EPOCHS];
	}
	th->full = join->parts == PARTS_MAX || !push(&th->waits, &kept);
	if (th->full)
		let_go(join, &th->waits, 0);
	else
		join->parts++;
	join->waiting += !waited;
	return !th->full;
}

/* A range of the thread begins. Return: true: it continues a part that waits. */
static bool begins(struct report_join *join, struct join_thread *th, const struct xsprof_event *ev)
{
	bool lost = th->losses != join->losses[ev->producer % EPOCHS];
	const struct stack *rests = &th->rests;
	struct kept *top = th->waits.n ? &th->waits.v[th->waits.n - 1] : NULL;
	bool is_rest = top && !lost && th->pauses == join->pauses[ev->producer % EPOCHS] &&
		       top->part.range.name == ev->name &&
		       (!rests->n || rests->v[rests->n - 1].rest_ns <= ev->ns);

	if (is_rest) {
		top->rest_ns = ev->ns;
		is_rest = push(&th->rests, top);
	}
	if (is_rest)
		th->waits.n--;
	else
		let_go(join, &th->waits, lost ? XSPROF_RANGEF_UNCERTAIN : 0);
	th->full = false;
	join->waiting -= !th->waits.n;
	return is_rest;
}

bool report_join_event(struct report_join *join, const struct xsprof_event *ev)
{
	struct join_thread *th;

	if (!join->waiting)
		return false;
	if (xst_losses_at(ev))
		join->losses[ev->producer % EPOCHS]++;
	else if (ev->type == XSPROF_REC_CONTROL || ev->type == XSPROF_EV_EXIT)
		join->pauses[ev->producer % EPOCHS]++;
	if (ev->type != XSPROF_REC_BEGIN)
		return false;
	th = find(join, ev->producer, ev->tid);
	return th && (th->waits.n || th->full) && begins(join, th, ev);
}

void report_join_finish(struct report_join *join)
{
	for (uint32_t i = 0; i < join->nr; i++) {
		let_go(join, &join->threads[i].waits, 0);
		/* Their continuations were dropped by the pairer, as they were too deep. */
		let_go(join, &join->threads[i].rests, 0);
	}
	join->waiting = 0;
}
