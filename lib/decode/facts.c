// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Facts and an index of them: see facts.h.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "decode/facts.h"

#define FEW	16u	/* up to this many facts are searched linearly */

/* ---- the index --------------------------------------------------------------------------- */

static bool is_of(const struct xst_fact *fact, const char *key)
{
	return !strcmp(fact->key->s, key);
}

/* The fact's slot, or the slot for it: each has the number of a fact + 1. */
static uint32_t *find_place(const struct xst_facts *facts, const char *key)
{
	uint64_t hash = xsp_hash_mix(xsp_hash_bytes(facts->seed, key, strlen(key)));
	uint32_t mask = facts->nr_places - 1, at;

	for (at = (uint32_t)hash & mask; facts->places[at]; at = (at + 1) & mask)
		if (is_of(&facts->list[facts->places[at] - 1], key))
			break;
	return &facts->places[at];
}

/* A later fact of a process replaces an earlier one. */
static void add_place(struct xst_facts *facts, uint32_t number)
{
	uint32_t *place = find_place(facts, facts->list[number].key->s);

	facts->used += !*place;
	*place = number + 1;
}

static int grow_index(struct xst_facts *facts)
{
	uint32_t nr = facts->nr_places ? 2 * facts->nr_places : 8 * FEW;
	uint32_t *places = calloc(nr, sizeof(*places));

	if (!places)
		return -ENOMEM;
	if (!facts->places)
		facts->seed = xsp_hash_seed(facts);
	free(facts->places);
	facts->places = places;
	facts->nr_places = nr;
	facts->used = 0;
	for (uint32_t i = 0; i < facts->nr; i++)
		add_place(facts, i);
	return 0;
}

/* Makes room for one more fact. */
static int make_room(struct xst_facts *facts)
{
	uint32_t room = facts->room ? facts->room * 2 : FEW;
	struct xst_fact *list;

	if (facts->nr >= FEW && facts->used + 1 > facts->nr_places / 2 && grow_index(facts))
		return -ENOMEM;
	if (facts->nr < facts->room)
		return 0;
	list = realloc(facts->list, room * sizeof(*list));
	if (!list)
		return -ENOMEM;
	facts->list = list;
	facts->room = room;
	return 0;
}

/* ---- facts ------------------------------------------------------------------------------- */

int xst_facts_add(struct xst_facts *facts, struct xsp_pool *pool, const char *s, size_t len)
{
	const char *is = memchr(s, '=', len);
	struct xst_fact fact;

	if (!is || is == s)
		return -EINVAL;
	if (facts->nr >= XST_MAX_FACTS)
		return -E2BIG;
	if (make_room(facts))
		return -ENOMEM;
	fact.key = xst_pool_text(pool, s, is - s);
	fact.value = xst_pool_text(pool, is + 1, len - (is + 1 - s));
	if (!fact.key || !fact.value)
		return -ENOMEM;
	facts->list[facts->nr++] = fact;
	if (facts->places)
		add_place(facts, facts->nr - 1);
	return 0;
}

void xst_facts_free(struct xst_facts *facts)
{
	free(facts->list);
	free(facts->places);
	*facts = (struct xst_facts){ 0 };
}

const char *xst_facts_get(const struct xst_facts *facts, const char *key)
{
	if (facts->places) {
		uint32_t place = *find_place(facts, key);

		return place ? facts->list[place - 1].value->s : NULL;
	}
	for (uint32_t i = facts->nr; i; i--)
		if (is_of(&facts->list[i - 1], key))
			return facts->list[i - 1].value->s;
	return NULL;
}
