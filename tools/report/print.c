// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints a report as tables, and sorts the rows. Counts nothing.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/tool.h"
#include "format/common/out.h"
#include "report/local.h"
#include "report/order.h"

#define NUMBERS		9	/* columns of numbers, before the words */
#define UNCERTAIN	8	/* the last of them: printed only if there are such ranges */

static const struct report *sorted;	/* for the function of qsort(), which gets no argument */

/* The order is the same in every run: equal rows are sorted by name, process, thread. */
static int compare(const void *pa, const void *pb)
{
	const struct xsp_group *a = *(struct xsp_group *const *)pa;
	const struct xsp_group *b = *(struct xsp_group *const *)pb;
	int ret;

	if (a->key.type != b->key.type)
		return a->key.type < b->key.type ? -1 : 1;
	ret = a->key.type ? 0 : report_order_value(sorted, a, b);
	if (!ret)
		ret = report_order_word(sorted, a->key.name, b->key.name);
	if (!ret)
		ret = report_order_word(sorted, a->key.category, b->key.category);
	if (!ret)
		ret = report_order_word(sorted, a->key.shape, b->key.shape);
	if (!ret)
		ret = report_order_word(sorted, a->key.module, b->key.module);
	if (ret)
		return ret;
	if (a->key.producer != b->key.producer)
		return a->key.producer < b->key.producer ? -1 : 1;
	return (a->key.tid > b->key.tid) - (a->key.tid < b->key.tid);
}

static void numbers(const struct xsp_group *group, char cell[NUMBERS][32])
{
	snprintf(cell[0], 32, "%" PRIu64, group->count);
	snprintf(cell[UNCERTAIN], 32, "%" PRIu64, group->uncertain);
	for (int c = 1; c < UNCERTAIN; c++)
		strcpy(cell[c], "-");
	/* A module's time may be all in inner modules. */
	if (group->timed || group->total)
		tool_format_time(cell[1], 32, group->total);
	if (!group->timed)
		return;
	if (group->on_thread)
		tool_format_time(cell[2], 32, group->self);
	else
		strcpy(cell[2], "-");
	tool_format_time(cell[3], 32, group->sum / group->timed);
	tool_format_time(cell[4], 32, group->min);
	if (group->no_hist) {
		strcpy(cell[5], "-");
		strcpy(cell[6], "-");
	} else {
		tool_format_time(cell[5], 32, xsp_group_quantile(group, 0.5));
		tool_format_time(cell[6], 32, xsp_group_quantile(group, 0.99));
	}
	tool_format_time(cell[7], 32, group->max);
}

static void print_ranges(const struct report *report, struct xsp_group **rows, size_t n,
			 struct report_width *width)
{
	static const char *const heads[NUMBERS] = {
		"Count", "Total", "Self", "Mean", "Min", "P50", "P99", "Max", "Uncertain",
	};
	size_t wide[NUMBERS], i, c, shown = report->nr_uncertain ? NUMBERS : UNCERTAIN;
	char cell[NUMBERS][32];
	bool bold = report_colours();

	for (c = 0; c < NUMBERS; c++)
		wide[c] = strlen(heads[c]);
	for (i = 0; i < n && i < report->reading.limit; i++) {
		numbers(rows[i], cell);
		for (c = 0; c < NUMBERS; c++)
			wide[c] = report_max(wide[c], strlen(cell[c]));
		report_widen(report, rows[i], width);
	}
	if (bold)
		fputs("\033[1m", stdout);
	for (c = 0; c < shown; c++)
		printf("%*s  ", (int)wide[c], heads[c]);
	report_print_heads(report, width, bold);
	for (i = 0; i < n && i < report->reading.limit; i++) {
		numbers(rows[i], cell);
		for (c = 0; c < shown; c++)
			printf("%*s  ", (int)wide[c], cell[c]);
		report_print_words(report, rows[i], width);
	}
	if (n > report->reading.limit)
		printf("... rows left out: %zu\n", n - (size_t)report->reading.limit);
}

/* Integers with all digits, as far as a double holds them. */
static void print_value(double value)
{
	bool whole = value > -1e15 && value < 1e15 && value == (double)(int64_t)value;

	printf(whole ? "%12.0f  " : "%12.6g  ", value);
}

static void print_counter(const struct xsp_group *row)
{
	if (row->strange == row->count) {
		printf("%12s  %12s  ", "-", "-");
	} else {
		print_value(row->low);
		print_value(row->high);
	}
	print_value(row->last);
}

static void print_others(const struct report *report, struct xsp_group **rows, size_t n)
{
	const struct report_width width = { 7, 6, 8, 6 };
	bool bold = report_colours();
	uint64_t strange = 0;
	size_t i;

	if (!n)
		return;
	printf("\n%s%10s  %-14s  %12s  %12s  %12s  Name%s\n", bold ? "\033[1m" : "", "Count",
	       "Type", "Min", "Max", "Last", bold ? "\033[0m" : "");
	for (i = 0; i < n && i < report->reading.limit; i++) {
		const struct xsp_group *row = rows[i];
		struct report by_name = *report;

		printf("%10" PRIu64 "  %-14s  ", row->count,
		       xsp_word_type((uint16_t)row->key.type));
		if (report_is_counter(row->key.type))
			print_counter(row);
		else
			printf("%12s  %12s  %12s  ", "", "", "");
		strange += row->strange;
		by_name.by |= REPORT_BY_NAME;
		report_print_words(&by_name, row, &width);
	}
	if (n > report->reading.limit)
		printf("... rows left out: %zu\n", n - (size_t)report->reading.limit);
	if (strange)
		printf("# %" PRIu64 " values of these counters are NaN or infinite: they are in no "
		       "minimum or maximum\n", strange);
}

struct xsp_group **report_sort(const struct report *report, size_t *n, size_t *ranges)
{
	struct xsp_group **rows = xsp_groups_all(report->groups, n);

	sorted = report;
	qsort(rows, *n, sizeof(rows[0]), compare);
	/* Rows of ranges have type 0. */
	for (*ranges = 0; *ranges < *n && !rows[*ranges]->key.type; (*ranges)++)
		;
	return rows;
}

uint64_t report_shown_ns(const struct report *report)
{
	uint64_t from = report->first_ns, to = report->last_ns;

	if (report->filter.from_ns > from)
		from = report->filter.from_ns;
	if (report->show.window)
		to = report->filter.to_ns;
	return to > from ? to - from : 0;
}

#define UNRECORDED_MAX	8u

/* How many events these would have written is not known. */
static void print_unrecorded(const struct report *report)
{
	uint32_t index = 0, n = 0;
	const char *note;

	while ((note = xsp_source_unrecorded(&report->source, &index))) {
		if (n++ >= UNRECORDED_MAX)
			continue;
		fputs("# lost: ", stdout);
		report_print_text(note, strlen(note), 0);
		putchar('\n');
	}
	if (n > UNRECORDED_MAX)
		printf("# lost: %u more: 'xsprof info' shows them\n", n - UNRECORDED_MAX);
	note = xsp_source_missing(&report->source);
	if (!note)
		return;
	fputs("# lost: ", stdout);
	report_print_text(note, strlen(note), 0);
	putchar('\n');
}

void report_print(struct report *report)
{
	struct xsprof_trace_info info = { .size_of = sizeof(info) };
	struct xsprof_trace_kernel kernel = { .size = sizeof(kernel) };
	struct report_width width = { 7, 6, 8, 6 };
	struct xsp_group **rows;
	size_t n, ranges;
	bool threads;
	char span[32];

	rows = report_sort(report, &n, &ranges);
	if (xsprof_trace_get_info(report->source.trace, &info) < 0)
		memset(&info, 0, sizeof(info));
	fputs("# ", stdout);
	report_print_text(report->source.path, strlen(report->source.path), 0);
	printf(": %" PRIu64 " event%s in %s, %u process%s%s\n", report->events,
	       report->events == 1 ? "" : "s",
	       tool_format_time(span, sizeof(span), report_shown_ns(report)), info.producers,
	       info.producers == 1 ? "" : "es",
	       report->filter.any ? "; filtered" : "");
	printf("# lost: %" PRIu64 " records, %" PRIu64 " slots overwritten; damaged: %" PRIu64
	       " slots, %" PRIu64 " chunks%s\n", info.lost_records, info.lost_slots, info.bad_slots,
	       info.bad_chunks, info.truncated ? "; the file is truncated" : "");
	print_unrecorded(report);
	/* In a snapshot this is the time for which the rings have all records. */
	if (report->lossy_ns && report->lossy_ns < report->last_ns) {
		uint64_t from = report->lossy_ns + 1 - report->first_ns;

		printf("# whole: the last %s, --from %" PRIu64 ".%09" PRIu64 "\n",
		       tool_format_time(span, sizeof(span), report->last_ns - report->lossy_ns),
		       from / 1000000000u, from % 1000000000u);
	}
	printf("# ranges: %" PRIu64 " ended, %" PRIu64 " cut, %" PRIu64 " open; %" PRIu64
	       " ends without a begin, %" PRIu64 " begins too deep",
	       report->ranges[XSPROF_RANGE_ENDED], report->ranges[XSPROF_RANGE_CUT],
	       report->ranges[XSPROF_RANGE_OPEN], report->pairs.unmatched_ends,
	       report->pairs.too_deep);
	/* Without an event there is no time that it could be the error of. */
	if (!report->events && xsprof_trace_get_kernel(report->source.trace, &kernel) < 0)
		putchar('\n');
	else if (info.clock_error_ns == UINT64_MAX)
		puts("; clock error unknown");
	else
		printf("; clock error at most %" PRIu64 " ns\n", info.clock_error_ns);
	if (report->nr_uncertain && !report->steps)
		printf("# uncertain: %" PRIu64 " range%s, inside which records were lost: %s\n",
		       report->nr_uncertain, report->nr_uncertain == 1 ? "" : "s",
		       report->uncertain ? "their times are counted" :
		       "without times (--include-uncertain counts them)");
	report_hints_print(report);
	if (report->steps) {
		report_print_steps(report->steps);
		report_print_out_of_memory(report);
		return;
	}
	putchar('\n');
	threads = report_threads_wanted(report, ranges);
	if (threads)
		report_print_threads(report);
	else
		print_ranges(report, rows, ranges, &width);
	if (!n && !threads && xsp_filter_given(&report->filter))
		puts("... nothing matches the filters: leave out --name, --category, --pid, --tid, "
		     "--from or --to");
	else if (!n && !threads && !xsprof_trace_get_kernel(report->source.trace, &kernel))
		puts("... no ranges, and no scheduler events, which show where the time of threads "
		     "went: record with -e sched");
	else if (!n && !threads && !report->events && info.truncated)
		puts("... nothing was recorded yet: its recorder still runs, or was killed");
	else if (!n && !threads && !report->events && (info.lost_records || info.lost_slots))
		puts("... all records were lost: 'xsprof record' printed why");
	else if (!n && !threads && !report->events)
		puts("... nothing was recorded: 'xsprof record' printed why; -e sched records "
		     "where the time of any program's threads goes");
	if (report->shapes)
		report_print_left(report, ranges);
	if (report->unsure)
		printf("... and %" PRIu64 " open range%s not counted in any row: the end of the "
		       "process is only known as an interval%s\n", report->unsure,
		       report->unsure == 1 ? "" : "s",
		       report->show.all ? "" : " (--open lists all open ranges)");
	if (!threads)
		report_print_cause(report, rows, ranges, &width);
	report_print_usage(report, rows, ranges, &width);
	report_print_out_of_memory(report);
	report_print_waits(report, rows + ranges, n - ranges);
	print_others(report, rows + ranges, n - ranges);
	if (report->unlisted)
		printf("... and %" PRIu64 " events without a row\n", report->unlisted);
	if (!report->no_open)
		open_ranges_print(&report->open, &report->show);
}
