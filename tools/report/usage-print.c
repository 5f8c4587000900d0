// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints the usage of ranges, as a table below that of their times with the same rows, and as JSON:
 * bytes allocated minus bytes freed, as in PyTorch's key_averages(), and FLOPs. It counts nothing.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/tool.h"
#include "report/usage.h"
#include "text/json.h"

enum { CPU, SELF_CPU, DEVICE, SELF_DEVICE, FLOPS, COLUMNS };

static const struct {
	const char	*head;
	const char	*json;
} columns[COLUMNS] = {
	[CPU]	      = { "CPU Mem",	     "cpu_bytes" },
	[SELF_CPU]    = { "Self CPU Mem",    "self_cpu_bytes" },
	[DEVICE]      = { "Device Mem",	     "device_bytes" },
	[SELF_DEVICE] = { "Self Device Mem", "self_device_bytes" },
	[FLOPS]	      = { "FLOPs",	     "flops" },
};

/* "-1.5 kB"; "-" for 0. */
static const char *report_bytes(char *buf, size_t size, int64_t bytes)
{
	uint64_t n = bytes < 0 ? -(uint64_t)bytes : (uint64_t)bytes;

	if (!n) {
		snprintf(buf, size, "-");
		return buf;
	}
	buf[0] = '-';
	tool_format_bytes(buf + (bytes < 0), size - (bytes < 0), n);
	return buf;
}

static int64_t bytes_of(const struct xsp_group *row, int column)
{
	return column & 1 ? row->used.self[column / 2] : row->used.bytes[column / 2];
}

_Static_assert(CPU / 2 == XSP_USED_CPU && SELF_DEVICE / 2 == XSP_USED_DEVICE,
	       "bytes_of() finds both of each kind");

static const char *cell_of(const struct xsp_group *row, int column, char cell[32])
{
	if (column != FLOPS)
		return report_bytes(cell, 32, bytes_of(row, column));
	if (row->used.flops)
		snprintf(cell, 32, "%" PRIu64, row->used.flops);
	else
		strcpy(cell, "-");
	return cell;
}

static bool is_used(const struct xsp_group *row, int column)
{
	return column == FLOPS ? row->used.flops != 0 : bytes_of(row, column) != 0;
}

static bool any_used(const struct xsp_group *row)
{
	for (int c = 0; c < COLUMNS; c++)
		if (is_used(row, c))
			return true;
	return false;
}

/* ---- what is in no row ---------------------------------------------------------------------- */

static void print_kinds(const int64_t bytes[XSP_USED_KINDS])
{
	char text[32];

	printf("%s", report_bytes(text, sizeof(text), bytes[XSP_USED_CPU]));
	if (bytes[XSP_USED_DEVICE])
		printf(" and %s of devices",
		       report_bytes(text, sizeof(text), bytes[XSP_USED_DEVICE]));
}

static bool is_lossy(const struct report *report)
{
	struct xsprof_trace_info info = { .size_of = sizeof(info) };

	return !xsprof_trace_get_info(report->source.trace, &info) &&
	       (info.lost_records || info.lost_slots || info.bad_slots || info.bad_chunks ||
		info.truncated);
}

static void print_left(const struct report *report)
{
	const struct report_usage *usage = report->usage;
	const struct usage_apart *apart = &usage->apart;

	if ((apart->allocs || apart->frees) && !xsp_filter_names(&report->filter)) {
		printf("... and %" PRIu64 " allocation%s and %" PRIu64 " free%s in no range: ",
		       apart->allocs, apart->allocs == 1 ? "" : "s", apart->frees,
		       apart->frees == 1 ? "" : "s");
		print_kinds(apart->bytes);
		putchar('\n');
	}
	if (usage->doubtful) {
		fputs("... and in ranges without times, because records were lost or the end of "
		      "their processes is unknown: ", stdout);
		print_kinds(usage->doubt.self);
		printf(", %" PRIu64 " FLOPs\n", usage->doubt.flops);
	}
	if (usage->crowded)
		printf("... and %" PRIu64 " allocations in ranges that did not fit\n",
		       usage->crowded);
	if (usage->counted)
		puts("# FLOPs count matrix products, 2D convolutions, additions and "
		     "multiplications: other ops, such as convolution_backward, have none");
	if (usage->counted && usage->uncounted)
		printf("... the FLOPs of %" PRIu64 " op%s are unknown: their inputs were not "
		       "recorded, or not in the form that the formula needs\n", usage->uncounted,
		       usage->uncounted == 1 ? "" : "s");
	if (usage->memory && is_lossy(report))
		puts("# records were lost: allocations or frees may be missing from these numbers");
}

/* ---- the table ------------------------------------------------------------------------------ */

static void print_rows(const struct report *report, struct xsp_group **rows, size_t n,
		       struct report_width width)
{
	size_t wide[COLUMNS] = { 0 }, i, left, len;
	bool bold = report_colours();
	char cell[32];

	for (i = 0, left = report->reading.limit; i < n && left; i++) {
		if (!any_used(rows[i]))
			continue;
		left--;
		report_widen(report, rows[i], &width);
		for (int c = 0; c < COLUMNS; c++) {
			len = strlen(cell_of(rows[i], c, cell));
			if (wide[c] || is_used(rows[i], c))
				wide[c] = report_max(report_max(wide[c], len),
						     strlen(columns[c].head));
		}
	}
	fputs(bold ? "\033[1m" : "", stdout);
	for (int c = 0; c < COLUMNS; c++)
		if (wide[c])
			printf("%*s  ", (int)wide[c], columns[c].head);
	report_print_heads(report, &width, bold);
	for (i = 0, left = report->reading.limit; i < n && left; i++) {
		if (!any_used(rows[i]))
			continue;
		left--;
		for (int c = 0; c < COLUMNS; c++)
			if (wide[c])
				printf("%*s  ", (int)wide[c], cell_of(rows[i], c, cell));
		report_print_words(report, rows[i], &width);
	}
	for (left = 0; i < n; i++)
		left += any_used(rows[i]);
	if (left)
		printf("... rows left out: %zu\n", left);
}

void report_print_usage(const struct report *report, struct xsp_group **rows, size_t n,
			const struct report_width *width)
{
	const struct report_usage *usage = report->usage;
	size_t i;

	if (!usage->memory && !usage->counted)
		return;
	putchar('\n');
	if (usage->memory)
		puts("# memory: bytes allocated minus bytes freed, in ranges");
	for (i = 0; i < n && !any_used(rows[i]); i++)
		;
	if (i < n)
		print_rows(report, rows, n, *width);
	print_left(report);
}

static bool is_cpu(const struct usage_failed *failed)
{
	return failed->mem.device >> 16 == 0;
}

/* PyTorch's CPU allocator reports 0: unknown. */
static bool has_reserved(const struct usage_failed *failed)
{
	return failed->mem.reserved || !is_cpu(failed);
}

static void print_place(const struct usage_failed *failed)
{
	char bytes[32];

	printf(": %s of ",
	       tool_format_bytes(bytes, sizeof(bytes), (uint64_t)failed->mem.bytes));
	if (is_cpu(failed))
		fputs("cpu", stdout);
	else
		printf("device %u:%u", failed->mem.device >> 16, failed->mem.device & 0xffff);
	printf("; %s allocated",
	       tool_format_bytes(bytes, sizeof(bytes), failed->mem.allocated));
	if (has_reserved(failed))
		printf(", %s reserved",
		       tool_format_bytes(bytes, sizeof(bytes), failed->mem.reserved));
	putchar('\n');
}

static void print_failed(const struct report *report, const struct usage_failed *failed)
{
	struct xsprof_trace *trace = report->source.trace;
	const char *comm = xsprof_trace_thread(trace, failed->producer, failed->tid), *name;
	uint64_t ns = failed->mem.ns - report->first_ns;
	size_t len;

	printf("  %" PRIu64 ".%09" PRIu64 "  ", ns / 1000000000u, ns % 1000000000u);
	report_print_text(*comm ? comm : "?", *comm ? strlen(comm) : 1, 0);
	printf("-%u  ", failed->tid);
	if (failed->name) {
		name = xsprof_trace_name_len(trace, failed->producer, failed->name, &len);
		report_print_text(name, len, 0);
	} else {
		fputs("in no range", stdout);
	}
	print_place(failed);
}

void report_print_out_of_memory(const struct report *report)
{
	const struct report_usage *usage = report->usage;

	if (!usage->nr_failed)
		return;
	printf("\nOut of memory: %" PRIu64 " allocation%s failed%s\n", usage->nr_failed,
	       usage->nr_failed == 1 ? "" : "s",
	       usage->nr_failed > USAGE_FAILED ? ", the first of them:" : ":");
	for (uint64_t i = 0; i < usage->nr_failed && i < USAGE_FAILED; i++)
		print_failed(report, &usage->failed[i]);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

void report_json_row_usage(const struct report *report, const struct xsp_group *row)
{
	for (int c = 0; c < FLOPS && report->usage->memory; c++)
		printf(",\"%s\":%" PRId64, columns[c].json, bytes_of(row, c));
	if (report->usage->counted)
		printf(",\"%s\":%" PRIu64, columns[FLOPS].json, row->used.flops);
}

static void json_failed(const struct report *report, const struct usage_failed *failed)
{
	struct xsprof_trace *trace = report->source.trace;
	const char *name;
	size_t len;

	printf("{\"ns\":%" PRIu64 ",\"bytes\":%" PRId64 ",\"device_type\":%u,\"device\":%u,"
	       "\"allocated\":%" PRIu64 ",\"reserved\":", failed->mem.ns, failed->mem.bytes,
	       failed->mem.device >> 16, failed->mem.device & 0xffff, failed->mem.allocated);
	if (has_reserved(failed))
		printf("%" PRIu64, failed->mem.reserved);
	else
		fputs("null", stdout);
	printf(",\"producer\":%u,\"pid\":%u,\"tid\":%u,\"in\":", failed->producer, failed->pid,
	       failed->tid);
	if (failed->name) {
		name = xsprof_trace_name_len(trace, failed->producer, failed->name, &len);
		xsp_json_print(stdout, name, len);
	} else {
		fputs("null", stdout);
	}
	putchar('}');
}

static void json_left(const struct report_usage *usage)
{
	const struct usage_apart *apart = &usage->apart;

	printf(",\n\"memory\":{\"records\":%" PRIu64 ",\"in_no_range\":{\"allocations\":%" PRIu64
	       ",\"frees\":%" PRIu64 ",\"cpu_bytes\":%" PRId64 ",\"device_bytes\":%" PRId64
	       "},\"without_times\":{\"cpu_bytes\":%" PRId64 ",\"device_bytes\":%" PRId64
	       ",\"flops\":%" PRIu64 "},\"left_out\":%" PRIu64 ",\"flops_unknown\":%" PRIu64 "}",
	       usage->memory, apart->allocs, apart->frees, apart->bytes[XSP_USED_CPU],
	       apart->bytes[XSP_USED_DEVICE], usage->doubt.self[XSP_USED_CPU],
	       usage->doubt.self[XSP_USED_DEVICE], usage->doubt.flops, usage->crowded,
	       usage->uncounted);
}

void report_json_usage(const struct report *report)
{
	const struct report_usage *usage = report->usage;

	if (usage->memory || usage->counted)
		json_left(usage);
	printf(",\n\"out_of_memory\":{\"count\":%" PRIu64 ",\"first\":[", usage->nr_failed);
	for (uint64_t i = 0; i < usage->nr_failed && i < USAGE_FAILED; i++) {
		putchar(i ? ',' : ' ');
		json_failed(report, &usage->failed[i]);
	}
	fputs("]}", stdout);
}
