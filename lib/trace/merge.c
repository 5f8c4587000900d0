// SPDX-License-Identifier: LGPL-2.1-only
/*
 * All streams as one, in time order.
 *
 * A heap holds what each stream has next.  From the first one events are taken until it would
 * pass the second: most of the time that is a run of many, and the heap is touched once for it.
 * Windows are only replaced while no event of the current batch points into one.  It never
 * allocates or hashes for an event.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace-local.h"

/* ---- classes of records --------------------------------------------------------------------- */

#define CLASS_SLOTS	0x0fu	/* the least slots of the type; 0: not an event as it stands */
#define CLASS_TIMES	0x10u	/* holds a begin and an end */

static const uint8_t classes[256] = {
	[XSPROF_REC_BEGIN]		= 1,
	[XSPROF_REC_END]		= 1,
	[XSPROF_REC_COMPLETE]		= 1 | CLASS_TIMES,
	[XSPROF_REC_INSTANT]		= 1,
	[XSPROF_REC_COUNTER_I64]	= 1,
	[XSPROF_REC_COUNTER_F64]	= 1,
	[XSPROF_REC_ASYNC_BEGIN]	= 1,
	[XSPROF_REC_ASYNC_INSTANT]	= 1,
	[XSPROF_REC_ASYNC_END]		= 1,
	[XSPROF_REC_FLOW_START]		= 1,
	[XSPROF_REC_FLOW_STEP]		= 1,
	[XSPROF_REC_FLOW_END]		= 1,
	[XSPROF_REC_CORR_PUSH]		= 1,
	[XSPROF_REC_CORR_POP]		= 1,
	[XSPROF_REC_ALLOC]		= 2,
	[XSPROF_REC_FREE]		= 2,
	[XSPROF_REC_ARGS]		= 1,
	[XSPROF_REC_STEP]		= 1,
	[XSPROF_REC_SPAN]		= 2 | CLASS_TIMES,
	[XSPROF_REC_SYNC]		= 1,
	[XSPROF_REC_CONTROL]		= 1,
	[XSPROF_REC_CLOCK]		= 2,
	[XSPROF_REC_GPU]		= 3 | CLASS_TIMES,
	[XSPROF_REC_STACK]		= 1,
	[XSPROF_REC_RELATION]		= 2,
};

/* Slots of the record at @p, 0 when it is none.  @p < @end. */
static inline uint32_t slots_at(const uint8_t *p, const uint8_t *end)
{
	uint32_t slots = ((const struct xsprof_rec *)p)->size & 0x0f;
	uint32_t bytes = slots * XSPROF_SLOT_SIZE;

	if (slots - 1 >= XSPROF_RECORD_SLOTS || bytes > (size_t)(end - p) ||
	    ((uintptr_t)p & (XSPROF_BLOCK_SIZE - 1)) + bytes > XSPROF_BLOCK_SIZE)
		return 0;
	return slots;
}

static uint64_t time_of(struct xst_stream *s, uint64_t ticks)
{
	if (ticks - s->seg->base >= s->seg->len)
		s->seg = xst_fit_find(s->producer->fit, ticks);
	return xst_seg_ns(s->seg, ticks);
}

/* ---- events that no record is ---------------------------------------------------------------- */

static void init_event(struct xsprof_event *ev, const struct xst_producer *p, uint16_t type,
		       uint64_t ns)
{
	*ev = (struct xsprof_event){
		.ns = ns,
		.type = type,
		.producer = p->number,
		.pid = p->pid,
		.cpu = -1,
	};
}

static void init_lost(struct xsprof_event *ev, const struct xst_stream *s, uint64_t ns,
		      uint64_t value, uint16_t flags)
{
	init_event(ev, s->producer, XSPROF_EV_LOST, ns);
	ev->ticks = s->ticks;
	ev->cpu = s->cpu;
	ev->value = value;
	ev->flags = flags;
}

static bool wanted(const struct xsprof_trace *t, uint64_t ns)
{
	return ns >= t->from_ns;
}

/* A gap before the record at @ns, or what was lost at the end.  Return: events. */
static size_t put_lost(struct xsprof_trace *t, struct xst_stream *s, struct xsprof_event *evs,
		       size_t max, uint64_t ns)
{
	size_t n = 0;

	if (s->gap && n < max) {
		init_lost(&evs[n], s, ns, s->gap, XSPROF_EVF_SLOTS);
		n += wanted(t, ns);
		s->gaps += s->gap;
		s->gap = 0;
	}
	if (s->drops && n < max) {
		init_lost(&evs[n], s, ns, s->drops, 0);
		n += wanted(t, ns);
		s->lost_yielded += s->drops;
		s->drops = 0;
	}
	if (ns > t->now)
		t->now = ns;
	return n;
}

/* ---- what is not an event as it stands -------------------------------------------------------- */

static void bad_record(struct xsprof_trace *t, struct xst_stream *s, uint64_t slots)
{
	s->bad_slots += slots;
	xst_warn(t, XST_WARN_RECORD,
		 "ring %u of producer %u: no record at slot %llu: %llu slots left out", s->ring,
		 s->producer->number,
		 (unsigned long long)(s->pos - (s->end - s->p) / XSPROF_SLOT_SIZE),
		 (unsigned long long)slots);
}

/*
 * The record at @s->p is no plain event, or none at all.  Goes past it, unless it can be yielded
 * after all: then it is left, with *@lost set when it is a LOST record.
 *
 * Return: true when it was passed.
 */
static bool pass(struct xsprof_trace *t, struct xst_stream *s, bool *lost)
{
	const struct xsprof_rec *rec = (const struct xsprof_rec *)s->p;
	uint32_t slots = slots_at(s->p, s->end);

	*lost = false;
	if (!slots || rec->type == XSPROF_REC_INVALID) {
		/* Whatever this is says nothing about where the next begins: the next block. */
		uint64_t left = (XSPROF_BLOCK_SIZE - ((uintptr_t)s->p & (XSPROF_BLOCK_SIZE - 1)));

		if (left > (uint64_t)(s->end - s->p))
			left = s->end - s->p;
		bad_record(t, s, left / XSPROF_SLOT_SIZE);
		s->p += left;
		return true;
	}
	if (rec->type == XSPROF_REC_LOST) {
		if (rec->value > s->lost_value) {
			*lost = true;
			return false;
		}
		/* One that adds nothing is allowed; one that takes back is not. */
		if (rec->value < s->lost_value)
			bad_record(t, s, slots);
	} else if (rec->type != XSPROF_REC_PAD) {
		if (classes[rec->type]) {
			if (slots >= (classes[rec->type] & CLASS_SLOTS))
				return false;
			bad_record(t, s, slots);
		} else {
			t->unknown++;
			xst_warn(t, XST_WARN_UNKNOWN,
				 "ring %u of producer %u: record of type 0x%02x is not known here",
				 s->ring, s->producer->number, rec->type);
		}
	}
	s->p += slots * XSPROF_SLOT_SIZE;
	return true;
}

static uint64_t time_back(struct xsprof_trace *t, struct xst_stream *s, uint64_t ts)
{
	t->back++;
	xst_warn(t, XST_WARN_TIME, "ring %u of producer %u: time goes back from %llu to %llu",
		 s->ring, s->producer->number, (unsigned long long)s->ticks,
		 (unsigned long long)ts);
	return s->ticks;
}

/* Goes to the next record that can be yielded.  Return: false when the window has none. */
static bool peek(struct xsprof_trace *t, struct xst_stream *s, uint64_t *ns, bool *lost)
{
	while (s->p < s->end) {
		const struct xsprof_rec *rec = (const struct xsprof_rec *)s->p;

		if (pass(t, s, lost))
			continue;
		*ns = time_of(s, rec->ts > s->ticks ? rec->ts : s->ticks);
		if (*ns < t->now)
			*ns = t->now;
		return true;
	}
	return false;
}

/* ---- times inside records --------------------------------------------------------------------- */

/* Another clock's times mean nothing here: what the record itself says of its time stands. */
static void set_times(struct xst_stream *s, struct xsprof_event *ev)
{
	uint64_t begin = ev->ticks, end = ev->ticks;

	if (ev->type == XSPROF_REC_COMPLETE) {
		begin = ev->value < ev->ticks ? ev->ticks - ev->value : 0;
	} else if (ev->type == XSPROF_REC_SPAN) {
		const struct xsprof_rec_span *span = (const struct xsprof_rec_span *)ev->rec;

		begin = span->begin;
		end = span->end;
	} else {
		const struct xsprof_rec_gpu *gpu = (const struct xsprof_rec_gpu *)ev->rec;

		if (!gpu->clock) {
			begin = gpu->start;
			end = gpu->end;
		}
	}
	if (end < begin)
		end = begin;
	/* The run's own piece is kept: most begins lie in it as well. */
	ev->begin_ns = begin - s->seg->base < s->seg->len ? xst_seg_ns(s->seg, begin) :
							     xst_fit_ns(s->producer->fit, begin);
	if (ev->type == XSPROF_REC_COMPLETE)
		ev->end_ns = ev->ns;
	else
		ev->end_ns = xst_fit_ns(s->producer->fit, end);
	if (ev->begin_ns > ev->end_ns)
		ev->begin_ns = ev->end_ns;
}

/* ---- a run ------------------------------------------------------------------------------------ */

static inline void put_event(struct xsprof_event *ev, const struct xst_stream *s,
			     const struct xsprof_rec *rec, uint32_t slots, uint64_t ns,
			     uint16_t flags)
{
	ev->ns = ns;
	ev->begin_ns = 0;
	ev->end_ns = 0;
	ev->ticks = rec->ts;
	ev->type = rec->type;
	ev->flags = flags;
	ev->producer = s->producer->number;
	ev->pid = s->producer->pid;
	ev->tid = rec->tid;
	ev->cpu = xst_unlikely(rec->size >> 4 & XSPROF_RECF_CPU) ? rec->cpu : s->cpu;
	ev->name = rec->name;
	ev->aux = rec->aux;
	ev->reserved = 0;
	ev->value = rec->value;
	ev->rec = rec;
	ev->rec_size = slots * XSPROF_SLOT_SIZE;
}

/*
 * Records that are plain events, while they are not later than @limit.  Stops before anything
 * else, with @s->key the time of the record that it stopped at when that is known.
 */
static size_t run_plain(struct xsprof_trace *t, struct xst_stream *s, struct xsprof_event *evs,
			size_t max, uint64_t limit)
{
	const struct xst_seg *seg = s->seg;
	uint64_t ticks = s->ticks, now = t->now, from = t->from_ns;
	const uint8_t *p = s->p, *end = s->end;
	size_t n = 0;

	while (n < max && p < end) {
		const struct xsprof_rec *rec = (const struct xsprof_rec *)p;
		uint32_t slots = slots_at(p, end);
		uint8_t class = classes[rec->type];
		uint64_t ts = rec->ts, ns;
		uint16_t flags = 0;

		if (xst_unlikely(!class || slots < (class & CLASS_SLOTS)))
			break;
		if (xst_unlikely(ts < ticks))
			flags = XSPROF_EVF_BACK;
		else
			ticks = ts;
		if (xst_unlikely(ticks - seg->base >= seg->len))
			seg = xst_fit_find(s->producer->fit, ticks);
		ns = xst_seg_ns(seg, ticks);
		if (xst_unlikely(ns < now)) {
			ns = now;
			flags = XSPROF_EVF_BACK;
		}
		s->key = ns;
		if (ns > limit)
			break;
		now = ns;
		s->ticks = ticks;
		p += slots * XSPROF_SLOT_SIZE;
		if (xst_unlikely(flags))
			time_back(t, s, ts);
		if (xst_unlikely(ns < from))
			continue;
		put_event(&evs[n], s, rec, slots, ns, flags);
		if (class & CLASS_TIMES) {
			s->seg = seg;
			set_times(s, &evs[n]);
		}
		n++;
	}
	s->any |= p != s->p;
	s->p = p;
	s->seg = seg;
	t->now = now;
	s->producer->records += n;
	t->records += n;
	return n;
}

/* A LOST record at @s->p, which adds to what was lost before. */
static size_t run_lost(struct xsprof_trace *t, struct xst_stream *s, struct xsprof_event *ev,
		       uint64_t ns)
{
	const struct xsprof_rec *rec = (const struct xsprof_rec *)s->p;
	uint64_t lost = rec->value - s->lost_value;

	if (rec->ts > s->ticks)
		s->ticks = rec->ts;
	init_lost(ev, s, ns, lost, 0);
	s->lost_value = rec->value;
	s->lost_yielded += lost;
	s->any = true;
	s->p += (rec->size & 0x0f) * XSPROF_SLOT_SIZE;
	if (ns > t->now)
		t->now = ns;
	return wanted(t, ns);
}

/* Events of @s while they are not later than @limit. */
static size_t run(struct xsprof_trace *t, struct xst_stream *s, struct xsprof_event *evs,
		  size_t max, uint64_t limit)
{
	size_t n = 0;
	uint64_t ns;
	bool lost;

	while (n < max) {
		if (!s->gap) {
			n += run_plain(t, s, evs + n, max - n, limit);
			if (n == max)
				break;
		}
		if (s->p == s->end) {
			/* At the end of the ring: what was lost after its last record. */
			if (s->trailed && (s->gap || s->drops))
				n += put_lost(t, s, evs + n, max - n,
					      s->key > t->now ? s->key : t->now);
			break;
		}
		if (!peek(t, s, &ns, &lost))
			continue;
		s->key = ns;
		if (ns > limit)
			break;
		if (s->gap)
			n += put_lost(t, s, evs + n, max - n, ns);
		else if (lost)
			n += run_lost(t, s, evs + n, ns);
	}
	return n;
}

/* ---- producers' beginnings and ends ----------------------------------------------------------- */

static size_t run_marks(struct xsprof_trace *t, struct xst_marks *marks, struct xsprof_event *evs,
			size_t max, uint64_t limit)
{
	size_t n = 0;

	for (; n < max && marks->next < marks->nr; marks->next++) {
		const struct xst_mark *mark = &marks->list[marks->next];
		struct xst_producer *p = t->producers[mark->producer];
		uint64_t ns = mark->ns > t->now ? mark->ns : t->now;

		if (mark->ns > limit)
			break;
		init_event(&evs[n], p, mark->type, ns);
		evs[n].value = mark->value;
		p->began |= mark->type == XSPROF_EV_PRODUCER;
		p->exited |= mark->type == XSPROF_EV_EXIT;
		t->now = ns;
		n += wanted(t, ns);
	}
	return n;
}

static int by_time(const void *a, const void *b)
{
	const struct xst_mark *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	if (x->producer != y->producer)
		return x->producer < y->producer ? -1 : 1;
	return (int)x->type - (int)y->type;
}

static void add_mark(struct xst_marks *marks, const struct xst_producer *p, uint16_t type,
		     uint64_t ns, uint64_t value)
{
	marks->list[marks->nr++] = (struct xst_mark){
		.ns = ns,
		.value = value,
		.producer = p->number,
		.type = type,
	};
}

/* Its attach is before all its records; the recorder may have found it after some. */
static uint64_t begin_time(const struct xsprof_trace *t, const struct xst_producer *p)
{
	if (p->known && p->attach.ticks)
		return xst_fit_ns(p->fit, p->attach.ticks);
	return p->found ? xst_fit_ns(&t->fit, p->found) : 0;
}

static void add_ends(struct xsprof_trace *t, const struct xst_producer *p)
{
	uint64_t begin = begin_time(t, p);
	uint64_t last = t->last_hint ? xst_fit_ns(&t->fit, t->last_hint) : begin;
	uint64_t ns = p->end_ticks ? xst_fit_ns(&t->fit, p->end_ticks) : last;

	if (ns < begin)
		ns = begin;
	/* LOST sorts before EXIT by its type's number. */
	if (p->nomem + p->late)
		add_mark(&t->ends, p, XSPROF_EV_LOST, ns, p->nomem + p->late);
	if (p->has_exit)
		add_mark(&t->ends, p, XSPROF_EV_EXIT, ns,
			 (uint64_t)p->how << 32 | (uint32_t)p->status);
}

static bool complete(const struct xsprof_trace *t)
{
	return !(t->flags & XSPROF_TRACE_FOLLOW) || t->has_end || t->snapshot;
}

/* Those of producers that have not been yielded. */
static int make_marks(struct xsprof_trace *t)
{
	struct xst_mark *begins = realloc(t->begins.list, (t->nr_producers + 1) * sizeof(*begins));
	struct xst_mark *ends;

	if (begins)
		t->begins.list = begins;
	ends = realloc(t->ends.list, (2 * (size_t)t->nr_producers + 1) * sizeof(*ends));
	if (ends)
		t->ends.list = ends;
	if (!begins || !ends)
		return xst_fail(t, -ENOMEM, "no memory for %u producers", t->nr_producers);
	t->begins.nr = t->begins.next = 0;
	t->ends.nr = t->ends.next = 0;
	for (uint32_t i = 0; i < t->nr_producers; i++) {
		struct xst_producer *p = t->producers[i];

		if (!p)
			continue;
		if (!p->began)
			add_mark(&t->begins, p, XSPROF_EV_PRODUCER, begin_time(t, p), 0);
		if (!p->exited && (p->has_exit || complete(t)))
			add_ends(t, p);
	}
	qsort(t->begins.list, t->begins.nr, sizeof(struct xst_mark), by_time);
	qsort(t->ends.list, t->ends.nr, sizeof(struct xst_mark), by_time);
	return 0;
}

/* ---- the heap --------------------------------------------------------------------------------- */

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
	uint32_t at = t->nr_heap++;

	while (at && before(&item, &t->heap[(at - 1) / 2])) {
		t->heap[at] = t->heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	t->heap[at] = item;
}

static void pop(struct xsprof_trace *t)
{
	t->heap[0] = t->heap[--t->nr_heap];
	if (t->nr_heap)
		sift_down(t->heap, t->nr_heap, 0);
}

static void push_marks(struct xsprof_trace *t, struct xst_marks *marks, uint32_t order)
{
	if (marks->nr)
		push(t, (struct xst_head){ marks->list[0].ns, order, XST_HEAD_MARKS, marks });
}

/* Everything that is not in it: all at the beginning, later what has got new chunks. */
static int fill(struct xsprof_trace *t)
{
	struct xst_head *heap = realloc(t->heap, (t->nr_streams + 2) * sizeof(*heap));
	int err;

	if (!heap)
		return xst_fail(t, -ENOMEM, "no memory for %u rings", t->nr_streams);
	t->heap = heap;
	err = make_marks(t);
	if (err)
		return err;
	push_marks(t, &t->begins, 0);
	push_marks(t, &t->ends, UINT32_MAX);
	for (uint32_t i = 0; i < t->nr_streams; i++) {
		struct xst_stream *s = t->streams[i];

		if (s->queued || !xst_stream_settle(t, s))
			continue;
		s->queued = true;
		push(t, (struct xst_head){ s->key, s->order, XST_HEAD_RING, s });
	}
	return 0;
}

int xst_merge_start(struct xsprof_trace *t)
{
	t->nr_heap = 0;
	t->now = 0;
	t->records = 0;
	t->back = 0;
	t->bad_read = 0;
	for (uint32_t i = 0; i < t->nr_producers; i++) {
		if (t->producers[i]) {
			t->producers[i]->records = 0;
			t->producers[i]->began = t->producers[i]->exited = false;
		}
	}
	for (uint32_t i = 0; i < t->nr_streams; i++)
		xst_stream_rewind(t, t->streams[i]);
	return fill(t);
}

int xst_merge_more(struct xsprof_trace *t)
{
	uint32_t kept = 0;

	/* The fit is a new one, and the marks are made anew. */
	for (uint32_t i = 0; i < t->nr_streams; i++)
		t->streams[i]->seg = &t->streams[i]->producer->fit->segs[0];
	for (uint32_t i = 0; i < t->nr_heap; i++)
		if (t->heap[i].kind == XST_HEAD_RING)
			t->heap[kept++] = t->heap[i];
	t->nr_heap = kept;
	for (uint32_t i = kept / 2; i--;)
		sift_down(t->heap, kept, i);
	return fill(t);
}

/* ---- a batch ---------------------------------------------------------------------------------- */

/* The latest time up to which the first of the heap may go on. */
static uint64_t limit_of(const struct xsprof_trace *t)
{
	const struct xst_head *second = NULL;
	uint64_t limit = t->horizon;

	if (t->nr_heap > 1)
		second = &t->heap[1];
	if (t->nr_heap > 2 && before(&t->heap[2], second))
		second = &t->heap[2];
	if (second) {
		/* At equal times the order decides; and 0 is before nothing. */
		uint64_t other = second->key;

		if (t->heap[0].order > second->order && other > t->heap[0].key)
			other--;
		if (other < limit)
			limit = other;
	}
	if (t->to_ns && t->to_ns < limit)
		limit = t->to_ns;
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

	while (n < max && t->nr_heap) {
		struct xst_head *head = &t->heap[0];
		uint64_t limit = limit_of(t);
		bool more;

		if (head->key > limit)
			break;
		if (head->kind == XST_HEAD_MARKS) {
			n += run_marks(t, head->what, evs + n, max - n, limit);
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
			} else {
				n += run(t, s, evs + n, max - n, limit);
			}
			more = xst_stream_settle(t, s);
			head->key = s->key;
			s->queued = more;
		}
		if (more)
			sift_down(t->heap, t->nr_heap, 0);
		else
			pop(t);
	}
	return n;
}
