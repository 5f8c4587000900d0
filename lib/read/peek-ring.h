/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Reads a ring without consuming: finds the slots that are complete while its writer writes and a
 * recorder may consume. Never moves a tail.
 *
 *	reader				writer (DISCARD)	writer (OVERWRITE)
 *	A  copies slots [p, q)		reads tail		-
 *	B  reads head and tail again	writes slots below	writes up to 15 slots
 *	   and trusts only p >= tail,	tail + size		beyond head, then head
 *	   or p + size >= head + 15
 *
 * B after A: a slot that passes B was not being written during A. In a DISCARD ring either
 * condition suffices, so that records that a recorder has consumed are still shown while they are
 * intact.
 */
#ifndef XSPROF_SNAPSHOT_RING_H
#define XSPROF_SNAPSHOT_RING_H

#include <stddef.h>
#include <stdint.h>

#include "read/ring-file.h"

/* More slots than a writer publishes in its lifetime: sums below it do not overflow. */
#define PEEK_HEAD_MAX	(1ull << 58)

/**
 * peek_low - the oldest slot that ring @k certainly holds, at the begin of a record
 * @rf: producer
 * @k: ring, ready
 * @head: set to its head
 *
 * Return: 0, or -EPROTO: its counters are contradictory.
 */
int peek_low(const struct xsp_ring_file *rf, uint32_t k, uint64_t *low, uint64_t *head);

/**
 * peek_copy - copy slots, as far as they can be trusted
 * @rf: producer
 * @k: ring, ready
 * @pos: first slot; moved up to the first trustworthy one that begins a record
 * @buf: room for @n slots; those from the new @pos on are moved to its beginning
 * @n: number of slots, at most the ring's size
 *
 * Return: slots in @buf, 0 for none, or -errno.
 */
long peek_copy(const struct xsp_ring_file *rf, uint32_t k, uint64_t *pos, void *buf, size_t n);

/* The first slot at or after @low whose block has records not older than @ticks. */
uint64_t peek_since(const struct xsp_ring_file *rf, uint32_t k, uint64_t low, uint64_t head,
		    uint64_t ticks);

#endif /* XSPROF_SNAPSHOT_RING_H */
