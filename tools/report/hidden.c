// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ranges that were open at a pause: see hidden.h. A program may write any number of ends that
 * belong to none of them: hash tables find the matching range in constant time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "report/hidden.h"

#define BUCKETS	8192u		/* a power of two */
#define NONE	UINT32_MAX

/* By thread or id, for an end without a name; and by thread or id and name. */
enum { BY_PLACE, BY_NAME, WAYS };

/**
 * struct hidden_range - a kept range, or a free slot
 * @range: the range
 * @key: hash keys
 * @next: the next one of its bucket; [0] of a free slot: the next free slot
 * @used: it is not free
 */
struct hidden_range {
	struct xsprof_range	range;
	uint64_t		key[WAYS];
	uint32_t		next[WAYS];
	bool			used;
};

struct hidden_table {
	uint64_t		seed;
	uint32_t		first[WAYS][BUCKETS];
	uint32_t		free;
	uint32_t		top;	/* slots from here on were never used */
	struct hidden_range	at[HIDDEN_MAX];
};

/* Hash keys of the thread or the id, without and with the name. */
static void make_keys(uint64_t key[WAYS], uint64_t seed, uint32_t producer, bool async, uint64_t of,
		      uint32_t name)
{
	key[BY_PLACE] = xsp_hash_pair(of ^ seed, (uint64_t)producer << 1 | async);
	key[BY_NAME] = xsp_hash_pair(key[BY_PLACE], (uint64_t)name + 1);
}

static uint32_t *first_of(struct hidden_table *table, int way, uint64_t key)
{
	return &table->first[way][key % BUCKETS];
}

static struct hidden_table *make_table(void)
{
	struct hidden_table *table = malloc(sizeof(*table));

	if (!table)
		return NULL;
	memset(table->first, 0xff, sizeof(table->first));
	table->seed = xsp_hash_seed(table);
	table->free = NONE;
	table->top = 0;
	return table;
}

int hidden_add(struct hidden_ranges *hidden, const struct xsprof_range *range)
{
	bool async = range->kind == XSPROF_REC_ASYNC_BEGIN;
	struct hidden_table *table;
	struct hidden_range *new;
	uint32_t i;

	if (!hidden->table)
		hidden->table = make_table();
	table = hidden->table;
	if (!table)
		return -ENOMEM;
	if (hidden->nr == HIDDEN_MAX)
		return -ENOSPC;
	i = table->free;
	if (i != NONE)
		table->free = table->at[i].next[0];
	else
		i = table->top++;
	hidden->nr++;
	new = &table->at[i];
	new->range = *range;
	new->used = true;
	make_keys(new->key, table->seed, range->producer, async, async ? range->id : range->tid,
		  range->name);
	for (int way = 0; way < WAYS; way++) {
		new->next[way] = *first_of(table, way, new->key[way]);
		*first_of(table, way, new->key[way]) = i;
	}
	return 0;
}

static void drop(struct hidden_ranges *hidden, uint32_t i)
{
	struct hidden_table *table = hidden->table;
	struct hidden_range *h = &table->at[i];

	for (int way = 0; way < WAYS; way++) {
		uint32_t *link = first_of(table, way, h->key[way]);

		while (*link != i)
			link = &table->at[*link].next[way];
		*link = h->next[way];
	}
	h->used = false;
	h->next[0] = table->free;
	table->free = i;
	hidden->nr--;
}

void hidden_end(struct hidden_ranges *hidden, const struct xsprof_event *ev)
{
	bool async = ev->type == XSPROF_REC_ASYNC_END;
	struct hidden_table *table = hidden->table;
	struct hidden_range *best = NULL;
	int way = ev->name ? BY_NAME : BY_PLACE;
	uint64_t key[WAYS];

	if (!hidden->nr)
		return;
	make_keys(key, table->seed, ev->producer, async, async ? ev->value : ev->tid, ev->name);
	for (uint32_t i = *first_of(table, way, key[way]); i != NONE; i = table->at[i].next[way]) {
		struct hidden_range *h = &table->at[i];

		if (h->key[way] != key[way])
			continue;
		if (!best || h->range.begin_ns > best->range.begin_ns ||
		    (h->range.begin_ns == best->range.begin_ns &&
		     h->range.depth > best->range.depth))
			best = h;
	}
	if (best)
		drop(hidden, (uint32_t)(best - table->at));
}

void hidden_take(struct hidden_ranges *hidden, uint32_t producer,
		 void (*take)(void *data, const struct xsprof_range *range), void *data)
{
	struct hidden_table *table = hidden->table;

	for (uint32_t i = hidden->nr ? table->top : 0; i--;) {
		struct hidden_range *h = &table->at[i];
		struct xsprof_range range;

		if (!h->used || (producer != ~0u && h->range.producer != producer))
			continue;
		range = h->range;
		drop(hidden, i);
		take(data, &range);
	}
}

void hidden_free(struct hidden_ranges *hidden)
{
	free(hidden->table);
	*hidden = (struct hidden_ranges){ 0 };
}
