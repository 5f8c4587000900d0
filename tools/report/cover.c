// SPDX-License-Identifier: GPL-2.0-only
/*
 * The time of a thread that its ranges cover, each moment counted once. Spans need not nest, and
 * are written when they have ended: one may lie in a range that comes later, or overlap an earlier
 * one. For each thread the latest covered times are remembered, so memory does not grow.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/local.h"

#define THREADS	4096u

/* Covered times, sorted, no two of them adjacent. */
struct thread {
	uint32_t		n;
	struct report_piece	v[REPORT_COVERED];
};

struct report_cover {
	struct xsp_map	numbers;	/* by producer and thread: + 1 */
	struct thread	*threads[THREADS];
	uint32_t	n;
};

int report_cover_new(struct report_cover **cover)
{
	*cover = calloc(1, sizeof(**cover));
	return *cover ? 0 : -ENOMEM;
}

void report_cover_free(struct report_cover *cover)
{
	if (!cover)
		return;
	for (uint32_t i = 0; i < cover->n; i++)
		free(cover->threads[i]);
	xsp_map_free(&cover->numbers);
	free(cover);
}

static struct thread *thread_of(struct report_cover *cover, uint32_t producer, uint32_t tid)
{
	uint64_t key = ((uint64_t)producer + 1) << 32 | tid;
	const uint64_t *known = xsp_map_get(&cover->numbers, key);

	if (known)
		return cover->threads[*known - 1];
	if (cover->n == THREADS)
		return NULL;
	cover->threads[cover->n] = calloc(1, sizeof(struct thread));
	if (!cover->threads[cover->n])
		return NULL;
	if (xsp_map_set(&cover->numbers, key, cover->n + 1ull)) {
		free(cover->threads[cover->n]);
		return NULL;
	}
	return cover->threads[cover->n++];
}

/* Replaces the pieces from @from up to @to. */
static void put(struct thread *thread, uint32_t from, uint32_t to, struct report_piece piece)
{
	if (from == to && thread->n == REPORT_COVERED) {
		/* The earliest piece is dropped; it may be the new one. */
		if (!from)
			return;
		memmove(thread->v, thread->v + 1, --from * sizeof(thread->v[0]));
		thread->v[from] = piece;
		return;
	}
	memmove(&thread->v[from + 1], &thread->v[to], (thread->n - to) * sizeof(thread->v[0]));
	thread->n -= to - from;
	thread->n++;
	thread->v[from] = piece;
}

uint32_t report_cover_add(struct report_cover *cover, uint32_t producer, uint32_t tid,
			  uint64_t begin, uint64_t end, struct report_piece *pieces)
{
	struct thread *thread = begin < end ? thread_of(cover, producer, tid) : NULL;
	struct report_piece all = { begin, end };
	uint32_t from, to, n = 0;
	uint64_t at = begin;

	if (!thread) {
		pieces[0] = all;
		return begin < end;
	}
	for (from = thread->n; from && thread->v[from - 1].end >= begin; from--)
		;
	for (to = from; to < thread->n && thread->v[to].begin <= end; to++) {
		const struct report_piece *old = &thread->v[to];

		if (old->begin > at)
			pieces[n++] = (struct report_piece){ at, old->begin };
		at = old->end;
		all.begin = old->begin < all.begin ? old->begin : all.begin;
		all.end = old->end > all.end ? old->end : all.end;
	}
	if (at < end)
		pieces[n++] = (struct report_piece){ at, end };
	put(thread, from, to, all);
	return n;
}
