/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Device activities that wait for the call that launched them.
 */
#ifndef XSR_WAIT_H
#define XSR_WAIT_H

#include "ranges/keep.h"

/* A returned activity, valid until the next one is returned. */
struct xsr_waited {
	struct xsprof_event	ev;
	struct xsr_walk		walk;
};

struct xsr_waits;

int xsr_waits_new(struct xsr_waits **waits);
void xsr_waits_free(struct xsr_waits *waits);
/* Keeps an activity until its call is known. Return: false if it cannot be kept. */
bool xsr_wait_add(struct xsr_waits *waits, const struct xsprof_event *ev,
		  const struct xsr_walk *walk);
/* Returns the next activity that waited for this call. Return: is there one? */
bool xsr_wait_next(struct xsr_waits *waits, uint32_t producer, uint64_t correlation,
		   struct xsr_waited *out);
/* Returns the oldest activity, if there are too many, or if @all. */
bool xsr_wait_oldest(struct xsr_waits *waits, bool all, struct xsr_waited *out);

#endif /* XSR_WAIT_H */
