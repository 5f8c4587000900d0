// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Lanes of a Kineto trace: tracks for ranges that do not nest in their thread. The first few lanes
 * take any range that nests with theirs. After them a range goes to a lane that is completely free,
 * to the one free for the shortest time: as few are used as ranges overlap.
 */
#include <stdlib.h>

#include "base/hash.h"
#include "export/kineto/local.h"

#define NESTED		8u		/* lanes on which ranges may nest */
#define FIRST_TID	0x40000000u	/* tids of tracks other than threads; Linux has 2^22 */
#define ALL_LANES	(1u << 16)	/* limit of further lanes in the whole trace */

/**
 * struct xsr_lanes - further lanes of one kind and key
 * @n: number of lanes
 * @room: capacity of @v
 * @v: ordered by the end of the last range on each
 */
struct xsr_lanes {
	uint32_t	n;
	uint32_t	room;
	struct lane {
		uint64_t	end;
		uint32_t	number;
	}		*v;
};

void xsr_lanes_free(struct xsr_kineto *k)
{
	for (size_t i = 0; i < k->lanes.room; i++) {
		struct xsr_lanes *lanes = (struct xsr_lanes *)(uintptr_t)k->lanes.values[i];

		if (lanes)
			free(lanes->v);
		free(lanes);
	}
	xsp_map_free(&k->lanes);
}

/* Keys with the same hash share lanes: the tracks themselves decide what nests. */
static struct xsr_lanes *lanes_of(struct xsr_kineto *k, uint32_t producer, uint32_t kind,
				  uint64_t key)
{
	uint64_t number = xsp_hash_pair((uint64_t)producer << 32 | kind, key) | 1;
	uint64_t *found = xsp_map_get(&k->lanes, number);
	struct xsr_lanes *lanes;

	if (found)
		return (struct xsr_lanes *)(uintptr_t)*found;
	lanes = calloc(1, sizeof(*lanes));
	if (lanes && xsp_map_set(&k->lanes, number, (uintptr_t)lanes)) {
		free(lanes);
		return NULL;
	}
	return lanes;
}

static bool grow(struct xsr_kineto *k, struct xsr_lanes *lanes)
{
	uint32_t room = lanes->room ? lanes->room * 2 : NESTED;
	struct lane *v;

	if (k->nr_lanes + room - lanes->room > ALL_LANES)
		return false;
	v = realloc(lanes->v, room * sizeof(*v));
	if (!v)
		return false;
	k->nr_lanes += room - lanes->room;
	lanes->v = v;
	lanes->room = room;
	return true;
}

/* The number of lanes that are free at @ns. */
static uint32_t free_at(const struct xsr_lanes *lanes, uint64_t ns)
{
	uint32_t low = 0, high = lanes->n, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (lanes->v[mid].end <= ns)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* The number of a free lane, taken up to @end; 0 for none. */
static uint32_t take_number(struct xsr_kineto *k, struct xsr_lanes *lanes, uint64_t begin,
			    uint64_t end)
{
	uint32_t from = free_at(lanes, begin), to, number = NESTED + lanes->n;

	if (from) {
		number = lanes->v[--from].number;
	} else {
		if (number == XSR_LANES || (lanes->n == lanes->room && !grow(k, lanes)))
			return 0;
		from = lanes->n++;
		lanes->v[from] = (struct lane){ .end = UINT64_MAX, .number = number };
	}
	/* Move the entries in between up or down. */
	lanes->n--;
	memmove(lanes->v + from, lanes->v + from + 1, (lanes->n - from) * sizeof(*lanes->v));
	to = free_at(lanes, end);
	memmove(lanes->v + to + 1, lanes->v + to, (lanes->n++ - to) * sizeof(*lanes->v));
	lanes->v[to] = (struct lane){ .end = end, .number = number };
	return number;
}

bool xsr_kineto_own_tid(struct xsr_kineto *k, struct xsp_track *track)
{
	if (track->shown >> 32)
		return true;
	if (k->next_tid == UINT32_MAX - FIRST_TID)
		return false;
	/* In the upper half. */
	track->shown |= (uint64_t)(FIRST_TID + k->next_tid++) << 32;
	return true;
}

/* The track, if the range nests there. */
static struct xsp_track *nests(struct xsr_kineto *k, const struct xsprof_event *ev, uint32_t kind,
			       uint64_t number, uint64_t begin, uint64_t end)
{
	struct xsp_track *lane = xsp_tracks_get(k->tracks, ev->producer, ev->pid, kind, number,
						ev->ns);

	if (!lane || k->next_tid == UINT32_MAX - FIRST_TID)
		return NULL;
	/* Not shown yet: a forgotten track with its number was a different one. */
	if (!(lane->shown >> 32))
		lane->opens.stack.floor = 0;
	if (!xsp_tracks_complete(k->tracks, lane, begin, end))
		return NULL;
	return xsr_kineto_own_tid(k, lane) ? lane : NULL;
}

struct xsp_track *xsr_kineto_lane(struct xsr_kineto *k, const struct xsprof_event *ev,
				  uint32_t kind, uint64_t key, uint64_t begin, uint64_t end)
{
	struct xsr_lanes *lanes;
	struct xsp_track *lane;
	uint32_t i;

	for (i = 0; i < NESTED; i++) {
		lane = nests(k, ev, kind, key * XSR_LANES + i, begin, end);
		if (lane)
			return lane;
	}
	lanes = lanes_of(k, ev->producer, kind, key);
	i = lanes ? take_number(k, lanes, begin, end) : 0;
	return i ? nests(k, ev, kind, key * XSR_LANES + i, begin, end) : NULL;
}
