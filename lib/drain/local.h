/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The inside of a drain, for the files that are it, each standing on those below:
 *
 *	drain.c		its steps and its pace
 *	finish.c	how it lets go of producers, and ends
 *	find-device.c	how it finds producers in the device
 *	find-session.c	... and in a session's folder
 *	refuse.c	what it says of those that it does not record
 *	wake.c		what wakes it
 *	clocks.c	sync points
 *	stats.c		totals
 *
 * One producer is producer.h's, and what is stored goes through store.h.
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
 * struct xsp_budget - what a step may still do in a session's folder; the rest is for the next
 * @entries: names that it looks at
 * @opens: files of our own user that it opens
 * @foreign_opens: files of other users that it opens
 * @removals: files of other users that it removes
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
 * @inotify: of it, -1 for none
 * @device: the device, -1 for none
 * @epoll: all that can wake us; -1: it could not be had
 * @filter: whom to read of the device's
 * @began: CLOCK_MONOTONIC when the device was added, ns
 * @last_id: the highest number of the device's that was looked at
 * @list: look through the device's new ones in the next step
 * @list_all: through all of them
 * @on_device: producers taken up from the device
 * @ended: that were only looked at, and have
 * @live: producers that have not ended
 * @files: those of the session by name
 * @shares: what each user has taken of the capture
 * @nr_live: how many
 * @next_number: of the next producer
 * @seen: producers taken up
 * @scan: look through the session from its beginning, once that under way is done
 * @round: counts the regular looks through it
 * @folder: the session's folder, as far as it has been looked through; -1: it is not being
 * @last: this is the end: what is not taken up now never is
 * @aside: a name in it that no other user can know
 * @budget: of this step
 * @look: ask after all producers in the next step
 * @scan_at: when to look through it anyhow, ns
 * @tick_at: when the next ledgers and names are due, ns
 * @syncs: clocks taken and not stored yet
 * @nr_syncs: how many
 * @clock_at: when the next clocks are due, ns
 * @clock_gap: ns from one to the next: short at first, so that a short recording has several
 * @clocks: they are due without a producer too
 * @synced: bit k: clock kind k has a first sync point
 * @first_mono: CLOCK_MONOTONIC of the very first sync point, ns
 * @last_mono: and of the last
 * @early: the kernel's sync points of before @first_mono are stored
 * @last_pass: when the last pass was, ns
 * @sleep: what was slept last, ns
 * @idle_since: since when no slot has come, ns
 * @ready: rings with memory, at the last pass
 * @gone_lost: records that ended producers lost
 * @gone_late: of these, those that found no producer
 * @gone_skipped: slots overwritten, of ended producers
 * @gone_bad: slots refused, of ended producers
 * @gone_no_room: why rings of one of them got no more memory, an errno
 * @killed: processes that a signal ended
 * @vanished: processes of which it is not known how they ended
 * @deaths: the first that were killed
 * @refused: what could not be recorded
 * @nr_refused: how often that was
 * @messages: processes that said why they take no part
 * @notices: and those that could say it in no file
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

/* What the files of other users may take of a step: one may be expensive to look at. */
#define XSP_FOREIGN_NS	4000000u

/* Soon enough for a producer that begins with a burst. */
#define XSP_SLEEP_MIN	500000u

static inline uint64_t xsp_now(void)
{
	return xsp_clock_ns(CLOCK_MONOTONIC);
}

/* Watches the session; -1 where inotify cannot be had: the regular scan finds all, only later. */
int xsp_drain_watch(int dirfd);

/* Of descriptors that the program has closed nothing can come any more. */
void xsp_drain_wake_check(struct xsp_drain *d);

/*
 * Takes up what has appeared in the session, and with @scan set what is there and is not known
 * yet: as much as one step may do, from where the step before stopped.
 */
void xsp_drain_find(struct xsp_drain *d);

/* The same to the end of the folder, within reason. */
void xsp_drain_find_last(struct xsp_drain *d);

/* Takes what processes say that cannot reach the session.  @last: there is no later time. */
void xsp_drain_hear(struct xsp_drain *d, bool last);

/* One more producer, by this name in messages. */
void xsp_drain_join(struct xsp_drain *d, struct xsp_producer *p);

/* One that was only looked at has ended: it is not taken up again, as long as it is there. */
void xsp_drain_note_ended(struct xsp_drain *d, const struct xsp_producer *p);

/* It could not be one, by this name in messages: said once of each key and error. */
void xsp_drain_refuse(struct xsp_drain *d, struct xsp_share *share, const char *name,
		      const struct xsp_refusal *refusal, const char *why);

/* The same of a file that is not there any more: there is nothing to be remembered. */
void xsp_drain_refuse_removed(struct xsp_drain *d, struct xsp_share *share, const char *name,
			      const char *why);

/* An error that may be none at another try, with the file as it is. */
bool xsp_drain_may_pass(int err);

/* Wakes the drain when @fd is readable; @who: the producer, or where the descriptor is kept. */
int xsp_drain_wake_on(struct xsp_drain *d, int fd, void *who);
void xsp_drain_wake_off(const struct xsp_drain *d, int fd);

/*
 * Reads what woke us: marks producers that are readable or have ended, asks the kernel about the
 * device's, and sets @list when new ones came.
 */
void xsp_drain_listen(struct xsp_drain *d);

/* Takes up the device's producers that are wanted and not known yet. */
void xsp_drain_list(struct xsp_drain *d);

/* Nothing can come without waking us through xsp_drain_fd(). */
bool xsp_drain_all_quiet(const struct xsp_drain *d);

/* Sync points that the kernel took, @from to @to on CLOCK_MONOTONIC, ns. */
void xsp_drain_kernel_clocks(struct xsp_drain *d, uint64_t from, uint64_t to);

/* Sync points of these clock kinds. */
void xsp_drain_clocks(struct xsp_drain *d, uint32_t kinds);

/* Writes those that are not written yet. */
void xsp_drain_store_clocks(struct xsp_drain *d);

/* Asks after all producers that may have ended, and lets go of those that have. */
void xsp_drain_look_after(struct xsp_drain *d, uint64_t now);

#endif /* XSP_CAP_LOCAL_H */
