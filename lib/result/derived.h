/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Data derived from the arguments of events, cached in struct xsprof_result's @made.
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
	XSR_INPUTS,	/* not a text: used by input-list.c */
};

/* Key in struct xsprof_result's @made. */
static inline uint64_t xsr_derived_key(const struct xsprof_profiler_event *ev,
				       enum xsr_derived what)
{
	return ((uint64_t)xsr_index(ev) << 3 | what) + 1;
}

/* The text, valid as long as the result; NULL: no memory. */
const char *xsr_derive(const struct xsprof_profiler_event *ev, enum xsr_derived what);
/* The result's scratch buffer, with room for all strings of @ev, and a @walk over its arguments. */
struct xsr_writer *xsr_event_writer(const struct xsprof_profiler_event *ev, struct xsr_walk *walk);

#endif /* XSR_DERIVED_H */
