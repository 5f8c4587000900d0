/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What a pairer knows besides the ranges that it gives: what is open on a thread, for tools that
 * count what happens in ranges.  What they count is theirs; each range has one tag for it.
 */
#ifndef XST_PAIR_TOP_H
#define XST_PAIR_TOP_H

#pragma GCC visibility push(default)
#include <xsprof/pairer.h>
#pragma GCC visibility pop

#include "ranges/stack.h"

/**
 * xst_pairer_top() - the innermost range that is open on a thread
 * @pairer: the pairer, which has had all events up to now
 * @producer: of the thread
 * @tid: thread id
 *
 * A range that was cut is not open any more.  Its @tag is the caller's, and 0 when it begins; its
 * @lost is set where records of the thread may be missing in it.
 *
 * Return: it, until the pairer is given an event; NULL: none is open.
 */
struct xsp_range *xst_pairer_top(struct xsprof_pairer *pairer, uint32_t producer, uint32_t tid);

/**
 * xst_pairer_clip() - only what is from a time on is a range's own time
 * @pairer: the pairer, which has had no event
 * @ns: that time
 *
 * @self_ns of what began earlier is that of its part from then on. @begin_ns stays as it is.
 */
void xst_pairer_clip(struct xsprof_pairer *pairer, uint64_t ns);

/**
 * struct xst_given - a range of a thread's stack, while the pairer gives it
 * @range: the range
 * @outer: what is open around it, NULL for none
 * @inner: ranges inside of it, which follow it in memory; it was cut, and they go on
 */
struct xst_given {
	struct xsp_range	*range;
	struct xsp_range	*outer;
	uint32_t		inner;
};

/**
 * xst_pairer_given() - the range that the pairer gives, to be called while it does
 * @pairer: the pairer
 * @given: set
 *
 * Return: false: it is not one that a BEGIN began on a thread.
 */
bool xst_pairer_given(const struct xsprof_pairer *pairer, struct xst_given *given);

#endif /* XST_PAIR_TOP_H */
