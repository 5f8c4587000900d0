// SPDX-License-Identifier: GPL-2.0-only
/*
 * Times in which devices were not recorded, because a collector or the categories of its activities
 * were off, or because records were lost: adds them up for each process while the trace is read,
 * then for each device. What a device did then is unknown: it was neither busy nor idle.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ranges/losses.h"
#include "report/gpu.h"

#define PROCESSES	(1u << 16)
#define LATE		1000000000u	/* ns; collectors write activities at least that often */

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

/*
 * Activities are written late: those that may be missing ran after the last one that was written
 * before the loss.
 */
static int lost(struct gpu_unrecorded *u, const struct xsprof_event *ev)
{
	uint64_t begin = u->whole > LATE ? u->whole - LATE : 0;

	if (u->worked > begin)
		begin = u->worked < u->whole ? u->worked : u->whole;
	return add(u, begin, xst_losses_until(ev, ev->ns));
}

/* A category of its activities is on, or the process has ended. */
static int end_off(struct gpu_unrecorded *u, uint64_t ns)
{
	uint64_t begin = u->off;

	u->off = 0;
	return begin ? add(u, begin, ns) : 0;
}

static int ended(const struct gpu_report *gpu, struct gpu_unrecorded *u,
		 const struct xsprof_event *ev)
{
	uint64_t how = ev->value >> 32;

	/* Exit handlers store when they ran; _exit() runs none. */
	u->cut = u->worked &&
		 (how == XSPROF_HOW_KILLED || how == XSPROF_HOW_EXEC ||
		  how == XSPROF_HOW_VANISHED ||
		  (how == XSPROF_HOW_EXITED &&
		   xsprof_trace_lived_ns(gpu->report->source.trace, ev->producer) < ev->ns));
	return end_off(u, ev->ns);
}

/*
 * Which categories are on has changed.  While those of its activities are unknown, which are
 * written late, one that is on may be theirs.
 */
static int switched(struct gpu_unrecorded *u, const struct xsprof_event *ev)
{
	uint64_t theirs = u->categories ? u->categories : UINT64_MAX;
	bool paused = ev->aux == XSPROF_CONTROL_PAUSE;

	if (ev->aux < XSPROF_CONTROL_ENABLE || ev->aux > XSPROF_CONTROL_SWITCH)
		return 0;
	if (!paused && ev->value & theirs)
		return end_off(u, ev->ns);
	u->off = u->off ? u->off : ev->ns;
	return 0;
}

static int device_event(struct gpu_unrecorded *u, const struct xsprof_event *ev)
{
	if (ev->aux == XSPROF_GPU_UNRECORDED)
		return add(u, ev->begin_ns, ev->end_ns);
	if (!xsp_device_is_work(ev->aux))
		return 0;
	/* Without a name, because there was no room for it, the category is unknown. */
	if (ev->name)
		u->categories |= 1ull << (ev->name >> XSPROF_NAME_SHIFT);
	if (!xst_losses_at(ev) && ev->end_ns > u->worked)
		u->worked = ev->end_ns;
	return 0;
}

int gpu_unrecorded_event(struct gpu_report *gpu, const struct xsprof_event *ev)
{
	bool of_device = ev->type == XSPROF_REC_GPU &&
			 ev->rec_size >= sizeof(struct xsprof_rec_gpu);
	struct gpu_unrecorded *u = NULL;
	int ret = 0;

	/* Before its first activity there is nothing that could be missing between two. */
	if (of_device)
		u = process_of(gpu, ev->producer);
	else if (ev->producer < gpu->nr_unrecorded)
		u = &gpu->unrecorded[ev->producer];
	if (!u)
		return 0;
	if (xst_losses_at(ev))
		ret = lost(u, ev);
	else
		u->whole = ev->ns;
	if (!ret && of_device)
		ret = device_event(u, ev);
	else if (!ret && ev->type == XSPROF_REC_CONTROL)
		ret = switched(u, ev);
	else if (!ret && ev->type == XSPROF_EV_EXIT)
		ret = ended(gpu, u, ev);
	return ret;
}

/* Did an earlier stream of that process use the device? */
static bool is_known(const struct gpu_report *gpu, uint32_t stream)
{
	const struct gpu_stream *s = &gpu->streams[stream];

	for (uint32_t i = 0; i < stream; i++)
		if (gpu->streams[i].producer == s->producer && gpu->streams[i].device == s->device)
			return true;
	return false;
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
		struct gpu_unrecorded *u = s->producer < gpu->nr_unrecorded ?
					   &gpu->unrecorded[s->producer] : NULL;

		if (u && end_off(u, UINT64_MAX))
			return -ENOMEM;
		if (!u || !u->times || is_known(gpu, i))
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
