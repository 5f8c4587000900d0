/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * One producer being recorded: its rings' cursors, its arena, its threads, its account, and how
 * it ended.  It never decides when: that is the drain's (drain.h).
 */
#ifndef XSP_CAP_PRODUCER_H
#define XSP_CAP_PRODUCER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/file-name.h"
#include "drain/store.h"
#include "read/ring-device.h"
#include "read/ring-file.h"
#include "read/walk.h"

/**
 * struct xsp_producer_ring - how far one ring has been read; all counts are slots
 * @tail: everything below has been dealt with
 * @read: stored in this file
 * @skipped: overwritten before they could be read
 * @before: of these, overwritten before anybody here came to read: no loss of this recording
 * @bad: refused, because they did not hold together
 * @unsaved: read, but the file had no room
 * @seen: head at the pass before
 * @since: when the oldest slot not yet read was first seen, ns; 0 for none
 * @broken: nothing is read any more: the counters contradict each other
 */
struct xsp_producer_ring {
	uint64_t	tail;
	uint64_t	read;
	uint64_t	skipped;
	uint64_t	before;
	uint64_t	bad;
	uint64_t	unsaved;
	uint64_t	seen;
	uint64_t	since;
	bool		broken;
};

/**
 * struct xsp_producer - a producer
 * @next: of the drain's list
 * @name: its file in the session, or what stands for it in messages
 * @same_place: of the table of names
 * @id: its number in the device, 0 in a session
 * @info: device: what the kernel knew of it when it was asked last
 * @resumed: device: it was paused, and is to be again when we are done
 * @sched: device: its scheduler events were off, and are to be again when we are done
 * @goes_on: it records on when we are done: what it writes then is not ours to account for
 * @told: its descriptor is readable: the kernel is to be asked, or the process has ended
 * @look: it has to be asked whether it lives
 * @quiet: device: nothing has come for a while, and its descriptor says when something does
 * @gained_at: when slots came last, ns
 * @ready: rings with memory, at the last pass
 * @number: its number in the capture
 * @pid: as we see it, 0 when we cannot
 * @start: when it began, as we see it: in a time namespace it sees another time itself
 * @owner: user of the file
 * @foreign: which is not our own
 * @dev: of the file
 * @ino: of the file
 * @rf: the file
 * @arena_pos: bytes of entries stored
 * @arena_broken: its entries do not hold together: no more is stored
 * @tids: threads
 * @check_at: when to ask next whether it lives, ns
 * @pidfd: of the process, opened when it was first seen; -1 for none
 * @lived: ticks at which it was last known to run this program
 * @wrote: ticks of its latest record
 * @ran: ticks at which it was last known not to be ending
 * @process_lived: ticks at which its process was last known to run, this program or the next
 * @replaced: ticks at which a later program of its process began, 0 where none is known
 * @followed: ticks at which a later producer of its process began, of a later program or of this
 *	one, 0 where none is known
 * @flush: what it asked for last
 * @unsaved: records read that the file had no room for
 * @quiets: how often its last category was switched off, as far as it is stored
 * @switches: how often its categories were switched at all, likewise
 * @ledger_slots: slots read when the ledger was written last
 * @rings: one a ring
 */
struct xsp_producer {
	struct xsp_producer	*next;
	char			name[XSP_FILE_NAME];
	struct xsp_producer	*same_place;
	uint64_t		id;
	struct xsprof_info	info;
	bool			resumed;
	bool			sched;
	bool			goes_on;
	bool			told;
	bool			look;
	bool			quiet;
	uint64_t		gained_at;
	uint32_t		ready;
	uint32_t		number;
	pid_t			pid;
	uint64_t		start;
	uid_t			owner;
	bool			foreign;
	dev_t			dev;
	ino_t			ino;
	struct xsp_ring_file	rf;
	uint64_t		arena_pos;
	bool			arena_broken;
	struct xsp_tids		tids;
	uint64_t		check_at;
	int			pidfd;
	uint64_t		lived;
	uint64_t		wrote;
	uint64_t		ran;
	uint64_t		process_lived;
	uint64_t		replaced;
	uint64_t		followed;
	uint64_t		flush;
	uint64_t		unsaved;
	uint64_t		quiets;
	uint64_t		switches;
	uint64_t		ledger_slots;
	struct xsp_producer_ring *rings;
};

/* So long nothing must have come from a producer of the device before it is left alone. */
#define XSP_QUIET_NS	300000000u

/**
 * struct xsp_pass - what one pass over the rings found
 * @all: read to the end now, however little there is
 * @most: slots read of one ring, after which the others and our owner have their turn
 * @new_slots: slots published since the pass before, of all rings
 * @fill: the most that any ring gained since the pass before, in 1/1024 of its size
 * @pending: slots left for later
 * @ready: rings with memory
 * @min_slots: size of the smallest ring
 */
struct xsp_pass {
	uint64_t	now;
	bool		all;
	uint64_t	most;
	uint64_t	new_slots;
	uint64_t	fill;
	uint64_t	pending;
	uint32_t	ready;
	uint64_t	min_slots;
};

/**
 * xsp_producer_open - take up a producer and store its PRODUCER chunk
 * @st: store
 * @dirfd: the session
 * @name: its file
 * @number: set to the one after it when it is used
 * @out: the producer
 */
int xsp_producer_open(struct xsp_store *st, int dirfd, const char *name, uint32_t *number,
		      struct xsp_producer **out);

/* The same, only to look at it: its tails are somebody else's. */
int xsp_producer_peek(struct xsp_store *st, int dirfd, const char *name, uint32_t *number,
		      struct xsp_producer **out);

/**
 * xsp_producer_open_device - the same for a producer of the device
 * @st: store
 * @fd: the device
 * @id: its number there
 * @consume: to move its tails; else it is only looked at
 * @number: as above
 * @out: the producer
 *
 * Return: 0 or -errno, those of xsp_device_open_ring() among them.
 */
int xsp_producer_open_device(struct xsp_store *st, int fd, uint64_t id, bool consume,
			     uint32_t *number, struct xsp_producer **out);
void xsp_producer_free(struct xsp_producer *p);

/* Finds the process of @p, which has its file open, and what tells of its end. */
void xsp_producer_watch(const struct xsp_store *st, struct xsp_producer *p);

/* Is it this process, by our number, that has @p's file mapped?  Then it is @p's from now on. */
bool xsp_producer_maps(struct xsp_producer *p, pid_t pid);

/* Asks the kernel what became of it, which acknowledges what it told; then the rings are read. */
void xsp_producer_ask(struct xsp_producer *p);

/* One pass: names first, then slots, so that a file cut anywhere has the names of its records. */
void xsp_producer_pass(struct xsp_store *st, struct xsp_producer *p, struct xsp_pass *pass);

/* Names of threads that are new, or with @again of all that have written since the last time. */
void xsp_producer_threads(struct xsp_store *st, struct xsp_producer *p, bool again);

void xsp_producer_ledger(struct xsp_store *st, struct xsp_producer *p);

/* That others switched its categories, when they did since the last time. */
void xsp_producer_switches(struct xsp_store *st, struct xsp_producer *p);

/* Records lost so far: dropped, for want of memory, of a lock or of a ring. */
uint64_t xsp_producer_lost(const struct xsp_producer *p);
/* Of these, those that had no ring to go to: before there was one, or ranges too deep to keep. */
uint64_t xsp_producer_late(const struct xsp_producer *p);

/* Slots lost so far to being overwritten, and slots refused. */
/* Why it got no memory for a ring the last time, an errno; 0: it always did. */
uint32_t xsp_producer_refused(const struct xsp_producer *p);
void xsp_producer_lost_slots(const struct xsp_producer *p, uint64_t *skipped, uint64_t *bad);

/*
 * Narrows when it ended down by what it recorded and said itself; again once its rings have been
 * read to the end.
 */
/* If it is not ending, it still ran at @ticks. */
void xsp_producer_note_ran(struct xsp_producer *p, uint64_t ticks);
void xsp_producer_bound_end(const struct xsp_producer *p, struct xsprof_cap_exit *exit);

/**
 * xsp_producer_ended - has it ended?
 * @st: store
 * @p: producer
 * @exit: how and status are filled in
 *
 * Return: true when it certainly has.
 */
bool xsp_producer_ended(struct xsp_store *st, struct xsp_producer *p,
			struct xsprof_cap_exit *exit);

/* Stores the last ledger and the EXIT chunk; @exit comes with how and status. */
void xsp_producer_exit(struct xsp_store *st, struct xsp_producer *p,
		       struct xsprof_cap_exit *exit);

#endif /* XSP_CAP_PRODUCER_H */
