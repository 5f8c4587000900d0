/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The inside of a drain, for the two files that are it: cap-drain.c, its pace and its end, and
 * cap-find.c, how it finds producers.
 */
#ifndef XSP_CAP_LOCAL_H
#define XSP_CAP_LOCAL_H

#include <sys/types.h>

#include "trace/cap-drain.h"
#include "trace/ring-clock.h"

/* Files that were refused, so that each is told of once. */
#define XSP_REFUSED_MAX	256u

struct xsp_refused {
	ino_t	ino;
	int	err;
};

/**
 * struct xsp_drain - a drain
 * @st: the store
 * @dirfd: the session
 * @inotify: of it, -1 for none
 * @live: producers that have not ended
 * @nr_live: how many
 * @next_number: of the next producer
 * @seen: producers taken up
 * @scan: look through the session in the next step
 * @look: ask after all producers in the next step
 * @scan_at: when to look through it anyhow, ns
 * @tick_at: when the next ledgers and names are due, ns
 * @syncs: clocks taken and not stored yet
 * @nr_syncs: how many
 * @clock_at: when the next clocks are due, ns
 * @clock_gap: ns from one to the next: short at first, so that a short recording has several
 * @synced: bit k: clock kind k has a first sync point
 * @last_pass: when the last pass was, ns
 * @sleep: what was slept last, ns
 * @idle_since: since when no slot has come, ns
 * @ready: rings with memory, at the last pass
 * @gone_lost: records that ended producers lost
 * @gone_skipped: slots overwritten, of ended producers
 * @gone_bad: slots refused, of ended producers
 * @refused: files refused
 * @nr_refused: how many
 * @messages: processes that said why they take no part
 */
struct xsp_drain {
	struct xsp_store	st;
	int			dirfd;
	int			inotify;
	struct xsp_producer	*live;
	uint32_t		nr_live;
	uint32_t		next_number;
	uint32_t		seen;
	bool			scan;
	bool			look;
	uint64_t		scan_at;
	uint64_t		tick_at;
	struct xsprof_sync	syncs[16];
	uint32_t		nr_syncs;
	uint64_t		clock_at;
	uint64_t		clock_gap;
	uint32_t		synced;
	uint64_t		last_pass;
	uint64_t		sleep;
	uint64_t		idle_since;
	uint32_t		ready;
	uint64_t		gone_lost;
	uint64_t		gone_skipped;
	uint64_t		gone_bad;
	struct xsp_refused		refused[XSP_REFUSED_MAX];
	uint32_t		nr_refused;
	uint32_t		messages;
};

/* Soon enough for a producer that begins with a burst. */
#define XSP_SLEEP_MIN	500000u

static inline uint64_t xsp_now(void)
{
	return xsp_clock_ns(CLOCK_MONOTONIC);
}

/* Watches the session; -1 where inotify cannot be had: the regular scan finds all, only later. */
int xsp_drain_watch(int dirfd);

/* Has anything appeared in the session since the last time? */
bool xsp_drain_appeared(struct xsp_drain *d);

/* Takes up every producer and every message in the session that is not known yet. */
void xsp_drain_scan(struct xsp_drain *d);

/* Sync points of these clock kinds. */
void xsp_drain_clocks(struct xsp_drain *d, uint32_t kinds);

#endif /* XSP_CAP_LOCAL_H */
