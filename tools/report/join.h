/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ranges in parts: one that goes on while the one around it ends is several ranges in a trace,
 * which has one stack a thread.  Here they become one again, with the times that it had.
 */
#ifndef XSPROF_REPORT_JOIN_H
#define XSPROF_REPORT_JOIN_H

#include "report/local.h"

/**
 * struct report_part - a range, or a part of one, and what is known of it
 * @range: it, from --from on
 * @began: when it began
 * @cause: what its thread did, where @told
 * @used: what it used, where @uses
 * @words: its inputs and modules, and whether its time is in another range of its row
 * @told: the scheduler's events tell
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

/* @lone: gets parts of which the rest is not in the trace. */
int report_join_new(void (*lone)(void *data, const struct report_part *part), void *data,
		    struct report_join **join);
void report_join_free(struct report_join *join);

/* The part that @range goes on from, NULL: it is none's rest.  Valid until the next call. */
const struct report_part *report_join_before(struct report_join *join,
					     const struct xsprof_range *range);
/* Puts @before, which may be NULL, in front of @part, and forgets it. */
void report_join_to(struct report_join *join, const struct report_part *before,
		    struct report_part *part);
/* Return: true: it goes on, and is kept until its rest comes. */
bool report_join_keep(struct report_join *join, const struct report_part *part);
/*
 * Any event of a program: after losses and pauses nothing is the rest of what was before.  Return:
 * true: it begins a rest.
 */
bool report_join_event(struct report_join *join, const struct xsprof_event *ev);
/* No rest comes any more. */
void report_join_finish(struct report_join *join);

#endif /* XSPROF_REPORT_JOIN_H */
