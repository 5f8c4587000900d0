// SPDX-License-Identifier: GPL-2.0-only
/*
 * How what devices did looks to people.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/refused.h"
#include "cli/tool.h"
#include "format/common/out.h"
#include "report/gpu.h"
#include "report/launched.h"

#define LAUNCHERS	10u	/* of ops, where that was not asked for */
#define CUT		8u	/* processes that ended so are listed */

enum column {
	COUNT, TOTAL, SHARE, MEAN, MIN, P50, P99, MAX, DELAY, BYTES, RATE, OCCUPANCY, COLUMNS,
};

static const char *const heads[COLUMNS] = {
	[COUNT] = "Count", [TOTAL] = "Total", [SHARE] = "Busy", [MEAN] = "Mean", [MIN] = "Min",
	[P50] = "P50", [P99] = "P99", [MAX] = "Max", [DELAY] = "Delay", [BYTES] = "Bytes",
	[RATE] = "GB/s", [OCCUPANCY] = "Occ.",
};

static double percent(uint64_t part, uint64_t of)
{
	return of ? 100.0 * (double)part / (double)of : 0;
}

static void cells(const struct gpu_row *row, uint64_t busy, char cell[COLUMNS][32])
{
	const struct xsp_group *g = row->group;

	for (int c = 0; c < COLUMNS; c++)
		strcpy(cell[c], "-");
	snprintf(cell[COUNT], 32, "%" PRIu64, g->count);
	/* Metrics of a kernel whose own record was lost. */
	if (!g->timed)
		return;
	tool_format_time(cell[TOTAL], 32, g->total);
	tool_format_time(cell[MEAN], 32, g->sum / g->timed);
	tool_format_time(cell[MIN], 32, g->min);
	tool_format_time(cell[MAX], 32, g->max);
	if (!g->no_hist) {
		tool_format_time(cell[P50], 32, xsp_group_quantile(g, 0.5));
		tool_format_time(cell[P99], 32, xsp_group_quantile(g, 0.99));
	}
	if (row->bytes)
		tool_format_bytes(cell[BYTES], 32, row->bytes);
	if (!xsp_device_is_work(row->kind))
		return;
	snprintf(cell[SHARE], 32, "%.1f %%", percent(g->total, busy));
	if (row->delays)
		tool_format_time(cell[DELAY], 32, row->delay / row->delays);
	/* Bytes per nanosecond are GB/s. */
	if (row->bytes && g->total)
		snprintf(cell[RATE], 32, "%.1f", (double)row->bytes / (double)g->total);
	if (row->occupied_ns)
		snprintf(cell[OCCUPANCY], 32, "%.0f %%",
			 row->occupied / (double)row->occupied_ns);
}

static void print_name(const struct gpu_report *gpu, const struct gpu_row *row)
{
	size_t len;
	const char *s = xsp_groups_word(gpu->report->groups, row->group->key.name, &len);

	if (xsp_groups_is_other(gpu->report->groups, row->group))
		fputs("(other)", stdout);
	else
		report_print_text(s, len, 0);
	putchar('\n');
}

/*
 * Rows from @from to before @to: of calls fewer columns than of activities, and how many bytes were
 * moved, or allocated, only where some were.
 */
static void print_rows(const struct gpu_report *gpu, uint32_t from, uint32_t to, const char *what)
{
	bool shown[COLUMNS] = {
		[COUNT] = true, [TOTAL] = true, [MEAN] = true, [MIN] = true, [P50] = true,
		[P99] = true, [MAX] = true,
	};
	bool work = from < to && xsp_device_is_work(gpu->rows[from].kind), bold = report_colours();
	uint64_t limit = gpu->report->reading.limit;
	uint32_t n = to - from > limit ? (uint32_t)limit : to - from;
	char cell[COLUMNS][32];
	size_t wide[COLUMNS];

	if (from == to)
		return;
	for (int c = 0; c < COLUMNS; c++) {
		wide[c] = strlen(heads[c]);
		shown[c] |= work && c != BYTES;
	}
	for (uint32_t i = from; i < from + n; i++) {
		cells(&gpu->rows[i], gpu->busy, cell);
		shown[BYTES] |= gpu->rows[i].bytes != 0;
		for (int c = 0; c < COLUMNS; c++)
			wide[c] = report_max(wide[c], strlen(cell[c]));
	}
	printf("\n%s", bold ? "\033[1m" : "");
	for (int c = 0; c < COLUMNS; c++)
		if (shown[c])
			printf("%*s  ", (int)wide[c], heads[c]);
	printf("%s%s\n", what, bold ? "\033[0m" : "");
	for (uint32_t i = from; i < from + n; i++) {
		cells(&gpu->rows[i], gpu->busy, cell);
		for (int c = 0; c < COLUMNS; c++)
			if (shown[c])
				printf("%*s  ", (int)wide[c], cell[c]);
		print_name(gpu, &gpu->rows[i]);
	}
	if (n < to - from)
		printf("... rows left out: %u\n", to - from - n);
}

/* Prints the collector's name of it, after its number. */
static void print_name_of(const char *name)
{
	if (!name)
		return;
	fputs(" (", stdout);
	report_print_text(name, strlen(name), 0);
	putchar(')');
}

static void print_stream(const struct gpu_report *gpu, const struct gpu_stream *s, uint64_t span)
{
	const struct xsprof_trace *trace = gpu->report->source.trace;
	uint64_t ns = gpu_busy_ns(s->busy), late = gpu_busy_late(s->busy);
	char text[32];

	/* Activities of the driver itself have no stream. */
	if (s->stream == XSPROF_NO_STREAM) {
		fputs("#   in no stream", stdout);
	} else {
		printf("#   stream %u", s->stream);
		print_name_of(xsp_stream_name(trace, s->producer, s->number, s->context,
					      s->stream));
		printf(" of context %u", s->context);
		print_name_of(xsp_context_name(trace, s->producer, s->number, s->context));
	}
	printf(", process %u: %" PRIu64 " activit%s, busy for %s (%.1f %%)", s->pid, s->count,
	       s->count == 1 ? "y" : "ies", tool_format_time(text, sizeof(text), ns),
	       percent(ns, span));
	if (late)
		printf("; up to %s more was told of too late to be counted",
		       tool_format_time(text, sizeof(text), late));
	putchar('\n');
}

static void print_streams(const struct gpu_report *gpu, uint32_t device, uint64_t span)
{
	uint64_t n = 0, limit = gpu->report->reading.limit;

	for (uint32_t i = 0; i < gpu->nr_streams; i++)
		if (gpu->streams[i].device == device && n++ < limit)
			print_stream(gpu, &gpu->streams[i], span);
	if (n > limit)
		printf("#   ... streams left out: %" PRIu64 "\n", n - limit);
}

/* Times of the host and the device are compared with each other, as in delays. */
static void print_clock(const struct gpu_report *gpu, uint32_t number)
{
	int64_t worst, best;
	char a[32], b[32];

	if (!gpu_clock(gpu, number, &worst, &best)) {
		puts(gpu->clocks.nr == DEVICE_CLOCKS ?
		     "#   error of its times on the program's clock: not looked at: there are too "
		     "many clocks" : "#   error of its times on the program's clock: unknown");
		return;
	}
	printf("#   error of its times on the program's clock: at most %s",
	       tool_format_time(a, sizeof(a), (uint64_t)worst));
	if (best < worst)
		printf("; in the best second %s", tool_format_time(b, sizeof(b), (uint64_t)best));
	puts(" (shorter delays and idle times mean nothing)");
}

/* What is reported. */
static const char *place_of(const struct gpu_report *gpu)
{
	return xsp_filter_given(&gpu->report->filter) ? "this part" : "the capture";
}

static void print_device(const struct gpu_report *gpu, uint32_t number)
{
	const struct gpu_device *d = &gpu->devices[number];
	uint64_t span = gpu_span_ns(d);
	uint64_t all = gpu_busy_ns(d->busy[GPU_BUSY_ALL]);
	uint64_t kernels = gpu_busy_ns(d->busy[GPU_BUSY_KERNELS]);
	uint64_t copies = gpu_busy_ns(d->busy[GPU_BUSY_COPIES]);
	uint64_t collectives = gpu_busy_ns(d->busy[GPU_BUSY_COLLECTIVES]);
	uint64_t late = gpu_busy_late(d->busy[GPU_BUSY_ALL]);
	char a[32], b[32], c[32], e[32];

	fputs("\n# ", stdout);
	report_print_text(d->kind, strlen(d->kind), 0);
	printf(" %u", d->number);
	/* The UUID too if two devices have the same number. */
	for (uint32_t i = 0; i < gpu->nr_devices; i++) {
		if (i != number && gpu->devices[i].number == d->number && *d->uuid) {
			fputs(", ", stdout);
			report_print_text(d->uuid, strlen(d->uuid), 0);
			break;
		}
	}
	if (*d->name) {
		fputs(", ", stdout);
		report_print_text(d->name, strlen(d->name), 0);
	}
	if (d->first > d->last) {
		printf(": no work of it is in %s", place_of(gpu));
		if (d->in_use)
			printf("; memory at most %s",
			       tool_format_bytes(a, sizeof(a), d->in_use));
		putchar('\n');
		gpu_print_metrics(gpu, number);
		return;
	}
	printf(": busy for %s of %s%s (%.1f %%): kernels %s, copies %s, sets %s",
	       tool_format_time(a, sizeof(a), all), tool_format_time(b, sizeof(b), span),
	       d->unrecorded ? " of recorded time" : "",
	       percent(all, span), tool_format_time(c, sizeof(c), kernels),
	       tool_format_time(e, sizeof(e), copies),
	       tool_format_time((char[32]){ 0 }, 32, d->sets));
	if (d->others)
		printf("; other work %s", tool_format_time(a, sizeof(a), d->others));
	if (collectives)
		printf("; collectives %s, of these %s beside other kernels",
		       tool_format_time(a, sizeof(a), collectives),
		       tool_format_time(b, sizeof(b), gpu_collectives_beside(d)));
	if (gpu_copies_beside(d))
		printf("; copies beside kernels %s",
		       tool_format_time(a, sizeof(a), gpu_copies_beside(d)));
	if (d->in_use)
		printf("; memory at most %s", tool_format_bytes((char[32]){ 0 }, 32, d->in_use));
	putchar('\n');
	if (d->unrecorded)
		printf("#   not recorded for %s between its first and last activity: whether it "
		       "was busy then is unknown\n",
		       tool_format_time(a, sizeof(a), d->unrecorded));
	if (late)
		printf("#   up to %s more may be busy time: their activities were reported too "
		       "late to be counted\n", tool_format_time(a, sizeof(a), late));
	print_clock(gpu, number);
	if (d->early)
		printf("#   %" PRIu64 " activit%s before the call that started %s, by at most %s\n",
		       d->early, d->early == 1 ? "y began" : "ies began",
		       d->early == 1 ? "it" : "them",
		       tool_format_time(a, sizeof(a), d->early_ns));
	print_streams(gpu, number, span);
	gpu_print_alone(d);
	gpu_print_metrics(gpu, number);
	gpu_print_idle(gpu, number);
}

static void print_unrecorded(const struct gpu_report *gpu)
{
	uint32_t processes = 0;
	uint64_t ns = 0;
	char text[32];

	for (uint32_t i = 0; i < gpu->nr_unrecorded; i++) {
		ns += gpu->unrecorded[i].ns;
		processes += gpu->unrecorded[i].ns > 0;
	}
	if (!ns)
		return;
	printf("# devices were not recorded for %s, to reduce overhead: their activities then are "
	       "unknown",
	       tool_format_time(text, sizeof(text), ns));
	if (processes > 1)
		printf(" (sum of %u processes)", processes);
	putchar('\n');
}

/* CUPTI and others deliver late. */
static void print_cut(const struct gpu_report *gpu)
{
	struct xsprof_trace_producer producer = { 0 };
	uint32_t n = 0;

	for (uint32_t i = 0; i < gpu->nr_unrecorded; i++)
		if (gpu->unrecorded[i].cut &&
		    !xsprof_trace_get_producer(gpu->report->source.trace, i, &producer) &&
		    xsp_filter_pid(&gpu->report->filter, producer.pid) && n++ < CUT)
			printf("# process %u ended without its exit handlers: what its devices "
			       "did last may be missing\n", producer.pid);
	if (n > CUT)
		printf("# and so did %u more\n", n - CUT);
}

static void print_refused(const struct gpu_report *gpu)
{
	struct refused at = { 0 };
	const char *text;
	uint32_t pid;

	while ((text = refused_next(&at, gpu->report->source.trace, &pid))) {
		if (!xsp_filter_pid(&gpu->report->filter, pid))
			continue;
		printf("# process %u: ", pid);
		report_print_text(text, strlen(text), 0);
		putchar('\n');
	}
}

/* What recording itself took is always there: it is not what the user asks for. */
static bool has_work(const struct gpu_report *gpu)
{
	for (uint32_t i = 0; i < gpu->nr; i++)
		if (gpu->rows[i].kind != XSPROF_GPU_OVERHEAD &&
		    gpu->rows[i].kind != XSPROF_GPU_UNRECORDED)
			return true;
	return false;
}

static void print_head(const struct gpu_report *gpu)
{
	const struct report *report = gpu->report;
	struct xsprof_trace_info info = { .size_of = sizeof(info) };

	if (xsprof_trace_get_info(report->source.trace, &info) < 0)
		memset(&info, 0, sizeof(info));
	fputs("# ", stdout);
	report_print_text(report->source.path, strlen(report->source.path), 0);
	printf(": %" PRIu64 " GPU event%s; lost: %" PRIu64 " records, %" PRIu64
	       " slots overwritten%s\n", gpu->events, gpu->events == 1 ? "" : "s",
	       info.lost_records, info.lost_slots, report->filter.any ? "; filtered" : "");
	if (!report->filter.any && !has_work(gpu))
		printf("# no work of a device and no call is in %s%s\n", place_of(gpu),
		       gpu->nr ? "; what recording itself took is below" : "");
	if (gpu->early)
		printf("# %" PRIu64 " activit%s before the call that started %s: the clocks of "
		       "device and host differ by more than the delay\n", gpu->early,
		       gpu->early == 1 ? "y began" : "ies began", gpu->early == 1 ? "it" : "them");
	if (gpu->unlisted)
		printf("# %" PRIu64 " activities are not listed: too many streams or devices\n",
		       gpu->unlisted);
	if (gpu->unlisted_metrics)
		printf("# %" PRIu64 " values of metrics are not listed: too many metrics\n",
		       gpu->unlisted_metrics);
	for (uint32_t i = 0; i < gpu->missed.nr; i++) {
		printf("# not recorded: %" PRIu64 " ", gpu->missed.v[i].n);
		report_print_text(gpu->missed.v[i].text, strlen(gpu->missed.v[i].text), 0);
		printf(" (process %u)\n",
		       missed_pid(&gpu->missed.v[i], report->source.trace));
	}
	if (gpu->missed.full)
		puts("# not recorded: more than is listed here: there are too many counts");
	print_refused(gpu);
	gpu_print_budget(gpu);
	print_unrecorded(gpu);
	print_cut(gpu);
}

void gpu_print(const struct gpu_report *gpu)
{
	uint64_t limit = gpu->report->reading.limit;
	uint32_t work = 0, calls;

	print_head(gpu);
	if (gpu->report->by == REPORT_BY_NAME) {
		gpu_print_launchers(gpu, limit);
		gpu_print_captured(gpu);
		return;
	}
	if (gpu->report->by & REPORT_BY_NAME) {
		gpu_print_launched(gpu);
		return;
	}
	for (uint32_t i = 0; i < gpu->nr_devices; i++)
		print_device(gpu, i);
	while (work < gpu->nr && xsp_device_is_work(gpu->rows[work].kind))
		work++;
	for (calls = work; calls < gpu->nr && xsp_device_is_call(gpu->rows[calls].kind); calls++)
		;
	print_rows(gpu, 0, work, "Activity");
	gpu_print_measured(gpu, 0, work);
	/* A program without ranges launches all in none. */
	if (gpu->nr_launchers > 1 || (gpu->nr_launchers && gpu->launchers->in == GPU_IN_RANGE))
		gpu_print_launchers(gpu, limit < LAUNCHERS ? limit : LAUNCHERS);
	print_rows(gpu, work, calls, "Call");
	print_rows(gpu, calls, gpu->nr, "Wait, overhead, memory or fault");
	gpu_print_copies(gpu);
	gpu_print_captured(gpu);
}
