// SPDX-License-Identifier: GPL-2.0-only
/*
 * Metrics of kernels that were measured one by one: records of their kernel's name, and in the
 * first of each kernel in how many passes it was measured.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/tool.h"
#include "format/common/lane.h"
#include "format/common/out.h"
#include "report/gpu.h"
#include "text/json.h"

#define PASSES	"measured in passes"
#define CELL	32
#define WHOLE	1e15	/* below this, numbers are printed with all digits */

/* Return: 0: it is not the first of its kernel. */
static uint64_t passes_of(const struct xsprof_trace *trace, const struct xsprof_event *ev)
{
	struct xsprof_trace_arg arg;
	size_t pos = 0;

	while (xsprof_trace_args(ev, &pos, &arg))
		if (arg.type == XSPROF_ARG_I64 && arg.u.i64 > 0 &&
		    !strcmp(xsprof_trace_name(trace, ev->producer, arg.key), PASSES))
			return (uint64_t)arg.u.i64;
	return 0;
}

static void add(struct gpu_report *gpu, struct gpu_measured *m, uint32_t name, double value)
{
	uint32_t i = 0;

	while (i < m->nr && m->v[i].name != name)
		i++;
	if (i == GPU_METRICS_OF_ONE) {
		gpu->unlisted_metrics++;
		return;
	}
	if (i == m->nr) {
		m->v[m->nr].name = name;
		m->v[m->nr].min = m->v[m->nr].max = value;
		m->nr++;
	}
	m->v[i].count++;
	m->v[i].sum += value;
	m->v[i].min = value < m->v[i].min ? value : m->v[i].min;
	m->v[i].max = value > m->v[i].max ? value : m->v[i].max;
}

void gpu_measured_add(struct gpu_report *gpu, struct gpu_device *d, struct gpu_row *row,
		      const struct xsprof_event *ev)
{
	uint64_t passes = passes_of(gpu->report->source.trace, ev);
	struct xsprof_trace_arg arg;
	uint32_t name, category;
	size_t pos = 0;

	d->measured += passes != 0;
	d->passes = passes > d->passes ? passes : d->passes;
	if (!row->measured)
		row->measured = calloc(1, sizeof(*row->measured));
	if (!row->measured)
		return;
	row->measured->kernels += passes != 0;
	while (fmt_gpu_metric(ev, &pos, &arg)) {
		xsp_groups_words(gpu->report->groups, ev->producer, arg.key, &name, &category);
		add(gpu, row->measured, name, arg.u.f64);
	}
}

/* ---- printing -------------------------------------------------------------------------------- */

void gpu_print_alone(const struct gpu_device *d)
{
	if (!d->measured)
		return;
	printf("#   %" PRIu64 " of %" PRIu64 " kernels ran alone, in %s%" PRIu64 " pass%s each, as "
	       "their metrics were measured: times between activities, idle times and overlaps are "
	       "not those of the program\n", d->measured, d->kernels, d->passes > 1 ? "up to " : "",
	       d->passes, d->passes == 1 ? "" : "es");
}

/*
 * The first metrics of all rows, in the order in which they come. @more: set if there are others.
 * Return: how many.
 */
static uint32_t columns(const struct gpu_report *gpu, uint32_t from, uint32_t to,
			uint32_t names[GPU_METRICS_OF_ONE], bool *more)
{
	uint32_t n = 0, c;

	*more = false;
	for (uint32_t r = from; r < to; r++) {
		const struct gpu_measured *m = gpu->rows[r].measured;

		for (uint32_t i = 0; m && i < m->nr; i++) {
			for (c = 0; c < n && names[c] != m->v[i].name; c++)
				;
			if (c == n && n < GPU_METRICS_OF_ONE)
				names[n++] = m->v[i].name;
			else
				*more |= c == n;
		}
	}
	return n;
}

static void cell(const struct gpu_measured *m, uint32_t name, char text[CELL])
{
	uint32_t i = 0;
	double mean;

	while (i < m->nr && m->v[i].name != name)
		i++;
	if (i == m->nr) {
		strcpy(text, "-");
		return;
	}
	mean = m->v[i].sum / (double)m->v[i].count;
	/* All digits of a large number have no room, and the first ones are another number. */
	snprintf(text, CELL, fabs(mean) < WHOLE ? "%.1f" : "%.4g", mean);
}

static void print_row(const struct gpu_report *gpu, const struct gpu_row *row,
		      const uint32_t *names, const size_t *wide, uint32_t n)
{
	char text[CELL];
	const char *s;
	size_t len;

	printf("%8" PRIu64 "  ", row->measured->kernels);
	for (uint32_t c = 0; c < n; c++) {
		cell(row->measured, names[c], text);
		printf("%*s  ", (int)wide[c], text);
	}
	s = xsp_groups_word(gpu->report->groups, row->group->key.name, &len);
	report_print_text(s, len, 0);
	putchar('\n');
}

void gpu_print_measured(const struct gpu_report *gpu, uint32_t from, uint32_t to)
{
	uint64_t limit = gpu->report->reading.limit, left = 0;
	bool bold = report_colours(), more;
	uint32_t names[GPU_METRICS_OF_ONE], n = columns(gpu, from, to, names, &more);
	size_t wide[GPU_METRICS_OF_ONE];
	const char *s;

	if (!n)
		return;
	printf("\n%s%8s  ", bold ? "\033[1m" : "", "Measured");
	for (uint32_t c = 0; c < n; c++) {
		s = xsp_groups_word(gpu->report->groups, names[c], &wide[c]);
		report_print_text(s, wide[c], 0);
		wide[c] = report_max(wide[c], strlen("100.0"));
		fputs("  ", stdout);
	}
	printf("Kernel, means of metrics%s\n", bold ? "\033[0m" : "");
	for (uint32_t r = from; r < to; r++) {
		if (!gpu->rows[r].measured)
			continue;
		if (limit) {
			print_row(gpu, &gpu->rows[r], names, wide, n);
			limit--;
		} else {
			left++;
		}
	}
	if (left)
		printf("... rows left out: %" PRIu64 "\n", left);
	if (more)
		puts("... and more metrics, which --json has");
}

static void print_number(const char *key, double value)
{
	char text[40];

	*xsp_json_double(text, value) = '\0';
	printf(",\"%s\":%s", key, text);
}

void gpu_json_measured(const struct gpu_report *gpu, const struct gpu_row *row)
{
	const struct gpu_measured *m = row->measured;
	const char *s;
	size_t len;

	printf(",\"measured\":%" PRIu64 ",\"metrics\":[", m->kernels);
	for (uint32_t i = 0; i < m->nr; i++) {
		s = xsp_groups_word(gpu->report->groups, m->v[i].name, &len);
		printf("%s{\"name\":", i ? "," : "");
		xsp_json_print(stdout, s, len);
		printf(",\"kernels\":%" PRIu64, m->v[i].count);
		print_number("mean", m->v[i].sum / (double)m->v[i].count);
		print_number("min", m->v[i].min);
		print_number("max", m->v[i].max);
		putchar('}');
	}
	putchar(']');
}
