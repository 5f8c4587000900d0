/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Private header of the code that makes events: build.c (ranges), records.c (other records),
 * events.c (adds an event), threads.c (open ranges of threads), tree.c (nesting) and link.c
 * (launches).
 */
#ifndef XSR_BUILD_LOCAL_H
#define XSR_BUILD_LOCAL_H

#include "result/activity.h"
#include "result/handle.h"

/* Not an event of the result: launches of the thread meanwhile belong to @correlation. */
#define XSR_KIND_PUSHED	0x100u

/**
 * struct xsr_thread - a thread while events are made
 * @open: its open ranges: index of the event, or XSR_NONE for one that is left out
 * @depth: number of open ranges
 * @room: capacity of @open
 * @pushed: stack of pushed correlation ids
 * @nr_pushed: number of these
 * @room_pushed: capacity of @pushed
 * @too_deep: number of pushes beyond the limit, whose pops are to come
 * @more: event that continues in a record of arguments, XSR_NONE for none
 * @tail: where to append these arguments
 */
struct xsr_thread {
	uint32_t		*open;
	uint32_t		depth;
	uint32_t		room;
	uint32_t		*pushed;
	uint32_t		nr_pushed;
	uint32_t		room_pushed;
	uint32_t		too_deep;
	uint32_t		more;
	struct xsr_piece	*tail;
};

struct xsr_threads {
	struct xsp_map		map;	/* producer and tid to index + 1 */
	struct xsr_thread	*list;
	uint32_t		nr;
	uint32_t		room;
	uint64_t		last_key;
	uint32_t		last;
};

/* The thread, created if new; NULL: no memory. Valid until the next call. */
struct xsr_thread *xsr_thread_get(struct xsr_threads *threads, uint32_t producer, uint32_t tid);
void xsr_threads_free(struct xsr_threads *threads);
/* Pushes @index on such a stack. Return: 0, -ENOMEM. */
int xsr_push(uint32_t **list, uint32_t *nr, uint32_t *room, uint32_t index);

static inline uint64_t xsr_key(uint32_t producer, uint32_t id)
{
	return ((uint64_t)producer + 1) << 32 | id;
}

/**
 * struct xsr_builder - state while a result is built
 * @r: the result
 * @pairer: matches begins and ends
 * @stats: of the pairer, before the event
 * @ev: current event
 * @threads: of all producers
 * @names: producer and name id to text
 * @steps: producer and name to the open step
 * @ended: producer to its end time
 * @wanted: producer to whether it belongs to the requested process
 * @elapsed: producer and op number to the op's time on a device: XSR_ELAPSED()
 * @at: number of the current event, from 1
 * @until: end of ranges open at the end of the capture, 0 if unknown
 * @err: error to report later
 */
struct xsr_builder {
	struct xsprof_result		*r;
	struct xsprof_pairer		*pairer;
	struct xsprof_pairer_stats	stats;
	const struct xsprof_event	*ev;
	struct xsr_threads		threads;
	struct xsp_map			names;
	struct xsp_map			steps;
	struct xsp_map			ended;
	struct xsp_map			wanted;
	struct xsp_map			elapsed;
	uint64_t			at;
	uint64_t			until;
	int				err;
};

/* ns, less than 78 hours, of a device by type and index, 256 each. */
#define XSR_ELAPSED_MOST	((1ull << 48) - 1)
#define XSR_ELAPSED(ns, on)	((uint64_t)(ns) << 16 | ((on) >> 8 & 0xff00) | ((on) & 0xff))

/* ---- events.c ------------------------------------------------------------------------------- */

bool xsr_thread_wanted(const struct xsprof_result *result, uint32_t tid);
/* The result's copy of a name; NULL: no memory. */
const char *xsr_name_of(struct xsr_builder *b, uint32_t producer, uint32_t name);
/* Adds an event of the current record's thread; NULL: no memory, or @name is NULL. */
struct xsprof_profiler_event *xsr_add_event(struct xsr_builder *b, uint16_t kind,
					    const char *name, uint64_t begin, uint64_t end);
/*
 * Stores the arguments of the record, and of those that continue it, for event @index, or XSR_NONE.
 */
int xsr_keep_args(struct xsr_builder *b, uint32_t index);
/* The same for the event just added; -ENOMEM if it is NULL. */
int xsr_finish_event(struct xsr_builder *b, const struct xsprof_profiler_event *ev);

/* ---- records.c: 0 or -ENOMEM ---------------------------------------------------------------- */

int xsr_take_gpu(struct xsr_builder *b);
int xsr_take_activity(struct xsr_builder *b, const struct xsprof_range *range,
		      const struct xsr_activity *activity);
int xsr_take_step(struct xsr_builder *b);
/* Ends the steps of the current event's producer. */
void xsr_cut_steps(struct xsr_builder *b);
void xsr_end_steps(struct xsr_builder *b);
int xsr_take_push(struct xsr_builder *b);
int xsr_take_pop(struct xsr_builder *b);
int xsr_take_memory(struct xsr_builder *b);
int xsr_take_instant(struct xsr_builder *b);
void xsr_end_at(struct xsr_builder *b, uint64_t index, uint64_t ns);

/* ---- tree.c, link.c ------------------------------------------------------------------------- */

void xsr_tree_sort(struct xsprof_result *result);
/* Computes the nesting of events. Return: 0, -ENOMEM. */
int xsr_tree_make(struct xsprof_result *result);
/*
 * Numbers the ops, finds the op that launched each activity, and marks events to be left out. The
 * tree must be made again.
 */
int xsr_link(struct xsprof_result *result);
/* Removes marked events; the tree must be made again. */
void xsr_tree_drop(struct xsprof_result *result);

#endif /* XSR_BUILD_LOCAL_H */
