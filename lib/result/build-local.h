/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What the files that make events share: build.c (ranges), records.c (all else), events.c (adds
 * one), threads.c (what is open in each thread), tree.c (what is inside what) and link.c (what was
 * launched by what).
 */
#ifndef XSR_BUILD_LOCAL_H
#define XSR_BUILD_LOCAL_H

#include "result/activity.h"
#include "result/handle.h"

/* Not events of the result: what a thread launches in the meantime belongs to @correlation. */
#define XSR_KIND_PUSHED	0x100u

/**
 * struct xsr_thread - a thread while events are made
 * @open: its open ranges: index of the event, or XSR_NONE for one that is left out
 * @depth: how many
 * @room: for so many there is memory
 * @pushed: the same of pushed correlation ids
 * @nr_pushed: how many
 * @room_pushed: for so many there is memory
 * @too_deep: pushes beyond the limit, whose pops are to come
 * @more: the event that a record of arguments goes on with, XSR_NONE
 * @tail: where to put them
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

/* The thread, made when it is new; NULL: no memory.  Good until the next call. */
struct xsr_thread *xsr_thread_get(struct xsr_threads *threads, uint32_t producer, uint32_t tid);
void xsr_threads_free(struct xsr_threads *threads);
/* Puts @index on a stack of them.  Return: 0, -ENOMEM. */
int xsr_push(uint32_t **list, uint32_t *nr, uint32_t *room, uint32_t index);

static inline uint64_t xsr_key(uint32_t producer, uint32_t id)
{
	return ((uint64_t)producer + 1) << 32 | id;
}

/**
 * struct xsr_builder - a result in the making
 * @r: result
 * @pairer: pairs begins with ends
 * @stats: of it, before the event
 * @ev: the event that is looked at
 * @threads: of all producers
 * @names: from producer and name id to text
 * @steps: from producer and name to the step that is open
 * @ended: from producer to when it ended
 * @wanted: from producer to whether it is of the process that is asked for
 * @elapsed: from producer and the number of an op to its time on a device: XSR_ELAPSED()
 * @at: number of the event that is looked at, from 1
 * @until: what is open at the end of the capture was so until then, 0 where that is not known
 * @err: what went wrong where no error can be returned
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

/* ns, less than 78 hours, of a device by its type and index, of which there are 256 each. */
#define XSR_ELAPSED_MOST	((1ull << 48) - 1)
#define XSR_ELAPSED(ns, on)	((uint64_t)(ns) << 16 | ((on) >> 8 & 0xff00) | ((on) & 0xff))

/* ---- events.c ------------------------------------------------------------------------------- */

bool xsr_thread_wanted(const struct xsprof_result *result, uint32_t tid);
/* The result's own text of a name id; NULL: no memory. */
const char *xsr_name_of(struct xsr_builder *b, uint32_t producer, uint32_t name);
/* A new event of the thread whose record is looked at; NULL: no memory, or @name is NULL. */
struct xsprof_profiler_event *xsr_add_event(struct xsr_builder *b, uint16_t kind,
					    const char *name, uint64_t begin, uint64_t end);
/* The arguments of the record, and those that follow it, are those of event @index, or nobody's. */
int xsr_keep_args(struct xsr_builder *b, uint32_t index);
/* The same of the event just made; -ENOMEM where it is NULL. */
int xsr_finish_event(struct xsr_builder *b, const struct xsprof_profiler_event *ev);

/* ---- records.c: 0 or -ENOMEM ---------------------------------------------------------------- */

int xsr_take_gpu(struct xsr_builder *b);
int xsr_take_activity(struct xsr_builder *b, const struct xsprof_range *range,
		      const struct xsr_activity *activity);
int xsr_take_step(struct xsr_builder *b);
/* Those of the event's producer end here. */
void xsr_cut_steps(struct xsr_builder *b);
void xsr_end_steps(struct xsr_builder *b);
int xsr_take_push(struct xsr_builder *b);
int xsr_take_pop(struct xsr_builder *b);
int xsr_take_memory(struct xsr_builder *b);
int xsr_take_instant(struct xsr_builder *b);
void xsr_end_at(struct xsr_builder *b, uint64_t index, uint64_t ns);

/* ---- tree.c, link.c ------------------------------------------------------------------------- */

void xsr_tree_sort(struct xsprof_result *result);
/* Finds out what is inside what.  Return: 0, -ENOMEM. */
int xsr_tree_make(struct xsprof_result *result);
/*
 * Gives ops their numbers, says which op launched what, and marks what is left out then.  The tree
 * has to be made again.
 */
int xsr_link(struct xsprof_result *result);
/* Takes out what is marked so; the tree has to be made again then. */
void xsr_tree_drop(struct xsprof_result *result);

#endif /* XSR_BUILD_LOCAL_H */
