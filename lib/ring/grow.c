// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Memory behind rings.  A producer's memory is sparse; a ring gets its header pages when its CPU
 * first writes, and data step by step until the whole ring stands: an idle CPU costs nothing, and
 * a short-lived process little.  Memory is allocated before any store to it, because a first
 * touch that finds none to be had (tmpfs full, RLIMIT_MEMLOCK reached) is SIGBUS in the traced
 * program.
 *
 * Runs in signal handlers and on several threads at once: all steps may be done twice.
 */
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "ring/backend.h"

#define XSP_GROW_FIRST	(8u << 10)	/* bytes of a ring's first step; then it doubles */
#define XSP_GROW_PIECE	(64u << 10)	/* bytes asked for at once */
#define XSP_GROW_EINTR	1000		/* interrupted so often, it is given up for now */
#define XSP_GROW_PAUSE	(1ull << 28)	/* ticks to wait after there was no memory */

static uint64_t full_until;

/*
 * A signal interrupts an allocation on tmpfs and undoes it, so that under a profiler's timer a
 * large one never ends.  Small ones do, and what they got stays.
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

/* Also lets this process write to ring @opened, if there is one. */
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
	/* A signal says nothing of how much there is: the next marker may try again. */
	if (err < 0 && err != -EINTR) {
		__atomic_store_n(&full_until, now + XSP_GROW_PAUSE, __ATOMIC_RELAXED);
		/* For who asks why records were lost. */
		__atomic_store_n(&xsp_set.arena->refused, (uint32_t)-err, __ATOMIC_RELAXED);
	}
	return err;
}

/* Header pages and the first step of data; the ring then is known to readers and writers. */
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
	 * Zero to a value, once: another thread may have opened the ring meanwhile and grown
	 * it.  Everything else here is the same whoever stores it.
	 */
	__atomic_compare_exchange_n(&w->grown, &zero, slots, false, __ATOMIC_RELAXED,
				    __ATOMIC_RELAXED);
	xsp_kept.backend->ring_ready(w, k);
	/*
	 * Release: a sequence on this CPU loads the pointer and then the fields above through
	 * it, an address dependency.
	 */
	__atomic_store_n(&xsp_set.ring[k], w, __ATOMIC_RELEASE);
	return 0;
}

/**
 * xsp_ring_make_room() - give a ring the memory its next record needs
 * @k: ring number; one beyond the rings is refused
 * @slots: slots wanted beyond head, padding left out
 *
 * Return: 0 there is room now, or the caller may look again; -ENOSPC no memory for more data;
 * -ENOMEM no memory for the ring at all; -EINVAL no such ring.
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
	/* Also when another thread is just opening it: the last step may be all that is missing. */
	if (!xsp_ring_is_open(k))
		return open_ring(k);

	grown = __atomic_load_n(&w->grown, __ATOMIC_RELAXED);
	want = __atomic_load_n(&w->head, __ATOMIC_RELAXED) + slots + XSPROF_RECORD_SLOTS;
	if (grown == UINT64_MAX || want <= grown)
		return 0;
	from = grown << XSPROF_SLOT_SHIFT;
	if (from >= bytes)	/* a value nobody here stores: the ring was scribbled over */
		return -ENOSPC;
	to = 2 * from < bytes ? 2 * from : bytes;
	err = back_with_memory((char *)w - xsp_set.base + xsp_set.data_off + from, to - from,
			       NULL);
	if (err < 0)
		return -ENOSPC;
	to = to == bytes ? UINT64_MAX : to >> XSPROF_SLOT_SHIFT;
	/* Only ever up: a thread that slept since must not take back what another added. */
	__atomic_compare_exchange_n(&w->grown, &grown, to, false, __ATOMIC_RELAXED,
				    __ATOMIC_RELAXED);
	return 0;
}
