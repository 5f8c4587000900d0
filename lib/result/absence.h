/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Which threads a result covers, and when a thread was absent: see struct xsprof_absence. The
 * result's own lists are sorted: absences by thread and then by time, without overlaps within a
 * thread.
 */
#ifndef XSR_ABSENCE_H
#define XSR_ABSENCE_H

#include <xsprof/result.h>
#include <xsprof/trace.h>

static inline int xsr_tid_compare(const void *one, const void *two)
{
	uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)two;

	return a < b ? -1 : a > b;
}

/* All threads if none is listed. */
static inline bool xsr_tid_wanted(const struct xsprof_result_options *opts, uint32_t tid)
{
	uint32_t from = 0, to = opts->nr_tids;

	while (from < to) {
		uint32_t mid = from + (to - from) / 2;

		if (opts->tids[mid] == tid)
			return true;
		if (opts->tids[mid] < tid)
			from = mid + 1;
		else
			to = mid;
	}
	return !opts->nr_tids;
}

static inline int xsr_absence_compare(const void *one, const void *two)
{
	const struct xsprof_absence *a = one, *b = two;

	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	return a->from < b->from ? -1 : a->from > b->from;
}

/* The thread's last absence that begins by @ns, if it extends to @ns. */
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

/* For ops, memory and shaders: was it recorded while the session did not want it? */
static inline bool xsr_absent(const struct xsprof_result_options *opts,
			      const struct xsprof_event *ev)
{
	return __builtin_expect(opts->nr_absences != 0, 0) &&
	       (xsr_absent_as(opts, 0, ev->ticks) || xsr_absent_as(opts, ev->tid, ev->ticks));
}

#endif /* XSR_ABSENCE_H */
