/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Private header of the pairer: pair.c (events), pair-table.c (table of threads), pair-thread.c
 * (their stacks) and pair-async.c (ranges with an id).
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

#define XST_MAX_THREADS	(1u << 18)	/* threads at the same time */
#define XST_MAX_ASYNC	(1u << 20)	/* open async ranges */
#define XST_MIN_DONE	128u		/* minimum of finished ranges kept per thread */
#define XST_MAX_DONE	4096u		/* ... maximum */
#define XST_ALL_DONE	(1u << 18)	/* ... approximate maximum over all threads */
#define XST_CACHE	256u

/* A finished range, or @count adjacent ones, without a parent so far. */
struct xst_done {
	uint64_t	begin;
	uint64_t	end;
	uint64_t	time;
	uint64_t	count;
};

/**
 * struct xst_owner - a producer
 * @opens: state of its threads
 * @oldest, @newest: list of its threads, in order of appearance
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
 * The index of an open range is the number of finished ranges that the thread had when it began.
 * Its stack contains no finished ranges.
 */
struct xst_thread {
	struct xsp_opens	opens;		/* must be first: pointers are converted */
	uint32_t		producer;
	uint32_t		tid;
	uint32_t		nr_done;
	uint32_t		room_done;
	struct xst_done		*done;
	struct xst_thread	*next;		/* in its bucket */
	struct xst_thread	*older;		/* in order of appearance */
	struct xst_thread	*newer;
	struct xst_thread	*elder;		/* the same within its producer */
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
	struct xsp_category_item	member;		/* in its owner's list */
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
	uint32_t			refused;	/* since the last sweep */
	struct xsp_map			owners;		/* by producer + 1 */
	struct xst_owner		*first_owner;
	struct xst_async		**async;
	uint32_t			room_async;
	uint32_t			nr_async;
	uint64_t			seed;
	uint64_t			now;		/* ns of the latest event */
	uint64_t			clip;		/* from xst_pairer_clip() */
	struct xsprof_pairer_stats	stats;
	uint16_t			how;		/* of what ends without an end */
	uint16_t			how_flags;	/* flags of ranges that nothing ended */
	const struct xst_thread		*giving;	/* emit() is called for a range of it */
	uint32_t			giving_at;	/* thread whose emit() is running */
	struct xsp_opens_walk		opens;
};

static inline uint32_t xst_hash(const struct xsprof_pairer *p, uint64_t a, uint64_t b)
{
	return (uint32_t)xsp_hash_pair(a ^ p->seed, b);
}

/* ---- pair-thread.c ----------------------------------------------------------------------- */

/* The owner, created if new. NULL: no memory. */
struct xst_owner *xst_owner_get(struct xsprof_pairer *p, uint32_t producer);
/* NULL: not known. */
struct xst_owner *xst_owner_find(struct xsprof_pairer *p, uint32_t producer);
void xst_owners_free(struct xsprof_pairer *p);
/* The thread of an event, created if new. NULL: no memory, or too many. */
struct xst_thread *xst_thread_get(struct xsprof_pairer *p, uint32_t producer, uint32_t tid);
/* NULL: it has had no range, or was forgotten. */
struct xst_thread *xst_thread_find(struct xsprof_pairer *p, uint32_t producer, uint32_t tid);
/* Is one of the lowest @depth open ranges called @name, and certainly still open? */
bool xst_thread_is_in(const struct xst_thread *th, uint32_t depth, uint32_t name);
/* The number of open ranges below @at. */
uint32_t xst_thread_depth(const struct xst_thread *th, uint32_t at);
extern const struct xsp_opens_ops xst_thread_ops;
int xst_thread_begin(struct xsprof_pairer *p, struct xst_thread *th, uint64_t ns, uint32_t name);
void xst_thread_end(struct xsprof_pairer *p, struct xst_thread *th, const struct xsprof_event *ev);
/* Adds the finished range @begin to @end. Return: the time of its children. */
uint64_t xst_thread_complete(struct xsprof_pairer *p, struct xst_thread *th, uint64_t begin,
			     uint64_t end);
/* The thread has ended: closes its ranges; its number may be reused. */
void xst_thread_exit(struct xsprof_pairer *p, uint32_t producer, uint32_t tid, uint64_t ns);
/* Closes all ranges and forgets the threads: of one producer, or of all (~0). */
void xst_threads_end(struct xsprof_pairer *p, uint32_t producer, uint64_t ns);
void xst_threads_free(struct xsprof_pairer *p);

/* ---- pair-async.c ------------------------------------------------------------------------ */

int xst_async_begin(struct xsprof_pairer *p, const struct xsprof_event *ev);
void xst_async_end(struct xsprof_pairer *p, const struct xsprof_event *ev);
int xst_async_cut(struct xsprof_pairer *p, uint32_t producer, uint64_t enabled, uint64_t ns);
int xst_async_finish(struct xsprof_pairer *p, uint32_t producer, uint64_t ns);
/* Is a range with the event's name and id open? */
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

/* Removes a thread from the table, and frees it. */
void xst_thread_forget(struct xsprof_pairer *p, struct xst_thread *th);

#endif /* XST_PAIR_H */
