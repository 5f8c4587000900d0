// SPDX-License-Identifier: GPL-2.0-only
/*
 * xsprof report --gpu: reads the activities of devices.  Its tables are of fixed size: an
 * activity has no delay if its call's record is more than some ten thousand records away from it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/recording-off.h"
#include "cli/refused.h"
#include "cli/tool.h"
#include "format/common/out.h"
#include "report/calls.h"
#include "report/gpu.h"
#include "report/launched.h"
#include "report/order.h"

/* A call or an activity whose counterpart has not been read yet. */
struct waiting {
	uint64_t	begin;
	uint32_t	row;	/* + 1 of an activity, 0: a call */
	uint32_t	device;	/* of an activity, as its process calls it */
	bool		done;	/* an activity of the call has its delay */
};

struct reader {
	struct gpu_report	gpu;
	struct xsp_map		rows;	/* + 1, by the row's group */
	struct call_places	places;
	struct waiting		waiting[CALL_PLACES];	/* by place */
};

/* ---- rows ------------------------------------------------------------------------------------ */

/* Known by its name, as in other tools: ncclDevKernel_AllReduce_..., void ncclKernel_... */
static bool is_collective(const struct gpu_report *gpu, const struct xsp_group *group)
{
	size_t len;
	const char *name = xsp_groups_word(gpu->report->groups, group->key.name, &len);

	return memmem(name, len, "ncclDevKernel", 13) || memmem(name, len, "ncclKernel", 10);
}

static struct gpu_row *new_row(struct gpu_report *gpu, struct xsp_group *group, uint32_t kind)
{
	uint32_t room = gpu->room ? 2 * gpu->room : 256;
	struct gpu_row *rows;

	if (gpu->nr == gpu->room) {
		rows = realloc(gpu->rows, room * sizeof(*rows));
		if (!rows)
			return NULL;
		gpu->rows = rows;
		gpu->room = room;
	}
	gpu->rows[gpu->nr] = (struct gpu_row){
		.group = group, .kind = kind,
		.collective = kind == XSPROF_GPU_KERNEL && is_collective(gpu, group),
	};
	return &gpu->rows[gpu->nr++];
}

/* A row is of a kind and a name, of all processes. */
static struct gpu_row *row_of(struct reader *r, const struct xsprof_event *ev, uint32_t kind)
{
	struct report *report = r->gpu.report;
	/* The kind stands where a process is in other reports. */
	struct xsp_key key = { .producer = kind };
	struct xsp_group *group;
	const uint64_t *known;
	struct gpu_row *row;
	uint32_t category;

	xsp_groups_words(report->groups, ev->producer, ev->name, &key.name, &category);
	group = xsp_groups_get(report->groups, &key);
	if (!group)
		return NULL;
	known = xsp_map_get(&r->rows, (uintptr_t)group);
	if (known)
		return &r->gpu.rows[*known - 1];
	row = new_row(&r->gpu, group, kind);
	if (row && xsp_map_set(&r->rows, (uintptr_t)group, r->gpu.nr)) {
		r->gpu.nr--;
		row = NULL;
	}
	return row;
}

static void add_duration(struct report *report, struct xsp_group *group, uint64_t ns)
{
	group->count++;
	group->timed++;
	group->sum += ns;
	group->total += ns;
	if (ns < group->min)
		group->min = ns;
	if (ns > group->max)
		group->max = ns;
	xsp_group_duration(report->groups, group, ns);
}

/* ---- activities ------------------------------------------------------------------------------ */

static void add_early(struct gpu_report *gpu, uint32_t producer, uint32_t number, uint64_t ns)
{
	int device = gpu_device_find(gpu, producer, number);

	gpu->early++;
	if (device < 0)
		return;
	gpu->devices[device].early++;
	if (ns > gpu->devices[device].early_ns)
		gpu->devices[device].early_ns = ns;
}

static void add_delay(struct gpu_report *gpu, uint32_t row, uint64_t call, uint64_t begin)
{
	gpu->rows[row].delays++;
	gpu->rows[row].delay += begin > call ? begin - call : 0;
}

/*
 * Kernels of a graph share a call, and one of them has a delay: the earliest of those reported
 * before the call, else the first reported after it.
 */
static void match(struct reader *r, const struct xsprof_event *ev, uint32_t row)
{
	const struct xsprof_rec_gpu *rec = (const struct xsprof_rec_gpu *)ev->rec;
	struct waiting *w;
	bool known;

	if (!ev->value)
		return;
	w = &r->waiting[call_place(&r->places, call_key(ev), &known)];
	if (!known) {
		*w = (struct waiting){
			.begin = ev->begin_ns, .row = row, .device = rec->device,
		};
	} else if (row && w->row) {
		if (ev->begin_ns < w->begin)
			*w = (struct waiting){
				.begin = ev->begin_ns, .row = row, .device = rec->device,
			};
	} else if (row && !w->done) {
		add_delay(&r->gpu, row - 1, w->begin, ev->begin_ns);
		if (ev->begin_ns < w->begin)
			add_early(&r->gpu, ev->producer, rec->device, w->begin - ev->begin_ns);
		w->done = true;
	} else if (!row && w->row) {
		add_delay(&r->gpu, w->row - 1, ev->begin_ns, w->begin);
		if (w->begin < ev->begin_ns)
			add_early(&r->gpu, ev->producer, w->device, ev->begin_ns - w->begin);
		*w = (struct waiting){ .begin = ev->begin_ns, .done = true };
	}
}

/* As many of the activity's bytes as of its time. */
static uint64_t bytes_within(const struct xsprof_event *ev, uint64_t bytes, uint64_t ns)
{
	uint64_t all = ev->end_ns - ev->begin_ns;

	return ns < all ? (uint64_t)((double)bytes * (double)ns / (double)all + 0.5) : bytes;
}

/* @begin, @end: its part in the window. */
static void add_work(struct reader *r, const struct xsprof_event *ev, struct gpu_row *row,
		     uint64_t begin, uint64_t end)
{
	const struct xsprof_rec_gpu *rec = (const struct xsprof_rec_gpu *)ev->rec;
	struct gpu_device *d = gpu_device_of(&r->gpu, ev->producer, rec->device);
	struct gpu_stream *s = d ? gpu_stream_of(&r->gpu, ev, rec,
						 (uint32_t)(d - r->gpu.devices)) : NULL;
	struct xsr_launch launch;
	uint64_t bytes = bytes_within(ev, rec->bytes, end - begin);
	struct xsr_walk walk;
	double occupancy;

	row->bytes += bytes;
	r->gpu.graphs |= rec->graph_node != 0;
	r->gpu.unlisted += !s;
	if (s) {
		s->count++;
		gpu_busy_add(s->busy, begin, end);
	}
	if (!d)
		return;
	gpu_busy_add(d->busy[GPU_BUSY_ALL], begin, end);
	if (ev->aux == XSPROF_GPU_KERNEL || ev->aux == XSPROF_GPU_GRAPH)
		gpu_busy_add(d->busy[row->collective ? GPU_BUSY_COLLECTIVES : GPU_BUSY_COMPUTING],
			     begin, end);
	if (ev->aux == XSPROF_GPU_MEMSET)
		d->sets += end - begin;
	else if (ev->aux == XSPROF_GPU_CUSTOM)
		d->others += end - begin;
	else
		gpu_busy_add(d->busy[ev->aux == XSPROF_GPU_MEMCPY ? GPU_BUSY_COPIES :
								     GPU_BUSY_KERNELS], begin, end);
	if (ev->aux != XSPROF_GPU_MEMSET && ev->aux != XSPROF_GPU_CUSTOM)
		gpu_busy_add(d->busy[GPU_BUSY_MOST], begin, end);
	d->bytes += ev->aux == XSPROF_GPU_MEMCPY ? bytes : 0;
	d->first = begin < d->first ? begin : d->first;
	d->last = end > d->last ? end : d->last;
	d->kernels += ev->aux == XSPROF_GPU_KERNEL;
	if (ev->aux != XSPROF_GPU_KERNEL || !s || !s->known)
		return;
	xsr_walk_event(&walk, ev);
	occupancy = xsr_launch_read(r->gpu.report->source.trace, walk, &launch) ?
		    xsr_occupancy(&s->limits, &launch) : -1;
	if (occupancy < 0)
		return;
	row->occupied += occupancy * (double)(end - begin);
	row->occupied_ns += end - begin;
}

static void add_memory(struct reader *r, const struct xsprof_event *ev, struct gpu_row *row)
{
	const struct xsprof_rec_gpu *rec = (const struct xsprof_rec_gpu *)ev->rec;
	struct gpu_device *d = gpu_device_of(&r->gpu, ev->producer, rec->device);
	uint64_t in_use;

	row->bytes += rec->bytes;
	if (d && fmt_gpu_in_use(r->gpu.report->source.trace, ev, &in_use) && in_use > d->in_use)
		d->in_use = in_use;
}

/* Do the filters select the activity, and is any of its time in the window? */
static bool is_wanted(struct reader *r, const struct xsprof_event *ev)
{
	const struct xsprof_rec_gpu *rec = (const struct xsprof_rec_gpu *)ev->rec;
	const struct xsp_filter *filter = &r->gpu.report->filter;
	uint8_t match_name = 0;

	if (!rec || ev->rec_size < sizeof(*rec) || ev->end_ns < ev->begin_ns ||
	    ev->end_ns < filter->from_ns || ev->begin_ns > filter->to_ns)
		return false;
	return xsp_filter_thread(filter, ev->pid, rec->thread ? (uint32_t)rec->thread : ev->tid) &&
	       xsp_filter_name(filter, r->gpu.report->source.trace, ev->producer, ev->name,
			       &match_name);
}

static void measured(struct reader *r, const struct xsprof_event *ev)
{
	const struct xsprof_rec_gpu *rec = (const struct xsprof_rec_gpu *)ev->rec;
	struct gpu_row *row = is_wanted(r, ev) ? row_of(r, ev, XSPROF_GPU_KERNEL) : NULL;
	struct gpu_device *d = row ? gpu_device_of(&r->gpu, ev->producer, rec->device) : NULL;

	if (d)
		gpu_measured_add(&r->gpu, d, row, ev);
}

/* While recording was off, no device was recorded either: that is no cost of recording. */
static bool is_of_budget(const struct reader *r, const struct xsprof_event *ev)
{
	/* Without a name, because there was no room for it, it may be either. */
	return ev->name && strcmp(xsprof_trace_name(r->gpu.report->source.trace, ev->producer,
						    ev->name), XSP_RECORDING_OFF);
}

static void one(struct reader *r, const struct xsprof_event *ev)
{
	const struct xsp_filter *filter = &r->gpu.report->filter;
	/* Only its time in the window counts. */
	uint64_t begin = ev->begin_ns > filter->from_ns ? ev->begin_ns : filter->from_ns;
	uint64_t end = ev->end_ns < filter->to_ns ? ev->end_ns : filter->to_ns;
	struct gpu_row *row;

	if ((ev->aux > XSPROF_GPU_FREE && ev->aux != XSPROF_GPU_CUSTOM &&
	     ev->aux != XSPROF_GPU_FAULT) || !is_wanted(r, ev))
		return;
	row = row_of(r, ev, ev->aux);
	if (!row)
		return;
	if (ev->aux == XSPROF_GPU_UNRECORDED && ev->producer < r->gpu.nr_unrecorded &&
	    is_of_budget(r, ev))
		r->gpu.unrecorded[ev->producer].ns += end - begin;
	r->gpu.events++;
	add_duration(r->gpu.report, row->group, end - begin);
	if (gpu_is_memory(ev->aux))
		add_memory(r, ev, row);
	if (xsp_device_is_work(ev->aux))
		add_work(r, ev, row, begin, end);
	if (xsp_device_is_work(ev->aux) || xsp_device_is_call(ev->aux))
		match(r, ev, xsp_device_is_call(ev->aux) ? 0 : (uint32_t)(row - r->gpu.rows) + 1);
}

/* Another process may use the device: this one may have no work there. */
static void sampled(struct reader *r, const struct xsprof_event *ev)
{
	const struct xsprof_rec_gpu *rec = (const struct xsprof_rec_gpu *)ev->rec;

	if (is_wanted(r, ev) && gpu_device_of(&r->gpu, ev->producer, rec->device))
		r->gpu.sampled = true;
}

static int event(void *data, const struct xsprof_event *ev)
{
	struct reader *r = data;
	int ret = gpu_unrecorded_event(&r->gpu, ev);

	if (ret)
		return ret;
	gpu_budget_event(&r->gpu, ev);
	device_clocks_event(&r->gpu.clocks, r->gpu.report->source.trace, ev);
	if (ev->type != XSPROF_REC_GPU)
		missed_event(&r->gpu.missed, r->gpu.report->source.trace, ev);
	else if (fmt_gpu_of_kernel(ev))
		measured(r, ev);
	else if (ev->aux == XSPROF_GPU_METRICS)
		sampled(r, ev);
	else
		one(r, ev);
	r->gpu.report->last_ns = ev->ns;
	return 0;
}

static uint64_t busy_sum(const struct gpu_report *gpu)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < gpu->nr_devices; i++)
		ns += gpu_busy_ns(gpu->devices[i].busy[GPU_BUSY_ALL]);
	return ns;
}

static int class_of(uint32_t kind)
{
	return xsp_device_is_work(kind) ? 0 : xsp_device_is_call(kind) ? 1 : 2;
}

static const struct report *sorted;	/* for the function of qsort(), which gets no argument */

static int compare(const void *pa, const void *pb)
{
	const struct gpu_row *a = pa, *b = pb;
	int ret = class_of(a->kind) - class_of(b->kind);

	if (!ret)
		ret = report_order_value(sorted, a->group, b->group);
	if (!ret)
		ret = report_order_word(sorted, a->group->key.name, b->group->key.name);
	return ret ? ret : (a->kind > b->kind) - (a->kind < b->kind);
}

static void done(struct reader *r)
{
	for (uint32_t i = 0; i < GPU_DEVICES; i++)
		for (int b = 0; b < GPU_BUSY_KINDS; b++)
			gpu_busy_free(r->gpu.devices[i].busy[b]);
	for (uint32_t i = 0; i < r->gpu.nr_streams; i++)
		gpu_busy_free(r->gpu.streams[i].busy);
	gpu_unrecorded_free(&r->gpu);
	xsp_groups_free(r->gpu.report->groups);
	xsp_map_free(&r->rows);
	xsp_map_free(&r->gpu.numbers);
	for (uint32_t i = 0; i < r->gpu.nr; i++)
		free(r->gpu.rows[i].measured);
	free(r->gpu.rows);
	free(r->gpu.captured);
	free(r->gpu.launchers);
	free(r->gpu.launched);
	free(r);
}

static void select_missed(struct gpu_report *gpu)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < gpu->missed.nr; i++)
		if (xsp_filter_pid(&gpu->report->filter,
				   missed_pid(&gpu->missed.v[i], gpu->report->source.trace)))
			gpu->missed.v[n++] = gpu->missed.v[i];
	gpu->missed.nr = n;
}

/* Says why there are no events of devices. Return: the exit status. */
static int nothing(const struct report *report)
{
	struct xsprof_trace_info info = { .size_of = sizeof(info) };
	const char *path = report->source.path, *why;
	struct refused refused = { 0 };
	uint32_t pid;
	int status, lost;

	if (xsp_filter_given(&report->filter))
		status = tool_error("%s: no GPU event matches the filters: leave out --name, "
				    "--category, --pid, --tid, --from or --to", path);
	else if ((why = refused_next(&refused, report->source.trace, &pid)))
		status = tool_error("%s: has no GPU events: process %u could not record them: %s",
				    path, pid, why);
	else if (!xsprof_trace_get_info(report->source.trace, &info) &&
		 (info.lost_records || info.lost_slots || info.truncated))
		status = tool_error("%s: has no GPU events, but records were lost", path);
	else
		status = tool_error("%s: has no GPU events: it was not recorded with --gpu, or no "
				    "process used CUDA (a CPU build of PyTorch, no driver), "
				    "OpenCL, Vulkan, Level Zero or ROCm", path);
	/* What was lost may have been all of them. */
	lost = xsp_source_losses(&report->source);
	return lost ? lost : status;
}

int gpu_run(struct report *report)
{
	struct reader *r = calloc(1, sizeof(*r));
	int status, ret;

	if (!r || xsp_groups_new(report->source.trace, report->by & REPORT_BY_PATTERN, false,
				 &report->groups)) {
		free(r);
		return tool_error("%s", strerror(ENOMEM));
	}
	r->gpu.report = report;
	status = report_read(report, true, event, r);
	missed_facts(&r->gpu.missed, report->source.trace);
	select_missed(&r->gpu);
	if (!status && !r->gpu.events && (!r->gpu.sampled || report->filter.any))
		status = nothing(report);
	if (!status) {
		ret = gpu_unrecorded_devices(&r->gpu);
		/* With activities of some threads or names only, idle times would be wrong. */
		if (!ret && !report->filter.any)
			ret = gpu_idle(&r->gpu);
		if (!ret && !report->filter.any && r->gpu.graphs)
			ret = gpu_captured(&r->gpu);
		if (!ret && !report->filter.any)
			ret = gpu_launched(&r->gpu);
		if (!ret && !report->filter.any && r->gpu.sampled)
			ret = gpu_metrics(&r->gpu);
		if (ret)
			status = xsp_source_error(&report->source, ret);
	}
	if (!status) {
		sorted = report;
		if (r->gpu.nr)
			qsort(r->gpu.rows, r->gpu.nr, sizeof(*r->gpu.rows), compare);
		r->gpu.busy = busy_sum(&r->gpu);
		if (report->json)
			gpu_print_json(&r->gpu);
		else
			gpu_print(&r->gpu);
		status = tool_finish(0);
	}
	done(r);
	if (!status)
		status = xsp_source_losses(&report->source);
	return status;
}
