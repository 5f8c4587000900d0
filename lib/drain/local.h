/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Private header of the drain. Its files, from top to bottom:
 *
 *	drain.c		steps and pace
 *	finish.c	lets go of producers; the end of a drain
 *	find-device.c	finds producers in the device
 *	find-session.c	... and in a session's folder
 *	refuse.c	reports what is not recorded
 *	wake.c		wake-up sources
 *	clocks.c	sync points
 *	stats.c		totals
 *
 * producer.h reads one producer; store.h writes the capture.
 */
#ifndef XSP_CAP_LOCAL_H
#define XSP_CAP_LOCAL_H

#include <sys/types.h>

#include "base/clock.h"
#include "base/notice.h"
#include "drain/drain.h"
#include "drain/files.h"
#include "drain/messages.h"
#include "drain/refused.h"
#include "drain/share.h"

/**
 * struct xsp_budget - what a step may still do in a session's folder
 * @entries: names to look at
 * @opens: files of our own user to open
 * @foreign_opens: files of other users to open
 * @removals: files of other users to remove
 */
struct xsp_budget {
	uint32_t	entries;
	uint32_t	opens;
	uint32_t	foreign_opens;
	uint32_t	removals;
};

/**
 * struct xsp_drain - a drain
 * @st: the store
 * @inotify: of the session's folder, -1 for none
 * @device: the device, -1 for none
 * @epoll: all wake-up sources; -1: not available
 * @filter: selects producers of the device
 * @began: CLOCK_MONOTONIC when the device was added, ns
 * @last_id: highest number of the device's producers seen
 * @list: look for new producers of the device in the next step
 * @list_all: look at all producers of the device
 * @on_device: number of producers taken up from the device
 * @ended: finished producers that we only peeked at
 * @live: producers that have not ended
 * @files: producers of the session by file name
 * @shares: use of the capture by user
 * @nr_live: number of producers in @live
 * @next_number: number of the next producer
 * @seen: number of producers taken up
 * @scan: scan the session from its beginning, after the current scan
 * @round: number of regular scans
 * @folder: the session's folder at the position of the current scan; -1: no scan under way
 * @last: the end: what is not taken up now never is
 * @aside: a file name in the folder that no other user can know
 * @budget: of the current step
 * @look: check all producers in the next step
 * @scan_at: time of the next scan, ns
 * @tick_at: time of the next ledgers and names, ns
 * @syncs: sync points not stored yet
 * @nr_syncs: number of @syncs
 * @clock_at: time of the next sync point, ns
 * @clock_gap: interval of sync points, ns: short at first, so that a short recording has several
 * @clocks: take sync points without a producer too
 * @synced: bit k: clock kind k has a first sync point
 * @first_mono: CLOCK_MONOTONIC of the first sync point, ns
 * @last_mono: CLOCK_MONOTONIC of the last sync point, ns
 * @early: the kernel's sync points before @first_mono are stored
 * @last_pass: time of the last pass, ns
 * @sleep: duration of the last sleep, ns
 * @idle_since: time of the last new slot, ns
 * @busy_at: last time at which many slots came, ns
 * @ready: rings with memory at the last pass
 * @gone_lost: records lost by ended producers
 * @gone_late: of these, records that found no producer
 * @gone_skipped: overwritten slots of ended producers
 * @gone_bad: invalid slots of ended producers
 * @gone_no_room: errno why rings of an ended producer got no more memory
 * @killed: processes killed by a signal
 * @vanished: processes that ended in an unknown way
 * @deaths: the first killed ones
 * @refused: files that could not be recorded
 * @nr_refused: number of refusals
 * @messages: of processes that gave a reason for not being recorded
 * @notices: of processes that could not write such a message
 */
struct xsp_drain {
	struct xsp_store	st;
	int			inotify;
	int			device;
	int			epoll;
	struct xsp_device_filter	filter;
	uint64_t		began;
	uint64_t		last_id;
	bool			list;
	bool			list_all;
	uint32_t		on_device;
	struct xsp_ended	ended;
	struct xsp_producer	*live;
	struct xsp_files	files;
	struct xsp_shares	shares;
	uint32_t		nr_live;
	uint32_t		next_number;
	uint32_t		seen;
	bool			scan;
	uint32_t		round;
	int			folder;
	bool			last;
	char			aside[24];
	struct xsp_budget	budget;
	bool			look;
	uint64_t		scan_at;
	uint64_t		tick_at;
	struct xsprof_sync	syncs[16];
	uint32_t		nr_syncs;
	uint64_t		clock_at;
	uint64_t		clock_gap;
	bool			clocks;
	uint32_t		synced;
	uint64_t		first_mono;
	uint64_t		last_mono;
	bool			early;
	uint64_t		last_pass;
	uint64_t		sleep;
	uint64_t		idle_since;
	uint64_t		busy_at;
	uint32_t		ready;
	uint64_t		gone_lost;
	uint64_t		gone_late;
	uint64_t		gone_skipped;
	uint64_t		gone_bad;
	uint32_t		gone_no_room;
	uint32_t		killed;
	uint32_t		vanished;
	struct xsp_death	deaths[XSP_DEATHS];
	struct xsp_refused	refused;
	uint32_t		nr_refused;
	struct xsp_messages	messages;
	struct xsp_notices	notices;
};

/* Time per step for files of other users: one may be expensive to check. */
#define XSP_FOREIGN_NS	4000000u

/* Short enough for a producer that begins with a burst. */
#define XSP_SLEEP_MIN	500000u

static inline uint64_t xsp_now(void)
{
	return xsp_clock_ns(CLOCK_MONOTONIC);
}

/* Watches the session; -1 without inotify: the regular scan finds everything, only later. */
int xsp_drain_watch(int dirfd);

/* Drops wake-up sources whose descriptors the program has closed. */
void xsp_drain_wake_check(struct xsp_drain *d);

/*
 * Takes up new files of the session and, with @scan set, existing unknown ones: as many as a step
 * may, from where the last step stopped.
 */
void xsp_drain_find(struct xsp_drain *d);

/* The same up to the end of the folder, within limits. */
void xsp_drain_find_last(struct xsp_drain *d);

/* Reads notices of processes that cannot reach the session. @last: there is no later call. */
void xsp_drain_hear(struct xsp_drain *d, bool last);

/* Adds a producer, with its name for messages. */
void xsp_drain_join(struct xsp_drain *d, struct xsp_producer *p);

/* Notes that a peeked producer has ended, so that it is not taken up again. */
void xsp_drain_note_ended(struct xsp_drain *d, const struct xsp_producer *p);

/* Reports a file that cannot be recorded, with its name for messages: once per key and error. */
void xsp_drain_refuse(struct xsp_drain *d, struct xsp_share *share, const char *name,
		      const struct xsp_refusal *refusal, const char *why);

/* The same for a file that was removed and need not be remembered. */
void xsp_drain_refuse_removed(struct xsp_drain *d, struct xsp_share *share, const char *name,
			      const char *why);

/* Is it an error that may not occur at another attempt with the same file? */
bool xsp_drain_may_pass(int err);

/* Wakes the drain when @fd is readable; @who: the producer, or the address of the descriptor. */
int xsp_drain_wake_on(struct xsp_drain *d, int fd, void *who);
void xsp_drain_wake_off(const struct xsp_drain *d, int fd);

/*
 * Reads what woke us: marks producers that are readable or have ended, queries the kernel about
 * those of the device, and sets @list if new ones came.
 */
void xsp_drain_listen(struct xsp_drain *d);

/* Takes up the selected producers of the device that are not known yet. */
void xsp_drain_list(struct xsp_drain *d);

/* Can nothing happen without waking us through xsp_drain_fd()? */
bool xsp_drain_all_quiet(const struct xsp_drain *d);

/* Stores the kernel's sync points between @from and @to, CLOCK_MONOTONIC, ns. */
void xsp_drain_kernel_clocks(struct xsp_drain *d, uint64_t from, uint64_t to);

/* Takes sync points of these clock kinds. */
void xsp_drain_clocks(struct xsp_drain *d, uint32_t kinds);

/* Stores the sync points taken so far. */
void xsp_drain_store_clocks(struct xsp_drain *d);

/* Checks all producers that may have ended, and lets go of those that have. */
void xsp_drain_look_after(struct xsp_drain *d, uint64_t now);

#endif /* XSP_CAP_LOCAL_H */
