/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Walking slots that came out of a ring, from record to record: how far they hold together, how
 * many records they are, and which threads wrote them.  It never looks into a record's payload.
 */
#ifndef XSP_CAP_WALK_H
#define XSP_CAP_WALK_H

#include <stddef.h>
#include <stdint.h>

#include <xsprof/abi.h>

/* Threads of one producer beyond this many keep the names they give themselves. */
#define XSP_TIDS_MAX	16384u

#define XSP_TID_NEW	1u	/* its name has not been looked up yet */
#define XSP_TID_SEEN	2u	/* it wrote something since the last look */

/**
 * struct xsp_tid - one thread of a producer
 * @tid: thread id, 0 for an empty place
 * @flags: XSP_TID_*
 * @comm: the name last stored
 */
struct xsp_tid {
	uint32_t	tid;
	uint32_t	flags;
	char		comm[16];
};

/**
 * struct xsp_tids - the threads of a producer, hashed by id
 * @tab: @room places, a power of two; NULL at first
 * @seed: of the hashes: a producer writes any ids
 * @room: places
 * @nr: places in use
 * @fresh: places with XSP_TID_NEW
 * @last: the thread of the record walked last
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
 * struct xsp_walk - what was found
 * @records: events: records without padding, LOST and what only continues another
 * @first: ticks of the first record
 * @last: ticks of the last
 */
struct xsp_walk {
	uint64_t	records;
	uint64_t	first;
	uint64_t	last;
};

/**
 * xsp_walk - how many of these slots are whole, sound records
 * @slots: slots
 * @pos: number of the first in its ring: tells where blocks begin
 * @n: how many
 * @walk: filled in
 * @tids: told of the threads
 *
 * Return: slots up to the first that is no record's beginning; @n when all are sound.
 */
size_t xsp_walk(const struct xsprof_rec *slots, uint64_t pos, size_t n, struct xsp_walk *walk,
		struct xsp_tids *tids);

#endif /* XSP_CAP_WALK_H */
