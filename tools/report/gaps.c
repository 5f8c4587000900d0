// SPDX-License-Identifier: GPL-2.0-only
/*
 * Late launches: the longest times between the outermost ranges of a thread, and those in which a
 * stream of a GPU was idle because its next activity was not launched yet. It does not look for the
 * reason. Its tables are of fixed size; what does not fit is ignored.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/why-local.h"

#define THREADS		(1u << 15)
#define STREAMS		(1u << 12)
#define CALLS		(1u << 16)
#define UNRECORDED	64u
#define HELD		(1u << 15)	/* activities that wait for earlier ones */
#define PRODUCERS	(1u << 10)
#define CANDIDATES	8192u

/* The latest end on a thread; key 0: a free slot. */
struct thread {
	uint64_t	key;
	uint64_t	end;
	uint64_t	runtime_end;	/* of its latest runtime API call */
	uint32_t	name;
	uint32_t	epoch;
};

struct stream {
	uint64_t	key;
	uint64_t	end;
	uint32_t	name;
	uint32_t	epoch;
};

/* A launch and its activity, by correlation: whichever is read first waits for the other. */
struct call {
	uint64_t		key;
	bool			launched;
	uint64_t		begin;
	uint64_t		after;		/* the end of the call before it */
	uint32_t		tid;
	struct why_window	gap;
};

/* The fields of an activity that are used here. */
struct activity {
	uint64_t	begin;
	uint64_t	end;
	uint64_t	value;
	uint64_t	key;		/* of its stream */
	uint32_t	producer;
	uint32_t	pid;
	uint32_t	name;
	uint32_t	device;
	uint32_t	stream;
	uint32_t	epoch;
};

/* A time in which no device of a process was recorded. */
struct unrecorded {
	uint32_t	producer;
	uint64_t	begin;
	uint64_t	end;
};

struct gaps {
	struct report		*report;
	struct unrecorded	unrecorded[UNRECORDED];	/* the latest */
	uint32_t		nr_unrecorded;
	uint32_t		nr_held;
	struct activity		held[HELD];	/* a heap, the earliest first */
	uint64_t		found;
	uint64_t		least;		/* shorter ones cannot be among the longest */
	uint32_t		nr;
	struct why_window	list[CANDIDATES];
	struct why_window	sorted[CANDIDATES];
	uint32_t		epochs[PRODUCERS];
	struct thread		threads[THREADS];
	struct stream		streams[STREAMS];
	struct call		calls[CALLS];
};

int gaps_new(struct report *report, struct gaps **out)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->report = report;
	return 0;
}

void gaps_free(struct gaps *gaps)
{
	free(gaps);
}

static uint64_t mix(uint64_t a, uint64_t b)
{
	uint64_t h = a * 0x9e3779b97f4a7c15u;

	h = (h ^ h >> 32 ^ b) * 0x9e3779b97f4a7c15u;
	return h ^ h >> 29 ? h ^ h >> 29 : 1;
}

static uint32_t *epoch_of(struct gaps *gaps, uint32_t producer)
{
	return &gaps->epochs[producer % PRODUCERS];
}

/* The slot of @key, which may be in use by another key. */
static struct thread *get_thread(struct gaps *gaps, uint32_t producer, uint32_t tid)
{
	uint64_t key = mix(producer, tid);
	struct thread *th = &gaps->threads[key % THREADS];

	if (th->key != key || th->epoch != *epoch_of(gaps, producer))
		*th = (struct thread){ .key = key, .epoch = *epoch_of(gaps, producer) };
	return th;
}

/* ---- candidates ----------------------------------------------------------------------------- */

static int by_wall(const void *pa, const void *pb)
{
	uint64_t a = why_wall(pa), b = why_wall(pb);

	if (a != b)
		return a > b ? -1 : 1;
	a = ((const struct why_window *)pa)->begin;
	b = ((const struct why_window *)pb)->begin;
	return (a > b) - (a < b);
}

/* Keeps the longer half, in their order. */
static void thin(struct gaps *gaps)
{
	uint32_t kept = 0, equal = gaps->nr / 2;

	memcpy(gaps->sorted, gaps->list, gaps->nr * sizeof(*gaps->list));
	qsort(gaps->sorted, gaps->nr, sizeof(*gaps->sorted), by_wall);
	gaps->least = why_wall(&gaps->sorted[gaps->nr / 2]);
	/* Gaps as long as the shortest one of that half fill it up. */
	for (uint32_t i = 0; i < gaps->nr / 2; i++)
		equal -= why_wall(&gaps->sorted[i]) > gaps->least;
	for (uint32_t i = 0; i < gaps->nr; i++) {
		uint64_t wall = why_wall(&gaps->list[i]);

		if (wall < gaps->least || (wall == gaps->least && !equal))
			continue;
		equal -= wall == gaps->least;
		gaps->list[kept++] = gaps->list[i];
	}
	gaps->nr = kept;
}

static void add(struct gaps *gaps, const struct why_window *whole)
{
	const struct xsp_filter *filter = &gaps->report->filter;
	struct why_window w = *whole;
	uint8_t match = 0;

	w.begin = xsp_filter_begin(filter, w.begin, w.end);
	if (w.end <= w.begin || !xsp_filter_time(filter, w.end) ||
	    !xsp_filter_thread(filter, w.pid, w.tid) ||
	    !xsp_filter_name(filter, gaps->report->source.trace, w.producer, w.name, &match))
		return;
	gaps->found++;
	if (why_wall(&w) <= gaps->least)
		return;
	if (gaps->nr == CANDIDATES)
		thin(gaps);
	gaps->list[gaps->nr++] = w;
}

/* ---- threads -------------------------------------------------------------------------------- */

/* A COMPLETE record is written when its range ends: gaps between ranges inside it were none. */
static void take_back(struct gaps *gaps, const struct xsprof_range *range)
{
	uint32_t i = gaps->nr, kept;

	while (i && gaps->list[i - 1].seen > range->begin_ns)
		i--;
	for (kept = i; i < gaps->nr; i++) {
		struct why_window *w = &gaps->list[i];

		if (w->kind == WHY_GAP && w->producer == range->producer && w->tid == range->tid &&
		    w->end > range->begin_ns) {
			w->end = range->begin_ns;
			w->name = range->name;
			if (w->begin >= w->end) {
				gaps->found--;
				continue;
			}
		}
		gaps->list[kept++] = *w;
	}
	gaps->nr = kept;
}

/* A wait for the GIL is a reason for a gap, and does not end one. */
static bool is_wait(const struct gaps *gaps, const struct xsprof_range *range)
{
	const struct xsprof_trace *trace = gaps->report->source.trace;

	return trace && !strcmp(xsprof_trace_category(trace, range->producer, range->name),
				"python");
}

void gaps_range(struct gaps *gaps, const struct xsprof_range *range)
{
	struct thread *th;

	if (!why_on_thread(range) || range->depth || is_wait(gaps, range))
		return;
	th = get_thread(gaps, range->producer, range->tid);
	if (th->end > range->begin_ns)
		take_back(gaps, range);
	else if (th->end)
		add(gaps, &(struct why_window){
			.kind = WHY_GAP, .producer = range->producer, .begin = th->end,
			.end = range->begin_ns, .pid = range->pid, .tid = range->tid,
			.name = range->name, .before = th->name, .seen = range->end_ns,
		});
	if (range->end_ns >= th->end) {
		th->end = range->end_ns;
		th->name = range->name;
	}
}

/* ---- streams -------------------------------------------------------------------------------- */

static void match(struct gaps *gaps, struct call *call)
{
	struct why_window *w = &call->gap;

	w->tid = call->tid;
	w->end = call->begin;
	/* A thread inside a runtime call was not late, but waited there. */
	if (w->begin < call->after)
		w->begin = call->after;
	add(gaps, w);
	call->key = 0;
}

static struct call *get_call(struct gaps *gaps, uint32_t producer, uint64_t correlation)
{
	uint64_t key = mix(producer + 1, correlation);
	struct call *call = &gaps->calls[key % CALLS];

	if (call->key != key) {
		memset(call, 0, sizeof(*call));
		call->key = key;
	}
	return call;
}

static void launch(struct gaps *gaps, const struct xsprof_event *ev,
		   const struct xsprof_rec_gpu *gpu)
{
	uint32_t tid = gpu->thread && gpu->thread <= UINT32_MAX ? (uint32_t)gpu->thread : ev->tid;
	struct thread *th = get_thread(gaps, ev->producer, tid);
	struct call *call = get_call(gaps, ev->producer, ev->value);

	call->begin = ev->begin_ns;
	call->after = th->runtime_end <= ev->begin_ns ? th->runtime_end : 0;
	call->tid = tid;
	if (ev->end_ns > th->runtime_end)
		th->runtime_end = ev->end_ns;
	if (call->gap.end)
		match(gaps, call);
	else
		call->launched = true;
}

/*
 *  There may be other activities between these two, in a time in which devices were not recorded.
 */
static bool is_unrecorded(const struct gaps *gaps, uint32_t producer, uint64_t begin, uint64_t end)
{
	for (uint32_t i = 0; i < UNRECORDED; i++) {
		const struct unrecorded *u = &gaps->unrecorded[i];

		if (u->end && u->producer == producer && u->begin < end && u->end > begin)
			return true;
	}
	return false;
}

static void activity(struct gaps *gaps, const struct activity *a)
{
	struct stream *s = &gaps->streams[a->key % STREAMS];
	struct call *call;

	if (s->key != a->key || s->epoch != a->epoch)
		*s = (struct stream){ .key = a->key, .epoch = a->epoch };
	if (s->end && a->begin > s->end && a->value &&
	    !is_unrecorded(gaps, a->producer, s->end, a->begin)) {
		call = get_call(gaps, a->producer, a->value);
		call->gap = (struct why_window){
			.kind = WHY_STREAM, .producer = a->producer, .begin = s->end,
			.end = a->begin, .pid = a->pid, .name = a->name, .before = s->name,
			.device = a->device, .stream = a->stream, .seen = UINT64_MAX,
		};
		if (call->launched)
			match(gaps, call);
	}
	if (a->end >= s->end) {
		s->end = a->end;
		s->name = a->name;
	}
}

/*
 * Activities of one stream that several threads launched come in one buffer per thread: they wait
 * here to be sorted, so that the gap between two of them is known.
 */
static void put_down(struct gaps *gaps, const struct activity *a)
{
	uint32_t i = gaps->nr_held++, up;

	for (; i; i = up) {
		up = (i - 1) / 2;
		if (gaps->held[up].begin <= a->begin)
			break;
		gaps->held[i] = gaps->held[up];
	}
	gaps->held[i] = *a;
}

static void take_earliest(struct gaps *gaps)
{
	struct activity first = gaps->held[0], last = gaps->held[--gaps->nr_held];
	uint32_t i = 0, next;

	for (; (next = 2 * i + 1) < gaps->nr_held; i = next) {
		if (next + 1 < gaps->nr_held &&
		    gaps->held[next + 1].begin < gaps->held[next].begin)
			next++;
		if (gaps->held[next].begin >= last.begin)
			break;
		gaps->held[i] = gaps->held[next];
	}
	gaps->held[i] = last;
	activity(gaps, &first);
}

static void hold(struct gaps *gaps, const struct xsprof_event *ev,
		 const struct xsprof_rec_gpu *gpu)
{
	const struct activity a = {
		.begin = ev->begin_ns, .end = ev->end_ns, .value = ev->value,
		.key = mix((uint64_t)ev->producer << 32 | gpu->device,
			   (uint64_t)gpu->context << 32 | gpu->stream),
		.producer = ev->producer, .pid = ev->pid, .name = ev->name,
		.device = gpu->device, .stream = gpu->stream,
		.epoch = *epoch_of(gaps, ev->producer),
	};

	if (gaps->nr_held == HELD)
		take_earliest(gaps);
	put_down(gaps, &a);
}

void gaps_event(struct gaps *gaps, const struct xsprof_event *ev)
{
	const struct xsprof_rec_gpu *gpu = (const struct xsprof_rec_gpu *)ev->rec;

	/* If records are missing there may have been a range. */
	if (ev->type == XSPROF_REC_CONTROL || ev->type == XSPROF_EV_LOST ||
	    ev->flags & XSPROF_EVF_HOLE)
		++*epoch_of(gaps, ev->producer);
	if (ev->type != XSPROF_REC_GPU || ev->rec_size < sizeof(*gpu))
		return;
	switch (ev->aux) {
	case XSPROF_GPU_KERNEL:
	case XSPROF_GPU_MEMCPY:
	case XSPROF_GPU_MEMSET:
	case XSPROF_GPU_GRAPH:
	case XSPROF_GPU_CUSTOM:
		hold(gaps, ev, gpu);
		break;
	case XSPROF_GPU_RUNTIME:
	case XSPROF_GPU_DRIVER:
		launch(gaps, ev, gpu);
		break;
	case XSPROF_GPU_UNRECORDED:
		/* It is written before the records that follow it in time. */
		gaps->unrecorded[gaps->nr_unrecorded++ % UNRECORDED] = (struct unrecorded){
			.producer = ev->producer, .begin = ev->begin_ns, .end = ev->end_ns,
		};
		break;
	}
}

int gaps_take(struct gaps *gaps, uint32_t n, struct why_window **windows, uint64_t *found)
{
	while (gaps->nr_held)
		take_earliest(gaps);
	*found = gaps->found;
	*windows = calloc(n + 1, sizeof(**windows));
	if (!*windows)
		return -ENOMEM;
	qsort(gaps->list, gaps->nr, sizeof(*gaps->list), by_wall);
	if (n > gaps->nr)
		n = gaps->nr;
	memcpy(*windows, gaps->list, n * sizeof(**windows));
	return (int)n;
}
