// SPDX-License-Identifier: GPL-2.0-only
/*
 * Times in which devices were not recorded: adds them up for each process while the trace is read,
 * then for each device. What a device did then is unknown: it was neither busy nor idle.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/gpu.h"

#define PROCESSES	(1u << 16)

/* The entry of @producer, added if new.  Return: NULL if full, or without memory. */
static struct gpu_unrecorded *process_of(struct gpu_report *gpu, uint32_t producer)
{
	uint32_t room = gpu->nr_unrecorded ? gpu->nr_unrecorded : 16;
	struct gpu_unrecorded *v;

	if (producer >= PROCESSES)
		return NULL;
	while (room <= producer)
		room *= 2;
	if (room > gpu->nr_unrecorded) {
		v = realloc(gpu->unrecorded, room * sizeof(*v));
		if (!v)
			return NULL;
		memset(v + gpu->nr_unrecorded, 0, (room - gpu->nr_unrecorded) * sizeof(*v));
		gpu->unrecorded = v;
		gpu->nr_unrecorded = room;
	}
	return &gpu->unrecorded[producer];
}

static int add(struct gpu_unrecorded *u, uint64_t begin, uint64_t end)
{
	if (!u->times)
		u->times = gpu_busy_new();
	if (!u->times)
		return -ENOMEM;
	if (end > begin)
		gpu_busy_add(u->times, begin, end);
	return 0;
}

int gpu_unrecorded_event(struct gpu_report *gpu, const struct xsprof_event *ev)
{
	struct gpu_unrecorded *u;

	if (ev->type != XSPROF_REC_GPU || ev->aux != XSPROF_GPU_UNRECORDED)
		return 0;
	u = process_of(gpu, ev->producer);
	return u ? add(u, ev->begin_ns, ev->end_ns) : 0;
}

/*
 * If several processes used the device, the others' activities are known while one of them was not
 * recorded. Where they have none, its activities may be missing.
 */
int gpu_unrecorded_devices(struct gpu_report *gpu)
{
	for (uint32_t i = 0; i < gpu->nr_streams; i++) {
		const struct gpu_stream *s = &gpu->streams[i];
		struct gpu_device *d = &gpu->devices[s->device];
		const struct gpu_unrecorded *u = s->producer < gpu->nr_unrecorded ?
						 &gpu->unrecorded[s->producer] : NULL;

		if (!u || !u->times)
			continue;
		if (!d->unknown)
			d->unknown = gpu_busy_new();
		if (!d->unknown)
			return -ENOMEM;
		gpu_busy_join(d->unknown, u->times, d->first, d->last);
	}
	for (uint32_t i = 0; i < gpu->nr_devices; i++) {
		struct gpu_device *d = &gpu->devices[i];

		if (d->unknown)
			d->unrecorded = gpu_busy_beside(d->unknown, d->busy[GPU_BUSY_ALL],
							d->first, d->last);
	}
	return 0;
}

void gpu_unrecorded_free(struct gpu_report *gpu)
{
	for (uint32_t i = 0; i < gpu->nr_unrecorded; i++)
		gpu_busy_free(gpu->unrecorded[i].times);
	free(gpu->unrecorded);
	for (uint32_t i = 0; i < GPU_DEVICES; i++)
		gpu_busy_free(gpu->devices[i].unknown);
}
