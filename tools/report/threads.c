// SPDX-License-Identifier: GPL-2.0-only
/*
 * A table of threads, for captures with scheduler events and no ranges: how long each ran, waited
 * and slept, and how often it was switched away. It has the threads of the recorded programs, if
 * the capture shows which these are, else all.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/tool.h"
#include "report/local.h"
#include "text/json.h"

#define TREE_MAX	65536u	/* threads of the recorded programs */

struct thread_row {
	uint32_t		pid;
	uint32_t		tid;
	uint64_t		wall;
	uint64_t		switches;
	struct cause_sum	sum;
};

/**
 * struct thread_table - collected rows
 * @report: the report
 * @rows: the rows to show
 * @nr: their number
 * @room: capacity of @rows
 * @others: threads of other programs
 * @other_ns: their time on CPUs
 * @failed: no memory
 */
struct thread_table {
	const struct report	*report;
	struct thread_row	*rows;
	size_t			nr;
	size_t			room;
	uint64_t		others;
	uint64_t		other_ns;
	bool			failed;
};

/* ---- which threads are the recorded programs' ----------------------------------------------- */

/* With no memory for it a thread counts as one of another program. */
static void add_tid(struct report_threads *threads, uint32_t tid)
{
	if (tid && threads->tree.used < TREE_MAX)
		(void)xsp_map_set(&threads->tree, tid, 1);
}

void report_threads_begin(struct report *report)
{
	struct report_threads *threads = &report->threads;
	struct xsprof_trace *trace = report->source.trace;
	const char *command = xsprof_trace_host_fact(trace, "command_pid");
	const struct xsprof_kernel_event *fork;
	struct xsprof_trace_producer p = { 0 };

	fork = xsprof_trace_kernel_find(trace, "sched", "sched_process_fork");
	threads->fork = fork ? fork->id : UINT32_MAX;
	threads->parent = xsprof_kernel_field(fork, "parent_pid");
	threads->child = xsprof_kernel_field(fork, "child_pid");
	if (command)
		add_tid(threads, (uint32_t)strtoul(command, NULL, 10));
	for (uint32_t i = 0; !xsprof_trace_get_producer(trace, i, &p); i++)
		add_tid(threads, xsprof_trace_kernel_tid(trace, i, p.pid));
}

static bool in_tree(const struct report *report, uint32_t tid)
{
	const struct xsp_map *tree = &report->threads.tree;

	return xsp_map_get(tree, tid) ||
	       xsp_map_get(tree, xsprof_trace_tgid(report->source.trace, tid));
}

void report_threads_count(struct report *report, uint64_t ns)
{
	struct report_threads *threads = &report->threads;

	if (threads->counting || ns < report->filter.from_ns)
		return;
	threads->counting = true;
	cause_count_from(report->cause, report->filter.from_ns ? report->filter.from_ns : ns);
	/* Steps are whole. */
	if (report->filter.from_ns && !report->steps)
		cause_clip(report->cause, report->filter.from_ns);
}

void report_threads_event(struct report *report, const struct xsprof_event *ev)
{
	struct report_threads *threads = &report->threads;
	uint64_t parent, child;

	report_threads_count(report, ev->ns);
	if (ev->type == XSPROF_EV_KERNEL && ev->name == threads->fork &&
	    xsprof_kernel_value(ev, threads->parent, &parent) &&
	    xsprof_kernel_value(ev, threads->child, &child) &&
	    in_tree(report, (uint32_t)parent))
		add_tid(threads, (uint32_t)child);
}

void report_threads_free(struct report *report)
{
	xsp_map_free(&report->threads.tree);
}

bool report_threads_wanted(const struct report *report, size_t ranges)
{
	return !ranges && report->threads.counting && cause_get_stats(report->cause)->switches &&
	       !xsp_filter_names(&report->filter);
}

/* ---- rows ----------------------------------------------------------------------------------- */

static uint64_t on_cpu(const struct cause_sum *sum)
{
	return sum->v[CAUSE_CPU] + sum->v[CAUSE_SYSCALL];
}

/* In a pid namespace the program's number of a thread stands for that of the kernel. */
static struct thread_row make_row(const struct report *report, uint64_t key,
				  const struct cause_sum *sum, uint64_t switches)
{
	struct thread_row row = { .tid = (uint32_t)key, .switches = switches, .sum = *sum };
	struct xsprof_trace_producer p = { 0 };

	if (key > UINT32_MAX &&
	    !xsprof_trace_get_producer(report->source.trace, (uint32_t)(key >> 32) - 1, &p))
		row.pid = p.pid;
	else
		row.pid = xsprof_trace_tgid(report->source.trace, row.tid);
	if (!row.pid)
		row.pid = row.tid;
	row.sum.v[CAUSE_UNKNOWN] = 0;
	for (int i = 0; i < CAUSE_CLASSES; i++)
		row.wall += row.sum.v[i];
	return row;
}

static void add_task(void *data, uint64_t key, const struct cause_sum *sum, uint64_t switches)
{
	struct thread_table *table = data;
	const struct report *report = table->report;
	const struct xsp_filter *filter = &report->filter;
	struct thread_row row = make_row(report, key, sum, switches), *rows;
	bool given = filter->pid.n || filter->tid.n;

	if (!row.wall || !xsp_filter_thread(filter, row.pid, row.tid))
		return;
	if (!given && report->threads.tree.used && key <= UINT32_MAX &&
	    !in_tree(report, row.tid)) {
		table->others++;
		table->other_ns += on_cpu(sum);
		return;
	}
	if (table->nr == table->room) {
		table->room = table->room ? table->room * 2 : 256;
		rows = realloc(table->rows, table->room * sizeof(*rows));
		if (!rows) {
			table->failed = true;
			table->room = table->nr;
			return;
		}
		table->rows = rows;
	}
	table->rows[table->nr++] = row;
}

static int by_time(const void *one, const void *two)
{
	const struct thread_row *a = one, *b = two;
	uint64_t x = on_cpu(&a->sum), y = on_cpu(&b->sum);

	if (x != y)
		return x > y ? -1 : 1;
	return (a->tid > b->tid) - (a->tid < b->tid);
}

static struct thread_table collect(const struct report *report)
{
	uint64_t end = report->show.window ? report->filter.to_ns : report->last_ns;
	struct thread_table table = { .report = report };

	cause_each(report->cause, end, add_task, &table);
	if (table.nr)
		qsort(table.rows, table.nr, sizeof(table.rows[0]), by_time);
	return table;
}

/* "python3-4711" */
static const char *task_text(const struct report *report, uint32_t tid, char *buf, size_t size)
{
	const char *comm = xsprof_trace_comm(report->source.trace, tid);

	snprintf(buf, size, "%.64s-%u", *comm ? comm : "?", tid);
	return buf;
}

/* ---- output --------------------------------------------------------------------------------- */

static void print_rows(const struct report *report, const struct thread_table *table, size_t shown)
{
	size_t process = strlen("Process"), switches = strlen("Switches");
	struct cause_columns columns = { 0 };
	bool bold = report_colours();
	char buf[96];

	for (size_t i = 0; i < shown; i++) {
		const struct thread_row *row = &table->rows[i];

		cause_columns_widen(&columns, row->wall, &row->sum);
		process = report_max(process, strlen(task_text(report, row->pid, buf,
							       sizeof(buf))));
		switches = report_max(switches, (size_t)snprintf(buf, sizeof(buf), "%" PRIu64,
								 row->switches));
	}
	fputs(bold ? "\033[1m" : "", stdout);
	cause_columns_heads(&columns);
	printf("%*s  %-*s  Thread%s\n", (int)switches, "Switches", (int)process, "Process",
	       bold ? "\033[0m" : "");
	for (size_t i = 0; i < shown; i++) {
		const struct thread_row *row = &table->rows[i];

		cause_columns_print(&columns, row->wall, &row->sum);
		printf("%*" PRIu64 "  ", (int)switches, row->switches);
		task_text(report, row->pid, buf, sizeof(buf));
		report_print_text(buf, strlen(buf), process);
		task_text(report, row->tid, buf, sizeof(buf));
		fputs("  ", stdout);
		report_print_text(buf, strlen(buf), 0);
		putchar('\n');
	}
}

void report_print_threads(const struct report *report)
{
	struct thread_table table = collect(report);
	size_t shown = table.nr < report->reading.limit ? table.nr : report->reading.limit;
	char ns[32];

	printf("# no range%s: where the time of threads went, by scheduler events\n",
	       xsp_filter_given(&report->filter) ? " matches the filters" : "s");
	report_print_sources(cause_get_stats(report->cause));
	putchar('\n');
	if (shown)
		print_rows(report, &table, shown);
	else if (!table.others && xsp_filter_given(&report->filter))
		puts("... nothing matches the filters: leave out --name, --category, --pid, --tid, "
		     "--from or --to");
	if (table.nr > shown)
		printf("... rows left out: %zu\n", table.nr - shown);
	if (table.others)
		printf("... and %" PRIu64 " thread%s of other programs ran for %s: --pid or --tid "
		       "shows them\n", table.others, table.others == 1 ? "" : "s",
		       tool_format_time(ns, sizeof(ns), table.other_ns));
	if (table.failed)
		puts("... more threads left out: out of memory");
	free(table.rows);
}

void report_json_threads(const struct report *report)
{
	struct thread_table table = collect(report);
	char buf[96];

	fputs(",\n\"threads\":[", stdout);
	for (size_t i = 0; i < table.nr && i < report->reading.limit; i++) {
		const struct thread_row *row = &table.rows[i];

		printf("%s{\"wall_ns\":%" PRIu64, i ? ",\n" : "\n", row->wall);
		report_json_sum(&row->sum);
		printf(",\"switches\":%" PRIu64 ",\"process\":", row->switches);
		task_text(report, row->pid, buf, sizeof(buf));
		xsp_json_print(stdout, buf, strlen(buf));
		printf(",\"pid\":%u,\"thread\":", row->pid);
		task_text(report, row->tid, buf, sizeof(buf));
		xsp_json_print(stdout, buf, strlen(buf));
		printf(",\"tid\":%u}", row->tid);
	}
	printf("],\"other_threads\":%" PRIu64, table.others);
	free(table.rows);
}
