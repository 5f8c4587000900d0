// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Decodes the events in sub-buffers of the kernel's tracer. A CPU's sub-buffers form a stream like
 * a ring's blocks, and are loaded, evicted and merged in the same way; only the contents differ,
 * and are decoded here.
 *
 * A sub-buffer has the time of its first event, the number of bytes used, and whether events were
 * lost before it; then events, each with the time since the previous one. Everything is validated:
 * it comes from a file.
 */
#include <string.h>

#include "decode/local.h"

/* Bits of a sub-buffer's commit word. */
#define COMMIT_LEN	0xfffffu
#define MISSED_EVENTS	(1u << 31)	/* events were lost before it */
#define MISSED_STORED	(1u << 30)	/* ... their number follows its data */

/* First word of an event: 5 bits of type or length, 27 bits of time since the previous event. */
#define TYPE_BITS	5
#define TYPE_DATA_MAX	28
#define TYPE_PADDING	29
#define TYPE_EXTEND	30
#define TYPE_STAMP	31
#define DELTA_BITS	27

/* An absolute time has 59 bits; the upper bits are those of the previous time. */
#define STAMP_MASK	((1ull << 59) - 1)

/* The header common to all kinds of events. */
#define COMMON_SIZE	8

/* An event, or a change of time. */
struct piece {
	const uint8_t	*data;		/* NULL: only a change of time */
	uint32_t	len;
	uint32_t	next;		/* offset of the next piece */
	uint64_t	ts;
};

static uint32_t load32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static uint64_t load64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* Return: false if the data at @off is invalid: the rest of the sub-buffer is left out. */
static bool read_piece(const uint8_t *page, uint32_t off, uint32_t end, uint64_t ts,
		       struct piece *piece)
{
	uint32_t word, type, delta, len;

	if (end - off < 4)
		return false;
	word = load32(page + off);
	type = word & ((1u << TYPE_BITS) - 1);
	delta = word >> TYPE_BITS;
	off += 4;
	*piece = (struct piece){ .ts = ts + delta };
	if (type && type <= TYPE_DATA_MAX) {
		len = type * 4;
		if (len > end - off)
			return false;
		piece->data = page + off;
		piece->len = len;
		piece->next = off + len;
		return true;
	}
	if (end - off < 4)
		return false;
	word = load32(page + off);
	off += 4;
	piece->next = off;
	switch (type) {
	case 0:
		/* The length includes its own word. */
		if (word < 4 || word - 4 > end - off)
			return false;
		piece->data = page + off;
		piece->len = word - 4;
		piece->next = off + ((piece->len + 3) & ~3u);
		if (piece->next > end)
			piece->next = end;
		return true;
	case TYPE_PADDING:
		/*
		 * Padding without a time ends the sub-buffer; with a time it is a discarded event.
		 */
		if (!delta) {
			piece->next = end;
			return true;
		}
		if (word < 4 || word - 4 > end - off)
			return false;
		piece->next = off + word - 4;
		return true;
	case TYPE_EXTEND:
		piece->ts = ts + delta + ((uint64_t)word << DELTA_BITS);
		return true;
	default:	/* TYPE_STAMP */
		piece->ts = (((uint64_t)word << DELTA_BITS) + delta) & STAMP_MASK;
		piece->ts |= ts & ~STAMP_MASK;
		if (piece->ts < ts)
			piece->ts += STAMP_MASK + 1;
		return true;
	}
}

/* ---- a sub-buffer ------------------------------------------------------------------------ */

static void bad_page(struct xsprof_trace *t, struct xst_stream *s, const char *why)
{
	uint32_t slots = t->found.kernel.subbuf / XSPROF_SLOT_SIZE;

	s->bad_slots += slots;
	xst_warn(t, XST_WARN_RECORD, "the tracer's buffer of CPU %u, sub-buffer at slot %llu: %s",
		 s->ring, (unsigned long long)(s->pos - (s->end - s->p) / XSPROF_SLOT_SIZE), why);
}

static void next_page(const struct xsprof_trace *t, struct xst_stream *s)
{
	uint64_t left = s->end - s->p;

	s->p += t->found.kernel.subbuf < left ? t->found.kernel.subbuf : left;
	s->page_off = 0;
}

/* Return: false if it is not a valid sub-buffer, which is then skipped. */
static bool begin_page(struct xsprof_trace *t, struct xst_stream *s)
{
	const struct xst_kernel *k = &t->found.kernel;
	uint32_t commit, len;

	if ((uint64_t)(s->end - s->p) < k->subbuf) {
		bad_page(t, s, "only a part of it is in the file");
		next_page(t, s);
		return false;
	}
	commit = load32(s->p + k->commit_off);
	len = commit & COMMIT_LEN;
	if (len > k->subbuf - k->data_off) {
		bad_page(t, s, "its length is invalid: left out");
		next_page(t, s);
		return false;
	}
	if (commit & MISSED_EVENTS) {
		uint32_t at = k->data_off + len;

		if (commit & MISSED_STORED && at + k->long_size <= k->subbuf)
			s->page_lost += k->long_size == 8 ? load64(s->p + at) : load32(s->p + at);
		else
			s->unknown_lost = true;
	}
	s->page_ts = load64(s->p);
	s->page_off = k->data_off;
	s->page_end = k->data_off + len;
	return true;
}

/*
 * Moves to the next event. Return: false if the window has none. Everything before it is consumed:
 * the time advances, and finished sub-buffers are left.
 */
static bool peek(struct xsprof_trace *t, struct xst_stream *s, struct piece *piece)
{
	while (s->p < s->end) {
		if (!s->page_off && !begin_page(t, s))
			continue;
		if (s->page_off >= s->page_end) {
			next_page(t, s);
			continue;
		}
		if (!read_piece(s->p, s->page_off, s->page_end, s->page_ts, piece)) {
			bad_page(t, s, "an invalid event follows: the rest is left out");
			next_page(t, s);
			continue;
		}
		if (piece->data && piece->len >= COMMON_SIZE)
			return true;
		s->page_ts = piece->ts;
		s->page_off = piece->next;
	}
	return false;
}

/* ---- events ------------------------------------------------------------------------------ */

static uint64_t time_of(struct xst_stream *s, uint64_t ticks)
{
	if (ticks - s->seg->base >= s->seg->len)
		s->seg = xst_fit_find(s->producer->fit, ticks);
	return xst_seg_ns(s->seg, ticks);
}

static void init_event(struct xsprof_event *ev, const struct xst_stream *s, uint16_t type,
		       uint64_t ns)
{
	xst_event_init(ev, s->producer, type, ns);
	ev->ticks = s->ticks;
	ev->cpu = (int32_t)s->ring;
}

static size_t put_lost(struct xsprof_trace *t, struct xst_stream *s, struct xsprof_event *evs,
		       size_t max, uint64_t ns)
{
	size_t n = 0;

	if (s->gap && n < max) {
		init_event(&evs[n], s, XSPROF_EV_LOST, ns);
		evs[n].value = s->gap;
		evs[n].flags = XSPROF_EVF_SLOTS;
		n += xst_event_wanted(t, ns);
		s->gaps += s->gap;
		s->gap = 0;
	}
	s->drops += s->page_lost;
	s->page_lost = 0;
	if ((s->drops || s->unknown_lost) && n < max) {
		init_event(&evs[n], s, XSPROF_EV_LOST, ns);
		evs[n].value = s->drops;
		evs[n].flags = s->drops ? 0 : XSPROF_EVF_UNKNOWN;
		n += xst_event_wanted(t, ns);
		s->lost_yielded += s->drops;
		s->drops = 0;
		s->unknown_lost = false;
	}
	if (ns > t->reading.now)
		t->reading.now = ns;
	return n;
}

/*
 * A gap begins at the last event before it: from then on nothing is known of this CPU, and users
 * that attribute time must be told at its begin, not at its end.
 */
static uint64_t gap_time(const struct xsprof_trace *t, struct xst_stream *s, uint64_t next)
{
	uint64_t ns = time_of(s, s->any ? s->ticks : next);

	return ns > t->reading.now ? ns : t->reading.now;
}

static void put_event(const struct xsprof_trace *t, struct xst_stream *s, struct xsprof_event *ev,
		      const struct piece *piece, uint64_t ns, uint16_t flags)
{
	const uint8_t *data = piece->data;

	init_event(ev, s, XSPROF_EV_KERNEL, ns);
	ev->ticks = piece->ts;
	ev->flags = flags;
	ev->name = load32(data) & 0xffff;
	ev->aux = load32(data) >> 16;
	ev->tid = load32(data + 4);
	ev->pid = xsprof_trace_tgid(t, ev->tid);
	ev->rec = (const struct xsprof_rec *)data;
	ev->rec_size = piece->len;
}

static void thread_exits(struct xsprof_trace *t, const struct xsprof_event *ev)
{
	xst_tids_gone(t, ev);
	xst_thread_ends(t, ev, &t->reading.ended);
}

size_t xst_kernel_run(struct xsprof_trace *t, struct xst_stream *s, struct xsprof_event *evs,
		      size_t max, uint64_t limit)
{
	struct piece piece;
	size_t n = 0;

	while (n < max) {
		uint64_t ns, ticks = s->ticks;
		uint16_t flags = 0;

		if (!peek(t, s, &piece)) {
			/* At the end of the stream: losses after its last event. */
			if (s->trailed && (s->gap || s->drops || s->unknown_lost))
				n += put_lost(t, s, evs + n, max - n,
					      s->key > t->reading.now ? s->key : t->reading.now);
			break;
		}
		if (piece.ts < ticks)
			flags = XSPROF_EVF_BACK;
		else
			ticks = piece.ts;
		if (s->gap || s->drops || s->page_lost || s->unknown_lost) {
			ns = gap_time(t, s, piece.ts);
			s->key = ns;
			if (ns > limit)
				break;
			n += put_lost(t, s, evs + n, max - n, ns);
			continue;
		}
		ns = time_of(s, ticks);
		if (ns < t->reading.now) {
			ns = t->reading.now;
			flags = XSPROF_EVF_BACK;
		}
		s->key = ns;
		if (ns > limit)
			break;
		if (piece.ts < s->ticks) {
			t->reading.back++;
			xst_warn(t, XST_WARN_TIME,
				 "the tracer's buffer of CPU %u: time goes backwards from %llu to "
				 "%llu",
				 s->ring, (unsigned long long)s->ticks,
				 (unsigned long long)piece.ts);
		}
		s->ticks = ticks;
		s->page_ts = piece.ts;
		s->page_off = piece.next;
		s->any = true;
		t->reading.now = ns;
		if (!xst_event_wanted(t, ns))
			continue;
		put_event(t, s, &evs[n], &piece, ns, flags);
		if (evs[n].name == t->found.kernel.new_id)
			xst_tids_new_task(t, &evs[n]);
		else if (evs[n].name == t->found.kernel.exit_id)
			thread_exits(t, &evs[n]);
		n++;
		s->producer->records++;
		/* A thread's end is yielded before anything else. */
		if (t->reading.ended.type)
			break;
	}
	return n;
}
