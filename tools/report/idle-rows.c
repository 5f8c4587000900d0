// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rows of reasons why devices were idle, by device; and reads the trace once more to find them.
 */
#include "report/idle.h"

#define BATCH	256u

void idle_add(struct idle *idle, const struct idle_time *t, enum gpu_idle_why why, uint32_t class,
	      uint32_t word, uint64_t ns)
{
	struct gpu_report *gpu = idle->gpu;
	uint32_t number = (uint32_t)(t - idle->v) + 1;
	struct gpu_idle_row *row = gpu->idle;

	if (!ns)
		return;
	while (row < gpu->idle + gpu->nr_idle &&
	       (row->device != t->device || row->why != why || row->class != class ||
		row->word != word))
		row++;
	/* The last row collects what does not fit. */
	if (row == gpu->idle + GPU_IDLE_ROWS) {
		row--;
		row->why = GPU_IDLE_OTHER;
	} else if (row == gpu->idle + gpu->nr_idle) {
		gpu->nr_idle++;
		*row = (struct gpu_idle_row){
			.device = t->device, .why = why, .class = class, .word = word,
		};
	}
	row->count += row->latest != number;
	row->latest = number;
	row->ns += ns;
}

int idle_read(struct gpu_report *gpu, void (*event)(void *data, const struct xsprof_event *ev),
	      void *data)
{
	static struct xsprof_event evs[BATCH];
	struct xsp_source *source = &gpu->report->source;
	bool quiet = source->quiet;
	int n = xsprof_trace_rewind(source->trace);

	/* Warnings were printed in the first pass. */
	source->quiet = true;
	while (!n && (n = xsprof_trace_next_batch(source->trace, evs, BATCH)) > 0) {
		for (int i = 0; i < n; i++)
			event(data, &evs[i]);
		n = 0;
	}
	source->quiet = quiet;
	return n;
}
