/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ranges that were open when their process' markers went off, until an end comes for them.  It
 * never knows what is made of those that have none.
 */
#ifndef XSPROF_REPORT_HIDDEN_H
#define XSPROF_REPORT_HIDDEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <xsprof/trace.h>

#define HIDDEN_MAX	4096u	/* ranges kept */

struct hidden_table;

/**
 * struct hidden_ranges - in no order
 * @nr: how many
 * @table: them, by thread or id, and by that and the name
 */
struct hidden_ranges {
	uint32_t		nr;
	struct hidden_table	*table;
};

/* Return: 0; -ENOSPC: there are too many, -ENOMEM. */
int hidden_add(struct hidden_ranges *hidden, const struct xsprof_range *range);

/* An end with nothing open to end is that of the innermost of its thread, or of its id. */
void hidden_end(struct hidden_ranges *hidden, const struct xsprof_event *ev);

/* Takes out those of @producer, ~0u: all, and gives each to @take. */
void hidden_take(struct hidden_ranges *hidden, uint32_t producer,
		 void (*take)(void *data, const struct xsprof_range *range), void *data);

void hidden_free(struct hidden_ranges *hidden);

#endif /* XSPROF_REPORT_HIDDEN_H */
