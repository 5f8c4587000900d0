// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Finds the slots of a ring that hold complete records, and copies them. Reads nothing of records
 * but the timestamps at the begin of blocks.
 */
#include <errno.h>
#include <string.h>

#include "read/peek-ring.h"

static uint64_t block_up(uint64_t pos)
{
	return (pos + XSPROF_BLOCK_SLOTS - 1) & ~(uint64_t)(XSPROF_BLOCK_SLOTS - 1);
}

int peek_low(const struct xsp_ring_file *rf, uint32_t k, uint64_t *low, uint64_t *head)
{
	uint64_t size = xsp_ring_slots(rf, k), tail, from = 0;

	/* Tail first: it only grows, and never beyond a head that is read later. */
	tail = __atomic_load_n(&xsp_ring_reader(rf, k)->tail, __ATOMIC_ACQUIRE);
	*head = xsp_ring_head(rf, k);
	if (*head >= PEEK_HEAD_MAX)
		return -EPROTO;
	if (*head + XSPROF_OVERWRITE_MARGIN > size)
		from = block_up(*head + XSPROF_OVERWRITE_MARGIN - size);
	if (from > *head)
		from = *head;
	/* An invalid tail written by a reader costs the older half of what is shown. */
	if (rf->ctl.mode == XSPROF_MODE_DISCARD && tail <= *head && *head - tail <= size &&
	    tail < from)
		from = tail;
	*low = from;
	return 0;
}

long peek_copy(const struct xsp_ring_file *rf, uint32_t k, uint64_t *pos, void *buf, size_t n)
{
	uint64_t low, head, skip;
	int err;

	err = xsp_ring_copy(rf, k, *pos, buf, n);
	if (err)
		return err;
	/* The copy is complete before the counters are read again. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	err = peek_low(rf, k, &low, &head);
	if (err)
		return err;
	if (head < *pos + n)
		return -EPROTO;
	if (low <= *pos)
		return n;
	skip = low - *pos;
	*pos = low;
	if (skip >= n)
		return 0;
	memmove(buf, (struct xsprof_rec *)buf + skip, (n - skip) << XSPROF_SLOT_SHIFT);
	return n - skip;
}

/* The first timestamp of the block at @pos; 0 if it is no longer available. */
static uint64_t block_time(const struct xsp_ring_file *rf, uint32_t k, uint64_t pos)
{
	struct xsprof_rec rec;

	return peek_copy(rf, k, &pos, &rec, 1) == 1 ? rec.ts : 0;
}

uint64_t peek_since(const struct xsp_ring_file *rf, uint32_t k, uint64_t low, uint64_t head,
		    uint64_t ticks)
{
	uint64_t first = block_up(low) / XSPROF_BLOCK_SLOTS, n;

	if (head <= first * XSPROF_BLOCK_SLOTS)
		return low;
	n = (head - 1) / XSPROF_BLOCK_SLOTS - first + 1;
	/* Timestamps in a ring never decrease: search the last block that begins before @ticks. */
	while (n > 1) {
		uint64_t half = n / 2;

		if (block_time(rf, k, (first + half) * XSPROF_BLOCK_SLOTS) <= ticks) {
			first += half;
			n -= half;
		} else {
			n = half;
		}
	}
	/* Slots before the first whole block are older than the block. */
	if (block_time(rf, k, first * XSPROF_BLOCK_SLOTS) > ticks)
		return low;
	return first * XSPROF_BLOCK_SLOTS > low ? first * XSPROF_BLOCK_SLOTS : low;
}
