// SPDX-License-Identifier: GPL-2.0-only
/*
 * The order of rows by --sort.
 */
#include <string.h>

#include "report/local.h"
#include "report/order.h"

/* Maps signed numbers to unsigned ones in the same order. */
static uint64_t signed_value(uint64_t value)
{
	return value ^ 1ull << 63;
}

static uint64_t sort_value(enum report_sort sort, const struct xsp_group *group)
{
	switch (sort) {
	case REPORT_SORT_SELF:
		return group->self;
	case REPORT_SORT_COUNT:
		return group->count;
	case REPORT_SORT_MEAN:
		return group->timed ? group->sum / group->timed : 0;
	case REPORT_SORT_MIN:
		return group->timed ? group->min : 0;
	case REPORT_SORT_P50:
		return xsp_group_quantile(group, 0.5);
	case REPORT_SORT_P99:
		return xsp_group_quantile(group, 0.99);
	case REPORT_SORT_MAX:
		return group->max;
	case REPORT_SORT_MEMORY:
		return signed_value((uint64_t)group->used.bytes[XSP_USED_CPU] +
				    (uint64_t)group->used.bytes[XSP_USED_DEVICE]);
	case REPORT_SORT_FLOPS:
		return group->used.flops;
	default:
		return group->total;
	}
}

int report_order_value(const struct report *report, const struct xsp_group *a,
		       const struct xsp_group *b)
{
	uint64_t va, vb;

	if (report->sort == REPORT_SORT_NAME)
		return 0;
	va = sort_value(report->sort, a);
	vb = sort_value(report->sort, b);
	return (va < vb) - (va > vb);
}

int report_order_word(const struct report *report, uint32_t a, uint32_t b)
{
	size_t la, lb, n;
	const char *ta = xsp_groups_word(report->groups, a, &la);
	const char *tb = xsp_groups_word(report->groups, b, &lb);
	int ret;

	n = la < lb ? la : lb;
	ret = memcmp(ta, tb, n);
	return ret ? ret : (la > lb) - (la < lb);
}
