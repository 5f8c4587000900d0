/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The clocks of a trace: converts ticks of its producers to nanoseconds.
 */
#ifndef XST_CLOCKS_H
#define XST_CLOCKS_H

#include <stdint.h>

#include <xsprof/abi.h>

struct xsprof_trace;

#define XST_CLOCK_KINDS		(XSPROF_CLOCK_MONO_RAW + 1)

/* Earliest and latest ticks of one kind of clock in chunk headers. */
struct xst_hints {
	uint64_t	first;
	uint64_t	last;
};

int xst_clocks_fit(struct xsprof_trace *t);
void xst_clocks_free(struct xsprof_trace *t);
/* Earliest and latest time in chunk headers, 0 if there is none. */
uint64_t xst_first_ns(const struct xsprof_trace *t);
uint64_t xst_last_ns(const struct xsprof_trace *t);
/* Error bound of the clocks over the trace, limited to @from to @to, ns. */
uint64_t xst_clocks_error(const struct xsprof_trace *t, uint64_t from, uint64_t to);

#endif /* XST_CLOCKS_H */
