// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Table of the threads of a trace, by producer, kind and number. Threads without open ranges are
 * forgotten when memory is short.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "ranges/tracks-local.h"

#define RETRY	100000u		/* events to wait after making room failed */

/* With the seed: otherwise a file could put all its threads into one bucket. */
static inline struct xsp_track **bucket(struct xsp_tracks *tracks, uint32_t producer,
					uint32_t kind, uint64_t tid)
{
	uint64_t key = tid ^ (uint64_t)producer << 32 ^ (uint64_t)kind << 56;

	return &tracks->buckets[xsp_hash_mix(key ^ tracks->seed) % XSP_TRACK_BUCKETS];
}

static struct xsp_track_owner *get_owner(struct xsp_tracks *tracks, uint32_t producer)
{
	struct xsp_track_owner **owners, *owner;
	uint32_t n;

	if (producer >= XSPROF_CAP_MAX_PRODUCERS)
		return NULL;
	if (producer >= tracks->nr_owners) {
		n = (producer / 64 + 1) * 64;
		owners = realloc(tracks->owners, n * sizeof(*owners));
		if (!owners)
			return NULL;
		memset(owners + tracks->nr_owners, 0, (n - tracks->nr_owners) * sizeof(*owners));
		tracks->owners = owners;
		tracks->nr_owners = n;
	}
	owner = tracks->owners[producer];
	if (owner)
		return owner;
	owner = calloc(1, sizeof(*owner));
	if (!owner)
		return NULL;
	owner->opens.producer = producer;
	tracks->owners[producer] = owner;
	return owner;
}

static void unlink_track(struct xsp_tracks *tracks, struct xsp_track *thread)
{
	struct xsp_track **link;

	link = bucket(tracks, thread->producer, thread->kind, thread->tid);
	while (*link != thread)
		link = &(*link)->next;
	*link = thread->next;
	*thread->back = thread->sibling;
	if (thread->sibling)
		thread->sibling->back = thread->back;
	if (tracks->hand == thread)
		tracks->hand = thread->later;
	if (thread->earlier)
		thread->earlier->later = thread->later;
	else
		tracks->first = thread->later;
	if (thread->later)
		thread->later->earlier = thread->earlier;
	else
		tracks->last = thread->earlier;
}

void xsp_tracks_forget(struct xsp_tracks *tracks, struct xsp_track *thread)
{
	if (tracks->ops->gone)
		tracks->ops->gone(tracks->data, thread);
	unlink_track(tracks, thread);
	xsp_opens_forget(&tracks->opens, &thread->opens);
	tracks->opens.budget.used -= sizeof(*thread) + (thread->prefix ? thread->prefix_len : 0);
	tracks->nr_threads--;
	free(thread->prefix);
	free(thread);
}

/*
 * One turn of the clock hand frees all threads without open ranges. If most have some, little is
 * found, and it is not repeated soon.
 */
static void make_room(struct xsp_tracks *tracks, size_t wanted)
{
	const struct xsp_budget *budget = &tracks->opens.budget;
	size_t left = tracks->nr_threads;

	if (tracks->now < tracks->retry)
		return;
	for (; left && budget->used + wanted > budget->limit; left--) {
		struct xsp_track *thread = tracks->hand ? tracks->hand : tracks->first;
		const struct xsp_opens *opens = &thread->opens;

		tracks->hand = thread->later;
		xsp_opens_catch_up(&thread->opens);
		if (opens->stack.open || opens->owed || thread == tracks->pinned)
			continue;
		xsp_tracks_forget(tracks, thread);
		tracks->forgot = true;
	}
	if (!left)
		tracks->retry = tracks->now + RETRY;
}

static struct xsp_track *make_thread(struct xsp_tracks *tracks, uint32_t producer, uint64_t ns)
{
	struct xsp_track_owner *owner = get_owner(tracks, producer);
	struct xsp_track *thread;

	if (!owner)
		return NULL;
	if (tracks->opens.budget.used + sizeof(*thread) > tracks->opens.budget.limit)
		make_room(tracks, XSP_TRACK_MEMORY / 8);
	if (tracks->opens.budget.used + sizeof(*thread) > tracks->opens.budget.limit)
		return NULL;
	thread = calloc(1, sizeof(*thread));
	if (!thread)
		return NULL;
	tracks->opens.budget.used += sizeof(*thread);
	/* It may have existed before and been forgotten: nothing may begin before now. */
	thread->opens.stack.floor = tracks->forgot ? ns : 0;
	thread->producer = producer;
	thread->sibling = owner->threads;
	thread->back = &owner->threads;
	xsp_opens_init(&thread->opens, &owner->opens);
	if (thread->sibling)
		thread->sibling->back = &thread->sibling;
	owner->threads = thread;
	thread->earlier = tracks->last;
	if (tracks->last)
		tracks->last->later = thread;
	else
		tracks->first = thread;
	tracks->last = thread;
	tracks->nr_threads++;
	return thread;
}

struct xsp_track *xsp_tracks_find(struct xsp_tracks *tracks, uint32_t producer, uint32_t kind,
				  uint64_t tid)
{
	struct xsp_track *thread = *bucket(tracks, producer, kind, tid);

	while (thread && (thread->tid != tid || thread->producer != producer ||
			  thread->kind != kind))
		thread = thread->next;
	return thread;
}

struct xsp_track *xsp_tracks_get(struct xsp_tracks *tracks, uint32_t producer, uint32_t pid,
				 uint32_t kind, uint64_t tid, uint64_t ns)
{
	struct xsp_track *thread = xsp_tracks_find(tracks, producer, kind, tid);
	struct xsp_track **link;

	if (thread)
		return thread;
	thread = make_thread(tracks, producer, ns);
	if (!thread)
		return NULL;
	thread->pid = pid;
	thread->kind = kind;
	thread->tid = tid;
	link = bucket(tracks, producer, kind, tid);
	thread->next = *link;
	*link = thread;
	return thread;
}

bool xsp_tracks_prefix(struct xsp_tracks *tracks, struct xsp_track *thread, const char *text,
		       size_t len)
{
	struct xsp_budget *budget = &tracks->opens.budget;

	if (thread->prefix) {
		budget->used -= thread->prefix_len;
		free(thread->prefix);
		thread->prefix = NULL;
	}
	if (thread == &tracks->spare || budget->used + len > budget->limit)
		return false;
	/* Outputs copy a prefix in steps of 32 bytes. */
	thread->prefix = malloc((len + 31) & ~(size_t)31);
	if (!thread->prefix)
		return false;
	memcpy(thread->prefix, text, len);
	thread->prefix_len = (uint32_t)len;
	budget->used += len;
	return true;
}
