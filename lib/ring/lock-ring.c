// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Lock rings: for processes and threads without rseq, and for records whose sequence is aborted
 * again and again. Only the owner of its lock word writes a ring; rings of restartable sequences
 * are not touched here.
 *
 * No thread waits for one particular lock. The word holds the owner's thread id; a thread that
 * finds its own id is a signal handler that interrupted the owner, and tries each ring once:
 * waiting would deadlock. An owner that died, was stopped or jumped away puts one ring out of
 * service; nothing needs repair, because head was not moved. When all rings are out of service, one
 * record waits for them, later ones do not.
 */
#include <sched.h>
#include <string.h>

#include "base/clock.h"
#include "ring/state.h"

#ifdef XSP_TEST_NEST_WAIT	/* negative control: a handler that waits for its own thread */
#define XSP_LOCK_ROUNDS		UINT32_MAX
#define XSP_OWN(owner, tid)	((void)(owner), (void)(tid), false)
#else
#define XSP_LOCK_ROUNDS		64
#define XSP_OWN(owner, tid)	((owner) == (tid))
#endif
#define XSP_LOCK_SPIN_ROUNDS	4	/* rounds before the first sched_yield() */

/*
 * Called with the lock of @w; @ts is the time. Return: @ts, or 0 if there was no room: dropped and
 * counted.
 */
static uint64_t put_locked(struct xsprof_ring_writer *w, uint32_t k, uint64_t hdr, uint64_t ts,
			   const uint64_t *payload, unsigned int slots, uint64_t add_ticks)
{
	uint64_t head = w->head, at = head, total;
	struct xsprof_rec *rec;
	bool lost;

	total = w->drops + __atomic_load_n(&w->busy, __ATOMIC_RELAXED);
	lost = total != w->reported;
	at += lost;
	if ((at & (XSPROF_BLOCK_SLOTS - 1)) + slots > XSPROF_BLOCK_SLOTS)
		at = (at | (XSPROF_BLOCK_SLOTS - 1)) + 1;
	/*
	 * Acquire: stores into the slots below must not become visible before the reader freed
	 * them; pairs with the reader's release of tail.
	 */
	if ((!xsp_set.overwrite &&
	     at + slots - __atomic_load_n(xsp_ring_tail(w), __ATOMIC_ACQUIRE) > xsp_set.size) ||
	    (at + slots > __atomic_load_n(&w->grown, __ATOMIC_RELAXED) &&
	     xsp_ring_make_room(k, at + slots - head) < 0)) {
		__atomic_store_n(&w->drops, w->drops + 1, __ATOMIC_RELEASE);
		return 0;
	}
	/*
	 * OVERWRITE: the previous head must be visible before this record's first store; see
	 * rseq-arm64.h. A release fence orders them; on x86 it is no instruction.
	 */
	if (xsp_set.overwrite)
		__atomic_thread_fence(__ATOMIC_RELEASE);
	if (lost) {
		uint64_t word[4] = { xsp_hdr(0, XSPROF_REC_LOST, 1), ts, 0, total };

		memcpy(xsp_ring_slot(w, head++), word, sizeof(word));
		/*
		 * OVERWRITE: LOST is published alone: LOST, padding and record together would be
		 * one slot more than the margin that readers keep.
		 */
		if (xsp_set.overwrite) {
			__atomic_store_n(&w->head, head, __ATOMIC_RELEASE);
			w->reported = total;
			__atomic_thread_fence(__ATOMIC_RELEASE);
		}
	}
	if (head != at) {
		uint64_t word[4] = { xsp_hdr(0, XSPROF_REC_PAD, at - head), ts, 0, 0 };

		memcpy(xsp_ring_slot(w, head), word, sizeof(word));
	}
	rec = xsp_ring_slot(w, at);
	memcpy(rec, &hdr, sizeof(hdr));
	rec->ts = ts;
	memcpy(&rec->name, payload, slots * XSPROF_SLOT_SIZE - 16);
	rec->value += ts & add_ticks;
	XSP_INJECT(3);
	/* The commit; a reader's acquire of head sees everything above. */
	__atomic_store_n(&w->head, at + slots, __ATOMIC_RELEASE);
	XSP_INJECT(4);
	/* After the commit: a repeated LOST adds nothing, a missing one would hide a loss. */
	if (lost)
		w->reported = total;
	return ts;
}

/*
 * The owners of all locks, hashed, when a record waited in vain; 0: never. Relaxed: the value of
 * any thread will do, as it is compared with the current owners.
 */
static uint32_t jammed;

static bool try_lock(struct xsprof_ring_writer *w, uint32_t tid, uint32_t *owner)
{
	*owner = __atomic_load_n(&w->lock, __ATOMIC_RELAXED);
	return !*owner && __atomic_compare_exchange_n(&w->lock, owner, tid, false,
						      __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* @ts: on success the time under the lock; @owner: else the lock's owner. */
static bool try_lock_at(struct xsprof_ring_writer *w, uint32_t tid, uint32_t *owner, uint64_t *ts)
{
#ifdef XSP_TEST_EARLY_CLOCK	/* negative control: what another writes here has a later time */
	*ts = xsp_ticks(xsp_kept.clock);
	XSP_INJECT(5);
	return try_lock(w, tid, owner);
#else
	XSP_INJECT(5);
	if (!try_lock(w, tid, owner))
		return false;
	/*
	 * Ordered after taking the lock (lfence or isb inside): otherwise the counter could be read
	 * early, and time would go back in this ring.
	 */
	*ts = xsp_ticks(xsp_kept.clock);
	return true;
#endif
}

/* Wakes the reader if head passed a multiple of the watermark. */
static void kick_if_due(uint64_t from, uint64_t to)
{
	uint64_t mark = __atomic_load_n(&xsp_set.ctl->watermark, __ATOMIC_RELAXED);

	if (unlikely(mark) && from / mark != to / mark)
		xsp_kick();
}

/**
 * xsp_lock_put() - write a record into a lock ring, or count it as dropped
 *
 * Parameters as xsp_put_slow().  Signal-safe.
 *
 * Return: its time, or 0 if it was dropped.
 */
uint64_t xsp_lock_put(uint64_t hdr, const uint64_t *src, unsigned int slots, uint64_t add_ticks)
{
	uint64_t payload[XSPROF_RECORD_SLOTS * 4 - 2];
	uint32_t tid = xsp_thread.tid, i, k, owner, owners = 0, before;
	struct xsprof_ring_writer *w;
	unsigned int round;
	uint64_t head, ts;
	bool nested = false, any = false, changed = false;
	int cpu;

	/*
	 * Copied to the stack first: a bad pointer of the caller faults here, not under the lock.
	 */
	memcpy(payload, src, slots * XSPROF_SLOT_SIZE - 16);
	cpu = xsp_current_cpu();
	if (cpu < 0)
		cpu = sched_getcpu();
	if (cpu >= 0 && cpu <= UINT16_MAX)
		hdr |= (uint64_t)XSPROF_RECF_CPU << 44 | (uint64_t)cpu << 48;

	for (round = 0; round < XSP_LOCK_ROUNDS && !nested; round++) {
		before = owners;
		owners = 0;
		for (i = 0; i < xsp_set.nl; i++) {
			k = (xsp_thread.lock_ring + i) % xsp_set.nl;
			w = xsp_ring(xsp_set.nr_rings + k);
			if (!xsp_ring_is_open(xsp_set.nr_rings + k) &&
			    xsp_ring_make_room(xsp_set.nr_rings + k, 1) < 0)
				continue;
			any = true;
			if (!try_lock_at(w, tid, &owner, &ts)) {
				nested |= XSP_OWN(owner, tid);
				owners += owner * (2 * k + 0x9e3779b1u);
				continue;
			}
			if (unlikely(__atomic_load_n(&jammed, __ATOMIC_RELAXED)))
				__atomic_store_n(&jammed, 0, __ATOMIC_RELAXED);
			head = w->head;
			ts = put_locked(w, xsp_set.nr_rings + k, hdr, ts, payload, slots,
					add_ticks);
			slots = w->head - head;
			__atomic_store_n(&w->lock, 0, __ATOMIC_RELEASE);
			xsp_thread.lock_ring = k;
			/* Not under the lock: it is a system call. */
			kick_if_due(head, head + slots);
			return ts;
		}
		/*
		 * No memory for one, or all still held by the same owners: waiting would only cost
		 * time.
		 */
		if (!any || (owners && owners == __atomic_load_n(&jammed, __ATOMIC_RELAXED)))
			break;
		changed |= round && owners != before;
		if (round >= XSP_LOCK_SPIN_ROUNDS && !nested)
			sched_yield();
	}
	if (round == XSP_LOCK_ROUNDS && !changed)
		__atomic_store_n(&jammed, owners, __ATOMIC_RELAXED);
	/* Counted without the lock, in the ring it would have gone to, else in the arena. */
	k = xsp_set.nl ? xsp_set.nr_rings + xsp_thread.lock_ring % xsp_set.nl : 0;
	w = xsp_ring(k);
	if (xsp_set.nl && xsp_ring_is_open(k))
		__atomic_add_fetch(&w->busy, 1, __ATOMIC_RELAXED);
	else
		__atomic_add_fetch(&xsp_set.arena->nomem, 1, __ATOMIC_RELAXED);
	return 0;
}
