// SPDX-License-Identifier: GPL-2.0-only
/*
 * Idle times of devices: the longest ones, the activity that ended each, and its call. Idle time
 * with an unknown reason, or that was not examined, has its own row: all rows together are the idle
 * time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/calls.h"
#include "report/idle.h"

#define AGAIN	(1ull << 32)	/* one of its calls is known */

struct launch {
	uint64_t	begin;
	uint64_t	end;
	uint32_t	pid;
	uint32_t	tid;
};

/**
 * struct search - state of the search for activities and calls
 * @idle: the idle times, sorted by device and end
 * @copies: copies and their calls
 * @first: by device: index of its first idle time; the last element is the end
 * @keys: by producer and correlation: index + 1 of an idle time, and AGAIN
 * @places: of the latest calls
 * @launches: these, by place
 */
struct search {
	struct idle	idle;
	struct copies	*copies;
	uint32_t	first[GPU_DEVICES + 1];
	struct xsp_map	keys;
	struct call_places	places;
	struct launch	launches[CALL_PLACES];
};

/* ---- the longest ----------------------------------------------------------------------------- */

/* Time in which the device was not recorded is no idle time. */
static uint64_t length(const struct idle_time *t)
{
	return t->end - t->begin - t->unrecorded;
}

static int by_length(const void *pa, const void *pb)
{
	uint64_t la = length(pa), lb = length(pb);

	return (lb > la) - (lb < la);
}

static int by_end(const void *pa, const void *pb)
{
	const struct idle_time *a = pa, *b = pb;

	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	return (a->end > b->end) - (a->end < b->end);
}

struct finding {
	struct idle	*idle;
	uint32_t	device;
};

static void found(void *data, uint64_t begin, uint64_t end)
{
	const struct finding *finding = data;
	struct idle *idle = finding->idle;
	const struct gpu_busy *unknown = idle->gpu->devices[finding->device].unknown;

	if (idle->n == 2 * IDLE_TIMES) {
		qsort(idle->v, idle->n, sizeof(*idle->v), by_length);
		idle->n = IDLE_TIMES;
	}
	idle->v[idle->n++] = (struct idle_time){
		.begin = begin, .end = end, .device = finding->device,
		.unrecorded = unknown ? gpu_busy_within(unknown, begin, end) : 0,
	};
}

static void find_longest(struct search *s)
{
	struct idle *idle = &s->idle;
	uint32_t at = 0;

	for (uint32_t d = 0; d < idle->gpu->nr_devices; d++)
		gpu_busy_gaps(idle->gpu->devices[d].busy[GPU_BUSY_ALL], found,
			      &(struct finding){ idle, d });
	qsort(idle->v, idle->n, sizeof(*idle->v), by_length);
	if (idle->n > IDLE_TIMES)
		idle->n = IDLE_TIMES;
	qsort(idle->v, idle->n, sizeof(*idle->v), by_end);
	for (uint32_t d = 0; d < GPU_DEVICES; d++) {
		s->first[d] = at;
		while (at < idle->n && idle->v[at].device == d)
			at++;
	}
	s->first[GPU_DEVICES] = at;
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* The first idle time of the device that ends at @ns or later, or the end of its list. */
static uint32_t ends_from(const struct search *s, uint32_t device, uint64_t ns)
{
	uint32_t low = s->first[device], high = s->first[device + 1];

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (s->idle.v[mid].end < ns)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static void is_launched(struct idle_time *t, const struct launch *launch)
{
	t->known = true;
	t->launched = launch->end < t->end ? launch->end : t->end;
	t->pid = launch->pid;
	t->tid = launch->tid;
}

static void work(struct search *s, const struct xsprof_event *ev, const struct xsprof_rec_gpu *rec)
{
	int device = gpu_device_find(s->idle.gpu, ev->producer, rec->device);
	uint32_t i = device < 0 ? 0 : ends_from(s, (uint32_t)device, ev->begin_ns);
	struct idle_time *t = &s->idle.v[i];
	uint32_t place;
	uint64_t *same;

	if (device < 0 || i == s->first[device + 1] || t->end != ev->begin_ns || t->key)
		return;
	t->no_call = !ev->value;
	if (t->no_call)
		return;
	t->producer = ev->producer;
	t->key = call_key(ev);
	place = call_find(&s->places, t->key);
	if (place < CALL_PLACES) {
		is_launched(t, &s->launches[place]);
		return;
	}
	same = xsp_map_get(&s->keys, t->key);
	t->same = same ? (uint32_t)*same : 0;
	if (xsp_map_set(&s->keys, t->key, i + 1))
		s->idle.err = -ENOMEM;
}

/* A call of the runtime calls the driver: both have the id, and the outer one counts. */
static bool contains(const struct launch *outer, const struct launch *inner)
{
	return outer->tid == inner->tid && outer->pid == inner->pid &&
	       outer->begin <= inner->begin && outer->end >= inner->end;
}

static void call(struct search *s, const struct xsprof_event *ev, const struct xsprof_rec_gpu *rec)
{
	const struct launch launch = {
		.begin = ev->begin_ns, .end = ev->end_ns, .pid = ev->pid,
		.tid = idle_thread(ev, rec),
	};
	uint64_t key = call_key(ev), *waiting = xsp_map_get(&s->keys, key);
	bool known;
	struct launch *at = &s->launches[call_place(&s->places, key, &known)];
	bool outer = known && contains(&launch, at);

	if (!known || !contains(at, &launch))
		*at = launch;
	if (!waiting || !*waiting)
		return;
	if (!(*waiting & AGAIN) || outer)
		for (uint32_t i = (uint32_t)*waiting; i; i = s->idle.v[i - 1].same)
			is_launched(&s->idle.v[i - 1], at);
	/* A file may have many calls of one id: these are two at most. */
	*waiting = *waiting & AGAIN ? 0 : *waiting | AGAIN;
}

static void search_event(void *data, const struct xsprof_event *ev)
{
	const struct xsprof_rec_gpu *rec = (const struct xsprof_rec_gpu *)ev->rec;
	struct search *s = data;

	if (ev->type != XSPROF_REC_GPU || ev->rec_size < sizeof(*rec))
		return;
	copies_event(s->copies, ev, rec);
	if (xsp_device_is_work(ev->aux))
		work(s, ev, rec);
	else if (xsp_device_is_call(ev->aux) && ev->value)
		call(s, ev, rec);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void add_device_part(struct idle *idle)
{
	for (uint32_t i = 0; i < idle->n; i++) {
		const struct idle_time *t = &idle->v[i];
		uint64_t launched = t->launched > t->begin ? t->launched : t->begin;

		if (t->unrecorded)
			idle_add(idle, t, &(struct idle_reason){ .why = GPU_IDLE_UNRECORDED },
				 length(t));
		else if (!t->known)
			idle_add(idle, t, &(struct idle_reason){
					 .why = t->no_call ? GPU_IDLE_NO_CALL : GPU_IDLE_UNKNOWN,
				 },
				 t->end - t->begin);
		else if (launched < t->end)
			idle_add(idle, t, &(struct idle_reason){ .why = GPU_IDLE_LAUNCHED },
				 t->end - launched);
	}
}

/* Adds the idle time of each device that is in no row yet. */
static void add_rest(struct gpu_report *gpu)
{
	for (uint32_t d = 0; d < gpu->nr_devices; d++) {
		uint64_t told = 0, all = gpu_idle_ns(&gpu->devices[d]);

		for (uint32_t i = 0; i < gpu->nr_idle; i++)
			told += gpu->idle[i].device == d ? gpu->idle[i].ns : 0;
		if (all > told && gpu->nr_idle < GPU_IDLE_ROWS + 2 * GPU_DEVICES)
			gpu->idle[gpu->nr_idle++] = (struct gpu_idle_row){
				.device = d, .why = GPU_IDLE_SHORT, .ns = all - told,
			};
	}
}

static int by_time(const void *pa, const void *pb)
{
	const struct gpu_idle_row *a = pa, *b = pb;

	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return (int)a->why - (int)b->why;
}

int gpu_idle(struct gpu_report *gpu)
{
	struct search *s = calloc(1, sizeof(*s));
	int ret = -ENOMEM;

	if (!s)
		return ret;
	s->idle.gpu = gpu;
	s->idle.v = calloc(2 * IDLE_TIMES, sizeof(*s->idle.v));
	if (s->idle.v && !copies_new(gpu, &s->copies)) {
		find_longest(s);
		ret = report_read_again(gpu->report, UINT64_MAX, search_event, s);
		ret = ret ? ret : s->idle.err;
	}
	if (!ret) {
		add_device_part(&s->idle);
		ret = idle_host(&s->idle);
	}
	if (!ret) {
		idle_rows_sort(gpu);
		add_rest(gpu);
		if (gpu->nr_idle)
			qsort(gpu->idle, gpu->nr_idle, sizeof(*gpu->idle), by_time);
	}
	copies_free(s->copies);
	xsp_map_free(&s->keys);
	free(s->idle.calls);
	free(s->idle.v);
	free(s);
	return ret;
}
