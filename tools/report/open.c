// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which ranges were open when their processes ended, and how certain that is. The pairer reports
 * open ranges and the effect of lost records; this file adds pauses and damage. It prints nothing.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ranges/losses.h"
#include "report/open.h"

static struct open_range make(const struct xsprof_range *range, enum open_doubt doubt)
{
	return (struct open_range){
		.begin_ns = range->begin_ns,
		.end_ns = range->end_ns,
		.id = range->id,
		.producer = range->producer,
		.pid = range->pid,
		.tid = range->tid,
		.name = range->name,
		.depth = range->depth,
		.kind = range->kind,
		.doubt = doubt,
		.gone = range->flags & XSPROF_RANGEF_THREAD_EXIT,
	};
}

static uint64_t thread_key(uint32_t producer, uint32_t tid)
{
	return (uint64_t)(producer + 1) << 32 | tid;
}

static void keep(struct open_ranges *open, struct open_range range)
{
	struct open_range *list;
	uint64_t *holder;
	size_t room;

	if (range.gone && open->nr >= OPEN_RANGES_MAX / 2) {
		open->left_out++;
		return;
	}
	if (open->nr == OPEN_RANGES_MAX) {
		open->dropped++;
		return;
	}
	if (open->nr == open->room) {
		room = open->room ? open->room * 2 : 64;
		list = realloc(open->list, room * sizeof(*list));
		if (!list) {
			open->failed = true;
			return;
		}
		open->list = list;
		open->room = room;
	}
	if (gil_record_of(&open->lock, open->trace, range.producer, range.name) == GIL_WAIT) {
		holder = xsp_map_get(&open->holders, thread_key(range.producer, range.tid));
		range.holder = holder ? (uint32_t)*holder : 0;
	}
	open->list[open->nr++] = range;
}

static void hide(struct open_ranges *open, const struct xsprof_range *range)
{
	int err = hidden_add(&open->hidden, range);

	if (err == -ENOSPC)
		open->dropped++;
	else if (err)
		open->failed = true;
}

void open_ranges_add(struct open_ranges *open, const struct xsprof_range *range)
{
	open->emitted++;
	open->ended = range->name;
	if (range->kind != XSPROF_REC_BEGIN && range->kind != XSPROF_REC_ASYNC_BEGIN)
		return;
	if (range->how == XSPROF_RANGE_OPEN)
		keep(open, make(range, range->flags & XSPROF_RANGEF_UNCERTAIN ? OPEN_LOST :
								       OPEN_CERTAIN));
	else if (range->how == XSPROF_RANGE_CUT && open->type == XSPROF_REC_CONTROL)
		hide(open, range);
}

/* The process has ended: no end of the range can come any more. */
static void keep_hidden(void *data, const struct xsprof_range *range)
{
	keep(data, make(range, OPEN_PAUSED));
}

/* Ignores continuations of the record before, and records of the kernel. */
static void note_latest(struct open_ranges *open, const struct xsprof_event *ev)
{
	uint32_t n = (ev->producer / 64 + 1) * 64;
	struct open_latest *latest;

	if (!ev->rec || ev->type == XSPROF_REC_ARGS || ev->type >= XSPROF_REC_SCHED_IN ||
	    ev->producer >= XSPROF_CAP_MAX_PRODUCERS)
		return;
	if (ev->producer >= open->nr_latest) {
		latest = realloc(open->latest, n * sizeof(*latest));
		if (!latest) {
			open->failed = true;
			return;
		}
		memset(latest + open->nr_latest, 0, (n - open->nr_latest) * sizeof(*latest));
		open->latest = latest;
		open->nr_latest = n;
	}
	open->latest[ev->producer] = (struct open_latest){
		.ns = ev->ns, .pid = ev->pid, .tid = ev->tid, .type = ev->type,
		.name = ev->name ? ev->name : open->ended,
	};
}

/* The begin of a wait for Python's lock says which thread holds it. */
static void note_holder(struct open_ranges *open, const struct xsprof_event *ev)
{
	uint64_t key = thread_key(ev->producer, ev->tid), *known;
	uint32_t holder;

	if (ev->type != XSPROF_REC_BEGIN ||
	    gil_record_of(&open->lock, open->trace, ev->producer, ev->name) != GIL_WAIT)
		return;
	gil_record_lock(open->trace, ev, &holder);
	known = xsp_map_get(&open->holders, key);
	if (known)
		*known = holder;
	else if (open->holders.used < OPEN_RANGES_MAX && xsp_map_set(&open->holders, key, holder))
		open->failed = true;
}

int open_ranges_event(struct open_ranges *open, struct xsprof_pairer *pairer,
		      const struct xsprof_event *ev)
{
	uint64_t before = open->emitted;
	int ret;

	open->type = ev->type;
	open->ended = 0;
	ret = xsprof_pairer_event(pairer, ev);
	open->type = 0;
	note_latest(open, ev);
	note_holder(open, ev);
	if (xst_losses_at(ev) && ev->producer < open->nr_latest)
		open->latest[ev->producer].lost = true;
	if (ev->type == XSPROF_EV_EXIT)
		hidden_take(&open->hidden, ev->producer, keep_hidden, open);
	else if ((ev->type == XSPROF_REC_END || ev->type == XSPROF_REC_ASYNC_END) &&
		 open->emitted == before)
		hidden_end(&open->hidden, ev);
	return ret;
}

static int compare(const void *pa, const void *pb)
{
	const struct open_range *a = pa, *b = pb;

	if (a->producer != b->producer)
		return a->producer < b->producer ? -1 : 1;
	/* Ranges of threads that ended earlier come after those open at the end. */
	if (a->gone != b->gone)
		return a->gone ? 1 : -1;
	/* Ranges with an id are on no thread: they come last. */
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	if (a->depth != b->depth)
		return a->depth < b->depth ? -1 : 1;
	return (a->name > b->name) - (a->name < b->name);
}

int open_ranges_finish(struct open_ranges *open)
{
	struct xsprof_trace_producer p = { 0 };
	uint32_t producer = ~0u;
	size_t i;

	hidden_take(&open->hidden, ~0u, keep_hidden, open);
	if (open->failed)
		return -ENOMEM;
	if (open->nr)
		qsort(open->list, open->nr, sizeof(*open->list), compare);
	for (i = 0; i < open->nr; i++) {
		struct open_range *range = &open->list[i];

		if (range->producer != producer) {
			producer = range->producer;
			memset(&p, 0, sizeof(p));
			xsprof_trace_get_producer(open->trace, producer, &p);
		}
		if (!range->gone && producer < open->nr_latest)
			open->latest[producer].open = true;
		/* A damaged record may have been an end, at any time. */
		if (range->doubt == OPEN_CERTAIN && p.bad_slots)
			range->doubt = OPEN_LOST;
	}
	return 0;
}

int open_ranges_ask(struct open_ranges *open)
{
	int ret = report_places_new(open->nr, &open->places);

	if (ret)
		return ret;
	for (size_t i = 0; i < open->nr; i++) {
		struct report_op op = open_range_op(&open->list[i]);

		report_places_ask(open->places, &op);
	}
	report_places_begin(open->places);
	return 0;
}

void open_ranges_free(struct open_ranges *open)
{
	report_places_free(open->places);
	free(open->list);
	hidden_free(&open->hidden);
	xsp_map_free(&open->holders);
	free(open->latest);
}
