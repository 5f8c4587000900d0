/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Walks slots of a ring from record to record: how many are valid, how many records they are, and
 * which threads wrote them. Reads no payload.
 */
#ifndef XSP_CAP_WALK_H
#define XSP_CAP_WALK_H

#include <stddef.h>
#include <stdint.h>

#include <xsprof/abi.h>

/* Further threads of a producer keep only names that they set themselves. */
#define XSP_TIDS_MAX	16384u

#define XSP_TID_NEW	1u	/* its name has not been looked up yet */
#define XSP_TID_SEEN	2u	/* it has written since the last check */

/**
 * struct xsp_tid - a thread of a producer
 * @tid: thread id, 0 for an empty slot
 * @flags: XSP_TID_*
 * @comm: the name stored last
 */
struct xsp_tid {
	uint32_t	tid;
	uint32_t	flags;
	char		comm[16];
};

/**
 * struct xsp_tids - the threads of a producer, hashed by id
 * @tab: @room slots, a power of two; initially NULL
 * @seed: of the hashes, as a producer chooses its ids
 * @room: number of slots
 * @nr: slots in use
 * @fresh: slots with XSP_TID_NEW
 * @last: thread of the last record walked
 */
struct xsp_tids {
	struct xsp_tid	*tab;
	uint64_t	seed;
	uint32_t	room;
	uint32_t	nr;
	uint32_t	fresh;
	uint32_t	last;
};

void xsp_tids_free(struct xsp_tids *tids);

/**
 * struct xsp_walk - result of a walk
 * @records: number of events: records without padding, LOST and continuations
 * @first: ticks of the first record
 * @last: ticks of the last record
 */
struct xsp_walk {
	uint64_t	records;
	uint64_t	first;
	uint64_t	last;
};

/**
 * xsp_walk - count the valid records at the begin of some slots
 * @slots: slots
 * @pos: number of the first slot in its ring: determines block boundaries
 * @n: number of slots
 * @walk: filled in
 * @tids: the threads are added here
 *
 * Return: slots up to the first one that does not begin a record; @n if all are valid.
 */
size_t xsp_walk(const struct xsprof_rec *slots, uint64_t pos, size_t n, struct xsp_walk *walk,
		struct xsp_tids *tids);

#endif /* XSP_CAP_WALK_H */
