// SPDX-License-Identifier: GPL-2.0-only
/*
 * How what devices did looks to programs: JSON, times in nanoseconds.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/refused.h"
#include "cli/tool.h"
#include "format/common/out.h"
#include "report/gpu.h"
#include "report/launched.h"
#include "text/json.h"

static void print_text(const char *text)
{
	if (*text)
		xsp_json_print(stdout, text, strlen(text));
	else
		fputs("null", stdout);
}

static void print_device(const struct gpu_report *gpu, uint32_t number)
{
	const struct gpu_device *d = &gpu->devices[number];
	uint64_t all = gpu_busy_ns(d->busy[GPU_BUSY_ALL]);
	uint64_t kernels = gpu_busy_ns(d->busy[GPU_BUSY_KERNELS]);
	uint64_t copies = gpu_busy_ns(d->busy[GPU_BUSY_COPIES]);
	int64_t worst, best;

	printf("{\"device\":%u,\"uuid\":", d->number);
	print_text(d->uuid);
	fputs(",\"name\":", stdout);
	print_text(d->name);
	if (d->first <= d->last)
		printf(",\"first_ns\":%" PRIu64 ",\"last_ns\":%" PRIu64, d->first, d->last);
	else
		fputs(",\"first_ns\":null,\"last_ns\":null", stdout);
	printf(",\"busy_ns\":%" PRIu64
	       ",\"kernels_ns\":%" PRIu64 ",\"copies_ns\":%" PRIu64 ",\"sets_ns\":%" PRIu64
	       ",\"others_ns\":%" PRIu64 ",\"copies_beside_kernels_ns\":%" PRIu64
	       ",\"copied_bytes\":%" PRIu64
	       ",\"uncounted_ns\":%" PRIu64 ",\"unrecorded_ns\":%" PRIu64
	       ",\"memory_bytes\":%" PRIu64 ",\"collectives_ns\":%" PRIu64
	       ",\"collectives_beside_kernels_ns\":%" PRIu64
	       ",\"kernels\":%" PRIu64 ",\"measured_alone\":%" PRIu64
	       ",\"measured_in_passes\":%" PRIu64 ",\"before_their_call\":%" PRIu64
	       ",\"before_their_call_ns\":%" PRIu64,
	       all, kernels, copies, d->sets, d->others,
	       gpu_copies_beside(d), d->bytes,
	       gpu_busy_late(d->busy[GPU_BUSY_ALL]), d->unrecorded, d->in_use,
	       gpu_busy_ns(d->busy[GPU_BUSY_COLLECTIVES]), gpu_collectives_beside(d), d->kernels,
	       d->measured, d->passes, d->early, d->early_ns);
	if (gpu_clock(gpu, number, &worst, &best))
		printf(",\"clock_within_ns\":%" PRId64 ",\"clock_best_ns\":%" PRId64, worst, best);
	else
		fputs(",\"clock_within_ns\":null,\"clock_best_ns\":null", stdout);
	gpu_json_metrics(gpu, number);
	gpu_json_idle(gpu, number);
	putchar('}');
}

static void print_row(const struct gpu_report *gpu, const struct gpu_row *row)
{
	const struct xsp_group *g = row->group;
	bool other = xsp_groups_is_other(gpu->report->groups, g);
	const char *s;
	size_t len;

	s = xsp_groups_word(gpu->report->groups, other ? 0 : g->key.name, &len);
	printf("{\"kind\":\"%s\",\"name\":", xsp_word_gpu(row->kind));
	if (other)
		fputs("null", stdout);
	else
		xsp_json_print(stdout, s, len);
	printf(",\"count\":%" PRIu64 ",\"total_ns\":%" PRIu64, g->count, g->total);
	/* Without times: metrics of a kernel whose own record was lost. */
	if (g->timed)
		printf(",\"mean_ns\":%" PRIu64 ",\"min_ns\":%" PRIu64 ",\"max_ns\":%" PRIu64,
		       g->sum / g->timed, g->min, g->max);
	if (g->timed && !g->no_hist)
		printf(",\"p50_ns\":%" PRIu64 ",\"p99_ns\":%" PRIu64,
		       xsp_group_quantile(g, 0.5), xsp_group_quantile(g, 0.99));
	if (row->delays)
		printf(",\"delay_ns\":%" PRIu64, row->delay / row->delays);
	if (row->bytes)
		printf(",\"bytes\":%" PRIu64, row->bytes);
	if (row->occupied_ns)
		printf(",\"occupancy\":%.1f", row->occupied / (double)row->occupied_ns);
	if (row->measured)
		gpu_json_measured(gpu, row);
	putchar('}');
}

void gpu_print_json(const struct gpu_report *gpu)
{
	const char *sep = "", *name;
	struct refused at = { 0 };
	uint32_t pid;

	fputs("{\"devices\":[", stdout);
	for (uint32_t i = 0; i < gpu->nr_devices; i++) {
		fputs(sep, stdout);
		print_device(gpu, i);
		sep = ",";
	}
	fputs("],\"streams\":[", stdout);
	for (uint32_t i = 0; i < gpu->nr_streams; i++) {
		const struct gpu_stream *s = &gpu->streams[i];

		printf("%s{\"device\":%u,\"uuid\":", i ? "," : "", s->number);
		print_text(gpu->devices[s->device].uuid);
		printf(",\"context\":%u,\"stream\":", s->context);
		/* Activities of the driver itself have none. */
		if (s->stream == XSPROF_NO_STREAM)
			fputs("null", stdout);
		else
			printf("%u", s->stream);
		printf(",\"pid\":%u,\"count\":%" PRIu64 ",\"busy_ns\":%" PRIu64
		       ",\"uncounted_ns\":%" PRIu64 ",\"name\":", s->pid, s->count,
		       gpu_busy_ns(s->busy), gpu_busy_late(s->busy));
		name = xsp_stream_name(gpu->report->source.trace, s->producer, s->number,
				       s->context, s->stream);
		print_text(name ? name : "");
		fputs(",\"context_name\":", stdout);
		name = xsp_context_name(gpu->report->source.trace, s->producer, s->number,
					s->context);
		print_text(name ? name : "");
		putchar('}');
	}
	putchar(']');
	gpu_json_copies(gpu);
	gpu_json_captured(gpu);
	gpu_json_launched(gpu);
	gpu_json_budget(gpu);
	fputs(",\"not_recorded\":[", stdout);
	for (uint32_t i = 0; i < gpu->missed.nr; i++) {
		printf("%s{\"pid\":%u,\"what\":", i ? "," : "",
		       missed_pid(&gpu->missed.v[i], gpu->report->source.trace));
		print_text(gpu->missed.v[i].text);
		printf(",\"count\":%" PRIu64 "}", gpu->missed.v[i].n);
	}
	printf("],\"not_recorded_more\":%s,\"refused\":[", gpu->missed.full ? "true" : "false");
	for (sep = ""; (name = refused_next(&at, gpu->report->source.trace, &pid));) {
		if (!xsp_filter_pid(&gpu->report->filter, pid))
			continue;
		printf("%s{\"pid\":%u,\"why\":", sep, pid);
		print_text(name);
		putchar('}');
		sep = ",";
	}
	printf("],\"unlisted\":%" PRIu64 ",\"unlisted_metrics\":%" PRIu64, gpu->unlisted,
	       gpu->unlisted_metrics);
	printf(",\"before_their_call\":%" PRIu64 ",\"rows\":[", gpu->early);
	for (uint32_t i = 0; i < gpu->nr && i < gpu->report->reading.limit; i++) {
		if (i)
			putchar(',');
		print_row(gpu, &gpu->rows[i]);
	}
	puts("]}");
}
