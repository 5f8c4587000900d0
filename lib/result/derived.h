/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What is derived from the arguments of events, and kept in struct xsprof_result's @made.
 */
#ifndef XSR_DERIVED_H
#define XSR_DERIVED_H

#include "result/handle.h"
#include "result/writer.h"

enum xsr_derived {
	XSR_SHAPES,
	XSR_STRIDES,
	XSR_DTYPES,
	XSR_CONCRETE,
	XSR_KWARGS,
	XSR_MODULE,
	XSR_INPUTS,	/* no text: input-list.c's own */
};

/* Of struct xsprof_result's @made. */
static inline uint64_t xsr_derived_key(const struct xsprof_profiler_event *ev,
				       enum xsr_derived what)
{
	return ((uint64_t)xsr_index(ev) << 3 | what) + 1;
}

/* The text, which lives as long as the result; NULL: no memory. */
const char *xsr_derive(const struct xsprof_profiler_event *ev, enum xsr_derived what);
/* The result's scratch, with room for all strings of @ev, and a @walk over its arguments. */
struct xsr_writer *xsr_event_writer(const struct xsprof_profiler_event *ev, struct xsr_walk *walk);

#endif /* XSR_DERIVED_H */
