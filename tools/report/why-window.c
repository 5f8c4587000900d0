// SPDX-License-Identifier: GPL-2.0-only
/*
 * The causes of the time of a few windows: groups segments of watched threads by cause. It chooses
 * no window and prints nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "report/why-local.h"

/* ---- causes --------------------------------------------------------------------------------- */

static bool sleeps(uint32_t class)
{
	return class == CAUSE_BLOCKED || class == CAUSE_IO || class == CAUSE_FAULT;
}

static bool same_who(const struct cause_who *a, const struct cause_who *b)
{
	return a->context == b->context && a->vec == b->vec &&
	       (a->context != CAUSE_IN_TASK || a->tid == b->tid) && !strcmp(a->name, b->name);
}

/* Is it the same cause? What distinguishes causes depends on the class. */
static bool same(const struct why_item *item, const struct cause_segment *s, uint32_t range)
{
	if (item->class != s->class || item->rest)
		return false;
	switch (s->class) {
	case CAUSE_SYSCALL:
		return item->nr == s->nr;
	case CAUSE_RUNNABLE:
		return item->cpu == s->cpu && same_who(&item->who, &s->who);
	case CAUSE_IRQ:
	case CAUSE_SOFTIRQ:
		return same_who(&item->who, &s->who);
	case CAUSE_GIL:
		return item->range == range && same_who(&item->who, &s->who);
	case CAUSE_BLOCKED:
	case CAUSE_IO:
	case CAUSE_FAULT:
		return item->nr == s->nr && same_who(&item->who, &s->who);
	default:
		return true;
	}
}

static struct why_item *get_item(struct why *why, struct why_window *w,
				 const struct cause_segment *s, uint32_t range)
{
	struct why_item *item;

	for (uint32_t i = w->nr_items; i--;)
		if (same(&w->items[i], s, range))
			return &w->items[i];
	if (!w->items)
		w->items = calloc(WHY_ITEMS, sizeof(*w->items));
	if (!w->items)
		return NULL;
	if (w->nr_items >= WHY_ITEMS - CAUSE_CLASSES) {
		for (uint32_t i = w->nr_items; i--;)
			if (w->items[i].rest && w->items[i].class == s->class)
				return &w->items[i];
		item = &w->items[w->nr_items++];
		*item = (struct why_item){
			.class = s->class, .cpu = -1, .nr = -1, .rest = true, .first = s->from,
			.who = { .context = CAUSE_IN_NOTHING, .vec = -1 },
		};
		return item;
	}
	item = &w->items[w->nr_items++];
	item->class = s->class;
	item->cpu = s->cpu;
	item->nr = s->nr;
	item->who = s->who;
	item->range = range;
	item->first = s->from;
	if (s->who.context == CAUSE_IN_TASK)
		report_comms_copy(why->comms, item->comm, s->who.tid);
	return item;
}

/* The task that ended it did something meanwhile, and may have waited for another task. */
static void follow(struct why *why, struct why_item *item, const struct cause_segment *s)
{
	uint64_t from = s->from, to = s->to;
	uint64_t key = s->who.tid;
	struct cause_did did;

	item->nr_links = 0;
	if (!sleeps(s->class) || s->who.context != CAUSE_IN_TASK)
		return;
	while (key && key != s->key && item->nr_links < WHY_LINKS &&
	       cause_did(why->cause, key, from, to, &did)) {
		struct why_link *link = &item->links[item->nr_links++];

		*link = (struct why_link){ .tid = (uint32_t)key, .class = did.class,
					   .who = (uint32_t)did.who, .ns = did.ns,
					   .who_ns = did.who_ns };
		report_comms_copy(why->comms, link->comm, key);
		report_comms_copy(why->comms, link->who_comm, did.who);
		if (!sleeps(did.class))
			break;
		key = did.who;
		from = did.from;
		to = did.to;
	}
}

static void add(struct why *why, struct why_window *w, const struct cause_segment *whole)
{
	struct cause_segment s = *whole;
	struct why_item *item;

	if (s.from < w->begin)
		s.from = w->begin;
	if (s.to > w->end)
		s.to = w->end;
	if (s.to <= s.from)
		return;
	w->sum.v[s.class] += s.to - s.from;
	item = get_item(why, w, &s, why_holders_range(why->holders, w->producer, w->pid, s.holder,
						      s.to));
	if (!item)
		return;
	item->ns += s.to - s.from;
	item->partial |= s.partial;
	/* Adjacent pieces are one occurrence. */
	item->piece = item->count && s.from == item->last ? item->piece + s.to - s.from :
		      s.to - s.from;
	item->count += !item->count || s.from != item->last;
	item->last = s.to;
	if (item->piece > item->longest) {
		item->longest = item->piece;
		follow(why, item, &s);
	}
}

static struct why_window **place_of(struct why *why, uint64_t key)
{
	return &why->by_key[xsp_hash_mix(key) % WHY_PLACES];
}

void why_segment(void *data, const struct cause_segment *segment)
{
	struct why *why = data;

	for (struct why_window *w = *place_of(why, segment->key); w; w = w->next)
		if (w->key == segment->key)
			add(why, w, segment);
}

/* ---- windows -------------------------------------------------------------------------------- */

static void leave(struct why *why, uint32_t i)
{
	struct why_window *w = why->active[i], **link;

	cause_flush(why->cause, w->key, w->end);
	cause_unwatch(why->cause, w->key);
	for (link = place_of(why, w->key); *link != w; link = &(*link)->next)
		;
	*link = w->next;
	why->active[i] = why->active[--why->nr_active];
}

/* Those that end until @ns. */
static void leave_until(struct why *why, uint64_t ns)
{
	/* One after the other: the segments of a thread continue from there. */
	for (;;) {
		uint32_t first = UINT32_MAX;

		for (uint32_t i = 0; i < why->nr_active; i++)
			if (why->active[i]->end <= ns &&
			    (first == UINT32_MAX || why->active[i]->end < why->active[first]->end))
				first = i;
		if (first == UINT32_MAX)
			return;
		leave(why, first);
	}
}

void why_advance(struct why *why, uint64_t ns)
{
	while (why->next < why->nr && why->windows[why->next].begin <= ns) {
		struct why_window *w = &why->windows[why->next++];

		leave_until(why, w->begin);
		if (!cause_watch(why->cause, w->key))
			continue;
		why->active[why->nr_active++] = w;
		w->next = *place_of(why, w->key);
		*place_of(why, w->key) = w;
	}
	leave_until(why, ns);
}

static int by_time(const void *pa, const void *pb)
{
	const struct why_item *a = pa, *b = pb;

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return (a->first > b->first) - (a->first < b->first);
}

static void complete(struct why *why, struct why_window *w)
{
	struct cause_segment s = { .class = CAUSE_UNKNOWN, .cpu = -1, .nr = -1, .from = w->begin };
	struct why_item *item;
	uint64_t told = 0;

	for (int i = 0; i < CAUSE_CLASSES; i++)
		told += w->sum.v[i];
	if (told < why_wall(w)) {
		s.who = (struct cause_who){ .context = CAUSE_IN_NOTHING, .vec = -1 };
		w->sum.v[CAUSE_UNKNOWN] += why_wall(w) - told;
		item = get_item(why, w, &s, 0);
		if (item) {
			item->ns += why_wall(w) - told;
			item->count++;
		}
	}
	if (w->nr_items)
		qsort(w->items, w->nr_items, sizeof(*w->items), by_time);
}

void why_finish(struct why *why)
{
	why_advance(why, UINT64_MAX);
	for (uint32_t i = 0; i < why->nr; i++)
		complete(why, &why->windows[i]);
}
