/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the two files of `xsprof report` share: report.c reads and counts, report-print.c prints.
 */
#ifndef XSPROF_REPORT_H
#define XSPROF_REPORT_H

#include "filter.h"
#include "groups.h"
#include "source.h"

enum report_by {
	REPORT_BY_NAME		= 0x1,
	REPORT_BY_THREAD	= 0x2,
	REPORT_BY_PROCESS	= 0x4,
	REPORT_BY_CATEGORY	= 0x8,
};

enum report_sort {
	REPORT_SORT_TOTAL,
	REPORT_SORT_SELF,
	REPORT_SORT_COUNT,
	REPORT_SORT_MEAN,
	REPORT_SORT_MIN,
	REPORT_SORT_P50,
	REPORT_SORT_P99,
	REPORT_SORT_MAX,
	REPORT_SORT_NAME,
};

/**
 * struct report - a report under way
 * @by: REPORT_BY_*
 * @limit: rows at most in each table
 * @events: events read and wanted, those of ranges among them
 * @ranges: ranges counted, by enum xsprof_range_end
 * @first_ns: time of the first event read
 * @last_ns: of the last
 * @unlisted: events that are no ranges and found no row
 */
struct report {
	struct xsp_source		source;
	struct xsp_filter		filter;
	struct xsp_groups		*groups;
	struct xsprof_pairer_stats	pairs;
	const char			*input;
	unsigned int			by;
	enum report_sort		sort;
	uint64_t			limit;
	bool				json;
	bool				quiet;
	uint64_t			events;
	uint64_t			ranges[3];
	uint64_t			first_ns;
	uint64_t			last_ns;
	uint64_t			unlisted;
};

void report_print(struct report *report);
void report_print_json(struct report *report);

#endif /* XSPROF_REPORT_H */
