/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The order of rows by --sort: negative if @a is first, 0 if equal.
 */
#ifndef XSPROF_REPORT_ORDER_H
#define XSPROF_REPORT_ORDER_H

#include <stdint.h>

struct report;
struct xsp_group;

/* The largest value first. 0 if sorted by name. */
int report_order_value(const struct report *report, const struct xsp_group *a,
		       const struct xsp_group *b);
/* By the bytes of two words of the groups. */
int report_order_word(const struct report *report, uint32_t a, uint32_t b);

#endif /* XSPROF_REPORT_ORDER_H */
