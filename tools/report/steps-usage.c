// SPDX-License-Identifier: GPL-2.0-only
/*
 * How much memory was allocated in each step: a table below that of its times, with the same rows,
 * and JSON.  It never counts anything.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/tool.h"
#include "report/steps.h"

static const struct {
	const char	*peak;
	const char	*end;
	const char	*json;
} kinds[XSP_USED_KINDS] = {
	[XSP_USED_CPU]	  = { "CPU peak", "CPU at end", "cpu" },
	[XSP_USED_DEVICE] = { "Device peak", "Device at end", "device" },
};

void steps_print_begin(const struct report_steps *steps, const struct report_step *step)
{
	uint64_t ns = step->begin - steps->report->first_ns;

	printf("%8" PRIu64 "  %4" PRIu64 ".%09" PRIu64, step->number, ns / 1000000000u,
	       ns % 1000000000u);
}

static bool is_known(const struct report_step *list, size_t n, int kind)
{
	for (size_t i = 0; i < n; i++)
		if (list[i].bytes[kind].known)
			return true;
	return false;
}

static void print_cell(bool known, uint64_t bytes, const char *head)
{
	char cell[32] = "-";

	if (known)
		tool_format_bytes(cell, sizeof(cell), bytes);
	printf("  %*s", (int)report_max(strlen(head), sizeof("999.9 MB") - 1), cell);
}

static void print_heads(const bool known[XSP_USED_KINDS])
{
	bool bold = report_colours();

	printf("%s%8s  %14s", bold ? "\033[1m" : "", "Step", "Begin");
	for (int k = 0; k < XSP_USED_KINDS; k++)
		if (known[k])
			printf("  %8s  %8s", kinds[k].peak, kinds[k].end);
	puts(bold ? "\033[0m" : "");
}

void steps_print_usage(const struct report_steps *steps, const struct report_step *list, size_t n,
		       size_t shown)
{
	bool known[XSP_USED_KINDS], any = false;

	for (int k = 0; k < XSP_USED_KINDS; k++)
		any |= known[k] = is_known(list, n, k);
	if (!any)
		return;
	puts("\n# memory allocated by the process, as counted by its allocators");
	print_heads(known);
	for (size_t i = 0; i < shown; i++) {
		steps_print_begin(steps, &list[i]);
		for (int k = 0; k < XSP_USED_KINDS; k++) {
			const struct step_bytes *bytes = &list[i].bytes[k];

			if (!known[k])
				continue;
			print_cell(bytes->known, bytes->peak, kinds[k].peak);
			print_cell(bytes->known, bytes->end, kinds[k].end);
		}
		puts(list[i].uncertain ? "  records were lost: may have been more" :
		     list[i].switched ? "  markers were disabled: may have been more" : "");
	}
}

void steps_json_usage(const struct report_step *step)
{
	for (int k = 0; k < XSP_USED_KINDS; k++)
		if (step->bytes[k].known)
			printf(",\"peak_%s_bytes\":%" PRIu64 ",\"%s_bytes_at_end\":%" PRIu64,
			       kinds[k].json, step->bytes[k].peak, kinds[k].json,
			       step->bytes[k].end);
}
