/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds events of a result and checks their times; and makes a capture of nested ranges, for the
 * tests of results.
 */
#ifndef TESTS_PROFILER_TIMES_H
#define TESTS_PROFILER_TIMES_H

#include "profiler/ops.h"
#include "common/tap.h"

typedef const struct xsprof_profiler_event *event;

__attribute__((unused)) static event must(struct xsprof_result *r, const char *name,
					  unsigned int nth)
{
	event ev = ops_find(r, name, nth);

	if (!ev) {
		printf("# events:");
		for (int64_t i = 0; i < xsprof_result_nr_events(r); i++)
			printf(" %s", xsprof_event_name(xsprof_result_event(r, i)));
		printf("\n");
		tap_bail("there is no event %s number %u", name, nth);
	}
	return ev;
}

__attribute__((unused)) static void check_times(event ev, uint64_t begin, uint64_t end,
						uint64_t self)
{
	if (xsprof_event_start_ns(ev) != REAL + begin || xsprof_event_end_ns(ev) != REAL + end ||
	    xsprof_event_self_ns(ev) != self)
		tap_wrong("%s: %llu to %llu, self %llu, not %llu to %llu, %llu",
			  xsprof_event_name(ev),
			  (unsigned long long)(xsprof_event_start_ns(ev) - REAL),
			  (unsigned long long)(xsprof_event_end_ns(ev) - REAL),
			  (unsigned long long)xsprof_event_self_ns(ev), (unsigned long long)begin,
			  (unsigned long long)end, (unsigned long long)self);
	CHECK_EQ(xsprof_event_duration_ns(ev), end - begin);
}

/* Two threads; nested ranges of all kinds. */
__attribute__((unused)) static void nest(struct ops *o)
{
	ops_op(o, TID, 2000, "outer", NULL);
	ops_op(o, 101, 2050, "other", NULL);
	ops_op(o, TID, 2100, "inner", NULL);
	ops_rec(o, XSPROF_REC_BEGIN, TID, 2200, "range", 0, 0);
	ops_rec(o, XSPROF_REC_INSTANT, TID, 2250, "point", 0, 0);
	ops_end(o, TID, 2300);
	ops_end(o, TID, 2400);
	ops_rec(o, XSPROF_REC_COMPLETE, TID, 2700, "whole", 0, 200);
	ops_op(o, TID, 2800, "inner", NULL);
	ops_end(o, 101, 2850);
	ops_end(o, TID, 2900);
	ops_end(o, TID, 3000);
	ops_op(o, TID, 3100, "open", NULL);
	ops_rec(o, XSPROF_REC_INSTANT, 101, 4000, "late", 0, 0);
}

__attribute__((unused)) static void nested(struct ops *o)
{
	ops_begin(o);
	nest(o);
}

#endif /* TESTS_PROFILER_TIMES_H */
