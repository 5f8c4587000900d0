// SPDX-License-Identifier: GPL-2.0-only
/*
 * What ran from CUDA graphs, by the range in which the program captured it. All ranges must be
 * followed for that, so the trace is read once more, and only if graphs were launched.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/tool.h"
#include "ranges/captured.h"
#include "report/idle.h"
#include "report/why-local.h"
#include "text/json.h"

struct capture {
	struct gpu_report	*gpu;
	struct xsp_tracks	*tracks;
	struct xsp_captured	nodes;
	struct xsp_map		rows;	/* index + 1, by range and work */
};

static struct gpu_captured_row *row_of(struct capture *r, uint32_t range, uint32_t work)
{
	uint64_t key = (uint64_t)range << 32 | (work + 1ull), *known = xsp_map_get(&r->rows, key);
	struct gpu_report *gpu = r->gpu;

	if (known)
		return &gpu->captured[*known - 1];
	if (gpu->nr_captured == GPU_CAPTURED_ROWS ||
	    xsp_map_set(&r->rows, key, gpu->nr_captured + 1))
		return NULL;
	gpu->captured[gpu->nr_captured] = (struct gpu_captured_row){
		.range = range, .work = work,
	};
	return &gpu->captured[gpu->nr_captured++];
}

static void add(struct capture *r, const struct xsprof_event *ev)
{
	struct xsp_groups *groups = r->gpu->report->groups;
	uint32_t in = xsp_captured_in(&r->nodes, ev), range = 0, work, category;
	struct gpu_captured_row *row;

	if (in)
		xsp_groups_words(groups, ev->producer, in, &range, &category);
	xsp_groups_words(groups, ev->producer, ev->name, &work, &category);
	row = row_of(r, in ? range + 1 : 0, work);
	if (!row) {
		r->gpu->unlisted_captured++;
		return;
	}
	row->count++;
	row->ns += ev->end_ns - ev->begin_ns;
}

static void read_event(void *data, const struct xsprof_event *ev)
{
	const struct xsprof_rec_gpu *rec = (const struct xsprof_rec_gpu *)ev->rec;
	struct capture *r = data;

	if (ev->type != XSPROF_REC_GPU) {
		why_holders_event(r->tracks, ev);
		return;
	}
	if (ev->rec_size < sizeof(*rec) || ev->end_ns < ev->begin_ns)
		return;
	if (ev->aux == XSPROF_GPU_NODE)
		xsp_captured_event(&r->nodes, ev,
				   xsp_tracks_get(r->tracks, ev->producer, ev->pid, 0, ev->tid,
						  ev->ns));
	else if (xsp_device_is_work(ev->aux) && rec->graph_node)
		add(r, ev);
}

static int by_time(const void *pa, const void *pb)
{
	const struct gpu_captured_row *a = pa, *b = pb;

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return a->range != b->range ? (a->range > b->range) - (a->range < b->range) :
				      (a->work > b->work) - (a->work < b->work);
}

int gpu_captured(struct gpu_report *gpu)
{
	struct capture r = { .gpu = gpu };
	int ret = why_holders_new(&r.tracks);

	gpu->captured = calloc(GPU_CAPTURED_ROWS, sizeof(*gpu->captured));
	if (!ret && !gpu->captured)
		ret = -ENOMEM;
	if (!ret)
		ret = report_read_again(gpu->report, UINT64_MAX, read_event, &r);
	if (!ret && gpu->nr_captured)
		qsort(gpu->captured, gpu->nr_captured, sizeof(*gpu->captured), by_time);
	gpu->unknown_nodes = r.nodes.left_out;
	xsp_captured_free(&r.nodes);
	xsp_map_free(&r.rows);
	xsp_tracks_free(r.tracks);
	return ret;
}

/* ---- printing -------------------------------------------------------------------------------- */

void gpu_print_captured(const struct gpu_report *gpu)
{
	const struct xsp_groups *groups = gpu->report->groups;
	uint64_t limit = gpu->report->reading.limit;
	bool bold = report_colours();
	char total[32], mean[32];
	const char *s;
	size_t len;

	if (!gpu->nr_captured)
		return;
	printf("\n%s%8s %11s %11s  %s%s\n", bold ? "\033[1m" : "", "Count", "Total", "Mean",
	       "Part of a graph, and the range that captured it", bold ? "\033[0m" : "");
	for (uint32_t i = 0; i < gpu->nr_captured && i < limit; i++) {
		const struct gpu_captured_row *row = &gpu->captured[i];

		printf("%8" PRIu64 " %11s %11s  ", row->count,
		       tool_format_time(total, sizeof(total), row->ns),
		       tool_format_time(mean, sizeof(mean), row->ns / row->count));
		s = xsp_groups_word(groups, row->work, &len);
		report_print_text(s, len, 0);
		if (row->range) {
			fputs(", in ", stdout);
			s = xsp_groups_word(groups, row->range - 1, &len);
			report_print_text(s, len, 0);
		}
		putchar('\n');
	}
	if (gpu->nr_captured > limit)
		printf("... rows left out: %" PRIu64 "\n", gpu->nr_captured - limit);
	if (gpu->unlisted_captured)
		printf("# %" PRIu64 " graph activities are not listed: too many kinds\n",
		       gpu->unlisted_captured);
	if (gpu->unknown_nodes)
		printf("# %" PRIu64 " graph nodes exceed the limit: their activities have no "
		       "range\n", gpu->unknown_nodes);
}

void gpu_json_captured(const struct gpu_report *gpu)
{
	const struct xsp_groups *groups = gpu->report->groups;
	const char *s;
	size_t len;

	fputs(",\"captured\":[", stdout);
	for (uint32_t i = 0; i < gpu->nr_captured && i < gpu->report->reading.limit; i++) {
		const struct gpu_captured_row *row = &gpu->captured[i];

		s = xsp_groups_word(groups, row->work, &len);
		fputs(i ? ",{\"name\":" : "{\"name\":", stdout);
		xsp_json_print(stdout, s, len);
		fputs(",\"captured_in\":", stdout);
		s = row->range ? xsp_groups_word(groups, row->range - 1, &len) : NULL;
		if (s)
			xsp_json_print(stdout, s, len);
		else
			fputs("null", stdout);
		printf(",\"count\":%" PRIu64 ",\"total_ns\":%" PRIu64 "}", row->count, row->ns);
	}
	printf("],\"captured_unlisted\":%" PRIu64 ",\"nodes_unknown\":%" PRIu64,
	       gpu->unlisted_captured, gpu->unknown_nodes);
}
