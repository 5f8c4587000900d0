// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The ranges of a thread that are over, in a Kineto trace: calls of a GPU's runtime are told of up
 * to a second later, and belong to what was open when they were made.  The memory is bounded: of a
 * thread the latest ranges are kept.
 *
 * Ranges are in the order of their ends.  The innermost around a time is found among them by its
 * end, and from there by the range around each, which is known when that one ends.
 */
#include <stdlib.h>

#include "export/kineto/local.h"

#define ROOM_MIN	1024u
#define ROOM_MAX	(1u << 15)		/* of a thread; powers of two */
#define PAST_MAX	(1u << 18)		/* of all */
#define NONE		UINT64_MAX

struct past {
	uint64_t	begin;
	uint64_t	end;
	uint64_t	around;		/* number of the range around it, NONE: not known yet */
	uint64_t	id;
	uint64_t	tag;
	uint32_t	name;
	uint32_t	kind;
};

/**
 * struct xsr_past - those of a thread
 * @v: number n is at n modulo @room
 * @loose: numbers of those without a range around them so far, the latest last
 * @nr: of all that there were
 * @nr_loose: in @loose
 */
struct xsr_past {
	struct past	*v;
	uint64_t	*loose;
	uint64_t	nr;
	uint32_t	nr_loose;
	uint32_t	room;
};

static struct past *at(const struct xsr_past *p, uint64_t n)
{
	return &p->v[n & (p->room - 1)];
}

static uint64_t first(const struct xsr_past *p)
{
	return p->nr > p->room ? p->nr - p->room : 0;
}

/* Only while nothing was overwritten: numbers stay where they are. */
static bool grow(struct xsr_kineto *k, struct xsr_past *p)
{
	uint32_t room = p->room ? 2 * p->room : ROOM_MIN;
	uint64_t *loose;
	struct past *v;

	if (p->nr < p->room)
		return true;
	if (p->nr > p->room || room > ROOM_MAX || k->past + room - p->room > PAST_MAX)
		return p->room;
	v = realloc(p->v, room * sizeof(*v));
	if (!v)
		return p->room;
	p->v = v;
	loose = realloc(p->loose, room * sizeof(*loose));
	if (!loose)
		return p->room;
	p->loose = loose;
	k->past += room - p->room;
	p->room = room;
	return true;
}

void xsr_past_add(struct xsr_kineto *k, struct xsp_track *thread, const struct xsp_range *range,
		  uint64_t end)
{
	struct xsr_host *host = xsr_kineto_state(thread);
	struct xsr_past *p;
	uint64_t n;

	if (!host || range->kind == XSR_RANGE_HIDDEN)
		return;
	if (!host->past)
		host->past = calloc(1, sizeof(*host->past));
	p = host->past;
	if (!p || !grow(k, p))
		return;
	n = p->nr++;
	*at(p, n) = (struct past){
		.begin = range->begin, .end = end, .around = NONE, .name = range->name,
		.id = xsr_kineto_range_id(range), .tag = range->tag, .kind = range->kind,
	};
	while (p->nr_loose && (p->loose[p->nr_loose - 1] < first(p) ||
			       at(p, p->loose[p->nr_loose - 1])->begin >= range->begin)) {
		if (p->loose[--p->nr_loose] >= first(p))
			at(p, p->loose[p->nr_loose])->around = n;
	}
	/* Those at the bottom are the oldest: some may be overwritten. */
	if (p->nr_loose == p->room) {
		memmove(p->loose, p->loose + p->room / 2, p->room / 2 * sizeof(*p->loose));
		p->nr_loose -= p->room / 2;
	}
	p->loose[p->nr_loose++] = n;
}

void xsr_past_free(struct xsr_kineto *k, struct xsr_host *host)
{
	if (!host->past)
		return;
	k->past -= host->past->room;
	free(host->past->v);
	free(host->past->loose);
	free(host->past);
}

/* The first that ended at @ns or later. */
static uint64_t ended_after(const struct xsr_past *p, uint64_t ns)
{
	uint64_t low = first(p), high = p->nr;

	while (low < high) {
		uint64_t mid = low + (high - low) / 2;

		if (at(p, mid)->end < ns)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* What is found on the way out, the innermost first.  Return: is there nothing more to find? */
static bool take(struct xsr_around *a, uint32_t kind, uint64_t id)
{
	if (kind == XSR_RANGE_OP && !a->op)
		a->op = id;
	else if (kind == XSR_RANGE_ANNOTATION && !a->annotation)
		a->annotation = id;
	return a->op && a->annotation;
}

void xsr_past_find(struct xsr_kineto *k, struct xsp_track *thread, uint64_t ns,
		   struct xsr_around *a)
{
	const struct xsr_host *host = thread->priv;
	struct xsr_past *p = host ? host->past : NULL;
	const struct xsp_stack *stack = &thread->opens.stack;
	uint64_t n = p ? ended_after(p, ns) : 0;
	bool tagged = false;

	*a = (struct xsr_around){ 0 };
	for (; p && n < p->nr; n = at(p, n)->around) {
		struct past *one = at(p, n);

		if (one->begin > ns)
			continue;
		if (one->kind == XSR_RANGE_ANNOTATION && !tagged) {
			if (!one->tag)
				one->tag = xsr_link_tag(k, thread->producer, one->name, one->id);
			a->tag = one->tag;
			tagged = true;
		}
		if (take(a, one->kind, one->id))
			return;
	}
	for (uint32_t i = stack->n; i; i--) {
		struct xsp_range *range = &stack->v[i - 1];

		if (range->end != XSP_OPEN || range->begin > ns || range->kind > XSR_RANGE_OP)
			continue;
		if (range->kind == XSR_RANGE_ANNOTATION && !tagged) {
			if (!range->tag)
				range->tag = xsr_link_tag(k, thread->producer, range->name,
							  xsr_kineto_range_id(range));
			a->tag = range->tag;
			tagged = true;
		}
		if (take(a, range->kind, xsr_kineto_range_id(range)))
			return;
	}
}
