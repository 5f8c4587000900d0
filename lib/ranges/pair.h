/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What a pairer knows besides the ranges that it emits: open ranges of threads, for tools that
 * count events in ranges. The counts belong to the tools; each range has a tag for them.
 */
#ifndef XST_PAIR_TOP_H
#define XST_PAIR_TOP_H

#pragma GCC visibility push(default)
#include <xsprof/pairer.h>
#pragma GCC visibility pop

#include "ranges/stack.h"

/**
 * xst_pairer_top() - the innermost open range of a thread
 * @pairer: the pairer, after all events so far
 * @producer: producer of the thread
 * @tid: thread id
 *
 * A cut range is not open any more. Its @tag belongs to the caller, and is 0 at its begin; its
 * @lost is set if records of the thread may be missing inside it.
 *
 * Return: the range, valid until the pairer's next event; NULL: none is open.
 */
struct xsp_range *xst_pairer_top(struct xsprof_pairer *pairer, uint32_t producer, uint32_t tid);

/**
 * xst_pairer_clip() - count only time from @ns on
 * @pairer: the pairer, before its first event
 * @ns: begin of the counted time
 *
 * For ranges that began earlier, @self_ns is that of the part from then on. @begin_ns is unchanged.
 */
void xst_pairer_clip(struct xsprof_pairer *pairer, uint64_t ns);

/**
 * struct xst_given - a range of a thread's stack while it is emitted
 * @range: the range
 * @outer: the open range around it, NULL for none
 * @inner: number of ranges inside, which follow it in memory; if it was cut, these continue
 */
struct xst_given {
	struct xsp_range	*range;
	struct xsp_range	*outer;
	uint32_t		inner;
};

/**
 * xst_pairer_given() - the range being emitted; to be called from the callback
 * @pairer: the pairer
 * @given: set to the range
 *
 * Return: false: it was not begun by a BEGIN on a thread.
 */
bool xst_pairer_given(const struct xsprof_pairer *pairer, struct xst_given *given);

#endif /* XST_PAIR_TOP_H */
