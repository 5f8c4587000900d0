/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Joins ranges in parts: a range that outlives the one around it is several ranges in a trace, as
 * there is one stack for each thread. Here the parts become one range again.
 */
#ifndef XSPROF_REPORT_JOIN_H
#define XSPROF_REPORT_JOIN_H

#include "report/local.h"

/**
 * struct report_part - a range or a part of one, and its attributes
 * @range: the range, from --from on
 * @began: its begin
 * @cause: what its thread did, valid with @told
 * @used: what it used, valid with @uses
 * @words: its inputs and modules, and whether it is inside another range of its row
 * @told: the scheduler's events are known
 * @uses: it used something
 */
struct report_part {
	struct xsprof_range		range;
	uint64_t			began;
	struct cause_sum		cause;
	struct report_used		used;
	struct report_range_words	words;
	bool				told;
	bool				uses;
};

struct report_join;

/* @lone: called for parts whose continuation is not in the trace. */
int report_join_new(void (*lone)(void *data, const struct report_part *part), void *data,
		    struct report_join **join);
void report_join_free(struct report_join *join);

/* The part that @range continues; NULL: none. Valid until the next call. */
const struct report_part *report_join_before(struct report_join *join,
					     const struct xsprof_range *range);
/* Prepends @before, which may be NULL, to @part, and drops it. */
void report_join_to(struct report_join *join, const struct report_part *before,
		    struct report_part *part);
/* Return: true: it continues, and is kept until its continuation ends. */
bool report_join_keep(struct report_join *join, const struct report_part *part);
/*
 * Handles an event of a program: after losses and pauses nothing continues an earlier part. Return:
 * true: it begins a continuation.
 */
bool report_join_event(struct report_join *join, const struct xsprof_event *ev);
/* No more continuations can come. */
void report_join_finish(struct report_join *join);

#endif /* XSPROF_REPORT_JOIN_H */
