/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the two files of `xsprof report` share: report.c reads and counts, report-print.c prints.
 */
#ifndef XSPROF_REPORT_H
#define XSPROF_REPORT_H

#include "filter.h"
#include "groups.h"
#include "report-open.h"
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
 * @open: what was open at the ends of processes
 * @show: what of it is wanted
 * @no_open: nothing of it
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
	struct open_ranges		open;
	struct open_show		show;
	bool				no_open;
};

void report_print(struct report *report);
void report_print_json(struct report *report);

/* "3.200 s" */
const char *report_format_time(char *buf, size_t size, uint64_t ns);
/* A text in a terminal: @width columns at least. */
void report_print_text(const char *s, size_t len, size_t width);

#endif /* XSPROF_REPORT_H */
