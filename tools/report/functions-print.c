// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints the functions of sampled threads, as a table and as JSON.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/tool.h"
#include "format/common/out.h"
#include "report/functions.h"
#include "text/json.h"

/* For the comparison function, which gets no other argument. */
static const struct functions *sorted;

static const char *text_of(const struct functions *f, const struct function *row, size_t *len)
{
	*len = 1;
	return row->word ? xsp_groups_word(f->report->groups, row->word, len) : "?";
}

static int by_number(uint64_t a, uint64_t b)
{
	return a == b ? 0 : a < b ? 1 : -1;
}

static int compare(const void *pa, const void *pb)
{
	const struct function *a = pa, *b = pb;
	enum report_sort sort = sorted->report->sort;
	size_t la, lb;
	const char *ta = text_of(sorted, a, &la), *tb = text_of(sorted, b, &lb);
	int order = 0;

	if (sort == REPORT_SORT_SELF)
		order = by_number(functions_on_cpu(a->self), functions_on_cpu(b->self));
	if (!order && sort != REPORT_SORT_NAME)
		order = by_number(functions_on_cpu(a->total), functions_on_cpu(b->total));
	if (!order && sort != REPORT_SORT_NAME)
		order = by_number(functions_on_cpu(a->self), functions_on_cpu(b->self));
	if (!order && sort != REPORT_SORT_NAME)
		order = by_number(functions_all(a->with_c), functions_all(b->with_c));
	if (!order)
		order = memcmp(ta, tb, la < lb ? la : lb);
	if (!order)
		order = (la > lb) - (la < lb);
	if (!order)
		order = by_number(b->thread.producer, a->thread.producer);
	return order ? order : by_number(b->thread.tid, a->thread.tid);
}

static bool is_wanted(const struct functions *f, const struct function *row)
{
	size_t len;
	const char *text = text_of(f, row, &len);
	uint8_t match = 0;
	char name[4096];

	if (!xsp_filter_names(&f->report->filter))
		return true;
	snprintf(name, sizeof(name), "%.*s", (int)(len < sizeof(name) ? len : 0), text);
	return xsp_filter_text(&f->report->filter, "python", name, &match);
}

/* Sorts the rows; those that are shown come first. Return: their number. */
static size_t sort(const struct functions *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->nr; i++)
		if (is_wanted(f, &f->rows[i])) {
			const struct function row = f->rows[i];

			f->rows[i] = f->rows[n];
			f->rows[n++] = row;
		}
	sorted = f;
	if (n)
		qsort(f->rows, n, sizeof(*f->rows), compare);
	return n < f->report->reading.limit ? n : (size_t)f->report->reading.limit;
}

static void put_share(uint64_t part, uint64_t of)
{
	if (part)
		printf("%8" PRIu64 "  %5.1f %%  ", part,
		       100.0 * (double)part / (double)(of ? of : 1));
	else
		printf("%8s  %7s  ", "-", "-");
}

static void put_count(uint64_t n, int width)
{
	if (n)
		printf("%*" PRIu64 "  ", width, n);
	else
		printf("%*s  ", width, "-");
}

static void print_summary(const struct functions *f)
{
	const uint64_t *s = f->samples, missed = s[XSPROF_SAMPLE_MISSED];

	fputs("# ", stdout);
	report_print_text(f->report->source.path, strlen(f->report->source.path), 0);
	printf(": %" PRIu64 " samples", functions_all(s));
	if (f->hz)
		printf(", %" PRIu64 " a second of each thread", f->hz);
	printf(": %" PRIu64 " with the GIL, %" PRIu64 " in C without it, %" PRIu64
	       " waited for it, %" PRIu64 " off CPU\n",
	       s[XSPROF_SAMPLE_RUNS], s[XSPROF_SAMPLE_NATIVE], s[XSPROF_SAMPLE_LOCK],
	       s[XSPROF_SAMPLE_OFF]);
	printf("# missed: %" PRIu64 " samples, %" PRIu64 " of them ticks at which no thread was "
	       "sampled; %" PRIu64 " stacks did not fit, %" PRIu64
	       " lack their outermost functions\n", missed, f->ticks, f->no_stack, f->cut);
	if (missed > (functions_all(s) + missed) / 10)
		printf("# %.0f %% of the samples were missed, most often because the program or "
		       "the sampling thread had no CPU: shares are uncertain\n",
		       100.0 * (double)missed / (double)(functions_all(s) + missed));
	if (f->full)
		printf("# more than %u rows: further functions, of %" PRIu64 " samples, are in "
		       "row ?\n", FUNCTION_ROWS - 1, f->full);
	putchar('\n');
}

static size_t widest(const struct functions *f, size_t n)
{
	size_t width = strlen("Thread");
	char buf[160];

	for (size_t i = 0; i < n; i++)
		width = report_max(width, strlen(report_thread(f->report, &f->rows[i].thread, buf,
							       sizeof(buf))));
	return width;
}

void functions_print(const struct functions *f)
{
	bool threads = f->report->by & REPORT_BY_THREAD;
	uint64_t all = functions_on_cpu(f->samples);
	size_t n = sort(f), width = threads ? widest(f, n) : 0, len;
	const char *text;
	char buf[160];

	print_summary(f);
	printf("%8s  %46s\n", "On CPU", "Self, not on CPU");
	printf("%8s  %7s  %8s  %7s  %8s  %8s  ", "Self", "", "Total", "", "GIL wait", "Off CPU");
	if (threads)
		printf("%-*s  ", (int)width, "Thread");
	puts("Function");
	for (size_t i = 0; i < n; i++) {
		const struct function *row = &f->rows[i];

		put_share(functions_on_cpu(row->self), all);
		put_share(functions_on_cpu(row->total), all);
		put_count(row->with_c[XSPROF_SAMPLE_LOCK], 8);
		put_count(row->with_c[XSPROF_SAMPLE_OFF], 8);
		if (threads) {
			text = report_thread(f->report, &row->thread, buf, sizeof(buf));
			report_print_text(text, strlen(text), width);
			fputs("  ", stdout);
		}
		text = text_of(f, row, &len);
		report_print_text(text, len, 0);
		putchar('\n');
	}
}

/* ---- for programs ---------------------------------------------------------------------------- */

static void put_hows(const char *key, const uint64_t *by_how)
{
	printf("\"%s\":{", key);
	for (uint32_t how = XSPROF_SAMPLE_RUNS; how < FUNCTION_HOWS; how++)
		printf("%s\"%s\":%" PRIu64, how > XSPROF_SAMPLE_RUNS ? "," : "",
		       xsp_word_sample(how), by_how[how]);
	putchar('}');
}

/* Prints the parts of "file.py(12): function"; nothing for texts of another form. */
static void put_parts(const char *text, size_t len)
{
	const char *end = memmem(text, len, "): ", 3), *line = end;

	while (line && line > text && line[-1] >= '0' && line[-1] <= '9')
		line--;
	if (!line || line == end || line == text || line[-1] != '(' || end - line > 9)
		return;
	fputs(",\"file\":", stdout);
	xsp_json_print(stdout, text, (size_t)(line - 1 - text));
	printf(",\"line\":%.*s,\"function\":", (int)(end - line), line);
	xsp_json_print(stdout, end + 3, len - (size_t)(end + 3 - text));
}

static void put_thread(const struct functions *f, const struct xsp_key *key)
{
	struct xsprof_trace *trace = f->report->source.trace;
	struct xsprof_trace_producer p = { 0 };
	const char *name;

	if (!key->tid)
		return;
	(void)xsprof_trace_get_producer(trace, key->producer - 1, &p);
	name = xsprof_trace_thread(trace, key->producer - 1, (uint32_t)(key->tid - 1));
	printf(",\"pid\":%u,\"thread\":", p.pid);
	xsp_json_print(stdout, name, strlen(name));
	printf(",\"tid\":%" PRIu64, key->tid - 1);
}

void functions_print_json(const struct functions *f)
{
	size_t n = sort(f), len;
	const char *text;

	printf("{\"hz\":%" PRIu64 ",\"missed\":%" PRIu64 ",\"missed_ticks\":%" PRIu64
	       ",\"no_stack\":%" PRIu64 ",\"cut\":%" PRIu64 ",\"no_row\":%" PRIu64 ",", f->hz,
	       f->samples[XSPROF_SAMPLE_MISSED], f->ticks, f->no_stack, f->cut, f->full);
	put_hows("samples", f->samples);
	fputs(",\"functions\":[", stdout);
	for (size_t i = 0; i < n; i++) {
		text = text_of(f, &f->rows[i], &len);
		fputs(i ? ",\n{\"name\":" : "\n{\"name\":", stdout);
		xsp_json_print(stdout, text, len);
		put_parts(text, len);
		put_thread(f, &f->rows[i].thread);
		putchar(',');
		put_hows("self", f->rows[i].self);
		putchar(',');
		put_hows("total", f->rows[i].total);
		putchar(',');
		put_hows("with_c", f->rows[i].with_c);
		putchar('}');
	}
	fputs("]}\n", stdout);
}
