/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ranges that were open when the markers of their process were switched off: kept until their end
 * comes. What happens to those without an end is up to the caller.
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
 * struct hidden_ranges - such ranges, unordered
 * @nr: how many
 * @table: the ranges, by thread or id, without and with the name
 */
struct hidden_ranges {
	uint32_t		nr;
	struct hidden_table	*table;
};

/* Return: 0; -ENOSPC: too many, -ENOMEM. */
int hidden_add(struct hidden_ranges *hidden, const struct xsprof_range *range);

/* An end that matches no open range is that of the innermost hidden range of its thread or id. */
void hidden_end(struct hidden_ranges *hidden, const struct xsprof_event *ev);

/* Removes the ranges of @producer (~0u: all), and passes each to @take. */
void hidden_take(struct hidden_ranges *hidden, uint32_t producer,
		 void (*take)(void *data, const struct xsprof_range *range), void *data);

void hidden_free(struct hidden_ranges *hidden);

#endif /* XSPROF_REPORT_HIDDEN_H */
