// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rows of reasons why devices were idle, by device.
 */
#include "report/idle.h"

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
