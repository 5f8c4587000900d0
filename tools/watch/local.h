/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of a watch share: watch.c (a look), ring.c (new records of the rings, in time
 * order), thread.c (what is open), names.c (which names are watched).  Each calls those after it.
 */
#ifndef XSPROF_WATCH_LOCAL_H
#define XSPROF_WATCH_LOCAL_H

#include "watch/watch.h"

#define WATCH_DEPTH	256u		/* open ranges followed on a thread; deeper are counted */
#define WATCH_THREADS	16384u		/* threads of a process inside of something watched */
#define WATCH_ASYNC	4096u		/* open async ranges of watched names */
#define WATCH_NAMES	65536u		/* names of a process that are watched */

/**
 * struct watch_open - an open range
 * @begin: ticks
 * @id: of an async range
 * @name: name id
 * @watched: its name is
 * @told: it was told of
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
 * struct watch_thread - a thread that is inside of something watched
 * @tid: its id, 0 for a free place
 * @depth: ranges open, from the outermost watched one on
 * @deep: begins beyond WATCH_DEPTH
 * @open: they
 */
struct watch_thread {
	uint32_t		tid;
	uint32_t		depth;
	uint32_t		deep;
	uint32_t		room;
	struct watch_open	*open;
};

/**
 * struct watch_cursor - how far a ring was looked at
 * @pos: next slot
 * @buf: slots from there on, @at of them used; NULL while nothing is to be read
 * @n: how many
 * @head: where to stop
 * @copied: slots at this look: a writer that plays with its counters ends it
 * @done: nothing more at this look
 * @broken: not looked at any more
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
	uint64_t		seed;		/* of hashes: the program writes any ids */
	uint32_t		*names;		/* hashed; 0 is a free place */
	uint32_t		nr_names;
	uint32_t		room_names;
	struct watch_cursor	*rings;
	uint64_t		limit;		/* ticks of the look before */
	uint64_t		quiets;		/* how often all was off, as far as it is seen */
	struct xsprof_sync	first;		/* all clocks at the first look */
	bool			looked;
	struct watch_thread	*threads;	/* hashed by id */
	uint32_t		nr_threads;
	uint32_t		room_threads;
	struct watch_open	async[WATCH_ASYNC];
	uint32_t		nr_async;
};

/* names.c */
bool watch_is_name(const struct watched *w, uint32_t name);
/* An entry of the arena: a name that is meant is watched from now on.  For peek_arena(). */
int watch_take_entry(void *data, const struct xsprof_entry *entry, const char *text);
/* The text of @name, in @buf of XSPROF_TEXT_MAX + 1 bytes; "?" where the arena has none. */
const char *watch_text_of(const struct watched *w, uint32_t name, char *buf);

/* ring.c: hands every record up to @limit ticks to watch_record(), in time order. */
int watch_rings(struct watched *w, uint64_t limit);

/* thread.c */
void watch_record(struct watched *w, const struct xsprof_rec *rec);
/* Slots were overwritten unseen: nothing is sure any more. */
void watch_lost(struct watched *w);
/* All was switched off at @ticks: nothing that was open then gets an end. */
void watch_quiet(struct watched *w, uint64_t ticks);
/* Tells of what has been open for @ticks at @now. */
void watch_check(struct watched *w, uint64_t now, uint64_t ticks, double ns_per_tick);
void watch_threads_free(struct watched *w);

#endif /* XSPROF_WATCH_LOCAL_H */
