// SPDX-License-Identifier: GPL-2.0-only
/*
 * How work by the range that launched it looks: see launched.h.
 */
#include <inttypes.h>
#include <stdio.h>

#include "cli/tool.h"
#include "report/gpu.h"
#include "report/launched.h"
#include "text/json.h"

static void print_range(const struct gpu_report *gpu, uint32_t in, uint32_t range)
{
	static const char *const texts[GPU_LAUNCHED_INS] = {
		[GPU_IN_UNKNOWN] = "(the call that launched it is not in the capture)",
		[GPU_IN_NO_CALL] = "(no call launched it)",
		[GPU_IN_NO_RANGE] = "(in no op or range)",
	};
	const char *s;
	size_t len;

	if (in < GPU_LAUNCHED_INS) {
		fputs(texts[in], stdout);
		return;
	}
	s = xsp_groups_word(gpu->report->groups, range, &len);
	report_print_text(s, len, 0);
}

static void print_share(const struct gpu_report *gpu, uint64_t ns)
{
	char text[32];

	snprintf(text, sizeof(text), "%.1f %%",
		 gpu->busy ? 100.0 * (double)ns / (double)gpu->busy : 0);
	printf(" %8s", text);
}

static void print_left_out(const struct gpu_report *gpu)
{
	if (gpu->unlisted_launched)
		printf("# of %" PRIu64 " activities the innermost range or the name is left out: "
		       "too many\n", gpu->unlisted_launched);
}

void gpu_print_launchers(const struct gpu_report *gpu, uint64_t rows)
{
	bool bold = report_colours();
	char total[32], self[32];

	if (!gpu->nr_launchers)
		return;
	printf("\n%s%8s %11s %8s %11s  %s%s\n", bold ? "\033[1m" : "", "Launched", "Total", "Busy",
	       "Self", "Op or range that launched it", bold ? "\033[0m" : "");
	for (uint32_t i = 0; i < gpu->nr_launchers && i < rows; i++) {
		const struct gpu_launcher *l = &gpu->launchers[i];

		printf("%8" PRIu64 " %11s", l->count,
		       tool_format_time(total, sizeof(total), l->total));
		print_share(gpu, l->total);
		printf(" %11s  ", tool_format_time(self, sizeof(self), l->self));
		print_range(gpu, l->in, l->range);
		putchar('\n');
	}
	if (gpu->nr_launchers > rows)
		printf("... rows left out: %" PRIu64 ": --gpu --by op\n", gpu->nr_launchers - rows);
	print_left_out(gpu);
}

void gpu_print_launched(const struct gpu_report *gpu)
{
	uint64_t limit = gpu->report->reading.limit;
	bool bold = report_colours();
	char total[32], mean[32];
	const char *s;
	size_t len;

	printf("\n%s%8s %11s %8s %11s  %s%s\n", bold ? "\033[1m" : "", "Count", "Total", "Busy",
	       "Mean", "Activity, and the op or range that launched it", bold ? "\033[0m" : "");
	for (uint32_t i = 0; i < gpu->nr_launched && i < limit; i++) {
		const struct gpu_launched_row *row = &gpu->launched[i];

		printf("%8" PRIu64 " %11s", row->count,
		       tool_format_time(total, sizeof(total), row->ns));
		print_share(gpu, row->ns);
		printf(" %11s  ", tool_format_time(mean, sizeof(mean), row->ns / row->count));
		s = xsp_groups_word(gpu->report->groups, row->work, &len);
		report_print_text(s, len, 0);
		fputs(", ", stdout);
		print_range(gpu, row->in, row->range);
		putchar('\n');
	}
	if (gpu->nr_launched > limit)
		printf("... rows left out: %" PRIu64 "\n", gpu->nr_launched - limit);
	print_left_out(gpu);
}

static void json_range(const struct gpu_report *gpu, uint32_t in, uint32_t range)
{
	static const char *const words[] = {
		[GPU_IN_UNKNOWN] = "unknown", [GPU_IN_NO_CALL] = "no_call",
		[GPU_IN_NO_RANGE] = "no_range", [GPU_IN_RANGE] = "range",
	};
	const char *s;
	size_t len;

	printf("\"launched_in\":\"%s\",\"range\":", words[in]);
	s = in == GPU_IN_RANGE ? xsp_groups_word(gpu->report->groups, range, &len) : NULL;
	if (s)
		xsp_json_print(stdout, s, len);
	else
		fputs("null", stdout);
}

void gpu_json_launched(const struct gpu_report *gpu)
{
	uint64_t limit = gpu->report->reading.limit;
	const char *s;
	size_t len;

	fputs(",\"launchers\":[", stdout);
	for (uint32_t i = 0; i < gpu->nr_launchers && i < limit; i++) {
		const struct gpu_launcher *l = &gpu->launchers[i];

		fputs(i ? ",{" : "{", stdout);
		json_range(gpu, l->in, l->range);
		printf(",\"count\":%" PRIu64 ",\"total_ns\":%" PRIu64 ",\"self_ns\":%" PRIu64 "}",
		       l->count, l->total, l->self);
	}
	fputs("],\"launched\":[", stdout);
	for (uint32_t i = 0; i < gpu->nr_launched && i < limit; i++) {
		const struct gpu_launched_row *row = &gpu->launched[i];

		s = xsp_groups_word(gpu->report->groups, row->work, &len);
		fputs(i ? ",{\"name\":" : "{\"name\":", stdout);
		xsp_json_print(stdout, s, len);
		putchar(',');
		json_range(gpu, row->in, row->range);
		printf(",\"count\":%" PRIu64 ",\"total_ns\":%" PRIu64 "}", row->count, row->ns);
	}
	printf("],\"launched_unlisted\":%" PRIu64, gpu->unlisted_launched);
}
