// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rows of reasons why devices were idle, by device and by the thread that launched late.
 */
#include <stdlib.h>

#include "report/idle.h"

/* Has the reason to do with the launching thread? */
static bool is_late(uint32_t why)
{
	return why == GPU_IDLE_CALL || why == GPU_IDLE_OFF_CPU || why == GPU_IDLE_RANGE ||
	       why == GPU_IDLE_NO_RANGE;
}

/* When all are in use the shortest makes room. */
static void add_who(struct gpu_idle_row *row, const struct idle_reason *reason, uint64_t ns)
{
	const struct cause_segment *s = reason->segment;
	const struct cause_who *who = s ? &s->who : NULL;
	struct gpu_idle_who *to = row->who;
	uint32_t tid, i;

	if (!who || who->context == CAUSE_IN_NOTHING)
		return;
	tid = who->context == CAUSE_IN_TASK ? (uint32_t)who->tid : 0;
	for (i = 0; i < row->nr_who; i++) {
		if (row->who[i].tid == tid && row->who[i].context == who->context) {
			row->who[i].ns += ns;
			row->who[i].partial |= s->partial != 0;
			return;
		}
		to = row->who[i].ns < to->ns ? &row->who[i] : to;
	}
	if (row->nr_who < GPU_IDLE_WHO)
		to = &row->who[row->nr_who++];
	else
		row->who_left_out += to->ns;
	*to = (struct gpu_idle_who){
		.tid = tid, .context = who->context, .partial = s->partial != 0, .ns = ns,
	};
	if (tid)
		report_comms_copy(reason->comms, to->comm, who->tid);
}

/* The row of a device for reasons without room; there is one of each device. */
static struct gpu_idle_row *others(struct gpu_report *gpu, uint32_t device)
{
	struct gpu_idle_row *row = gpu->idle + GPU_IDLE_ROWS;

	while (row < gpu->idle + gpu->nr_idle && row->device != device)
		row++;
	if (row == gpu->idle + gpu->nr_idle) {
		gpu->nr_idle++;
		*row = (struct gpu_idle_row){ .device = device, .why = GPU_IDLE_OTHER };
	}
	return row;
}

/* Makes room for a longer one. Return: NULL: there is none that is shorter than @ns. */
static struct gpu_idle_row *shortest(struct gpu_report *gpu, uint64_t ns)
{
	struct gpu_idle_row *row = gpu->idle, *other;

	for (uint32_t i = 1; i < GPU_IDLE_ROWS; i++)
		row = gpu->idle[i].ns < row->ns ? &gpu->idle[i] : row;
	if (row->ns >= ns)
		return NULL;
	other = others(gpu, row->device);
	other->ns += row->ns;
	other->count += row->count;
	return row;
}

void idle_add(struct idle *idle, const struct idle_time *t, const struct idle_reason *reason,
	      uint64_t ns)
{
	struct gpu_report *gpu = idle->gpu;
	uint32_t number = (uint32_t)(t - idle->v) + 1;
	const struct gpu_idle_row key = {
		.device = t->device, .why = reason->why, .class = reason->class,
		.word = reason->word, .producer = is_late(reason->why) ? t->producer : 0,
		.tid = is_late(reason->why) ? t->tid : 0,
	};
	struct gpu_idle_row *row = gpu->idle;

	if (!ns)
		return;
	while (row < gpu->idle + gpu->nr_idle &&
	       (row->device != key.device || row->why != key.why || row->class != key.class ||
		row->word != key.word || row->producer != key.producer || row->tid != key.tid))
		row++;
	if (row == gpu->idle + gpu->nr_idle && gpu->nr_idle >= GPU_IDLE_ROWS) {
		row = shortest(gpu, ns);
		if (row)
			*row = key;
		else
			row = others(gpu, t->device);
	} else if (row == gpu->idle + gpu->nr_idle) {
		gpu->nr_idle++;
		*row = key;
	}
	row->count += row->latest != number;
	row->latest = number;
	row->ns += ns;
	add_who(row, reason, ns);
}

static int by_time(const void *pa, const void *pb)
{
	const struct gpu_idle_who *a = pa, *b = pb;

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return (a->tid > b->tid) - (a->tid < b->tid);
}

void idle_rows_sort(struct gpu_report *gpu)
{
	for (uint32_t i = 0; i < gpu->nr_idle; i++)
		if (gpu->idle[i].nr_who)
			qsort(gpu->idle[i].who, gpu->idle[i].nr_who, sizeof(gpu->idle[i].who[0]),
			      by_time);
}
