// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints a report as JSON, with all numbers in nanoseconds and bytes. Counts nothing.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/tool.h"
#include "format/common/out.h"
#include "report/local.h"
#include "text/json.h"

static void json_word(const char *key, const struct report *report, uint32_t word)
{
	size_t len;
	const char *s = xsp_groups_word(report->groups, word, &len);

	printf(",\"%s\":", key);
	xsp_json_print(stdout, s, len);
}

static void json_words(const struct report *report, const struct xsp_group *row)
{
	bool other = xsp_groups_is_other(report->groups, row);
	char buf[160];
	const char *s;

	if (report->by & REPORT_BY_NAME || row->key.type)
		json_word("name", report, other ? 0 : row->key.name);
	if (row->key.shape)
		json_word("inputs", report, row->key.shape);
	if (row->key.module)
		json_word(report->by & REPORT_BY_LINE ? "line" : "module", report, row->key.module);
	if (report->by & REPORT_BY_CATEGORY || (report->split && !row->key.type))
		json_word("category", report, other ? 0 : row->key.category);
	if (row->key.producer) {
		s = report_process(report, row, buf, sizeof(buf));
		fputs(",\"process\":", stdout);
		xsp_json_print(stdout, s, strlen(s));
		printf(",\"producer\":%u,\"pid\":%u", row->key.producer - 1, row->pid);
	}
	if (row->key.tid) {
		s = xsprof_trace_thread(report->source.trace, row->key.producer - 1,
					(uint32_t)(row->key.tid - 1));
		fputs(",\"thread\":", stdout);
		xsp_json_print(stdout, s, strlen(s));
		printf(",\"tid\":%" PRIu64, row->key.tid - 1);
	}
	putchar('}');
}

static void json_time(const char *key, bool known, uint64_t ns)
{
	if (known)
		printf(",\"%s\":%" PRIu64, key, ns);
	else
		printf(",\"%s\":null", key);
}

static void json_range(const struct report *report, const struct xsp_group *row)
{
	printf("{\"count\":%" PRIu64 ",\"total_ns\":%" PRIu64, row->count, row->total);
	json_time("self_ns", row->on_thread, row->self);
	json_time("mean_ns", row->timed, row->timed ? row->sum / row->timed : 0);
	json_time("min_ns", row->timed, row->min);
	json_time("p50_ns", row->timed && !row->no_hist, xsp_group_quantile(row, 0.5));
	json_time("p99_ns", row->timed && !row->no_hist, xsp_group_quantile(row, 0.99));
	json_time("max_ns", row->timed, row->max);
	printf(",\"cut\":%" PRIu64 ",\"open\":%" PRIu64 ",\"uncertain\":%" PRIu64,
	       row->how[XSPROF_RANGE_CUT], row->how[XSPROF_RANGE_OPEN], row->uncertain);
	report_json_row_usage(report, row);
	report_json_row_cause(report, row);
	json_words(report, row);
}

static void json_other(const struct report *report, const struct xsp_group *row)
{
	char low[XSP_PUT_MAX + 2], high[XSP_PUT_MAX + 2], last[XSP_PUT_MAX + 2];

	printf("{\"type\":\"%s\",\"count\":%" PRIu64, xsp_word_type((uint16_t)row->key.type),
	       row->count);
	if (report_is_counter(row->key.type)) {
		bool any = row->strange != row->count;

		*xsp_json_double(low, row->low) = '\0';
		*xsp_json_double(high, row->high) = '\0';
		*xsp_json_double(last, row->last) = '\0';
		printf(",\"min\":%s,\"max\":%s,\"last\":%s,\"not_finite\":%" PRIu64,
		       any ? low : "null", any ? high : "null", last, row->strange);
	}
	if (row->timed)
		printf(",\"waits\":%" PRIu64 ",\"wait_ns\":%" PRIu64 ",\"wait_min_ns\":%" PRIu64
		       ",\"wait_max_ns\":%" PRIu64, row->timed, row->sum, row->min, row->max);
	json_words(report, row);
}

static void json_places(const struct report_modules *modules, const char *what)
{
	printf(",\"%s_recorded\":%s,\"%s_left_out\":%" PRIu64 ",\"%s_without_room\":%" PRIu64,
	       what, report_modules_any(modules) ? "true" : "false", what,
	       report_modules_unlinked(modules), what, report_modules_crowded(modules));
}

void report_print_json(struct report *report)
{
	struct xsprof_trace_info info = { .size_of = sizeof(info) };
	struct xsp_group **rows;
	size_t n, ranges, i;

	rows = report_sort(report, &n, &ranges);
	if (xsprof_trace_get_info(report->source.trace, &info) < 0)
		memset(&info, 0, sizeof(info));
	printf("{\"events\":%" PRIu64 ",\"span_ns\":%" PRIu64 ",\"ended\":%" PRIu64
	       ",\"cut\":%" PRIu64 ",\"open\":%" PRIu64 ",\"open_unsure\":%" PRIu64
	       ",\"uncertain\":%" PRIu64
	       ",\"unmatched_ends\":%" PRIu64 ",\"too_deep\":%" PRIu64
	       ",\n\"lost_records\":%" PRIu64 ",\"lost_slots\":%" PRIu64 ",\"bad_slots\":%" PRIu64
	       ",\"damaged_chunks\":%" PRIu64 ",\"not_recorded\":%u,\"truncated\":%s"
	       ",\"clock_error_ns\":%" PRIu64,
	       report->events, report_shown_ns(report),
	       report->ranges[XSPROF_RANGE_ENDED], report->ranges[XSPROF_RANGE_CUT],
	       report->ranges[XSPROF_RANGE_OPEN], report->unsure, report->nr_uncertain,
	       report->pairs.unmatched_ends, report->pairs.too_deep, info.lost_records,
	       info.lost_slots, info.bad_slots, info.bad_chunks,
	       xsp_source_nr_unrecorded(&report->source), info.truncated ? "true" : "false",
	       info.clock_error_ns);
	report_json_cause(report);
	report_json_usage(report);
	if (report->steps) {
		report_json_steps(report->steps);
		fputs("}\n", stdout);
		return;
	}
	fputs(",\n\"ranges\":[", stdout);
	for (i = 0; i < ranges && i < report->reading.limit; i++) {
		fputs(i ? ",\n" : "\n", stdout);
		json_range(report, rows[i]);
	}
	putchar(']');
	if (report_threads_wanted(report, ranges))
		report_json_threads(report);
	fputs(",\n\"others\":[", stdout);
	for (i = ranges; i < n && i - ranges < report->reading.limit; i++) {
		fputs(i > ranges ? ",\n" : "\n", stdout);
		json_other(report, rows[i]);
	}
	printf("],\n\"waits_left_out\":%" PRIu64, report_waits_crowded(report->waits));
	if (report->by & REPORT_BY_PLACE)
		json_places(report_shapes_modules(report->shapes),
			    report->by & REPORT_BY_LINE ? "lines" : "modules");
	if (report->by & REPORT_BY_SHAPE)
		printf(",\"inputs_recorded\":%s,\"inputs_left_out\":%" PRIu64,
		       report_shapes_any(report->shapes) ? "true" : "false",
		       report_shapes_crowded(report->shapes));
	fputs(",\n\"open_at_end\":", stdout);
	open_ranges_json(&report->open, &report->show);
	fputs(",\n\"silent_at_end\":", stdout);
	open_silent_json(&report->open, &report->show);
	fputs("}\n", stdout);
}
