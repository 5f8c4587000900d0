/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What the files of the pairer share: pair.c (events), pair-table.c (which threads there are),
 * pair-thread.c (their stacks) and pair-async.c (ranges with an id).  Users of the library see
 * nothing of it.
 */
#ifndef XST_PAIR_H
#define XST_PAIR_H

/* Everything is compiled hidden; what the public header declares is not. */
#pragma GCC visibility push(default)
#include <xsprof/trace.h>
#pragma GCC visibility pop

#include "base/hash.h"
#include "base/map.h"
#include "decode/producer.h"
#include "ranges/opens.h"

#define XST_MAX_THREADS	(1u << 18)	/* threads under way at once */
#define XST_MAX_ASYNC	(1u << 20)	/* open async ranges */
#define XST_MIN_DONE	128u		/* finished ranges that a thread keeps, at least */
#define XST_MAX_DONE	4096u		/* ... and at most */
#define XST_ALL_DONE	(1u << 18)	/* ... and all threads together, about */
#define XST_CACHE	256u

/* A finished range, or @count of them in a row, that no parent has claimed. */
struct xst_done {
	uint64_t	begin;
	uint64_t	end;
	uint64_t	time;
	uint64_t	count;
};

/**
 * struct xst_owner - a producer
 * @opens: of its threads
 * @oldest, @newest: its threads, in the order in which they appeared
 * @async: its open async ranges, by category
 */
struct xst_owner {
	struct xsp_opens_owner	opens;
	struct xst_thread	*oldest;
	struct xst_thread	*newest;
	struct xsp_by_category	async;
	struct xst_owner	*next;
};

/*
 * The index of an open range says how many finished ranges the thread had when it began.  No
 * finished ones are in its stack.
 */
struct xst_thread {
	struct xsp_opens	opens;		/* first: one is the other */
	uint32_t		producer;
	uint32_t		tid;
	uint32_t		nr_done;
	uint32_t		room_done;
	struct xst_done		*done;
	struct xst_thread	*next;		/* in its bucket */
	struct xst_thread	*older;		/* in the order in which they appeared */
	struct xst_thread	*newer;
	struct xst_thread	*elder;		/* the same of its producer's */
	struct xst_thread	*younger;
	struct xst_owner	*owner;
};

struct xst_async {
	uint64_t		begin;
	uint64_t		id;
	uint64_t		seen;		/* losses before it */
	uint32_t		producer;
	uint32_t		tid;
	uint32_t		name;
	uint32_t		pid;
	struct xsp_category_item	member;		/* of its owner's */
};

struct xsprof_pairer {
	struct xsprof_trace		*trace;
	void				(*emit)(void *data, const struct xsprof_range *range);
	void				*data;
	struct xst_thread		*cache[XST_CACHE];
	struct xst_thread		*oldest;
	struct xst_thread		*newest;
	struct xst_thread		**buckets;
	uint32_t			nr_buckets;
	uint32_t			nr_threads;
	uint32_t			refused;	/* threads, since the last sweep */
	struct xsp_map			owners;		/* by producer + 1 */
	struct xst_owner		*first_owner;
	struct xst_async		**async;
	uint32_t			room_async;
	uint32_t			nr_async;
	uint64_t			seed;
	uint64_t			now;		/* ns of the latest event */
	uint64_t			clip;		/* xst_pairer_clip() */
	struct xsprof_pairer_stats	stats;
	uint16_t			how;		/* of what ends without an end */
	uint16_t			how_flags;	/* likewise */
	const struct xst_thread		*giving;	/* emit() is called for a range of it */
	uint32_t			giving_at;	/* its place */
	struct xsp_opens_walk		opens;
};

static inline uint32_t xst_hash(const struct xsprof_pairer *p, uint64_t a, uint64_t b)
{
	return (uint32_t)xsp_hash_pair(a ^ p->seed, b);
}

/* ---- pair-thread.c ----------------------------------------------------------------------- */

/* Made when it is new.  NULL: no memory. */
struct xst_owner *xst_owner_get(struct xsprof_pairer *p, uint32_t producer);
/* NULL: it has nothing. */
struct xst_owner *xst_owner_find(struct xsprof_pairer *p, uint32_t producer);
void xst_owners_free(struct xsprof_pairer *p);
/* The thread of an event, made when it is new.  NULL: no memory, or too many. */
struct xst_thread *xst_thread_get(struct xsprof_pairer *p, uint32_t producer, uint32_t tid);
/* NULL: it has had no range, or is forgotten. */
struct xst_thread *xst_thread_find(struct xsprof_pairer *p, uint32_t producer, uint32_t tid);
/* Is one of the lowest @depth open ranges called @name, and certainly open? */
bool xst_thread_is_in(const struct xst_thread *th, uint32_t depth, uint32_t name);
/* How many ranges are open below @at. */
uint32_t xst_thread_depth(const struct xst_thread *th, uint32_t at);
extern const struct xsp_opens_ops xst_thread_ops;
int xst_thread_begin(struct xsprof_pairer *p, struct xst_thread *th, uint64_t ns, uint32_t name);
void xst_thread_end(struct xsprof_pairer *p, struct xst_thread *th, const struct xsprof_event *ev);
/* Takes @begin to @end for a finished range.  Return: the time of its children. */
uint64_t xst_thread_complete(struct xsprof_pairer *p, struct xst_thread *th, uint64_t begin,
			     uint64_t end);
/* The thread is gone: what was open on it has ended, and another may have its number. */
void xst_thread_exit(struct xsprof_pairer *p, uint32_t producer, uint32_t tid, uint64_t ns);
/* Ends all that is open and forgets the threads: of one producer, or of all (~0). */
void xst_threads_end(struct xsprof_pairer *p, uint32_t producer, uint64_t ns);
void xst_threads_free(struct xsprof_pairer *p);

/* ---- pair-async.c ------------------------------------------------------------------------ */

int xst_async_begin(struct xsprof_pairer *p, const struct xsprof_event *ev);
void xst_async_end(struct xsprof_pairer *p, const struct xsprof_event *ev);
int xst_async_cut(struct xsprof_pairer *p, uint32_t producer, uint64_t enabled, uint64_t ns);
int xst_async_finish(struct xsprof_pairer *p, uint32_t producer, uint64_t ns);
/* Is one of the event's name and id open? */
bool xst_async_open(struct xsprof_pairer *p, const struct xsprof_event *ev);
void xst_async_free(struct xsprof_pairer *p);

/* ---- for both ---------------------------------------------------------------------------- */

static inline void xst_pair_emit(struct xsprof_pairer *p, struct xsprof_range *range)
{
	p->stats.cut += range->how == XSPROF_RANGE_CUT;
	p->stats.open += range->how == XSPROF_RANGE_OPEN;
	p->emit(p->data, range);
}

static inline uint64_t xst_clipped(const struct xsprof_pairer *p, uint64_t ns)
{
	return ns > p->clip ? ns : p->clip;
}

static inline uint32_t xst_producer_pid(const struct xsprof_pairer *p, uint32_t producer)
{
	const struct xst_producer *found = xst_producer_find(p->trace, producer);

	return found ? found->pid : 0;
}

/* Takes a thread out of the table, and frees it. */
void xst_thread_forget(struct xsprof_pairer *p, struct xst_thread *th);

#endif /* XST_PAIR_H */
