/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Checks that drops lie where LOST records say. A hole of a ring is the time between the record
 * before a LOST and that LOST, with the number of drops it adds. A dropped record is known by the
 * times and the CPUs before and after the call that lost it. Owns the two lists and their
 * comparison.
 */
#ifndef XSP_TEST_HOLES_H
#define XSP_TEST_HOLES_H

#include <stdint.h>
#include <stdlib.h>

#include <xsprof/abi.h>

#include "common/tap.h"

struct hole {
	uint64_t	from;
	uint64_t	to;
	uint64_t	count;
	uint64_t	sure;		/* drops that can only lie here */
	uint64_t	possible;	/* drops that can lie here */
};

#define HOLES_RINGS	64
/* A call longer than this, in ns, may have run on another CPU in between. */
#define HOLES_PREEMPTED	20000

static struct holes_ring {
	struct hole	*hole;
	size_t		n;
	size_t		room;
} holes[HOLES_RINGS];
static uint64_t holes_none;	/* drops that are in no hole */
static uint64_t holes_drops;

static inline void holes_add(uint32_t k, uint64_t from, uint64_t to, uint64_t before,
			     uint64_t after)
{
	struct holes_ring *h = &holes[k];

	if (k >= HOLES_RINGS || before == after)
		return;
	if (h->n == h->room) {
		h->room = h->room ? 2 * h->room : 1024;
		h->hole = realloc(h->hole, h->room * sizeof(*h->hole));
		if (!h->hole)
			tap_bail("no memory");
	}
	h->hole[h->n++] = (struct hole){ .from = from, .to = to, .count = after - before };
}

/* Finds the holes that overlap [begin, end]: the first, and how many. */
static inline size_t holes_meet(const struct holes_ring *h, uint64_t begin, uint64_t end,
				size_t *first)
{
	size_t lo = 0, hi = h->n, n = 0;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (h->hole[mid].to < begin)
			lo = mid + 1;
		else
			hi = mid;
	}
	*first = lo;
	while (lo + n < h->n && h->hole[lo + n].from <= end)
		n++;
	return n;
}

static inline void holes_drop(uint64_t begin, uint64_t end, uint32_t cpu_begin, uint32_t cpu_end)
{
	bool moved = cpu_begin != cpu_end || end - begin > HOLES_PREEMPTED;
	size_t total = 0, n, first;
	struct hole *only = NULL;

	holes_drops++;
	for (uint32_t k = 0; k < HOLES_RINGS; k++) {
		if (!holes[k].n || (!moved && k != cpu_begin))
			continue;
		n = holes_meet(&holes[k], begin, end, &first);
		for (size_t i = 0; i < n; i++) {
			only = &holes[k].hole[first + i];
			only->possible++;
		}
		total += n;
	}
	if (total == 1)
		only->sure++;
	else if (!total)
		holes_none++;
}

/* @elsewhere: drops that may be in rings that belong to no CPU. */
static inline void holes_check(uint64_t elsewhere)
{
	uint64_t n = 0, wrong = 0;

	for (uint32_t k = 0; k < HOLES_RINGS; k++)
		for (size_t i = 0; i < holes[k].n; i++) {
			struct hole *h = &holes[k].hole[i];

			n++;
			wrong += h->count > h->possible || h->sure > h->count + elsewhere;
		}
	tap_note("%llu drops in %llu holes", (unsigned long long)holes_drops,
		 (unsigned long long)n);
	if (holes_none > elsewhere)
		tap_wrong("%llu drops lie in no hole", (unsigned long long)holes_none);
	if (wrong)
		tap_wrong("%llu holes count other drops than theirs", (unsigned long long)wrong);
}

#endif /* XSP_TEST_HOLES_H */
