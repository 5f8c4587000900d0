/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Places for calls of devices' runtimes and for what they started, which collectors write some ten
 * thousand records apart, in any order.  A new call takes the place of an old one: memory is fixed.
 */
#ifndef XSPROF_REPORT_CALLS_H
#define XSPROF_REPORT_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include <xsprof/trace.h>

#include "base/hash.h"

#define CALL_BITS	16u
#define CALL_PLACES	(1u << CALL_BITS)
#define CALL_WAYS	4u	/* places that a call may take: the one not used for longest */

/**
 * struct call_places - which call has which place
 * @key: of the call
 * @used: when it was last asked for, by @now; 0: free
 * @now: how often was asked
 */
struct call_places {
	uint64_t	key[CALL_PLACES];
	uint64_t	used[CALL_PLACES];
	uint64_t	now;
};

/* Of a call, and of what it started. */
static inline uint64_t call_key(const struct xsprof_event *ev)
{
	return xsp_hash_pair(ev->producer + 1ull, ev->value);
}

/* Return: its place; @known: it had it before, else it is the caller's to initialise. */
static inline uint32_t call_place(struct call_places *places, uint64_t key, bool *known)
{
	uint32_t first = xsp_hash_pair_place(key, CALL_BITS) & ~(CALL_WAYS - 1), place = first;

	for (uint32_t i = first; i < first + CALL_WAYS; i++) {
		if (places->used[i] && places->key[i] == key) {
			places->used[i] = ++places->now;
			*known = true;
			return i;
		}
		if (places->used[i] < places->used[place])
			place = i;
	}
	places->key[place] = key;
	places->used[place] = ++places->now;
	*known = false;
	return place;
}

/* Return: its place, or CALL_PLACES. */
static inline uint32_t call_find(const struct call_places *places, uint64_t key)
{
	uint32_t first = xsp_hash_pair_place(key, CALL_BITS) & ~(CALL_WAYS - 1);

	for (uint32_t i = first; i < first + CALL_WAYS; i++)
		if (places->used[i] && places->key[i] == key)
			return i;
	return CALL_PLACES;
}

#endif /* XSPROF_REPORT_CALLS_H */
