// SPDX-License-Identifier: GPL-2.0-only
/*
 * The peak of allocated memory in each step. Each record of an allocator has the bytes allocated at
 * that time; steps of several threads overlap, and a record counts for all steps that are under
 * way. For each begin of a step the peak since then is kept: peaks of earlier begins are never
 * lower, so a record raises only the latest ones, and these become one entry.
 */
#include <stdlib.h>
#include <string.h>

#include "export/scan.h"
#include "report/steps.h"

#define DEVICES_MAX	64u	/* of a process */

/* The peak since the begin of a step. */
struct peak {
	uint64_t	begin;		/* number of its first step */
	uint64_t	bytes;
};

/* Peaks decrease, and step numbers increase, from one to the next. */
struct peaks {
	struct peak	*list;
	uint32_t	nr;
	uint32_t	room;
	bool		known;
	bool		failed;		/* memory ran out: no peak is known any more */
	uint64_t	now;
};

struct device {
	uint32_t	device;
	uint64_t	bytes;
};

/**
 * struct step_memory - memory allocated by a process
 * @peaks: of the host, and of all devices
 * @devices: bytes allocated now, by device
 * @nr: number of devices
 * @begins: number of steps that have begun
 */
struct step_memory {
	struct peaks	peaks[XSP_USED_KINDS];
	struct device	devices[DEVICES_MAX];
	uint32_t	nr;
	uint64_t	begins;
};

static void grow(struct peaks *peaks)
{
	uint32_t room = peaks->room ? peaks->room * 2 : 16;
	struct peak *list = realloc(peaks->list, room * sizeof(*list));

	if (!list)
		return;
	peaks->list = list;
	peaks->room = room;
}

static void push(struct peaks *peaks, uint64_t begin, uint64_t bytes)
{
	if (peaks->nr == peaks->room)
		grow(peaks);
	if (peaks->nr < peaks->room)
		peaks->list[peaks->nr++] = (struct peak){ begin, bytes };
	else
		peaks->failed = true;
}

/* The last one that began at or before @begin. */
static uint32_t find(const struct peaks *peaks, uint64_t begin)
{
	uint32_t low = 0, high = peaks->nr;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		*(peaks->list[middle].begin <= begin ? &low : &high) = middle;
	}
	return low;
}

static void reach(struct peaks *peaks, uint64_t bytes)
{
	uint64_t begin = 0;
	uint32_t before = peaks->nr;

	peaks->known = true;
	peaks->now = bytes;
	while (peaks->nr && peaks->list[peaks->nr - 1].bytes <= bytes)
		begin = peaks->list[--peaks->nr].begin;
	/* The first one covers all steps that began before the first record. */
	if (peaks->nr != before || !before)
		push(peaks, begin, bytes);
}

/* Makes room: keeps those that a step under way needs. */
static void thin(struct report_steps *steps, const struct step_process *process,
		 struct peaks *peaks)
{
	bool *needed = calloc(peaks->nr, sizeof(*needed));
	uint32_t kept = 0;

	if (!needed)
		return;
	for (uint32_t at = process->threads; at; at = steps->threads[at - 1].next)
		if (steps->threads[at - 1].in_step)
			needed[find(peaks, steps->threads[at - 1].bytes_mark)] = true;
	for (uint32_t i = 0; i < peaks->nr; i++)
		if (needed[i])
			peaks->list[kept++] = peaks->list[i];
	peaks->nr = kept;
	free(needed);
	/* At least as many peaks fit until the next pass as this one kept. */
	if (kept > peaks->room / 2)
		grow(peaks);
}

static bool take_device(struct step_memory *memory, const struct xsr_mem *mem, uint64_t *sum)
{
	uint32_t i;

	for (i = 0; i < memory->nr && memory->devices[i].device != mem->device; i++)
		;
	if (i == DEVICES_MAX)
		return false;
	if (i == memory->nr)
		memory->devices[memory->nr++].device = mem->device;
	memory->devices[i].bytes = mem->allocated;
	*sum = 0;
	for (i = 0; i < memory->nr; i++)
		if (__builtin_add_overflow(*sum, memory->devices[i].bytes, sum))
			*sum = UINT64_MAX;
	return true;
}

void steps_memory_event(struct report_steps *steps, const struct xsprof_event *ev)
{
	struct step_process *process = steps_process(steps, ev->producer);
	struct step_memory *memory;
	struct xsr_mem mem;
	uint64_t sum;

	if (!process || !xsr_mem_event(steps->report->source.trace, ev, &mem) || mem.failed)
		return;
	/* 0 means not known, also after an allocation. */
	if (!mem.allocated && (!process->memory || ev->type == XSPROF_REC_ALLOC))
		return;
	if (!process->memory)
		process->memory = calloc(1, sizeof(*process->memory));
	memory = process->memory;
	if (!memory)
		return;
	if (mem.device >> 16 == XSPROF_DEVICE_CPU)
		reach(&memory->peaks[XSP_USED_CPU], mem.allocated);
	else if (take_device(memory, &mem, &sum))
		reach(&memory->peaks[XSP_USED_DEVICE], sum);
	else
		memory->peaks[XSP_USED_DEVICE].failed = true;
}

void steps_memory_begin(struct report_steps *steps, struct step_thread *th)
{
	const struct step_process *process = &steps->processes[th->producer];
	struct step_memory *memory = process->memory;

	th->bytes_mark = 0;
	if (!memory)
		return;
	th->bytes_mark = ++memory->begins;
	for (int k = 0; k < XSP_USED_KINDS; k++) {
		struct peaks *peaks = &memory->peaks[k];

		if (!peaks->known || peaks->failed)
			continue;
		if (peaks->nr == peaks->room)
			thin(steps, process, peaks);
		if (!peaks->nr || peaks->list[peaks->nr - 1].bytes != peaks->now)
			push(peaks, th->bytes_mark, peaks->now);
	}
}

void steps_memory_end(const struct report_steps *steps, const struct step_thread *th,
		      struct report_step *step)
{
	const struct step_memory *memory = steps->processes[th->producer].memory;

	for (int k = 0; k < XSP_USED_KINDS && memory; k++) {
		const struct peaks *peaks = &memory->peaks[k];

		if (!peaks->known || peaks->failed)
			continue;
		step->bytes[k] = (struct step_bytes){
			.known = true, .end = peaks->now,
			.peak = peaks->list[find(peaks, th->bytes_mark)].bytes,
		};
	}
}

void steps_memory_free(struct step_process *process)
{
	for (int k = 0; k < XSP_USED_KINDS && process->memory; k++)
		free(process->memory->peaks[k].list);
	free(process->memory);
	process->memory = NULL;
}
