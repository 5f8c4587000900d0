/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Looking into a ring without taking anything out of it: which slots it holds whole, while its
 * writer writes and a recorder may consume.  It never moves a tail.
 *
 *	reader				writer (DISCARD)	writer (OVERWRITE)
 *	A  copies slots [p, q)		reads tail		-
 *	B  reads head and tail again	writes slots below	writes up to 15 slots
 *	   and trusts only p >= tail,	tail + size		beyond head, then head
 *	   or p + size >= head + 15
 *
 * B after A: a slot that passes B was not being written during A.  In a DISCARD ring either
 * half will do, so what a recorder has consumed is still seen for as long as it stands there.
 */
#ifndef XSPROF_SNAPSHOT_RING_H
#define XSPROF_SNAPSHOT_RING_H

#include <stddef.h>
#include <stdint.h>

#include "read/ring-file.h"

/* Slots published that no writer reaches in a lifetime: sums below it do not overflow. */
#define PEEK_HEAD_MAX	(1ull << 58)

/**
 * peek_low - the oldest slot that ring @k holds for sure, where a record begins
 * @rf: producer
 * @k: ring, ready
 * @head: set to its head
 *
 * Return: 0, or -EPROTO: its counters contradict each other.
 */
int peek_low(const struct xsp_ring_file *rf, uint32_t k, uint64_t *low, uint64_t *head);

/**
 * peek_copy - slots, as far as they can be trusted
 * @rf: producer
 * @k: ring, ready
 * @pos: first slot; moved up to the first that can be trusted, where a record begins
 * @buf: room for @n slots; those from the new @pos on are moved to its beginning
 * @n: how many, at most the ring's
 *
 * Return: slots in @buf, 0 for none, or -errno.
 */
long peek_copy(const struct xsp_ring_file *rf, uint32_t k, uint64_t *pos, void *buf, size_t n);

/* The first slot at or after @low whose block is not older than @ticks as a whole. */
uint64_t peek_since(const struct xsp_ring_file *rf, uint32_t k, uint64_t low, uint64_t head,
		    uint64_t ticks);

#endif /* XSPROF_SNAPSHOT_RING_H */
