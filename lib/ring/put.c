// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The slow path of a marker, for what the inline sequence does not do. Owns retries of the general
 * sequence, allocation of room, and the ways to the lock rings and the kernel's tracers. Never
 * waits, never allocates from the heap, and keeps errno: it runs in signal handlers.
 */
#include <errno.h>

#include "ring/rseq.h"

/*
 * Number of tries of an aborted sequence. Under a debugger's single step each step is a preemption:
 * without a bound it would never end.
 */
#ifdef XSP_TEST_UNBOUNDED	/* negative control: single step must not end, and be seen not to */
#define XSP_TRIES	UINT32_MAX
#else
#define XSP_TRIES	32
#endif

/*
 * A ring's head has reached its bound. Return: the position of the next kick, the limit of the new
 * bound. When it was raised, the bound was limited to the next due multiple of the watermark; so a
 * bound at or below the last multiple means that this multiple has just been passed.
 */
static XSP_NOINLINE uint64_t kick_limit(uint64_t mark, uint64_t head, uint64_t bound)
{
	uint64_t last = head / mark * mark;

	if (last && bound <= last)
		xsp_kick();
	return last + mark;
}

static inline void raise_if_due(void)
{
	uint64_t head, bound, mark, limit = UINT64_MAX;
	int cpu = xsp_current_cpu();
	struct xsprof_ring_writer *w;

	if (cpu < 0 || (uint64_t)cpu >= xsp_set.nr)
		return;
	w = xsp_set.ring[cpu];
	/* Not authoritative, perhaps of a CPU we have left: the sequence decides. */
	head = __atomic_load_n(&w->head, __ATOMIC_RELAXED);
	bound = __atomic_load_n(&w->bound, __ATOMIC_RELAXED);
	if (head + 1 <= bound)
		return;
	mark = __atomic_load_n(&xsp_set.ctl->watermark, __ATOMIC_RELAXED);
	if (unlikely(mark))
		limit = kick_limit(mark, head, bound);
	xsp_seq_raise(limit);
}

/*
 * Handles what was neither written nor dropped: allocates memory, retries after aborts. Return:
 * NO_RING if a lock ring must be used.
 */
static XSP_COLD unsigned int put_again(struct xsp_seq_in *in, unsigned int st)
{
	unsigned int i;

	for (i = 0; ; i++) {
		switch (st) {
		case XSP_SEQ_WRITTEN:
			raise_if_due();
			return st;
		case XSP_SEQ_DROPPED:
		case XSP_SEQ_NO_RING:
			return st;
		case XSP_SEQ_ROOM:
			/*
			 * No memory for a ring that has some already: drop the record in it, so
			 * that the gap has a position. A ring without memory: use the lock rings.
			 */
			switch (xsp_ring_make_room(xsp_current_cpu(), in->slots)) {
			case 0:
				break;
			case -ENOSPC:
				in->drop = 1;
				break;
			default:
				return XSP_SEQ_NO_RING;
			}
			break;
		default:	/* aborted */
			break;
		}
		/* After checking the last result: the record may have been written. */
		if (i == XSP_TRIES)
			return XSP_SEQ_NO_RING;
		XSP_INJECT(1);
		st = xsp_seq_general(in);
		XSP_INJECT(2);
	}
}

/* Return: its time, or 0 if it was dropped. */
static XSP_COLD uint64_t put_with_trouble(struct xsp_seq_in *in, unsigned int st)
{
	uint64_t ticks = 0;
	int err = errno;

	st = put_again(in, st);
	if (st == XSP_SEQ_NO_RING)
		ticks = xsp_lock_put(in->hdr, in->payload, in->slots, in->add_ticks);
	else if (st == XSP_SEQ_WRITTEN)
		ticks = in->ticks;
	errno = err;
	return ticks;
}

/* At the first marker of a forked child the thread id in @hdr is its parent's. */
static XSP_COLD bool attach_late(uint64_t *hdr)
{
	int err = errno;
	bool ok = !xsp_attach_now();

	if (ok)
		*hdr = (*hdr & ~(uint64_t)UINT32_MAX) | xsp_thread_enter();
	else
		xsp_count_late();
	errno = err;
	return ok;
}

/**
 * xsp_put_slow() - write a record of 1 to 8 slots, or count it as lost
 * @hdr: its first word, with the thread id
 * @payload: the words after the timestamp, 32 * @slots - 16 bytes
 * @slots: 1 to 8
 * @add_ticks: all ones for a COMPLETE record, whose value is then the record's time plus
 *	payload[1]; else 0
 *
 * Signal-safe; errno is kept.
 */
XSP_NOINLINE void xsp_put_slow(uint64_t hdr, const uint64_t *payload, unsigned int slots,
			    uint64_t add_ticks)
{
	struct xsp_seq_in in = {
		.hdr = hdr,
		.payload = payload,
		.slots = slots,
		.add_ticks = add_ticks,
		.lost_hdr = xsp_hdr(0, XSPROF_REC_LOST, 1),
		.pad_hdr = xsp_hdr(0, XSPROF_REC_PAD, 0),
	};
	uint64_t ticks = 0;
	unsigned int st;

	if (unlikely(!xsp_attached()) && !attach_late(&in.hdr))
		return;
	st = xsp_seq_general(&in);
	if (likely(st == XSP_SEQ_WRITTEN)) {
		raise_if_due();
		ticks = in.ticks;
	} else if (unlikely(st != XSP_SEQ_DROPPED)) {
		ticks = put_with_trouble(&in, st);
	}
	if (unlikely(xsp_emit_wanted()))
		xsp_trace_send(in.hdr, payload, add_ticks, ticks);
}
