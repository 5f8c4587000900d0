// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints reasons of idle times, and copies that blocked their caller, as tables and as JSON.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/tool.h"
#include "cause/cause.h"
#include "report/gpu.h"
#include "text/json.h"

#define SHOWN	12u	/* reasons per device */
#define WHO	3u	/* tasks per reason */

static void put_word(const struct gpu_report *gpu, uint32_t word)
{
	size_t len;
	const char *s = xsp_groups_word(gpu->report->groups, word, &len);

	report_print_text(s, len, 0);
}

static void put_text(const char *s)
{
	report_print_text(s, strlen(s), 0);
}

/* "behind kworker/1:2-45 (3.100 ms), python3-7 (1.000 ms)" */
static void put_who(const struct gpu_idle_row *row)
{
	static const char *const befores[CAUSE_CLASSES] = {
		[CAUSE_RUNNABLE] = " behind ", [CAUSE_GIL] = ", held by ",
	};
	const char *before = befores[row->class] ? befores[row->class] : ", woken by ";
	char text[32];

	for (uint32_t i = 0; i < row->nr_who && i < WHO; i++) {
		const struct gpu_idle_who *who = &row->who[i];

		fputs(i ? ", " : before, stdout);
		if (who->context == CAUSE_IN_SOFTIRQ) {
			fputs("a softirq", stdout);
		} else if (who->context == CAUSE_IN_IRQ) {
			fputs("an interrupt", stdout);
		} else if (!who->tid) {
			fputs("an idle CPU", stdout);
		} else {
			put_text(who->comm);
			printf("-%u%s", who->tid, who->partial ? " or others" : "");
		}
		if (who->ns < row->ns)
			printf(" (%s)", tool_format_time(text, sizeof(text), who->ns));
	}
	if (row->nr_who > WHO)
		fputs(", and others", stdout);
}

/* The thread that launched the next activity late, and what it did before. */
static void put_late(const struct gpu_report *gpu, const struct gpu_idle_row *row)
{
	static const char *const words[CAUSE_CLASSES] = {
		[CAUSE_RUNNABLE] = "runnable", [CAUSE_BLOCKED] = "blocked",
		[CAUSE_IO] = "blocked in IO", [CAUSE_FAULT] = "blocked in a page fault",
		[CAUSE_GIL] = "waiting for the GIL",
	};
	const char *comm = xsprof_trace_thread(gpu->report->source.trace, row->producer, row->tid);

	printf("launch late: thread %u ", row->tid);
	if (*comm) {
		putchar('(');
		put_text(comm);
		fputs(") ", stdout);
	}
	if (row->why == GPU_IDLE_OFF_CPU) {
		fputs(words[row->class] ? words[row->class] : "off the CPU", stdout);
		put_who(row);
		fputs(row->word != GPU_NO_WORD ? ", in " : ", in no range", stdout);
	} else {
		fputs(row->why == GPU_IDLE_CALL ? "in the call " :
		      row->why == GPU_IDLE_RANGE ? "in " : "in no range", stdout);
	}
	if (row->word != GPU_NO_WORD)
		put_word(gpu, row->word);
}

static void put_why(const struct gpu_report *gpu, const struct gpu_idle_row *row)
{
	static const char *const texts[] = {
		[GPU_IDLE_LAUNCHED] = "the next activity was launched, and had not started",
		[GPU_IDLE_NO_CALL] = "no call started the next activity",
		[GPU_IDLE_UNKNOWN] = "unknown: the call that launched the next activity is unknown",
		[GPU_IDLE_UNRECORDED] = "unknown: next to time that was not recorded",
		[GPU_IDLE_OTHER] = "other reasons",
		[GPU_IDLE_SHORT] = "not examined: shorter idle times (--from, --to: those of a "
				   "part)",
	};

	if (texts[row->why])
		fputs(texts[row->why], stdout);
	else
		put_late(gpu, row);
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
		printf("#   ... reasons left out: %" PRIu64 "\n", left);
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

/* "tid" 0: an idle CPU, or an interrupt, which "name" tells. */
static void json_who(const struct gpu_idle_row *row)
{
	printf(",\"cause\":\"%s\",\"who\":[", report_class_word(row->class));
	for (uint32_t i = 0; i < row->nr_who; i++) {
		const struct gpu_idle_who *who = &row->who[i];
		const char *name = who->context == CAUSE_IN_SOFTIRQ ? "softirq" :
				   who->context == CAUSE_IN_IRQ ? "interrupt" : who->comm;

		printf("%s{\"tid\":%u,\"ns\":%" PRIu64 ",\"or_others\":%s,\"name\":",
		       i ? "," : "", who->tid, who->ns, who->partial ? "true" : "false");
		xsp_json_print(stdout, name, strlen(name));
		putchar('}');
	}
	printf("],\"who_left_out_ns\":%" PRIu64, row->who_left_out);
}

void gpu_json_idle(const struct gpu_report *gpu, uint32_t device)
{
	static const char *const words[] = {
		[GPU_IDLE_LAUNCHED] = "launched", [GPU_IDLE_CALL] = "call",
		[GPU_IDLE_OFF_CPU] = "off_cpu", [GPU_IDLE_RANGE] = "range",
		[GPU_IDLE_NO_RANGE] = "no_range", [GPU_IDLE_NO_CALL] = "no_call",
		[GPU_IDLE_UNKNOWN] = "unknown",
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
		if (row->tid)
			printf(",\"tid\":%u", row->tid);
		if (row->why == GPU_IDLE_OFF_CPU)
			json_who(row);
		if (row->tid && row->word != GPU_NO_WORD)
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
