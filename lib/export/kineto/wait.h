/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Activities of a device that wait for the call that launched them.
 */
#ifndef XSR_WAIT_H
#define XSR_WAIT_H

#include "ranges/keep.h"

/* One that was given back, good until the next is. */
struct xsr_waited {
	struct xsprof_event	ev;
	struct xsr_walk		walk;
};

struct xsr_waits;

int xsr_waits_new(struct xsr_waits **waits);
void xsr_waits_free(struct xsr_waits *waits);
/* Until its call is known.  Return: false where it cannot be kept. */
bool xsr_wait_add(struct xsr_waits *waits, const struct xsprof_event *ev,
		  const struct xsr_walk *walk);
/* The next that waited for this call.  Return: is there one? */
bool xsr_wait_next(struct xsr_waits *waits, uint32_t producer, uint64_t correlation,
		   struct xsr_waited *out);
/* The one that has waited longest, where there are too many, or where @all are to come. */
bool xsr_wait_oldest(struct xsr_waits *waits, bool all, struct xsr_waited *out);

#endif /* XSR_WAIT_H */
