// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Which threads of a trace are remembered: found by producer, kind and number, and forgotten when
 * memory is short and nothing of theirs is open.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "ranges/tracks-local.h"

#define RETRY	100000u		/* events until room is looked for again in vain */

static inline unsigned int bucket(uint32_t producer, uint32_t kind, uint64_t tid)
{
	uint64_t key = tid ^ ((uint64_t)producer << 32) ^ ((uint64_t)kind << 56);

	return xsp_hash_slot(key, XSP_TRACK_BUCKET_BITS);
}

static struct xsp_track_owner *get_producer(struct xsp_tracks *tracks, uint32_t number)
{
	struct xsp_track_owner *producers;
	uint32_t n;

	if (number < tracks->nr_producers)
		return &tracks->producers[number];
	if (number >= XSPROF_CAP_MAX_PRODUCERS)
		return NULL;
	n = (number / 64 + 1) * 64;
	producers = realloc(tracks->producers, n * sizeof(*producers));
	if (!producers)
		return NULL;
	memset(producers + tracks->nr_producers, 0,
	       (n - tracks->nr_producers) * sizeof(*producers));
	for (uint32_t i = 0; i < tracks->nr_producers; i++)
		if (producers[i].threads)
			producers[i].threads->back = &producers[i].threads;
	tracks->producers = producers;
	tracks->nr_producers = n;
	return &producers[number];
}

void xsp_tracks_forget(struct xsp_tracks *tracks, struct xsp_track **link)
{
	struct xsp_track *thread = *link;

	if (tracks->ops->gone)
		tracks->ops->gone(tracks->data, thread);
	*link = thread->next;
	*thread->back = thread->sibling;
	if (thread->sibling)
		thread->sibling->back = thread->back;
	xsp_stack_free(&thread->stack, &tracks->budget);
	tracks->budget.used -= xsp_by_category_leave(&thread->member, ~0ull);
	tracks->budget.used -= sizeof(*thread) + (thread->prefix ? thread->prefix_len : 0);
	free(thread->prefix);
	free(thread);
}

/*
 * One turn of the hand over the table frees the threads that have nothing open.  When most have,
 * that finds little, and is not tried again soon.
 */
static void make_room(struct xsp_tracks *tracks, size_t wanted)
{
	const struct xsp_budget *budget = &tracks->budget;
	unsigned int i;

	if (tracks->now < tracks->retry)
		return;
	for (i = 0; i < XSP_TRACK_BUCKETS && budget->used + wanted > budget->limit; i++) {
		struct xsp_track **link = &tracks->buckets[tracks->hand++ % XSP_TRACK_BUCKETS];

		while (*link) {
			xsp_tracks_catch_up(tracks, *link);
			if ((*link)->stack.open || (*link)->owed || *link == tracks->pinned)
				link = &(*link)->next;
			else
				xsp_tracks_forget(tracks, link);
		}
	}
	if (i == XSP_TRACK_BUCKETS)
		tracks->retry = tracks->now + RETRY;
}

static struct xsp_track *make_thread(struct xsp_tracks *tracks, struct xsp_track **link,
				     uint32_t producer, uint64_t ns)
{
	struct xsp_track_owner *owner = get_producer(tracks, producer);
	struct xsp_track *thread;

	if (!owner)
		return NULL;
	if (tracks->budget.used + sizeof(*thread) > tracks->budget.limit)
		make_room(tracks, XSP_TRACK_MEMORY / 8);
	if (tracks->budget.used + sizeof(*thread) > tracks->budget.limit)
		return NULL;
	thread = calloc(1, sizeof(*thread));
	if (!thread)
		return NULL;
	tracks->budget.used += sizeof(*thread);
	/* It may have been here before, and been forgotten: nothing may begin before now. */
	thread->stack.floor = tracks->hand ? ns : 0;
	thread->producer = producer;
	thread->next = *link;
	*link = thread;
	thread->sibling = owner->threads;
	thread->back = &owner->threads;
	thread->controls = owner->controls;
	thread->pauses = owner->pauses;
	if (thread->sibling)
		thread->sibling->back = &thread->sibling;
	owner->threads = thread;
	return thread;
}

struct xsp_track *xsp_tracks_get(struct xsp_tracks *tracks, uint32_t producer, uint32_t pid,
				 uint32_t kind, uint64_t tid, uint64_t ns)
{
	struct xsp_track **head = &tracks->buckets[bucket(producer, kind, tid)];
	struct xsp_track *thread;

	for (thread = *head; thread; thread = thread->next)
		if (thread->tid == tid && thread->producer == producer && thread->kind == kind)
			return thread;
	thread = make_thread(tracks, head, producer, ns);
	if (!thread)
		return NULL;
	thread->pid = pid;
	thread->kind = kind;
	thread->tid = tid;
	return thread;
}

bool xsp_tracks_prefix(struct xsp_tracks *tracks, struct xsp_track *thread, const char *text,
		       size_t len)
{
	if (thread->prefix) {
		tracks->budget.used -= thread->prefix_len;
		free(thread->prefix);
		thread->prefix = NULL;
	}
	if (thread == &tracks->spare || tracks->budget.used + len > tracks->budget.limit)
		return false;
	/* Outputs copy a prefix in steps of 32 bytes. */
	thread->prefix = malloc((len + 31) & ~(size_t)31);
	if (!thread->prefix)
		return false;
	memcpy(thread->prefix, text, len);
	thread->prefix_len = (uint32_t)len;
	tracks->budget.used += len;
	return true;
}
