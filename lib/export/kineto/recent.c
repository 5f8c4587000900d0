// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The latest ranges on a track of a device. Collectors report some of them late, so that the order
 * is not that of their times: whether a range nests is judged by each of them.
 */
#include <stdlib.h>

#include "export/kineto/local.h"

#define FIRST		16u		/* entries of a new track */
#define RECENT		1024u		/* most entries of a track */
#define ALL_RECENT	(1u << 18)	/* most entries of all tracks */

/**
 * struct xsr_recent - private data of a track of a device
 * @next: that of another track
 * @back: what points to this one
 * @last: the latest end
 * @n: number of ranges that were added
 * @room: capacity of @v, a power of two: the oldest range is replaced
 */
struct xsr_recent {
	struct xsr_recent	*next;
	struct xsr_recent	**back;
	uint64_t		last;
	uint32_t		n;
	uint32_t		room;
	struct recent {
		uint64_t	begin;
		uint64_t	end;
	}			*v;
};

static struct xsr_recent *state(struct xsr_kineto *k, struct xsp_track *track)
{
	struct xsr_recent *recent = track->priv;

	if (recent)
		return recent;
	recent = calloc(1, sizeof(*recent));
	if (!recent)
		return NULL;
	recent->next = k->recents;
	recent->back = &k->recents;
	if (recent->next)
		recent->next->back = &recent->next;
	k->recents = recent;
	track->priv = recent;
	return recent;
}

/* Without memory the track keeps what it has. */
static void grow(struct xsr_kineto *k, struct xsr_recent *recent)
{
	uint32_t room = recent->room ? 2 * recent->room : FIRST;
	struct recent *v;

	if (recent->room == RECENT || k->nr_recent + room - recent->room > ALL_RECENT)
		return;
	v = realloc(recent->v, room * sizeof(*v));
	if (!v)
		return;
	k->nr_recent += room - recent->room;
	recent->v = v;
	recent->room = room;
}

static bool overlaps(const struct xsr_recent *recent, uint64_t begin, uint64_t end)
{
	uint32_t n = recent->n < recent->room ? recent->n : recent->room;

	if (begin >= recent->last)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t from = recent->v[i].begin, to = recent->v[i].end;

		if ((from < begin && begin < to && to < end) ||
		    (begin < from && from < end && end < to))
			return true;
	}
	return false;
}

bool xsr_recent_add(struct xsr_kineto *k, struct xsp_track *track, uint64_t begin, uint64_t end)
{
	struct xsr_recent *recent = state(k, track);
	uint32_t at;

	if (recent && overlaps(recent, begin, end))
		return false;
	if (recent && recent->n == recent->room)
		grow(k, recent);
	if (!recent || !recent->room)
		return true;
	at = recent->n++ & (recent->room - 1);
	/* It must not wrap to 0: the entries are in use. */
	if (recent->n == 2 * RECENT)
		recent->n = RECENT;
	recent->v[at].begin = begin;
	recent->v[at].end = end;
	if (end > recent->last)
		recent->last = end;
	return true;
}

static void drop(struct xsr_kineto *k, struct xsr_recent *recent)
{
	k->nr_recent -= recent->room;
	*recent->back = recent->next;
	if (recent->next)
		recent->next->back = recent->back;
	free(recent->v);
	free(recent);
}

void xsr_recent_free(struct xsr_kineto *k, struct xsp_track *track)
{
	if (track->priv)
		drop(k, track->priv);
	track->priv = NULL;
}

void xsr_recents_free(struct xsr_kineto *k)
{
	while (k->recents)
		drop(k, k->recents);
}
