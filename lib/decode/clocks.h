/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The clocks of a trace: ticks of its producers to nanoseconds, by the points that it has.
 */
#ifndef XST_CLOCKS_H
#define XST_CLOCKS_H

#include <stdint.h>

#include <xsprof/abi.h>

struct xsprof_trace;

#define XST_CLOCK_KINDS		(XSPROF_CLOCK_MONO_RAW + 1)

/* Ticks of one kind of clock: the earliest and the latest that headers of chunks name. */
struct xst_hints {
	uint64_t	first;
	uint64_t	last;
};

int xst_clocks_fit(struct xsprof_trace *t);
void xst_clocks_free(struct xsprof_trace *t);
/* The earliest and the latest time that headers of chunks name, 0 when none does. */
uint64_t xst_first_ns(const struct xsprof_trace *t);
uint64_t xst_last_ns(const struct xsprof_trace *t);
/* Bound of the clocks' error over all that, where it is from @from to @to, ns. */
uint64_t xst_clocks_error(const struct xsprof_trace *t, uint64_t from, uint64_t to);

#endif /* XST_CLOCKS_H */
