// SPDX-License-Identifier: GPL-2.0-only
/*
 * What threads did while a device was idle, until their calls that launched the next activity
 * were over: the runtime calls they were in; else whether they were off the CPU, if the scheduler
 * was recorded, and the innermost open range.
 */
#include <errno.h>
#include <stdlib.h>

#include "cause/cause.h"
#include "ranges/tracks.h"
#include "report/idle.h"
#include "report/why-local.h"

#define CALLS	(1u << 20)	/* of all idle times */

/**
 * struct host - the threads
 * @idle: idle times
 * @late: those that end with a late launch, sorted by thread and device, then by begin
 * @n: how many
 * @next: the next one to begin
 * @active: those that have begun and not ended
 * @nr_active: how many
 * @cause: scheduler state of threads
 * @reader: feeds @cause
 * @ranges: open ranges of threads
 * @comms: names of tasks
 * @now: time up to which everything is accounted for
 */
struct host {
	struct idle		*idle;
	struct idle_time	**late;
	uint32_t		n;
	uint32_t		next;
	struct idle_time	**active;
	uint32_t		nr_active;
	struct cause		*cause;
	struct cause_reader	*reader;
	struct xsp_tracks	*ranges;
	struct report_comms	*comms;
	uint64_t		now;
};

/* ---- calls ----------------------------------------------------------------------------------- */

static int compare_threads(const struct idle_time *a, uint32_t producer, uint32_t tid,
			   uint32_t device)
{
	if (a->producer != producer)
		return a->producer < producer ? -1 : 1;
	if (a->tid != tid)
		return a->tid < tid ? -1 : 1;
	return (a->device > device) - (a->device < device);
}

static int by_thread(const void *pa, const void *pb)
{
	const struct idle_time *a = *(struct idle_time *const *)pa;
	const struct idle_time *b = *(struct idle_time *const *)pb;
	int order = compare_threads(a, b->producer, b->tid, b->device);

	return order ? order : (a->begin > b->begin) - (a->begin < b->begin);
}

static int by_begin(const void *pa, const void *pb)
{
	const struct idle_time *a = *(struct idle_time *const *)pa;
	const struct idle_time *b = *(struct idle_time *const *)pb;

	return (a->begin > b->begin) - (a->begin < b->begin);
}

static void add_call(struct idle *idle, struct idle_time *t, const struct idle_call *call)
{
	uint32_t room = idle->room_calls ? 2 * idle->room_calls : 1024;
	struct idle_call *calls;

	if (idle->nr_calls == idle->room_calls) {
		calls = room <= CALLS ? realloc(idle->calls, room * sizeof(*calls)) : NULL;
		if (!calls) {
			t->partial = true;
			return;
		}
		idle->calls = calls;
		idle->room_calls = room;
	}
	idle->calls[idle->nr_calls] = *call;
	idle->calls[idle->nr_calls++].in = (uint32_t)(t - idle->v);
}

/* Of two that begin at once, the outer one first. */
static int by_time(const void *pa, const void *pb)
{
	const struct idle_call *a = pa, *b = pb;

	if (a->in != b->in)
		return a->in < b->in ? -1 : 1;
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return (a->to < b->to) - (a->to > b->to);
}

/* Calls come in the order of their ends, those of threads one after the other. */
static void sort_calls(struct idle *idle)
{
	if (idle->nr_calls)
		qsort(idle->calls, idle->nr_calls, sizeof(*idle->calls), by_time);
	for (uint32_t i = 0; i < idle->nr_calls; i++) {
		struct idle_time *t = &idle->v[idle->calls[i].in];

		if (!i || idle->calls[i - 1].in != idle->calls[i].in)
			t->calls = i;
		t->calls_end = i + 1;
	}
}

/* The first idle time of the thread and the device for which @launched is after @ns. */
static uint32_t launched_after(const struct host *h, uint32_t producer, uint32_t tid,
			       uint32_t device, uint64_t ns)
{
	uint32_t low = 0, high = h->n;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		int order = compare_threads(h->late[mid], producer, tid, device);

		/*
		 *  Idle times of one device do not overlap: they are launched in the order of their
		 * begins.
		 */
		if (order < 0 || (!order && h->late[mid]->launched <= ns))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static void call_event(void *data, const struct xsprof_event *ev)
{
	const struct xsprof_rec_gpu *rec = (const struct xsprof_rec_gpu *)ev->rec;
	struct idle_call call = { .from = ev->begin_ns, .to = ev->end_ns };
	struct host *h = data;
	uint32_t tid, category;

	if (ev->type != XSPROF_REC_GPU || ev->rec_size < sizeof(*rec) ||
	    !xsp_device_is_call(ev->aux))
		return;
	tid = idle_thread(ev, rec);
	for (uint32_t d = 0; d < h->idle->gpu->nr_devices; d++) {
		uint32_t i = launched_after(h, ev->producer, tid, d, ev->begin_ns);

		for (; i < h->n && !compare_threads(h->late[i], ev->producer, tid, d) &&
		     h->late[i]->begin < ev->end_ns; i++) {
			if (!call.word)
				xsp_groups_words(h->idle->gpu->report->groups, ev->producer,
						 ev->name, &call.word, &category);
			add_call(h->idle, h->late[i], &call);
		}
	}
}

/* ---- threads --------------------------------------------------------------------------------- */

static bool is_off_cpu(uint32_t class)
{
	return class == CAUSE_RUNNABLE || class == CAUSE_BLOCKED || class == CAUSE_IO ||
	       class == CAUSE_FAULT || class == CAUSE_GIL;
}

/* Adds time outside of runtime calls. @s: what the thread did; NULL: not known. */
static void add_plain(struct host *h, const struct idle_time *t, uint64_t ns,
		      const struct cause_segment *s)
{
	struct idle_reason reason = { .why = GPU_IDLE_UNKNOWN };
	uint32_t word = GPU_NO_WORD, category, name;

	if (t->partial) {
		idle_add(h->idle, t, &reason, ns);
		return;
	}
	name = why_holders_range(h->ranges, t->producer, t->pid, t->tid, h->now);
	if (name)
		xsp_groups_words(h->idle->gpu->report->groups, t->producer, name, &word, &category);
	reason.word = word;
	if (s && is_off_cpu(s->class)) {
		reason.why = GPU_IDLE_OFF_CPU;
		reason.class = s->class;
		reason.segment = s;
		reason.comms = h->comms;
	} else {
		reason.why = name ? GPU_IDLE_RANGE : GPU_IDLE_NO_RANGE;
	}
	idle_add(h->idle, t, &reason, ns);
}

/* The thread did this until @to; runtime calls take precedence. */
static void did(struct host *h, struct idle_time *t, uint64_t to, const struct cause_segment *s)
{
	uint64_t at = t->at;

	for (uint32_t i = t->calls; i < t->calls_end && at < to; i++) {
		const struct idle_call *call = &h->idle->calls[i];
		uint64_t from = call->from > at ? call->from : at;
		uint64_t end = call->to < to ? call->to : to;

		if (call->to <= at)
			continue;
		if (call->from >= to)
			break;
		add_plain(h, t, from - at, s);
		idle_add(h->idle, t, &(struct idle_reason){
			.why = GPU_IDLE_CALL, .word = call->word,
		}, end - from);
		at = end;
	}
	if (at < to)
		add_plain(h, t, to - at, s);
	t->at = to;
	while (t->calls < t->calls_end && h->idle->calls[t->calls].to <= to)
		t->calls++;
}

static void segment(void *data, const struct cause_segment *s)
{
	struct host *h = data;

	for (uint32_t i = 0; i < h->nr_active; i++) {
		struct idle_time *t = h->active[i];
		uint64_t to = s->to < t->launched ? s->to : t->launched;

		if (t->task != s->key || to <= t->at)
			continue;
		if (s->from > t->at)
			did(h, t, s->from < to ? s->from : to, NULL);
		if (to > t->at)
			did(h, t, to, s);
	}
}

/* Accounts for the thread's time until @ns. */
static void settle(struct host *h, struct idle_time *t, uint64_t ns)
{
	cause_flush(h->cause, t->task, ns);
	if (t->at < ns)
		did(h, t, ns, NULL);
}

static void leave_until(struct host *h, uint64_t ns)
{
	for (;;) {
		uint32_t first = UINT32_MAX;
		struct idle_time *t;

		for (uint32_t i = 0; i < h->nr_active; i++)
			if (h->active[i]->launched <= ns &&
			    (first == UINT32_MAX ||
			     h->active[i]->launched < h->active[first]->launched))
				first = i;
		if (first == UINT32_MAX)
			return;
		t = h->active[first];
		settle(h, t, t->launched);
		cause_unwatch(h->cause, t->task);
		h->active[first] = h->active[--h->nr_active];
	}
}

/* Handles idle times that begin, or end by a launch, before @ns. */
static void advance(struct host *h, uint64_t ns)
{
	while (h->next < h->n && h->late[h->next]->begin <= ns) {
		struct idle_time *t = h->late[h->next++];

		leave_until(h, t->begin);
		t->at = t->begin;
		if (!cause_watch(h->cause, t->task))
			h->idle->err = -ENOMEM;
		h->active[h->nr_active++] = t;
	}
	leave_until(h, ns);
}

static bool is_sched(const struct xsprof_event *ev)
{
	return ev->type >= XSPROF_REC_SCHED_IN && ev->type <= XSPROF_REC_SCHED_MIGRATE;
}

static void host_event(void *data, const struct xsprof_event *ev)
{
	struct host *h = data;
	uint64_t until = cause_reader_until(h->reader);

	h->now = ev->ns;
	report_comms_event(h->comms, ev);
	if (ev->ns > until) {
		advance(h, until);
		cause_reader_end(h->reader, ev->ns);
	}
	advance(h, ev->ns);
	/*
	 * Until now each thread was in its previous ranges. The scheduler changes none, and a
	 * sleep that is accounted for before its wake-up would have no waker.
	 */
	for (uint32_t i = 0; i < h->nr_active && !is_sched(ev); i++)
		if (h->active[i]->producer == ev->producer && h->active[i]->tid == ev->tid &&
		    ev->ns < h->active[i]->launched)
			settle(h, h->active[i], ev->ns);
	cause_reader_event(h->reader, ev);
	why_holders_event(h->ranges, ev);
}

static int watch(struct host *h)
{
	struct xsprof_trace *trace = h->idle->gpu->report->source.trace;
	int ret = why_holders_new(&h->ranges);

	if (!ret)
		ret = report_comms_new(trace, &h->comms);
	if (!ret)
		ret = cause_new(&h->cause);
	if (!ret)
		ret = cause_reader_new(trace, h->cause, &h->reader);
	if (ret)
		return ret;
	cause_hook(h->cause, segment, h);
	qsort(h->late, h->n, sizeof(*h->late), by_begin);
	for (uint32_t i = 0; i < h->n; i++)
		h->late[i]->task = cause_reader_key(h->reader, h->late[i]->producer,
						    h->late[i]->tid);
	ret = report_read_again(h->idle->gpu->report, UINT64_MAX, host_event, h);
	advance(h, UINT64_MAX);
	return ret ? ret : h->idle->err;
}

int idle_host(struct idle *idle)
{
	struct host h = { .idle = idle };
	int ret = 0;

	h.late = calloc(idle->n + 1, sizeof(struct idle_time *));
	h.active = calloc(idle->n + 1, sizeof(struct idle_time *));
	if (!h.late || !h.active)
		ret = -ENOMEM;
	for (uint32_t i = 0; i < idle->n && !ret; i++)
		if (idle_is_late(&idle->v[i]))
			h.late[h.n++] = &idle->v[i];
	if (h.n) {
		qsort(h.late, h.n, sizeof(*h.late), by_thread);
		ret = report_read_again(idle->gpu->report, UINT64_MAX, call_event, &h);
		sort_calls(idle);
		ret = ret ? ret : watch(&h);
	}
	cause_reader_free(h.reader);
	cause_free(h.cause);
	report_comms_free(h.comms);
	xsp_tracks_free(h.ranges);
	free(h.late);
	free(h.active);
	return ret;
}
