// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Facts and an index of them: see facts.h. Each entry of the index has the number of a fact and the
 * part of its key by which it is found.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "decode/facts.h"

#define FEW	16u	/* up to this many facts are searched linearly */

/* The key to find: a whole key, or its prefix and suffix. */
struct wanted {
	const char	*begin;
	size_t		begin_len;
	const char	*end;
	size_t		end_len;
	bool		ends;
};

static struct wanted whole(const char *key)
{
	return (struct wanted){ .begin = key, .begin_len = strlen(key), .end = "" };
}

/* Return: false if the key has too few dots. */
static bool both_ends(const char *key, struct wanted *w)
{
	const char *first = strchr(key, '.');
	const char *second = first ? strchr(first + 1, '.') : NULL;
	const char *last = second ? strrchr(second + 1, '.') : NULL;

	if (!last)
		return false;
	*w = (struct wanted){
		.begin = key, .begin_len = (size_t)(second + 1 - key),
		.end = last, .end_len = strlen(last), .ends = true,
	};
	return true;
}

static bool is_same(const struct wanted *a, const struct wanted *b)
{
	return a->begin_len == b->begin_len && a->end_len == b->end_len &&
	       !memcmp(a->begin, b->begin, a->begin_len) && !memcmp(a->end, b->end, a->end_len);
}

/* Does the fact have that key? Texts of the host may contain zero bytes, which end them. */
static bool is_of(const struct xst_fact *fact, const struct wanted *w)
{
	struct wanted own = whole(fact->key->s);

	return (!w->ends || both_ends(fact->key->s, &own)) && is_same(&own, w);
}

/* ---- the index --------------------------------------------------------------------------- */

static uint32_t make_place(uint32_t number, bool ends)
{
	return (number + 1) << 1 | ends;
}

static const struct xst_fact *fact_at(const struct xst_facts *facts, uint32_t place)
{
	return &facts->list[(place >> 1) - 1];
}

/* The fact's slot, or the slot for it. */
static uint32_t *find_place(const struct xst_facts *facts, const struct wanted *w)
{
	uint64_t hash = xsp_hash_bytes(facts->seed, w->begin, w->begin_len);
	uint32_t mask = facts->nr_places - 1, at;

	hash = xsp_hash_mix(xsp_hash_bytes(hash, w->end, w->end_len));
	for (at = (uint32_t)hash & mask; facts->places[at]; at = (at + 1) & mask)
		if ((facts->places[at] & 1) == w->ends &&
		    is_of(fact_at(facts, facts->places[at]), w))
			break;
	return &facts->places[at];
}

static void set_place(struct xst_facts *facts, const struct wanted *w, uint32_t number)
{
	uint32_t *place = find_place(facts, w);

	facts->used += !*place;
	*place = make_place(number, w->ends);
}

/* A later fact of a process replaces an earlier one. */
static void add_places(struct xst_facts *facts, uint32_t number)
{
	const char *key = facts->list[number].key->s;
	struct wanted w = whole(key);

	set_place(facts, &w, number);
	if (both_ends(key, &w))
		set_place(facts, &w, number);
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
		add_places(facts, i);
	return 0;
}

/* Makes room for one more fact. */
static int make_room(struct xst_facts *facts)
{
	uint32_t room = facts->room ? facts->room * 2 : FEW;
	struct xst_fact *list;

	if (facts->nr >= FEW && facts->used + 2 > facts->nr_places / 2 && grow_index(facts))
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
		add_places(facts, facts->nr - 1);
	return 0;
}

void xst_facts_free(struct xst_facts *facts)
{
	free(facts->list);
	free(facts->places);
	*facts = (struct xst_facts){ 0 };
}

static const char *get(const struct xst_facts *facts, const struct wanted *w)
{
	if (facts->places) {
		uint32_t place = *find_place(facts, w);

		return place ? fact_at(facts, place)->value->s : NULL;
	}
	for (uint32_t i = facts->nr; i; i--)
		if (is_of(&facts->list[i - 1], w))
			return facts->list[i - 1].value->s;
	return NULL;
}

const char *xst_facts_get(const struct xst_facts *facts, const char *key)
{
	struct wanted w = whole(key);

	return get(facts, &w);
}

const char *xst_facts_around(const struct xst_facts *facts, const char *begin, const char *end)
{
	const struct wanted w = {
		.begin = begin, .begin_len = strlen(begin),
		.end = end, .end_len = strlen(end), .ends = true,
	};

	return get(facts, &w);
}
