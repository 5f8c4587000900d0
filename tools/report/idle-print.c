// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints reasons of idle times, and copies that blocked their caller, as tables and as JSON.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/tool.h"
#include "report/gpu.h"
#include "text/json.h"

#define SHOWN	12u	/* reasons per device */

static void put_word(const struct gpu_report *gpu, uint32_t word)
{
	size_t len;
	const char *s = xsp_groups_word(gpu->report->groups, word, &len);

	report_print_text(s, len, 0);
}

static void put_why(const struct gpu_report *gpu, const struct gpu_idle_row *row)
{
	static const char *const texts[] = {
		[GPU_IDLE_LAUNCHED] = "the next activity was launched, but had not started",
		[GPU_IDLE_CALL] = "nothing launched: the host was in the call ",
		[GPU_IDLE_OFF_CPU] = "nothing launched: the host was off the CPU (",
		[GPU_IDLE_RANGE] = "nothing launched: the host was in ",
		[GPU_IDLE_NO_RANGE] = "nothing launched: the host was in no range",
		[GPU_IDLE_UNKNOWN] = "unknown: the call that launched the next activity is unknown",
		[GPU_IDLE_UNRECORDED] = "unknown: devices were not recorded",
		[GPU_IDLE_OTHER] = "other reasons",
		[GPU_IDLE_SHORT] = "not examined: shorter idle times",
	};

	fputs(texts[row->why], stdout);
	if (row->why == GPU_IDLE_OFF_CPU) {
		printf("%s)", report_class_word(row->class));
		fputs(row->word ? " in " : " in no range", stdout);
	}
	if (row->word)
		put_word(gpu, row->word);
	putchar('\n');
}

void gpu_print_idle(const struct gpu_report *gpu, uint32_t device)
{
	uint64_t limit = gpu->report->reading.limit < SHOWN ? gpu->report->reading.limit : SHOWN;
	uint64_t shown = 0, left = 0;
	char text[32];

	if (!gpu->nr_idle)
		return;
	for (uint32_t i = 0; i < gpu->nr_idle; i++) {
		const struct gpu_idle_row *row = &gpu->idle[i];

		if (row->device != device)
			continue;
		if (!shown && !left)
			printf("#   idle for %s:\n",
			       tool_format_time(text, sizeof(text),
						gpu_idle_ns(&gpu->devices[device])));
		if (shown == limit) {
			left++;
			continue;
		}
		shown++;
		printf("#   %12s  ", tool_format_time(text, sizeof(text), row->ns));
		if (row->count)
			printf("%6" PRIu64 " x  ", row->count);
		else
			printf("%8s  ", "");
		put_why(gpu, row);
	}
	if (left)
		printf("#   ... and %" PRIu64 " more reasons\n", left);
}

void gpu_print_copies(const struct gpu_report *gpu)
{
	bool bold = report_colours();
	char a[32], b[32], c[32];
	uint32_t n = 0;

	for (uint32_t i = 0; i < gpu->nr_copies; i++)
		n += gpu->copies[i].blocked > 0;
	if (n)
		printf("\n%s%8s %8s %11s %11s %11s  %s%s\n", bold ? "\033[1m" : "", "Blocked",
		       "Of", "In calls", "Longest", "Bytes", "Copy that its call waited for",
		       bold ? "\033[0m" : "");
	for (uint32_t i = 0; i < gpu->nr_copies; i++) {
		const struct gpu_copy_row *row = &gpu->copies[i];

		if (!row->blocked)
			continue;
		printf("%8" PRIu64 " %8" PRIu64 " %11s %11s %11s  ", row->blocked, row->count,
		       tool_format_time(a, sizeof(a), row->ns),
		       tool_format_time(b, sizeof(b), row->longest),
		       tool_format_bytes(c, sizeof(c), row->bytes));
		put_word(gpu, row->copy);
		fputs(", by ", stdout);
		put_word(gpu, row->call);
		putchar('\n');
	}
	if (gpu->unlisted_copies)
		printf("# %" PRIu64 " copies are not listed: too many kinds\n",
		       gpu->unlisted_copies);
}

static void json_word(const struct gpu_report *gpu, const char *key, uint32_t word)
{
	size_t len;
	const char *s = xsp_groups_word(gpu->report->groups, word, &len);

	printf(",\"%s\":", key);
	xsp_json_print(stdout, s, len);
}

void gpu_json_idle(const struct gpu_report *gpu, uint32_t device)
{
	static const char *const words[] = {
		[GPU_IDLE_LAUNCHED] = "launched", [GPU_IDLE_CALL] = "call",
		[GPU_IDLE_OFF_CPU] = "off_cpu", [GPU_IDLE_RANGE] = "range",
		[GPU_IDLE_NO_RANGE] = "no_range", [GPU_IDLE_UNKNOWN] = "unknown",
		[GPU_IDLE_UNRECORDED] = "unrecorded", [GPU_IDLE_OTHER] = "other",
		[GPU_IDLE_SHORT] = "not_examined",
	};
	const char *sep = "";

	printf(",\"idle_ns\":%" PRIu64 ",\"idle\":[", gpu_idle_ns(&gpu->devices[device]));
	for (uint32_t i = 0; i < gpu->nr_idle; i++) {
		const struct gpu_idle_row *row = &gpu->idle[i];

		if (row->device != device)
			continue;
		printf("%s{\"why\":\"%s\",\"ns\":%" PRIu64 ",\"count\":%" PRIu64, sep,
		       words[row->why], row->ns, row->count);
		if (row->why == GPU_IDLE_OFF_CPU)
			printf(",\"cause\":\"%s\"", report_class_word(row->class));
		if (row->word)
			json_word(gpu, row->why == GPU_IDLE_CALL ? "call" : "range", row->word);
		putchar('}');
		sep = ",";
	}
	putchar(']');
}

void gpu_json_copies(const struct gpu_report *gpu)
{
	fputs(",\"copies\":[", stdout);
	for (uint32_t i = 0; i < gpu->nr_copies; i++) {
		const struct gpu_copy_row *row = &gpu->copies[i];

		printf("%s{\"count\":%" PRIu64 ",\"blocked\":%" PRIu64 ",\"bytes\":%" PRIu64
		       ",\"in_calls_ns\":%" PRIu64 ",\"longest_ns\":%" PRIu64, i ? "," : "",
		       row->count, row->blocked, row->bytes, row->ns, row->longest);
		json_word(gpu, "copy", row->copy);
		json_word(gpu, "call", row->call);
		putchar('}');
	}
	putchar(']');
}
