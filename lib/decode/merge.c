// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Merges all streams in time order.
 *
 * A heap holds the next time of each stream. Events are taken from the first stream until it would
 * pass the second: usually a long run with one heap operation. Windows are only replaced while no
 * event of the current batch points into one. Never looks at records.
 */
#include <errno.h>
#include <stdlib.h>

#include "decode/local.h"

static inline bool before(const struct xst_head *a, const struct xst_head *b)
{
	return a->key != b->key ? a->key < b->key : a->order < b->order;
}

static void sift_down(struct xst_head *heap, uint32_t nr, uint32_t at)
{
	struct xst_head item = heap[at];

	for (;;) {
		uint32_t child = 2 * at + 1;

		if (child >= nr)
			break;
		if (child + 1 < nr && before(&heap[child + 1], &heap[child]))
			child++;
		if (!before(&heap[child], &item))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = item;
}

static void push(struct xsprof_trace *t, struct xst_head item)
{
	uint32_t at = t->reading.nr_heap++;

	while (at && before(&item, &t->reading.heap[(at - 1) / 2])) {
		t->reading.heap[at] = t->reading.heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	t->reading.heap[at] = item;
}

static void pop(struct xsprof_trace *t)
{
	t->reading.heap[0] = t->reading.heap[--t->reading.nr_heap];
	if (t->reading.nr_heap)
		sift_down(t->reading.heap, t->reading.nr_heap, 0);
}

static void push_marks(struct xsprof_trace *t, struct xst_marks *marks, uint32_t order)
{
	if (marks->nr)
		push(t, (struct xst_head){ marks->list[0].ns, order, XST_HEAD_MARKS, marks });
}

/* Adds streams that are not in the heap: at first all, later those with new chunks. */
static int fill(struct xsprof_trace *t)
{
	struct xst_head *heap = realloc(t->reading.heap, (t->found.nr_streams + 2) * sizeof(*heap));
	int err;

	if (!heap)
		return xst_fail(t, -ENOMEM, "no memory for %u rings", t->found.nr_streams);
	t->reading.heap = heap;
	err = xst_marks_make(t);
	if (err)
		return err;
	push_marks(t, &t->reading.begins, 0);
	push_marks(t, &t->reading.ends, UINT32_MAX);
	for (uint32_t i = 0; i < t->found.nr_streams; i++) {
		struct xst_stream *s = t->found.streams[i];

		if (s->queued || (s->kernel && t->found.kernel.refused) ||
		    (!s->kernel && t->reading.kernel_only) || !xst_stream_settle(t, s))
			continue;
		s->queued = true;
		push(t, (struct xst_head){ s->key, s->order, XST_HEAD_RING, s });
	}
	return 0;
}

int xst_merge_start(struct xsprof_trace *t)
{
	t->reading.nr_heap = 0;
	t->reading.now = 0;
	t->reading.records = 0;
	t->reading.back = 0;
	t->reading.bad_read = 0;
	t->reading.ended.type = 0;
	t->found.kernel.producer.records = 0;
	for (uint32_t i = 0; i < t->found.nr_producers; i++) {
		if (t->found.producers[i]) {
			t->found.producers[i]->records = 0;
			t->found.producers[i]->holes = 0;
			t->found.producers[i]->began = t->found.producers[i]->exited = false;
			t->found.producers[i]->said_switches = 0;
			t->found.producers[i]->said_renewed = 0;
		}
	}
	for (uint32_t i = 0; i < t->found.nr_streams; i++)
		xst_stream_rewind(t, t->found.streams[i]);
	return fill(t);
}

int xst_merge_more(struct xsprof_trace *t)
{
	uint32_t kept = 0;

	/* The fit is new, and the marks are made anew. */
	for (uint32_t i = 0; i < t->found.nr_streams; i++)
		t->found.streams[i]->seg = t->found.streams[i]->producer->fit->segs;
	for (uint32_t i = 0; i < t->reading.nr_heap; i++)
		if (t->reading.heap[i].kind == XST_HEAD_RING)
			t->reading.heap[kept++] = t->reading.heap[i];
	t->reading.nr_heap = kept;
	for (uint32_t i = kept / 2; i--;)
		sift_down(t->reading.heap, kept, i);
	return fill(t);
}

/* ---- a batch ----------------------------------------------------------------------------- */

/* The time up to which the first stream of the heap may continue. */
static uint64_t limit_of(const struct xsprof_trace *t)
{
	const struct xst_head *second = NULL;
	uint64_t limit = t->reading.horizon;

	if (t->reading.nr_heap > 1)
		second = &t->reading.heap[1];
	if (t->reading.nr_heap > 2 && before(&t->reading.heap[2], second))
		second = &t->reading.heap[2];
	if (second) {
		/* At equal times the order decides; nothing is before 0. */
		uint64_t other = second->key;

		if (t->reading.heap[0].order > second->order && other > t->reading.heap[0].key)
			other--;
		if (other < limit)
			limit = other;
	}
	if (t->reading.to_ns && t->reading.to_ns < limit)
		limit = t->reading.to_ns;
	return limit;
}

static bool advance_marks(struct xst_head *head)
{
	struct xst_marks *marks = head->what;

	if (marks->next == marks->nr)
		return false;
	head->key = marks->list[marks->next].ns;
	return true;
}

int xst_merge_batch(struct xsprof_trace *t, struct xsprof_event *evs, size_t max)
{
	size_t n = 0;

	while (n < max && (t->reading.nr_heap || t->reading.ended.type)) {
		struct xst_head *head = &t->reading.heap[0];
		uint64_t limit = limit_of(t);
		bool more;

		if (t->reading.ended.type) {
			evs[n++] = t->reading.ended;
			t->reading.ended.type = 0;
			continue;
		}
		if (head->key > limit)
			break;
		if (head->kind == XST_HEAD_MARKS) {
			n += xst_marks_run(t, head->what, evs + n, max - n, limit);
			more = advance_marks(head);
		} else {
			struct xst_stream *s = head->what;

			if (xst_stream_empty(s)) {
				int r;

				if (n)
					break;
				r = xst_stream_load(t, s);
				if (r < 0)
					return r;
			} else if (s->kernel) {
				n += xst_kernel_run(t, s, evs + n, max - n, limit);
			} else {
				n += xst_stream_run(t, s, evs + n, max - n, limit);
			}
			more = xst_stream_settle(t, s);
			head->key = s->key;
			s->queued = more;
		}
		if (more)
			sift_down(t->reading.heap, t->reading.nr_heap, 0);
		else
			pop(t);
	}
	return n;
}
