/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by the files of a watch: watch.c (one look), ring.c (new records of the rings, in time
 * order), thread.c (open ranges), names.c (watched names). Each file calls only those after it.
 */
#ifndef XSPROF_WATCH_LOCAL_H
#define XSPROF_WATCH_LOCAL_H

#include "watch/watch.h"

#define WATCH_DEPTH	256u		/* open ranges followed per thread; deeper are counted */
#define WATCH_THREADS	16384u		/* threads of a process inside a watched range */
#define WATCH_ASYNC	4096u		/* open async ranges of watched names */
#define WATCH_NAMES	65536u		/* watched names of a process */

/**
 * struct watch_open - an open range
 * @begin: ticks
 * @id: id of an async range
 * @name: name id
 * @watched: its name is watched
 * @told: it was reported
 * @unsure: slots were lost since it began
 */
struct watch_open {
	uint64_t	begin;
	uint64_t	id;
	uint32_t	name;
	bool		watched;
	bool		told;
	bool		unsure;
};

/**
 * struct watch_thread - a thread inside a watched range
 * @tid: its id, 0: a free slot
 * @depth: number of open ranges, from the outermost watched one
 * @deep: begins deeper than WATCH_DEPTH
 * @open: the open ranges
 */
struct watch_thread {
	uint32_t		tid;
	uint32_t		depth;
	uint32_t		deep;
	uint32_t		room;
	struct watch_open	*open;
};

/**
 * struct watch_cursor - position in a ring
 * @pos: next slot
 * @buf: slots from @pos on, the first @at used; NULL: nothing to read
 * @n: number of slots in @buf
 * @head: end of the slots to read
 * @copied: slots copied at this look; limited, as a writer may forge its counters
 * @done: nothing left to read at this look
 * @broken: not read any more
 */
struct watch_cursor {
	uint64_t		pos;
	struct xsprof_rec	*buf;
	uint32_t		at;
	uint32_t		n;
	uint64_t		head;
	uint64_t		copied;
	bool			done;
	bool			broken;
};

struct watched {
	const struct watch	*watch;
	const struct xsp_ring_file *rf;
	uint64_t		arena_pos;
	bool			arena_broken;
	uint64_t		seed;		/* of hashes: the program chooses the ids */
	uint32_t		*names;		/* hash table; 0: a free slot */
	uint32_t		nr_names;
	uint32_t		room_names;
	struct watch_cursor	*rings;
	uint64_t		limit;		/* ticks of the previous look */
	uint64_t		quiets;		/* number of pauses seen */
	struct xsprof_sync	first;		/* all clocks at the first look */
	bool			looked;
	struct watch_thread	*threads;	/* hash table by id */
	uint32_t		nr_threads;
	uint32_t		room_threads;
	struct watch_open	async[WATCH_ASYNC];
	uint32_t		nr_async;
};

/* names.c */
bool watch_is_name(const struct watched *w, uint32_t name);
/* Callback of peek_arena(): an entry of the arena; its name is watched if it matches. */
int watch_take_entry(void *data, const struct xsprof_entry *entry, const char *text);
/* The text of @name, in @buf of XSPROF_TEXT_MAX + 1 bytes; "?" if the arena does not have it. */
const char *watch_text_of(const struct watched *w, uint32_t name, char *buf);

/* ring.c: passes every record up to @limit ticks to watch_record(), in time order. */
int watch_rings(struct watched *w, uint64_t limit);

/* thread.c */
void watch_record(struct watched *w, const struct xsprof_rec *rec);
/* Slots were overwritten before they were read: open ranges are uncertain. */
void watch_lost(struct watched *w);
/* All markers were switched off at @ticks: ranges open at that time get no end. */
void watch_quiet(struct watched *w, uint64_t ticks);
/* Reports the ranges that at @now have been open for @ticks. */
void watch_check(struct watched *w, uint64_t now, uint64_t ticks, double ns_per_tick);
void watch_threads_free(struct watched *w);

#endif /* XSPROF_WATCH_LOCAL_H */
