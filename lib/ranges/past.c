// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Finished ranges of a thread: runtime calls of a GPU are recorded up to a second later, and belong
 * to the ranges that were open at their time. Memory is bounded: the latest ranges of a thread are
 * kept.
 *
 * Ranges are in the order of their ends. The innermost range at a time is found by its end, and
 * from there through the enclosing range of each, which becomes known when that one ends.
 */
#include <stdlib.h>

#include "ranges/past.h"

#define ROOM_MIN	16u
#define ROOM_MAX	(1u << 15)		/* per thread; a power of two */
#define PAST_MAX	(1u << 18)		/* over all threads */
#define NONE		UINT64_MAX

/**
 * struct xsp_past - finished ranges of a thread
 * @v: range number n is at index n modulo @room
 * @loose: numbers of ranges without an enclosing one so far, the latest last
 * @nr: number of ranges so far
 * @nr_loose: number of entries in @loose
 */
struct xsp_past {
	struct xsp_past_range	*v;
	uint64_t		*loose;
	uint64_t		nr;
	uint32_t		nr_loose;
	uint32_t		room;
};

static struct xsp_past_range *at(const struct xsp_past *p, uint64_t n)
{
	return &p->v[n & (p->room - 1)];
}

static uint64_t first(const struct xsp_past *p)
{
	return p->nr > p->room ? p->nr - p->room : 0;
}

/* Only before anything is overwritten: numbers keep their index. */
static bool grow(struct xsp_past *p, uint32_t *budget)
{
	uint32_t room = p->room ? 2 * p->room : ROOM_MIN;
	struct xsp_past_range *v;
	uint64_t *loose;

	if (p->nr < p->room)
		return true;
	if (p->nr > p->room || room > ROOM_MAX || *budget + room - p->room > PAST_MAX)
		return p->room;
	v = realloc(p->v, room * sizeof(*v));
	if (!v)
		return p->room;
	p->v = v;
	loose = realloc(p->loose, room * sizeof(*loose));
	if (!loose)
		return p->room;
	p->loose = loose;
	*budget += room - p->room;
	p->room = room;
	return true;
}

/* Range number @n encloses ranges that began inside it. */
static void adopt(struct xsp_past *p, uint64_t n)
{
	while (p->nr_loose) {
		uint64_t last = p->loose[p->nr_loose - 1];

		if (last >= first(p)) {
			if (at(p, last)->begin < at(p, n)->begin)
				break;
			at(p, last)->around = n;
		}
		p->nr_loose--;
	}
	/* The entries at the bottom are the oldest: some may be overwritten. */
	if (p->nr_loose == p->room) {
		memmove(p->loose, p->loose + p->room / 2, p->room / 2 * sizeof(*p->loose));
		p->nr_loose -= p->room / 2;
	}
	p->loose[p->nr_loose++] = n;
}

void xsp_past_add(struct xsp_past **past, uint32_t *budget, const struct xsp_past_range *range)
{
	struct xsp_past *p = *past ? *past : calloc(1, sizeof(*p));

	*past = p;
	if (!p || !grow(p, budget))
		return;
	*at(p, p->nr) = *range;
	at(p, p->nr)->around = NONE;
	adopt(p, p->nr++);
}

void xsp_past_free(struct xsp_past *past, uint32_t *budget)
{
	if (!past)
		return;
	*budget -= past->room;
	free(past->v);
	free(past->loose);
	free(past);
}

static struct xsp_past_range *inside(struct xsp_past *p, uint64_t n, uint64_t ns)
{
	while (n < p->nr && at(p, n)->begin > ns)
		n = at(p, n)->around;
	return n < p->nr ? at(p, n) : NULL;
}

struct xsp_past_range *xsp_past_find(struct xsp_past *past, uint64_t ns)
{
	uint64_t low = past ? first(past) : 0, high = past ? past->nr : 0;

	/* Find the first range that ended after @ns. */
	while (low < high) {
		uint64_t mid = low + (high - low) / 2;

		if (at(past, mid)->end <= ns)
			low = mid + 1;
		else
			high = mid;
	}
	return past ? inside(past, low, ns) : NULL;
}

struct xsp_past_range *xsp_past_around(struct xsp_past *past, const struct xsp_past_range *range)
{
	return range->around < past->nr ? at(past, range->around) : NULL;
}
