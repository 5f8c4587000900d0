/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What could not be recorded, so that each is told of once, and is not tried again before it has
 * changed.
 */
#ifndef XSP_DRAIN_REFUSED_H
#define XSP_DRAIN_REFUSED_H

#include <stdint.h>

/**
 * struct xsp_refusal - a file, or a producer of the device
 * @key: which; not 0
 * @stamp: when it was changed last
 * @err: what was wrong with it
 * @round: when it was tried last; of a process that complains: how often
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
 * @room: of it, a power of two
 * @nr: entries
 */
struct xsp_refused {
	struct xsp_refusal	*at;
	uint32_t		room;
	uint32_t		nr;
};

/* NULL: it was not refused, or that is not known any more. */
struct xsp_refusal *xsp_refused_find(const struct xsp_refused *set, uint64_t key);

/* One that is not there.  Beyond a limit, and without memory, it is not kept. */
void xsp_refused_add(struct xsp_refused *set, const struct xsp_refusal *refusal);
void xsp_refused_free(struct xsp_refused *set);

#endif /* XSP_DRAIN_REFUSED_H */
