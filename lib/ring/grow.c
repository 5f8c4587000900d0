// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Allocates memory for rings. A producer's memory is sparse; a ring gets its header pages when its
 * CPU first writes, and data step by step until the whole ring has memory: an idle CPU costs
 * nothing, a short-lived process little. Memory is allocated before any store to it, because a
 * store that finds none available (tmpfs full, RLIMIT_MEMLOCK reached) is SIGBUS in the traced
 * program.
 *
 * Runs in signal handlers and on several threads at once: every step may run twice.
 */
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "ring/backend.h"

#define XSP_GROW_FIRST	(8u << 10)	/* bytes of a ring's first step; later steps double */
#define XSP_GROW_PIECE	(64u << 10)	/* bytes allocated at once */
#define XSP_GROW_EINTR	1000		/* give up for now after so many interruptions */
#define XSP_GROW_PAUSE	(1ull << 28)	/* ticks to wait after an allocation failed */

static uint64_t full_until;

/*
 * A signal interrupts an allocation on tmpfs and undoes it, so that under a profiler's timer a
 * large one never finishes. Small ones do, and keep what they got.
 */
static int grow_in_pieces(uint64_t offset, uint64_t bytes)
{
	uint64_t page = xsp_set.tail_off, piece = XSP_GROW_PIECE;
	unsigned int interrupted = 0;

	while (bytes) {
		uint64_t n = piece < bytes ? piece : bytes;
		int err = xsp_kept.backend->grow(offset, n);

		if (err == -EINTR && interrupted++ < XSP_GROW_EINTR) {
			if (piece > page)
				piece /= 2;
			continue;
		}
		if (err < 0)
			return err;
		offset += n;
		bytes -= n;
	}
	return 0;
}

/* Also makes ring @opened writable for this process, if given. */
static int back_with_memory(uint64_t offset, uint64_t bytes, struct xsprof_ring_writer *opened)
{
	uint64_t now = xsp_ticks(xsp_kept.clock);
	int err;

	/* A system call for each dropped marker would be worse than the loss. */
	if (now < __atomic_load_n(&full_until, __ATOMIC_RELAXED))
		return -ENOSPC;
	err = grow_in_pieces(offset, bytes);
	if (!err && opened)
		err = xsp_kept.backend->ring_map(opened);
	/* EINTR says nothing about available memory: the next marker may try again. */
	if (err < 0 && err != -EINTR) {
		__atomic_store_n(&full_until, now + XSP_GROW_PAUSE, __ATOMIC_RELAXED);
		/* Tells readers why records were lost. */
		__atomic_store_n(&xsp_set.arena->refused, (uint32_t)-err, __ATOMIC_RELAXED);
	}
	return err;
}

/*
 * Allocates header pages and the first step of data, then publishes the ring to readers and
 * writers.
 */
static int open_ring(uint32_t k)
{
	struct xsprof_ring_writer *w = xsp_ring(k);
	uint64_t first = XSP_GROW_FIRST < xsp_set.size << XSPROF_SLOT_SHIFT ?
			 XSP_GROW_FIRST : xsp_set.size << XSPROF_SLOT_SHIFT;
	uint64_t slots = first >> XSPROF_SLOT_SHIFT;
	__u64 zero = 0;
	int err;

	err = back_with_memory((char *)w - xsp_set.base, xsp_set.data_off + first, w);
	if (err < 0)
		return -ENOMEM;
	if (slots == xsp_set.size)
		slots = UINT64_MAX;
	/*
	 * Only from zero: another thread may have opened and grown the ring meanwhile. All other
	 * stores here are the same whichever thread makes them.
	 */
	__atomic_compare_exchange_n(&w->grown, &zero, slots, false, __ATOMIC_RELAXED,
				    __ATOMIC_RELAXED);
	xsp_kept.backend->ring_ready(w, k);
	/*
	 * Release: a sequence on this CPU loads the pointer, then the fields above through it: an
	 * address dependency.
	 */
	__atomic_store_n(&xsp_set.ring[k], w, __ATOMIC_RELEASE);
	return 0;
}

/**
 * xsp_ring_make_room() - allocate the memory that a ring's next record needs
 * @k: ring number; invalid numbers are refused
 * @slots: slots needed beyond head, without padding
 *
 * Return: 0 there is room now, or try again; -ENOSPC no memory for more data; -ENOMEM no memory for
 * the ring at all; -EINVAL no such ring.
 */
int xsp_ring_make_room(uint32_t k, uint64_t slots)
{
	uint64_t want, from, to, bytes = xsp_set.size << XSPROF_SLOT_SHIFT;
	struct xsprof_ring_writer *w;
	__u64 grown;
	int err;

	if (k >= xsp_set.nr_rings + xsp_set.nl ||
	    (k >= xsp_set.nr && k < xsp_set.nr_rings))
		return -EINVAL;
	w = xsp_ring(k);
	/* Also if another thread is just opening it: the last step may be missing. */
	if (!xsp_ring_is_open(k))
		return open_ring(k);

	grown = __atomic_load_n(&w->grown, __ATOMIC_RELAXED);
	want = __atomic_load_n(&w->head, __ATOMIC_RELAXED) + slots + XSPROF_RECORD_SLOTS;
	if (grown == UINT64_MAX || want <= grown)
		return 0;
	from = grown << XSPROF_SLOT_SHIFT;
	if (from >= bytes)	/* not a value we store: the ring was corrupted */
		return -ENOSPC;
	to = 2 * from < bytes ? 2 * from : bytes;
	err = back_with_memory((char *)w - xsp_set.base + xsp_set.data_off + from, to - from,
			       NULL);
	if (err < 0)
		return -ENOSPC;
	to = to == bytes ? UINT64_MAX : to >> XSPROF_SLOT_SHIFT;
	/* Only upwards: a thread that was preempted must not undo another thread's growth. */
	__atomic_compare_exchange_n(&w->grown, &grown, to, false, __ATOMIC_RELAXED,
				    __ATOMIC_RELAXED);
	return 0;
}
