// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints how threads shared the GIL, as tables and as JSON.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/tool.h"
#include "format/common/out.h"
#include "report/handovers.h"
#include "text/json.h"
#include "text/utf8.h"

#define CELL	32

/* For the comparison functions, which get no other argument. */
static const struct handovers *sorted;

static int by_number(uint64_t a, uint64_t b)
{
	return a == b ? 0 : a < b ? 1 : -1;
}

static int compare_threads(const void *pa, const void *pb)
{
	const struct handover_thread *a = &sorted->threads[*(const uint32_t *)pa];
	const struct handover_thread *b = &sorted->threads[*(const uint32_t *)pb];
	bool by_held = sorted->report->sort == REPORT_SORT_HELD;
	int order = by_held ? by_number(a->held, b->held) : by_number(a->waited, b->waited);

	if (!order)
		order = by_held ? by_number(a->waited, b->waited) : by_number(a->held, b->held);
	return order ? order : (a > b) - (a < b);
}

static int compare_pairs(const void *pa, const void *pb)
{
	const struct handover_pair *a = &sorted->pairs[*(const uint32_t *)pa];
	const struct handover_pair *b = &sorted->pairs[*(const uint32_t *)pb];
	int order = by_number(a->waited, b->waited);

	if (!order)
		order = by_number(a->count, b->count);
	return order ? order : (a > b) - (a < b);
}

/* Rows that are not empty, sorted. Return: NULL: no memory. */
static uint32_t *order_of(const struct handovers *h, bool pairs, uint32_t *n)
{
	uint32_t nr = pairs ? h->nr_pairs : h->nr_threads;
	uint32_t *order = malloc((nr ? nr : 1) * sizeof(*order));

	*n = 0;
	for (uint32_t i = 0; order && i < nr; i++)
		if (pairs || h->threads[i].waits || h->threads[i].holds)
			order[(*n)++] = i;
	sorted = h;
	if (order && *n)
		qsort(order, *n, sizeof(*order), pairs ? compare_pairs : compare_threads);
	return order;
}

/* Each has a lock of its own. */
static bool has_processes(const struct handovers *h)
{
	for (uint32_t i = 1; i < h->nr_threads; i++)
		if (h->threads[i].pid != h->threads[0].pid)
			return true;
	return false;
}

/*
 * "python3-4127"; with the process if there are several, and the lock's number if an interpreter
 * has its own lock.
 */
static size_t label(const struct handovers *h, uint32_t at, char *to, size_t size)
{
	const struct handover_thread *t = &h->threads[at];
	uint32_t number;
	const char *comm;
	int len;

	if (at == HANDOVER_NONE)
		return (size_t)snprintf(to, size, "-");
	number = h->locks[t->lock].number;
	comm = xsprof_trace_thread(h->report->source.trace, t->producer, t->tid);
	len = snprintf(to, size, "%.*s%s%u", (int)xsp_utf8_piece(comm, strlen(comm), 61), comm,
		       *comm ? "-" : "", t->tid);
	if (h->processes)
		len += snprintf(to + len, size - (size_t)len, " of %u", t->pid);
	if (number)
		len += snprintf(to + len, size - (size_t)len, ", lock %u", number);
	return (size_t)len;
}

static void put_time(uint64_t count, uint64_t ns)
{
	char text[CELL] = "-";

	if (count)
		tool_format_time(text, sizeof(text), ns);
	printf("%11s  ", text);
}

static void put_count(uint64_t n)
{
	if (n)
		printf("%8" PRIu64 "  ", n);
	else
		printf("%8s  ", "-");
}

static void put_label(const struct handovers *h, uint32_t at, size_t width)
{
	char text[160];
	size_t len = label(h, at, text, sizeof(text));

	report_print_text(text, len, width);
}

static void print_summary(const struct handovers *h)
{
	char text[CELL];

	fputs("# ", stdout);
	report_print_text(h->report->source.path, strlen(h->report->source.path), 0);
	printf(": threads waited for the GIL %" PRIu64 " times, ", h->waits);
	tool_format_time(text, sizeof(text), h->waited);
	printf("%s in total", text);
	if (h->open)
		printf("; %" PRIu64 " waits had no end", h->open);
	putchar('\n');
	if (h->doubtful)
		printf("# %" PRIu64 " waits are in no row: records were lost inside them\n",
		       h->doubtful);
	if (h->left_out)
		printf("# %" PRIu64 " records are in no row: too many threads or locks\n",
		       h->left_out);
}

static void print_threads(const struct handovers *h, const uint32_t *order, uint32_t n)
{
	uint32_t shown = n < h->report->reading.limit ? n : (uint32_t)h->report->reading.limit;

	printf("\n%8s  %11s  %11s  %8s  %11s  %11s  %s\n", "Waits", "Waited", "Longest", "Holds",
	       "Held", "Longest", "Thread");
	for (uint32_t i = 0; i < shown; i++) {
		const struct handover_thread *t = &h->threads[order[i]];

		put_count(t->waits);
		put_time(t->waits, t->waited);
		put_time(t->waits, t->longest_wait);
		put_count(t->holds);
		put_time(t->holds, t->held);
		put_time(t->holds, t->longest_hold);
		put_label(h, order[i], 0);
		putchar('\n');
	}
	if (shown < n)
		printf("... rows left out: %u\n", n - shown);
}

static void print_pairs(const struct handovers *h, const uint32_t *order, uint32_t n)
{
	uint32_t shown = n < h->report->reading.limit ? n : (uint32_t)h->report->reading.limit;
	size_t width = strlen("Held by");
	char text[160];

	for (uint32_t i = 0; i < shown; i++)
		width = report_max(width, label(h, h->pairs[order[i]].holder, text, sizeof(text)));
	printf("\n%8s  %11s  %11s  %-*s  %s\n", "Handed", "Waited", "Longest", (int)width,
	       "Held by", "Waiter");
	for (uint32_t i = 0; i < shown; i++) {
		const struct handover_pair *pair = &h->pairs[order[i]];

		put_count(pair->count);
		put_time(1, pair->waited);
		put_time(1, pair->longest);
		put_label(h, pair->holder, width);
		fputs("  ", stdout);
		put_label(h, pair->waiter, 0);
		putchar('\n');
	}
	if (shown < n)
		printf("... rows left out: %u\n", n - shown);
}

int handovers_print(struct handovers *h)
{
	uint32_t nr_threads, nr_pairs;
	uint32_t *threads = order_of(h, false, &nr_threads), *pairs = order_of(h, true, &nr_pairs);
	int ret = threads && pairs ? 0 : -ENOMEM;

	h->processes = has_processes(h);
	if (!ret) {
		print_summary(h);
		print_threads(h, threads, nr_threads);
		if (nr_pairs)
			print_pairs(h, pairs, nr_pairs);
	}
	free(threads);
	free(pairs);
	return ret;
}

/* ---- for programs ---------------------------------------------------------------------------- */

static void json_thread(const struct handovers *h, const struct handover_thread *t)
{
	const char *comm = xsprof_trace_thread(h->report->source.trace, t->producer, t->tid);

	printf("\n{\"pid\":%u,\"tid\":%u,\"thread\":", t->pid, t->tid);
	xsp_json_print(stdout, comm, strlen(comm));
	printf(",\"lock\":%u,\"waits\":%" PRIu64 ",\"waited_ns\":%" PRIu64 ",\"longest_wait_ns\":%"
	       PRIu64 ",\"holds\":%" PRIu64 ",\"held_ns\":%" PRIu64 ",\"longest_hold_ns\":%" PRIu64
	       "}", h->locks[t->lock].number, t->waits, t->waited, t->longest_wait, t->holds,
	       t->held, t->longest_hold);
}

static void json_pair(const struct handovers *h, const struct handover_pair *pair)
{
	const struct handover_thread *waiter = &h->threads[pair->waiter];

	printf("\n{\"pid\":%u,\"lock\":%u,\"holder\":", waiter->pid,
	       h->locks[waiter->lock].number);
	if (pair->holder == HANDOVER_NONE)
		fputs("null", stdout);
	else
		printf("%u", h->threads[pair->holder].tid);
	printf(",\"waiter\":%u,\"handed\":%" PRIu64 ",\"waited_ns\":%" PRIu64 ",\"longest_ns\":%"
	       PRIu64 "}", waiter->tid, pair->count, pair->waited, pair->longest);
}

int handovers_print_json(const struct handovers *h)
{
	uint64_t limit = h->report->reading.limit;
	uint32_t nr_threads, nr_pairs;
	uint32_t *threads = order_of(h, false, &nr_threads), *pairs = order_of(h, true, &nr_pairs);
	int ret = threads && pairs ? 0 : -ENOMEM;

	if (!ret) {
		printf("{\"waits\":%" PRIu64 ",\"waited_ns\":%" PRIu64 ",\"open\":%" PRIu64
		       ",\"doubtful\":%" PRIu64 ",\"left_out\":%" PRIu64 ",\"threads\":[",
		       h->waits, h->waited, h->open, h->doubtful, h->left_out);
		for (uint32_t i = 0; i < nr_threads && i < limit; i++) {
			fputs(i ? "," : "", stdout);
			json_thread(h, &h->threads[threads[i]]);
		}
		fputs("],\"pairs\":[", stdout);
		for (uint32_t i = 0; i < nr_pairs && i < limit; i++) {
			fputs(i ? "," : "", stdout);
			json_pair(h, &h->pairs[pairs[i]]);
		}
		fputs("]}\n", stdout);
	}
	free(threads);
	free(pairs);
	return ret;
}
