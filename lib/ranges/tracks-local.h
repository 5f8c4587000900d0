/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What the files of the tracks share: tracks.c (what events do to threads) and tracks-table.c
 * (finding threads, and forgetting them when memory is short).
 */
#ifndef XSP_TRACKS_LOCAL_H
#define XSP_TRACKS_LOCAL_H

#include "ranges/pair-local.h"
#include "ranges/tracks.h"

#define XSP_TRACK_BUCKET_BITS	13
#define XSP_TRACK_BUCKETS	(1u << XSP_TRACK_BUCKET_BITS)
#define XSP_TRACK_MEMORY	(20u << 20)

/**
 * struct xsp_track_owner - a producer's threads
 * @threads: all
 * @open: those with ranges, by category; made for the first range
 * @controls: events that switched categories
 * @pauses: of them, those that switched all off
 */
struct xsp_track_owner {
	struct xsp_track	*threads;
	struct xsp_by_category	*open;
	uint32_t		controls;
	uint32_t		pauses;
};

struct xsp_tracks {
	const struct xsp_tracks_ops	*ops;
	void				*data;
	struct xsp_budget		budget;
	size_t				notes;
	struct xsp_track_owner			*producers;
	uint32_t			nr_producers;
	unsigned int			hand;
	const struct xsp_track		*pinned;	/* the event's: it stays */
	uint64_t			now;		/* events */
	uint64_t			retry;		/* no room before this event */
	struct xsp_tracks_stats		stats;
	struct xst_losses		losses;
	struct xsprof_pairer		*asyncs;	/* of async events only */
	enum xsp_why			async_why;	/* of those that end now */
	bool				async_ended;
	struct xsp_track		spare;
	struct xsp_track		*buckets[XSP_TRACK_BUCKETS];
};

/*
 * What an event that switches categories does to every thread of its producer is done when the
 * thread is next looked at: there may be as many threads, and as many such events, as records.
 */
static inline void xsp_tracks_catch_up(const struct xsp_tracks *tracks, struct xsp_track *thread)
{
	const struct xsp_track_owner *p = &tracks->producers[thread->producer];

	if (thread->controls == p->controls)
		return;
	thread->controls = p->controls;
	thread->stack.deep = 0;
	/* In a pause no end comes. */
	if (thread->pauses != p->pauses)
		thread->owed = 0;
	thread->pauses = p->pauses;
}

/* Takes the thread at @link out of the table, and frees it. */
void xsp_tracks_forget(struct xsp_tracks *tracks, struct xsp_track **link);

#endif /* XSP_TRACKS_LOCAL_H */
