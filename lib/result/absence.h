/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * When a thread was not in the session that a result is of: see struct xsprof_absence.  A result's
 * own list is in order, by thread and then by time, and those of a thread do not overlap.
 */
#ifndef XSR_ABSENCE_H
#define XSR_ABSENCE_H

#include <xsprof/result.h>
#include <xsprof/trace.h>

static inline int xsr_absence_compare(const void *one, const void *two)
{
	const struct xsprof_absence *a = one, *b = two;

	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	return a->from < b->from ? -1 : a->from > b->from;
}

/* The last of that thread that begins by then, as far as it reaches. */
static inline bool xsr_absent_as(const struct xsprof_result_options *opts, uint32_t tid,
				 uint64_t ticks)
{
	size_t from = 0, to = opts->nr_absences;

	while (from < to) {
		size_t mid = from + (to - from) / 2;
		const struct xsprof_absence *a = &opts->absences[mid];

		if (a->tid < tid || (a->tid == tid && a->from <= ticks))
			from = mid + 1;
		else
			to = mid;
	}
	return from && opts->absences[from - 1].tid == tid &&
	       ticks < opts->absences[from - 1].to;
}

/* Of ops, memory and shaders: was it told of while the session did not want it? */
static inline bool xsr_absent(const struct xsprof_result_options *opts,
			      const struct xsprof_event *ev)
{
	return __builtin_expect(opts->nr_absences != 0, 0) &&
	       (xsr_absent_as(opts, 0, ev->ticks) || xsr_absent_as(opts, ev->tid, ev->ticks));
}

#endif /* XSR_ABSENCE_H */
