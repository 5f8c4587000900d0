// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ranges that a pause hid: see hidden.h.  A program may give any number of ends that are of none
 * of them, so a filter tells most of these at once.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"
#include "report/hidden.h"

#define FILTER_BITS	16u

struct hidden_filter {
	uint64_t	seed;
	uint16_t	nr[1u << FILTER_BITS];
};

/* Of the thread or the id, and of that with the name. */
static void make_keys(uint64_t key[2], uint64_t seed, uint32_t producer, bool async, uint64_t of,
		      uint32_t name)
{
	key[0] = xsp_hash_pair(of ^ seed, (uint64_t)producer << 1 | async);
	key[1] = xsp_hash_pair(key[0], (uint64_t)name + 1);
}

static uint16_t *count_of(struct hidden_filter *filter, uint64_t key)
{
	return &filter->nr[key & ((1u << FILTER_BITS) - 1)];
}

int hidden_add(struct hidden_ranges *hidden, const struct xsprof_range *range)
{
	bool async = range->kind == XSPROF_REC_ASYNC_BEGIN;
	struct hidden_range *new;

	if (!hidden->list) {
		hidden->list = malloc(HIDDEN_MAX * sizeof(*hidden->list));
		hidden->filter = calloc(1, sizeof(*hidden->filter));
		if (!hidden->list || !hidden->filter) {
			hidden_free(hidden);
			return -ENOMEM;
		}
		hidden->filter->seed = xsp_hash_seed(hidden->filter);
	}
	if (hidden->nr == HIDDEN_MAX)
		return -ENOSPC;
	new = &hidden->list[hidden->nr++];
	new->range = *range;
	make_keys(new->key, hidden->filter->seed, range->producer, async,
		  async ? range->id : range->tid, range->name);
	++*count_of(hidden->filter, new->key[0]);
	++*count_of(hidden->filter, new->key[1]);
	return 0;
}

static void drop(struct hidden_ranges *hidden, struct hidden_range *h)
{
	--*count_of(hidden->filter, h->key[0]);
	--*count_of(hidden->filter, h->key[1]);
	*h = hidden->list[--hidden->nr];
}

void hidden_end(struct hidden_ranges *hidden, const struct xsprof_event *ev)
{
	bool async = ev->type == XSPROF_REC_ASYNC_END;
	struct hidden_range *best = NULL;
	uint64_t key[2];

	if (!hidden->nr)
		return;
	make_keys(key, hidden->filter->seed, ev->producer, async, async ? ev->value : ev->tid,
		  ev->name);
	if (!*count_of(hidden->filter, key[ev->name != 0]))
		return;
	for (size_t i = hidden->nr; i--;) {
		struct hidden_range *h = &hidden->list[i];

		if (h->key[ev->name != 0] != key[ev->name != 0])
			continue;
		if (!best || h->range.begin_ns > best->range.begin_ns ||
		    (h->range.begin_ns == best->range.begin_ns &&
		     h->range.depth > best->range.depth))
			best = h;
	}
	if (best)
		drop(hidden, best);
}

void hidden_take(struct hidden_ranges *hidden, uint32_t producer,
		 void (*take)(void *data, const struct xsprof_range *range), void *data)
{
	struct xsprof_range range;

	for (size_t i = hidden->nr; i--;) {
		if (producer != ~0u && hidden->list[i].range.producer != producer)
			continue;
		range = hidden->list[i].range;
		drop(hidden, &hidden->list[i]);
		take(data, &range);
	}
}

void hidden_free(struct hidden_ranges *hidden)
{
	free(hidden->list);
	free(hidden->filter);
	*hidden = (struct hidden_ranges){ 0 };
}
