// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Set of refused files: see refused.h. Its size is bounded: an entry that is not kept costs one
 * more attempt.
 */
#include <stdbool.h>
#include <stdlib.h>

#include "base/hash.h"
#include "drain/refused.h"

#define ROOM_FIRST	64u
#define ROOM_MAX	(1u << 15)

/* Keys are hashes: any bits are equally good. */
static struct xsp_refusal *place(const struct xsp_refused *set, uint64_t key)
{
	uint32_t i = (uint32_t)xsp_hash_mix(key) & (set->room - 1);

	while (set->at[i].key && set->at[i].key != key)
		i = (i + 1) & (set->room - 1);
	return &set->at[i];
}

struct xsp_refusal *xsp_refused_find(const struct xsp_refused *set, uint64_t key)
{
	struct xsp_refusal *r;

	if (!set->nr)
		return NULL;
	r = place(set, key);
	return r->key ? r : NULL;
}

/* Reserves a free slot, plus one that ends searches. Return: false: full, or no memory. */
static bool reserve(struct xsp_refused *set)
{
	struct xsp_refused more = { .room = set->room ? 2 * set->room : ROOM_FIRST };
	uint32_t i;

	if (set->nr < set->room / 2)
		return true;
	if (more.room > ROOM_MAX)
		return false;
	more.at = calloc(more.room, sizeof(*more.at));
	if (!more.at)
		return false;
	more.nr = set->nr;
	for (i = 0; i < set->room; i++)
		if (set->at[i].key)
			*place(&more, set->at[i].key) = set->at[i];
	free(set->at);
	*set = more;
	return true;
}

void xsp_refused_add(struct xsp_refused *set, const struct xsp_refusal *refusal)
{
	if (!reserve(set))
		return;
	*place(set, refusal->key) = *refusal;
	set->nr++;
}

void xsp_refused_free(struct xsp_refused *set)
{
	free(set->at);
	*set = (struct xsp_refused){ 0 };
}
