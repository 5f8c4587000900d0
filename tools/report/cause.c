// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints the causes of the time of rows, as columns and as JSON: a separate table below that of
 * durations, with the same rows. Counts nothing.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/tool.h"
#include "report/local.h"

static const struct {
	const char	*head;
	const char	*json;
} classes[CAUSE_CLASSES] = {
	[CAUSE_CPU]	 = { "On-CPU",	 "on_cpu" },
	[CAUSE_SYSCALL]	 = { "Syscall",	 "syscall" },
	[CAUSE_FAULT]	 = { "Fault",	 "fault" },
	[CAUSE_IRQ]	 = { "IRQ",	 "irq" },
	[CAUSE_SOFTIRQ]	 = { "Softirq",	 "softirq" },
	[CAUSE_RUNNABLE] = { "Runnable", "runnable" },
	[CAUSE_BLOCKED]	 = { "Blocked",	 "blocked" },
	[CAUSE_IO]	 = { "IO",	 "io" },
	[CAUSE_GIL]	 = { "GIL",	 "gil" },
	[CAUSE_UNKNOWN]	 = { "Unknown",	 "unknown" },
};

/* The order of the columns: the most important first. */
static const uint8_t order[CAUSE_CLASSES] = {
	CAUSE_CPU, CAUSE_RUNNABLE, CAUSE_BLOCKED, CAUSE_GIL, CAUSE_IO, CAUSE_SYSCALL, CAUSE_FAULT,
	CAUSE_IRQ, CAUSE_SOFTIRQ, CAUSE_UNKNOWN,
};

static const struct {
	size_t		at;
	const char	*word;
} sources[] = {
	{ offsetof(struct cause_stats, switches), "sched" },
	{ offsetof(struct cause_stats, irqs), "irq" },
	{ offsetof(struct cause_stats, softirqs), "softirq" },
	{ offsetof(struct cause_stats, syscalls), "syscalls" },
	{ offsetof(struct cause_stats, faults), "faults" },
};

#define NR_SOURCES	(sizeof(sources) / sizeof(sources[0]))

static bool seen(const struct cause_stats *stats, size_t i)
{
	uint64_t n;

	memcpy(&n, (const char *)stats + sources[i].at, sizeof(n));
	return n > 0;
}

/* A recorder stops the tracer first, and ends itself within this time. */
#define AFTER_SAID	10000000u	/* ns */

void report_print_sources(const struct cause_stats *stats)
{
	const char *missing = NULL;
	char ns[32];

	fputs("# sources of thread times:", stdout);
	for (size_t i = 0; i < NR_SOURCES; i++)
		if (seen(stats, i))
			printf(" %s", sources[i].word);
	fputs("; not recorded:", stdout);
	for (size_t i = 0; i < NR_SOURCES; i++) {
		if (seen(stats, i))
			continue;
		missing = sources[i].word;
		printf(" %s", missing);
	}
	puts(missing ? "" : " nothing");
	if (stats->lost)
		printf("# kernel events were lost in %" PRIu64 " places: times around these are "
		       "unknown\n", stats->lost);
	if (stats->after >= AFTER_SAID)
		printf("# kernel events end %s before the program's events: times after that are "
		       "unknown\n", tool_format_time(ns, sizeof(ns), stats->after));
	if (stats->missed)
		printf("# at least %" PRIu64 " switches are missing: some kernels omit them, and "
		       "do not count them as lost; --filter-tree leaves out those of other tasks\n"
		       "# without a switch, the task on a CPU is inferred from other events, or "
		       "unknown\n", stats->missed);
	if (stats->forgotten)
		printf("# the times of %" PRIu64 " ranges are unknown: they began before the "
		       "kernel events kept in memory\n", stats->forgotten);
	if (stats->refused)
		puts("# too many tasks: the times of some are unknown");
}

static void cells_of(uint64_t wall, const struct cause_sum *sum, char cell[CAUSE_COLUMNS][32])
{
	tool_format_time(cell[0], 32, wall);
	for (int i = 0; i < CAUSE_CLASSES; i++) {
		if (sum->v[order[i]])
			tool_format_time(cell[i + 1], 32, sum->v[order[i]]);
		else
			strcpy(cell[i + 1], "-");
	}
}

static const char *head_of(int column)
{
	return column ? classes[order[column - 1]].head : "Wall";
}

void cause_columns_widen(struct cause_columns *columns, uint64_t wall, const struct cause_sum *sum)
{
	char cell[CAUSE_COLUMNS][32];

	cells_of(wall, sum, cell);
	for (int c = 0; c < CAUSE_COLUMNS; c++)
		/* Most programs have no GIL: the column is there where a row needs it. */
		if (c == 0 || order[c - 1] != CAUSE_GIL || sum->v[CAUSE_GIL])
			columns->wide[c] = report_max(report_max(columns->wide[c],
								 strlen(head_of(c))),
						      strlen(cell[c]));
}

void cause_columns_heads(const struct cause_columns *columns)
{
	for (int c = 0; c < CAUSE_COLUMNS; c++)
		if (columns->wide[c])
			printf("%*s  ", (int)columns->wide[c], head_of(c));
}

void cause_columns_print(const struct cause_columns *columns, uint64_t wall,
			 const struct cause_sum *sum)
{
	char cell[CAUSE_COLUMNS][32];

	cells_of(wall, sum, cell);
	for (int c = 0; c < CAUSE_COLUMNS; c++)
		if (columns->wide[c])
			printf("%*s  ", (int)columns->wide[c], cell[c]);
}

void report_print_cause(const struct report *report, struct xsp_group **rows, size_t n,
			const struct report_width *width)
{
	const struct cause_stats *stats = cause_get_stats(report->cause);
	struct report_width wide = *width;
	struct cause_columns columns = { 0 };
	size_t i, shown, none = 0;
	bool bold = report_colours();

	if (!stats->switches)
		return;
	for (i = 0; i < n && i < report->reading.limit; i++)
		none += rows[i]->timed && !rows[i]->of_thread;
	for (i = shown = 0; i < n && shown < report->reading.limit; i++) {
		if (!rows[i]->wall)
			continue;
		shown++;
		report_widen(report, rows[i], &wide);
		cause_columns_widen(&columns, rows[i]->wall, &rows[i]->cause);
	}
	putchar('\n');
	report_print_sources(stats);
	if (none)
		printf("# %zu %s of async ranges, GPU activities or spans without a thread: no "
		       "such times\n", none, none > 1 ? "rows above are" : "row above is");
	if (!shown)
		return;
	printf("\n%s", bold ? "\033[1m" : "");
	cause_columns_heads(&columns);
	report_print_heads(report, &wide, bold);
	for (i = shown = 0; i < n && shown < report->reading.limit; i++) {
		if (!rows[i]->wall)
			continue;
		shown++;
		cause_columns_print(&columns, rows[i]->wall, &rows[i]->cause);
		report_print_words(report, rows[i], &wide);
	}
}

void report_json_sum(const struct cause_sum *sum)
{
	for (int i = 0; i < CAUSE_CLASSES; i++)
		printf(",\"%s_ns\":%" PRIu64, classes[order[i]].json, sum->v[order[i]]);
	printf(",\"faults\":%" PRIu64, sum->v[CAUSE_FAULTS]);
}

const char *report_class_word(uint32_t class)
{
	return class < CAUSE_CLASSES ? classes[class].json : "unknown";
}

void report_json_row_cause(const struct report *report, const struct xsp_group *row)
{
	if (!cause_get_stats(report->cause)->switches)
		return;
	printf(",\"cause\":{\"wall_ns\":%" PRIu64, row->wall);
	report_json_sum(&row->cause);
	putchar('}');
}

void report_json_recorded(const struct cause_stats *stats)
{
	bool first = true;

	fputs("\"recorded\":[", stdout);
	for (size_t i = 0; i < NR_SOURCES; i++) {
		if (!seen(stats, i))
			continue;
		printf("%s\"%s\"", first ? "" : ",", sources[i].word);
		first = false;
	}
	putchar(']');
}

void report_json_cause(const struct report *report)
{
	const struct cause_stats *stats = cause_get_stats(report->cause);

	if (!stats->switches)
		return;
	fputs(",\n\"cause\":{", stdout);
	report_json_recorded(stats);
	printf(",\"losses\":%" PRIu64 ",\"missed\":%" PRIu64 ",\"forgotten\":%" PRIu64
	       ",\"refused\":%" PRIu64 ",\"after_ns\":%" PRIu64 "}", stats->lost, stats->missed,
	       stats->forgotten, stats->refused, stats->after);
}
