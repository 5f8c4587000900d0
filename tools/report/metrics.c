// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sampled counters of devices: their mean, also over the time in which the device was busy. Samples
 * come before or after the activities of their time, so the trace is read once more when these are
 * known.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "format/common/out.h"
#include "report/idle.h"
#include "text/json.h"

static struct gpu_metric *metric_of(struct gpu_report *gpu, uint32_t device, uint32_t name)
{
	struct gpu_metric *m;
	uint32_t own = 0;

	for (uint32_t i = 0; i < gpu->nr_metrics; i++) {
		if (gpu->metrics[i].device != device)
			continue;
		if (gpu->metrics[i].name == name)
			return &gpu->metrics[i];
		own++;
	}
	/* More than can be recorded. */
	if (own == GPU_METRICS_OF_ONE || gpu->nr_metrics == GPU_METRICS) {
		gpu->unlisted_metrics++;
		return NULL;
	}
	m = &gpu->metrics[gpu->nr_metrics++];
	*m = (struct gpu_metric){ .device = device, .name = name, .max = -INFINITY };
	return m;
}

static void add(struct gpu_metric *m, double value, uint64_t ns, uint64_t busy)
{
	m->count++;
	m->ns += ns;
	m->sum += value * (double)ns;
	m->busy_ns += busy;
	m->busy_sum += value * (double)busy;
	m->max = value > m->max ? value : m->max;
}

static void read_event(void *data, const struct xsprof_event *ev)
{
	const struct xsprof_rec_gpu *rec = (const struct xsprof_rec_gpu *)ev->rec;
	struct gpu_report *gpu = data;
	const struct xsp_filter *filter = &gpu->report->filter;
	uint64_t begin = ev->begin_ns > filter->from_ns ? ev->begin_ns : filter->from_ns;
	uint64_t end = ev->end_ns < filter->to_ns ? ev->end_ns : filter->to_ns;
	uint32_t name, category;
	struct xsprof_trace_arg arg;
	struct gpu_metric *m;
	uint64_t busy;
	size_t pos = 0;
	int device;

	if (ev->type != XSPROF_REC_GPU || ev->aux != XSPROF_GPU_METRICS || ev->value ||
	    ev->rec_size < sizeof(*rec) || end <= begin)
		return;
	device = gpu_device_find(gpu, ev->producer, rec->device);
	if (device < 0)
		return;
	busy = gpu_busy_within(gpu->devices[device].busy[GPU_BUSY_ALL], begin, end);
	while (fmt_gpu_metric(ev, &pos, &arg)) {
		xsp_groups_words(gpu->report->groups, ev->producer, arg.key, &name, &category);
		m = metric_of(gpu, (uint32_t)device, name);
		if (m)
			add(m, arg.u.f64, end - begin, busy);
	}
}

int gpu_metrics(struct gpu_report *gpu)
{
	return report_read_again(gpu->report, UINT64_MAX, read_event, gpu);
}

/* ---- printing -------------------------------------------------------------------------------- */

void gpu_print_metrics(const struct gpu_report *gpu, uint32_t device)
{
	const char *s;
	size_t len;

	for (uint32_t i = 0; i < gpu->nr_metrics; i++) {
		const struct gpu_metric *m = &gpu->metrics[i];

		if (m->device != device)
			continue;
		s = xsp_groups_word(gpu->report->groups, m->name, &len);
		fputs("#   ", stdout);
		report_print_text(s, len, 0);
		printf(": mean %.1f", m->sum / (double)m->ns);
		if (m->busy_ns)
			printf(", while busy %.1f", m->busy_sum / (double)m->busy_ns);
		printf(", at most %.1f (%" PRIu64 " sample%s)\n", m->max, m->count,
		       m->count == 1 ? "" : "s");
	}
}

static void print_number(const char *key, double value)
{
	char text[40];

	*xsp_json_double(text, value) = '\0';
	printf(",\"%s\":%s", key, text);
}

void gpu_json_metrics(const struct gpu_report *gpu, uint32_t device)
{
	const char *sep = "", *s;
	size_t len;

	fputs(",\"metrics\":[", stdout);
	for (uint32_t i = 0; i < gpu->nr_metrics; i++) {
		const struct gpu_metric *m = &gpu->metrics[i];

		if (m->device != device)
			continue;
		s = xsp_groups_word(gpu->report->groups, m->name, &len);
		printf("%s{\"name\":", sep);
		xsp_json_print(stdout, s, len);
		printf(",\"samples\":%" PRIu64 ",\"sampled_ns\":%" PRIu64 ",\"busy_ns\":%" PRIu64,
		       m->count, m->ns, m->busy_ns);
		print_number("mean", m->sum / (double)m->ns);
		if (m->busy_ns)
			print_number("mean_while_busy", m->busy_sum / (double)m->busy_ns);
		print_number("max", m->max);
		putchar('}');
		sep = ",";
	}
	putchar(']');
}
