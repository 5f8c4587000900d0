// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Converts the records of a stream to events: validates each, skips others, and reports losses
 * between them. Its inner loop dominates the cost of decoding: it allocates nothing, hashes nothing
 * and calls nothing for a plain record.
 */
#include "decode/local.h"

/* ---- classes of records ------------------------------------------------------------------ */

#define CLASS_SLOTS	0x0fu	/* minimum number of slots of the type; 0: not a plain event */
#define CLASS_TIMES	0x10u	/* has a begin and an end */
#define CLASS_OP	0x20u	/* a BEGIN with details */
#define CLASS_ARGS	0x40u	/* continues the previous record: not counted */
#define CLASS_LEAVES	0x80u	/* may be the last record of its thread */

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
	[XSPROF_REC_ARGS]		= 1 | CLASS_ARGS,
	[XSPROF_REC_STEP]		= 1,
	[XSPROF_REC_SPAN]		= 2 | CLASS_TIMES,
	[XSPROF_REC_SYNC]		= 1,
	[XSPROF_REC_CONTROL]		= 1,
	[XSPROF_REC_CLOCK]		= 2,
	[XSPROF_REC_GPU]		= 3 | CLASS_TIMES,
	[XSPROF_REC_STACK]		= 1,
	[XSPROF_REC_RELATION]		= 2,
	[XSPROF_REC_OP]			= 1 | CLASS_OP,
	[XSPROF_REC_SAMPLE]		= 1,
	[XSPROF_REC_SCHED_IN]		= 1,
	[XSPROF_REC_SCHED_OUT]		= 1 | CLASS_LEAVES,
	[XSPROF_REC_SCHED_WAKE]		= 1,
	[XSPROF_REC_SCHED_MIGRATE]	= 1,
};

/* Slots of the record at @p, 0: invalid. @p < @end. */
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

/* ---- events that no record is ------------------------------------------------------------ */

static void init_lost(struct xsprof_event *ev, const struct xst_stream *s, uint64_t ns,
		      uint64_t value, uint16_t flags)
{
	xst_event_init(ev, s->producer, XSPROF_EV_LOST, ns);
	ev->ticks = s->ticks;
	ev->cpu = s->cpu;
	ev->value = value;
	ev->flags = flags;
}

/*
 * Yields a gap before the record at @ns, or losses at the end, whose time after the last record is
 * unknown. Return: number of events.
 */
static size_t put_lost(struct xsprof_trace *t, struct xst_stream *s, struct xsprof_event *evs,
		       size_t max, uint64_t ns)
{
	uint16_t trailing = s->trailed ? XSPROF_EVF_HOLE : 0;
	size_t n = 0;

	if (s->gap && n < max) {
		init_lost(&evs[n], s, ns, s->gap, XSPROF_EVF_SLOTS | trailing);
		n += xst_event_wanted(t, ns);
		s->gaps += s->gap;
		s->gap = 0;
	}
	if (s->drops && n < max) {
		init_lost(&evs[n], s, ns, s->drops, trailing);
		n += xst_event_wanted(t, ns);
		s->lost_yielded += s->drops;
		s->drops = 0;
	}
	if (ns > t->reading.now)
		t->reading.now = ns;
	return n;
}

/* ---- what is not an event as it stands --------------------------------------------------- */

static void bad_record(struct xsprof_trace *t, struct xst_stream *s, uint64_t slots)
{
	s->bad_slots += slots;
	xst_warn(t, XST_WARN_RECORD,
		 "ring %u of producer %u: bad record at slot %llu: %llu slots left out", s->ring,
		 s->producer->number,
		 (unsigned long long)(s->pos - (s->end - s->p) / XSPROF_SLOT_SIZE),
		 (unsigned long long)slots);
}

/*
 * The record at @s->p is not a plain event, or invalid. Skips it, unless it can be yielded after
 * all: then it is kept, with *@lost set for a LOST record.
 *
 * Return: true if it was skipped.
 */
static bool pass(struct xsprof_trace *t, struct xst_stream *s, bool *lost)
{
	const struct xsprof_rec *rec = (const struct xsprof_rec *)s->p;
	uint32_t slots = slots_at(s->p, s->end);

	*lost = false;
	if (!slots || rec->type == XSPROF_REC_INVALID) {
		/* Invalid: the begin of the next record is unknown; continue at the next block. */
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
		/* A LOST that adds nothing is valid; one with a lower count is not. */
		if (rec->value < s->lost_value)
			bad_record(t, s, slots);
	} else if (rec->type != XSPROF_REC_PAD) {
		if (classes[rec->type]) {
			if (slots >= (classes[rec->type] & CLASS_SLOTS))
				return false;
			bad_record(t, s, slots);
		} else {
			t->found.unknown++;
			xst_warn(t, XST_WARN_UNKNOWN,
				 "ring %u of producer %u: unknown record type 0x%02x",
				 s->ring, s->producer->number, rec->type);
		}
	}
	s->p += slots * XSPROF_SLOT_SIZE;
	return true;
}

static uint64_t time_back(struct xsprof_trace *t, struct xst_stream *s, uint64_t ts)
{
	t->reading.back++;
	xst_warn(t, XST_WARN_TIME, "ring %u of producer %u: time goes backwards from %llu to %llu",
		 s->ring, s->producer->number, (unsigned long long)s->ticks,
		 (unsigned long long)ts);
	return s->ticks;
}

/* Moves to the next record that can be yielded. Return: false if the window has none. */
static bool peek(struct xsprof_trace *t, struct xst_stream *s, uint64_t *ns, bool *lost)
{
	while (s->p < s->end) {
		const struct xsprof_rec *rec = (const struct xsprof_rec *)s->p;

		if (pass(t, s, lost))
			continue;
		*ns = time_of(s, rec->ts > s->ticks ? rec->ts : s->ticks);
		if (*ns < t->reading.now)
			*ns = t->reading.now;
		return true;
	}
	return false;
}

/* ---- times inside records ---------------------------------------------------------------- */

/* Times of another clock cannot be converted: use the record's own timestamp. */
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
	/* Try the segment of the run first: most begins lie in it too. */
	ev->begin_ns = begin - s->seg->base < s->seg->len ? xst_seg_ns(s->seg, begin) :
							     xst_fit_ns(s->producer->fit, begin);
	if (ev->type == XSPROF_REC_COMPLETE)
		ev->end_ns = ev->ns;
	else
		ev->end_ns = xst_fit_ns(s->producer->fit, end);
	if (ev->begin_ns > ev->end_ns)
		ev->begin_ns = ev->end_ns;
}

/* ---- a run ------------------------------------------------------------------------------- */

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

/* Did the kernel module see a thread stop for good? */
static bool is_dead(const struct xsprof_rec *rec)
{
	uint32_t state = (rec->aux & XSPROF_SCHED_STATE) >> XSPROF_SCHED_STATE_SHIFT;

	return state == 'X' || state == 'Z';
}

/*
 * Yields plain events up to @limit. Stops before anything else, with @s->key the time of the record
 * at which it stopped, if known.
 */
static size_t run_plain(struct xsprof_trace *t, struct xst_stream *s, struct xsprof_event *evs,
			size_t max, uint64_t limit)
{
	const struct xst_seg *seg = s->seg;
	uint64_t ticks = s->ticks, now = t->reading.now, from = t->reading.from_ns;
	const uint8_t *p = s->p, *end = s->end;
	/* A hole of this stream itself is before the first or after the last of these. */
	uint16_t in_hole = s->producer->holes > s->hole ? XSPROF_EVF_HOLE : 0;
	size_t n = 0, args = 0;

	while (n < max && p < end) {
		const struct xsprof_rec *rec = (const struct xsprof_rec *)p;
		uint32_t slots = slots_at(p, end);
		uint8_t class = classes[rec->type];
		uint64_t ts = rec->ts, ns;
		uint16_t flags = in_hole;

		if (xst_unlikely(!class || slots < (class & CLASS_SLOTS)))
			break;
		if (xst_unlikely(ts < ticks))
			flags |= XSPROF_EVF_BACK;
		else
			ticks = ts;
		if (xst_unlikely(ticks - seg->base >= seg->len))
			seg = xst_fit_find(s->producer->fit, ticks);
		ns = xst_seg_ns(seg, ticks);
		if (xst_unlikely(ns < now)) {
			ns = now;
			flags |= XSPROF_EVF_BACK;
		}
		s->key = ns;
		if (ns > limit)
			break;
		now = ns;
		s->ticks = ticks;
		p += slots * XSPROF_SLOT_SIZE;
		if (xst_unlikely(flags & XSPROF_EVF_BACK))
			time_back(t, s, ts);
		if (xst_unlikely(ns < from))
			continue;
		put_event(&evs[n], s, rec, slots, ns, flags);
		if (class & CLASS_TIMES) {
			s->seg = seg;
			set_times(s, &evs[n]);
		} else if (class & CLASS_OP) {
			evs[n].type = XSPROF_REC_BEGIN;
			evs[n].flags |= XSPROF_EVF_OP;
		} else if (class & CLASS_LEAVES) {
			if (is_dead(rec) && xst_went_on(s->producer, ns))
				evs[n].flags |= XSPROF_EVF_THREAD_EXIT;
		} else {
			args += class >= CLASS_ARGS;
		}
		n++;
	}
	s->any |= p != s->p;
	s->p = p;
	s->seg = seg;
	t->reading.now = now;
	s->producer->records += n - args;
	t->reading.records += n - args;
	return n;
}

/* Yields a LOST record at @s->p, which adds to earlier losses. */
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
	if (ns > t->reading.now)
		t->reading.now = ns;
	return xst_event_wanted(t, ns);
}

size_t xst_stream_run(struct xsprof_trace *t, struct xst_stream *s, struct xsprof_event *evs,
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
			/* At the end of the ring: losses after its last record. */
			if (s->trailed && (s->gap || s->drops))
				n += put_lost(t, s, evs + n, max - n,
					      s->key > t->reading.now ? s->key : t->reading.now);
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

