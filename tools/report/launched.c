// SPDX-License-Identifier: GPL-2.0-only
/*
 * Work of devices by the op or range in which the program launched it. All ranges must be followed
 * for that, so the trace is read once more.
 *
 * A call is often recorded after the ranges around it have ended, so threads keep finished ranges
 * (ranges/past.h). The ranges around a call are a path from the outermost to the innermost one; the
 * work of calls is summed up by path, and for each name at the end, so that a range inside another
 * of its name does not count twice.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ranges/past.h"
#include "ranges/tracks.h"
#include "report/calls.h"
#include "report/idle.h"
#include "report/launched.h"

#define PATHS		(1u << 18)
#define WORKS		(1u << 18)	/* that were read before their call */
#define DEPTH		(2 * XSP_STACK_DEPTH)

/* A call's range and those around it. */
struct path {
	uint32_t	around;		/* index of the path without the innermost range */
	uint32_t	range;		/* its name; of the first paths: enum gpu_launched_in */
	uint64_t	count;
	uint64_t	ns;
};

/* Work whose call has not been read yet. */
struct work {
	uint32_t	name;
	uint32_t	next;		/* + 1, of the same call */
	uint64_t	ns;
};

/* @path: 0: not read yet; @works: + 1, the first of those that wait for it */
struct call {
	uint32_t	path;
	uint32_t	works;
};

struct thread {
	struct xsp_past	*past;
	uint64_t	last;		/* end of the latest finished range */
};

struct reader {
	struct gpu_report	*gpu;
	struct xsp_tracks	*tracks;
	struct xsp_map		paths;		/* index, by path around it and name */
	struct xsp_map		pairs;		/* index + 1 in gpu->launched, by range and work */
	struct xsp_map		ranges;		/* index + 1 in gpu->launchers, by name */
	struct path		*path;
	uint32_t		nr;
	struct work		*work;
	uint32_t		nr_works;
	uint32_t		free_works;	/* + 1: the first */
	uint32_t		kept;		/* finished ranges, of all threads */
	int			err;
	struct call_places	places;
	struct call		calls[CALL_PLACES];
	uint32_t		chain[DEPTH];
};

/* ---- paths ----------------------------------------------------------------------------------- */

/* Return: @around itself without room for another one. */
static uint32_t path_in(struct reader *r, uint32_t around, uint32_t range)
{
	uint64_t key = (uint64_t)around << 32 | range, *known = xsp_map_get(&r->paths, key);

	if (known)
		return (uint32_t)*known;
	if (r->nr == PATHS || xsp_map_set(&r->paths, key, r->nr)) {
		r->gpu->unlisted_launched++;
		return around;
	}
	r->path[r->nr] = (struct path){ .around = around, .range = range };
	return r->nr++;
}

/* The names of the ranges that were open when the call began, the innermost first. */
static uint32_t find_chain(struct reader *r, struct xsp_track *thread, uint64_t begin)
{
	const struct thread *t = thread->priv;
	struct xsp_past *past = t ? t->past : NULL;
	uint32_t n = 0;

	for (struct xsp_past_range *p = xsp_past_find(past, begin); p && n < DEPTH;
	     p = xsp_past_around(past, p))
		r->chain[n++] = p->name;
	for (uint32_t i = thread->opens.stack.n; i && n < DEPTH; i--) {
		const struct xsp_range *range = &thread->opens.stack.v[i - 1];

		if (range->end == XSP_OPEN && range->begin <= begin)
			r->chain[n++] = range->name;
	}
	return n;
}

static uint32_t path_of(struct reader *r, const struct xsprof_event *ev,
			const struct xsprof_rec_gpu *rec)
{
	struct xsp_track *thread = xsp_tracks_get(r->tracks, ev->producer, ev->pid, 0,
						  idle_thread(ev, rec), ev->ns);
	uint32_t path = GPU_IN_NO_RANGE, word, category;

	/* Too many threads. */
	if (!thread) {
		r->gpu->unlisted_launched++;
		return GPU_IN_NO_RANGE;
	}
	for (uint32_t n = find_chain(r, thread, ev->begin_ns); n; n--) {
		xsp_groups_words(r->gpu->report->groups, ev->producer, r->chain[n - 1], &word,
				 &category);
		path = path_in(r, path, word);
	}
	return path;
}

/* ---- work ------------------------------------------------------------------------------------ */

/* Not 0: of the first paths their number, of others behind these their innermost range. */
static uint64_t range_key(const struct path *path, uint32_t index)
{
	return index < GPU_LAUNCHED_INS ? index + 1ull : path->range + 1ull + GPU_LAUNCHED_INS;
}

static void add(struct reader *r, uint32_t index, uint32_t name, uint64_t ns)
{
	struct path *path = &r->path[index];
	uint64_t key = range_key(path, index) << 32 | name, *known = xsp_map_get(&r->pairs, key);
	struct gpu_report *gpu = r->gpu;
	struct gpu_launched_row *row;

	path->count++;
	path->ns += ns;
	if (!known && (gpu->nr_launched == GPU_LAUNCHED_ROWS ||
		       xsp_map_set(&r->pairs, key, gpu->nr_launched + 1))) {
		gpu->unlisted_launched++;
		return;
	}
	if (!known)
		gpu->launched[gpu->nr_launched++] = (struct gpu_launched_row){
			.in = index < GPU_LAUNCHED_INS ? index : GPU_IN_RANGE,
			.range = path->range, .work = name,
		};
	row = &gpu->launched[known ? *known - 1 : gpu->nr_launched - 1];
	row->count++;
	row->ns += ns;
}

/* Attributes what waits for the call. */
static void settle(struct reader *r, struct call *call, uint32_t path)
{
	while (call->works) {
		struct work *w = &r->work[call->works - 1];
		uint32_t next = w->next;

		add(r, path, w->name, w->ns);
		w->next = r->free_works;
		r->free_works = call->works;
		call->works = next;
	}
}

static struct call *call_of(struct reader *r, const struct xsprof_event *ev)
{
	bool known;
	struct call *call = &r->calls[call_place(&r->places, call_key(ev), &known)];

	if (!known) {
		settle(r, call, GPU_IN_UNKNOWN);
		call->path = 0;
	}
	return call;
}

static void wait_for(struct reader *r, struct call *call, uint32_t name, uint64_t ns)
{
	uint32_t i = r->free_works;

	if (i)
		r->free_works = r->work[i - 1].next;
	else if (r->nr_works < WORKS)
		i = ++r->nr_works;
	if (!i) {
		add(r, GPU_IN_UNKNOWN, name, ns);
		return;
	}
	r->work[i - 1] = (struct work){ .name = name, .ns = ns, .next = call->works };
	call->works = i;
}

static void device_event(struct reader *r, const struct xsprof_event *ev)
{
	const struct xsprof_rec_gpu *rec = (const struct xsprof_rec_gpu *)ev->rec;
	const struct xsp_filter *filter = &r->gpu->report->filter;
	/* Only its time in the window counts. */
	uint64_t begin = ev->begin_ns > filter->from_ns ? ev->begin_ns : filter->from_ns;
	uint64_t end = ev->end_ns < filter->to_ns ? ev->end_ns : filter->to_ns;
	uint32_t name, category;
	struct call *call;

	if (ev->rec_size < sizeof(*rec) || ev->end_ns < ev->begin_ns)
		return;
	if (xsp_device_is_call(ev->aux) && ev->value) {
		call = call_of(r, ev);
		/* Of a call in a call, as the driver's in the runtime's, either will do. */
		if (!call->path)
			call->path = path_of(r, ev, rec);
		settle(r, call, call->path);
		return;
	}
	if (!xsp_device_is_work(ev->aux) || end < begin)
		return;
	xsp_groups_words(r->gpu->report->groups, ev->producer, ev->name, &name, &category);
	if (!ev->value) {
		add(r, GPU_IN_NO_CALL, name, end - begin);
		return;
	}
	call = call_of(r, ev);
	if (call->path)
		add(r, call->path, name, end - begin);
	else
		wait_for(r, call, name, end - begin);
}

/* ---- ranges ---------------------------------------------------------------------------------- */

/* A complete range may be recorded after its end: only those in order can be found by time. */
static void keep(struct reader *r, struct xsp_track *thread, uint32_t name, uint64_t begin,
		 uint64_t end)
{
	const struct xsp_past_range range = { .begin = begin, .end = end, .name = name };
	struct thread *t = thread ? thread->priv : NULL;

	/* A stand-in for threads without memory keeps no state. */
	if (!thread || thread->opens.stack.floor == UINT64_MAX)
		return;
	if (!t)
		t = thread->priv = calloc(1, sizeof(*t));
	if (!t) {
		r->err = -ENOMEM;
		return;
	}
	if (end < t->last)
		return;
	t->last = end;
	xsp_past_add(&t->past, &r->kept, &range);
}

static void closed(void *data, struct xsp_track *thread, struct xsp_range *range, uint64_t ns,
		   enum xsp_why why)
{
	(void)why;
	keep(data, thread, range->name, range->begin, ns);
}

static void gone(void *data, struct xsp_track *thread)
{
	struct reader *r = data;
	struct thread *t = thread->priv;

	if (t)
		xsp_past_free(t->past, &r->kept);
	free(t);
}

static void range_event(struct reader *r, const struct xsprof_event *ev)
{
	struct xsp_view view;

	if (ev->producer == XSPROF_NO_PRODUCER || ev->type == XSPROF_EV_KERNEL ||
	    xsp_tracks_exit(r->tracks, ev))
		return;
	xsp_tracks_event(r->tracks, ev, &view);
	if (ev->type == XSPROF_REC_BEGIN) {
		/* Without memory for an open range, the range around it counts. */
		(void)xsp_tracks_begin(r->tracks, view.thread, ev->ns, ev->name, true, true);
	} else if (ev->type == XSPROF_REC_END && view.range) {
		if (!view.earlier)
			keep(r, view.thread, view.range->name, view.range->begin, ev->ns);
		xsp_tracks_end(r->tracks, &view);
	} else if (ev->type == XSPROF_REC_COMPLETE && ev->end_ns >= ev->begin_ns) {
		keep(r, view.thread, ev->name, ev->begin_ns, ev->end_ns);
	}
}

static void read_event(void *data, const struct xsprof_event *ev)
{
	struct reader *r = data;

	if (ev->type == XSPROF_REC_GPU)
		device_event(r, ev);
	else
		range_event(r, ev);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static struct gpu_launcher *launcher_of(struct reader *r, uint32_t index)
{
	uint64_t key = range_key(&r->path[index], index), *known = xsp_map_get(&r->ranges, key);
	struct gpu_report *gpu = r->gpu;

	if (known)
		return &gpu->launchers[*known - 1];
	if (xsp_map_set(&r->ranges, key, gpu->nr_launchers + 1)) {
		r->err = -ENOMEM;
		return NULL;
	}
	gpu->launchers[gpu->nr_launchers] = (struct gpu_launcher){
		.in = index < GPU_LAUNCHED_INS ? index : GPU_IN_RANGE,
		.range = r->path[index].range, .counted = UINT32_MAX,
	};
	return &gpu->launchers[gpu->nr_launchers++];
}

/* Each name of a path once. */
static void add_path(struct reader *r, uint32_t index)
{
	const struct path *path = &r->path[index];
	struct gpu_launcher *l = launcher_of(r, index);

	if (l) {
		l->count += path->count;
		l->self += path->ns;
	}
	for (uint32_t i = index; ; i = r->path[i].around) {
		/* That a range is inside no other is no range around it. */
		if (i < GPU_LAUNCHED_INS && i != index)
			break;
		l = launcher_of(r, i);
		if (l && l->counted != index) {
			l->counted = index;
			l->total += path->ns;
		}
		if (i < GPU_LAUNCHED_INS)
			break;
	}
}

static int by_total(const void *pa, const void *pb)
{
	const struct gpu_launcher *a = pa, *b = pb;

	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	if (a->self != b->self)
		return a->self > b->self ? -1 : 1;
	return a->in != b->in ? (int)a->in - (int)b->in :
				(a->range > b->range) - (a->range < b->range);
}

static int by_time(const void *pa, const void *pb)
{
	const struct gpu_launched_row *a = pa, *b = pb;

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	if (a->range != b->range)
		return a->range > b->range ? 1 : -1;
	return (a->work > b->work) - (a->work < b->work);
}

static int sum_up(struct reader *r)
{
	struct gpu_report *gpu = r->gpu;

	for (uint32_t i = 0; i < CALL_PLACES; i++)
		settle(r, &r->calls[i], GPU_IN_UNKNOWN);
	/* No more names than paths. */
	gpu->launchers = calloc(r->nr, sizeof(*gpu->launchers));
	if (!gpu->launchers)
		return -ENOMEM;
	for (uint32_t i = 0; i < r->nr; i++)
		if (r->path[i].count)
			add_path(r, i);
	if (gpu->nr_launchers)
		qsort(gpu->launchers, gpu->nr_launchers, sizeof(*gpu->launchers), by_total);
	if (gpu->nr_launched)
		qsort(gpu->launched, gpu->nr_launched, sizeof(*gpu->launched), by_time);
	return 0;
}

int gpu_launched(struct gpu_report *gpu)
{
	static const struct xsp_tracks_ops ops = { .closed = closed, .gone = gone };
	struct reader *r = calloc(1, sizeof(*r));
	int ret = -ENOMEM;

	if (!r)
		return ret;
	r->gpu = gpu;
	r->nr = GPU_LAUNCHED_INS;
	/* calloc(): untouched pages take no memory. */
	r->path = calloc(PATHS, sizeof(*r->path));
	r->work = calloc(WORKS, sizeof(*r->work));
	gpu->launched = calloc(GPU_LAUNCHED_ROWS, sizeof(*gpu->launched));
	if (r->path && r->work && gpu->launched)
		ret = xsp_tracks_new(&ops, r, &r->tracks);
	if (!ret)
		ret = report_read_again(gpu->report, UINT64_MAX, read_event, r);
	if (!ret)
		ret = sum_up(r);
	if (!ret)
		ret = r->err;
	xsp_tracks_free(r->tracks);
	xsp_map_free(&r->paths);
	xsp_map_free(&r->pairs);
	xsp_map_free(&r->ranges);
	free(r->path);
	free(r->work);
	free(r);
	return ret;
}
