/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Private header of the tracks: tracks.c (effects of events on threads) and tracks-table.c (finding
 * threads, and forgetting them when memory is short).
 */
#ifndef XSP_TRACKS_LOCAL_H
#define XSP_TRACKS_LOCAL_H

#include "ranges/pair-local.h"
#include "ranges/tracks.h"

#define XSP_TRACK_BUCKETS	8192u
#define XSP_TRACK_MEMORY	(20u << 20)

/**
 * struct xsp_track_owner - a producer's threads
 * @opens: its open ranges
 * @threads: all its threads
 */
struct xsp_track_owner {
	struct xsp_opens_owner	opens;
	struct xsp_track	*threads;
};

struct xsp_tracks {
	const struct xsp_tracks_ops	*ops;
	void				*data;
	struct xsp_opens_walk		opens;
	enum xsp_why			why;		/* why ranges end without an end */
	size_t				notes;
	struct xsp_track_owner		**owners;	/* by producer; NULL: not created yet */
	uint32_t			nr_owners;
	struct xsp_track		*first;		/* in order of creation */
	struct xsp_track		*last;
	struct xsp_track		*hand;		/* clock hand, NULL: @first */
	size_t				nr_threads;
	uint64_t			seed;
	bool				forgot;		/* a thread, which may come again */
	const struct xsp_track		*pinned;	/* thread of the current event: stays */
	uint64_t			now;		/* number of events */
	uint64_t			retry;		/* make no room before this event */
	struct xsp_tracks_stats		stats;
	struct xsprof_pairer		*asyncs;	/* for async events only */
	enum xsp_why			async_why;	/* reason for those that end now */
	bool				async_ended;
	struct xsp_track		spare;
	struct xsp_track		*buckets[XSP_TRACK_BUCKETS];
};

/* NULL: not found. */
struct xsp_track *xsp_tracks_find(struct xsp_tracks *tracks, uint32_t producer, uint32_t kind,
				  uint64_t tid);
/* Removes the thread from the table, and frees it. */
void xsp_tracks_forget(struct xsp_tracks *tracks, struct xsp_track *thread);

#endif /* XSP_TRACKS_LOCAL_H */
