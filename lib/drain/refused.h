/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Files that could not be recorded, so that each is reported once, and not tried again before it
 * changes.
 */
#ifndef XSP_DRAIN_REFUSED_H
#define XSP_DRAIN_REFUSED_H

#include <stdint.h>

/**
 * struct xsp_refusal - a refused file, or producer of the device
 * @key: identity; not 0
 * @stamp: time of its last change
 * @err: error
 * @round: round of the last attempt; for a process with messages: their number
 */
struct xsp_refusal {
	uint64_t	key;
	int64_t		stamp;
	int		err;
	uint32_t	round;
};

/**
 * struct xsp_refused - a set; all zeros is empty
 * @at: table
 * @room: size of @at, a power of two
 * @nr: number of entries
 */
struct xsp_refused {
	struct xsp_refusal	*at;
	uint32_t		room;
	uint32_t		nr;
};

/* NULL: it was not refused, or the entry was not kept. */
struct xsp_refusal *xsp_refused_find(const struct xsp_refused *set, uint64_t key);

/* Adds a new entry. Beyond a limit, and without memory, it is not kept. */
void xsp_refused_add(struct xsp_refused *set, const struct xsp_refusal *refusal);
void xsp_refused_free(struct xsp_refused *set);

#endif /* XSP_DRAIN_REFUSED_H */
