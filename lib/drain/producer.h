/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * A producer being recorded: cursors of its rings, its arena, threads, counts, and its end. The
 * drain (drain.h) decides when to read.
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
 * struct xsp_producer_ring - progress in one ring; all counts are slots
 * @tail: everything below has been handled
 * @read: stored in this file
 * @skipped: overwritten before they could be read
 * @before: of these, overwritten before our first read: not a loss of this recording
 * @bad: invalid
 * @unsaved: read but not stored for lack of room in the file
 * @seen: head at the previous pass
 * @since: when the oldest slot not yet read was first seen, ns; 0 for none
 * @broken: no longer read: its counters are contradictory
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
 * @next: next in the drain's list
 * @name: its file in the session, or its name in messages
 * @same_place: next in the bucket of the table of names
 * @id: number in the device, 0 in a session
 * @info: device: what the kernel last reported
 * @resumed: device: it was paused before, and is paused again when we finish
 * @sched: device: its scheduler events were off, and are off again when we finish
 * @goes_on: it continues to record after we finish: later counts are not ours
 * @told: its descriptor is readable: query the kernel, or the process has ended
 * @look: check whether it lives
 * @quiet: device: nothing has come for a while, and its descriptor notifies us
 * @gained_at: time of its last new slots, ns
 * @ready: rings with memory at the last pass
 * @number: its number in the capture
 * @pid: pid in our namespace, 0 if invisible
 * @start: start time as we see it; a process in a time namespace sees another
 * @owner: owner of the file
 * @foreign: @owner is another user
 * @dev: device of the file
 * @ino: inode of the file
 * @rf: its memory
 * @arena_pos: bytes of entries stored
 * @arena_broken: an entry was invalid: no more are stored
 * @tids: threads
 * @check_at: time of the next check whether it lives, ns
 * @pidfd: pidfd, opened when it was first seen; -1 for none
 * @lived: ticks at which it was last known to run this program
 * @wrote: ticks of its latest record
 * @ran: ticks at which it was last known not to be ending
 * @process_lived: ticks at which its process was last known to run, this program or the next
 * @replaced: ticks at which a later program of its process began, 0 if unknown
 * @followed: ticks at which a later producer of its process, of a later program or of this one,
 *	began; 0 if unknown
 * @flush: its last flush request
 * @unsaved: records read but not stored for lack of room in the file
 * @quiets: number of times all categories were switched off, as stored
 * @switches: number of times categories were switched, as stored
 * @ledger_slots: slots read when the last ledger was written
 * @rings: one per ring
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

/* A device's producer is no longer polled after this long without new slots. */
#define XSP_QUIET_NS	300000000u

/**
 * struct xsp_pass - parameters and results of a pass over the rings
 * @all: read all rings completely, however few slots they have
 * @most: limit of slots read of a ring, before other rings and the owner have their turn
 * @new_slots: slots published in all rings since the previous pass
 * @fill: largest gain of a ring since the previous pass, in 1/1024 of its size
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
 * @dirfd: the session's folder
 * @name: its file
 * @number: its number; incremented if it is used
 * @out: set to the producer
 */
int xsp_producer_open(struct xsp_store *st, int dirfd, const char *name, uint32_t *number,
		      struct xsp_producer **out);

/* The same for peeking: its tails belong to another reader. */
int xsp_producer_peek(struct xsp_store *st, int dirfd, const char *name, uint32_t *number,
		      struct xsp_producer **out);

/**
 * xsp_producer_open_device - the same for a producer of the device
 * @st: store
 * @fd: the device
 * @id: its number there
 * @consume: move its tails; else only peek
 * @number: as above
 * @out: the producer
 *
 * Return: 0 or -errno, including those of xsp_device_open_ring().
 */
int xsp_producer_open_device(struct xsp_store *st, int fd, uint64_t id, bool consume,
			     uint32_t *number, struct xsp_producer **out);
void xsp_producer_free(struct xsp_producer *p);

/* Finds the process that has @p's file open, and opens its pidfd. */
void xsp_producer_watch(const struct xsp_store *st, struct xsp_producer *p);

/* Does the process @pid, in our namespace, map @p's file? If so it is @p's from now on. */
bool xsp_producer_maps(struct xsp_producer *p, pid_t pid);

/*
 * Queries the kernel about the producer, which acknowledges events; the rings must be read
 * afterwards.
 */
void xsp_producer_ask(struct xsp_producer *p);

/* One pass: names first, then slots, so that a truncated file has the names of its records. */
void xsp_producer_pass(struct xsp_store *st, struct xsp_producer *p, struct xsp_pass *pass);

/* Stores names of new threads or, with @again, of all threads that wrote since the last call. */
void xsp_producer_threads(struct xsp_store *st, struct xsp_producer *p, bool again);

void xsp_producer_ledger(struct xsp_store *st, struct xsp_producer *p);

/* Stores that others switched its categories, if they did since the last call. */
void xsp_producer_switches(struct xsp_store *st, struct xsp_producer *p);

/* Records lost so far: dropped, for lack of memory, of a lock or of a ring. */
uint64_t xsp_producer_lost(const struct xsp_producer *p);
/* Of these, records without a ring: before there was one, or in ranges nested too deep. */
uint64_t xsp_producer_late(const struct xsp_producer *p);

/* Slots lost so far to being overwritten, and slots refused. */
/* errno why a ring last got no memory; 0: it always did. */
uint32_t xsp_producer_refused(const struct xsp_producer *p);
void xsp_producer_lost_slots(const struct xsp_producer *p, uint64_t *skipped, uint64_t *bad);

/*
 * Narrows the time of its end by what it recorded and stated; called again when its rings were read
 * completely.
 */
/* If it is not exiting, it still ran at @ticks. */
void xsp_producer_note_ran(struct xsp_producer *p, uint64_t ticks);
void xsp_producer_bound_end(const struct xsp_producer *p, struct xsprof_cap_exit *exit);

/**
 * xsp_producer_ended - has it ended?
 * @st: store
 * @p: producer
 * @exit: how and status are filled in
 *
 * Return: true if it certainly has.
 */
bool xsp_producer_ended(struct xsp_store *st, struct xsp_producer *p,
			struct xsprof_cap_exit *exit);

/* Stores the last ledger and the EXIT chunk; how and status of @exit are set. */
void xsp_producer_exit(struct xsp_store *st, struct xsp_producer *p,
		       struct xsprof_cap_exit *exit);

#endif /* XSP_CAP_PRODUCER_H */
