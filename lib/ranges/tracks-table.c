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

void xsp_tracks_forget(struct xsp_tracks *tracks, struct xsp_track **link)
{
	struct xsp_track *thread = *link;

	if (tracks->ops->gone)
		tracks->ops->gone(tracks->data, thread);
	*link = thread->next;
	*thread->back = thread->sibling;
	if (thread->sibling)
		thread->sibling->back = thread->back;
	xsp_opens_forget(&tracks->opens, &thread->opens);
	tracks->opens.budget.used -= sizeof(*thread) + (thread->prefix ? thread->prefix_len : 0);
	free(thread->prefix);
	free(thread);
}

/*
 * One turn of the hand over the table frees the threads that have nothing open.  When most have,
 * that finds little, and is not tried again soon.
 */
static void make_room(struct xsp_tracks *tracks, size_t wanted)
{
	const struct xsp_budget *budget = &tracks->opens.budget;
	unsigned int i;

	if (tracks->now < tracks->retry)
		return;
	for (i = 0; i < XSP_TRACK_BUCKETS && budget->used + wanted > budget->limit; i++) {
		struct xsp_track **link = &tracks->buckets[tracks->hand++ % XSP_TRACK_BUCKETS];

		while (*link) {
			const struct xsp_opens *opens = &(*link)->opens;

			xsp_opens_catch_up(&(*link)->opens);
			if (opens->stack.open || opens->owed || *link == tracks->pinned)
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
	/* It may have been here before, and been forgotten: nothing may begin before now. */
	thread->opens.stack.floor = tracks->hand ? ns : 0;
	thread->producer = producer;
	thread->next = *link;
	*link = thread;
	thread->sibling = owner->threads;
	thread->back = &owner->threads;
	xsp_opens_init(&thread->opens, &owner->opens);
	if (thread->sibling)
		thread->sibling->back = &thread->sibling;
	owner->threads = thread;
	return thread;
}

struct xsp_track *xsp_tracks_find(struct xsp_tracks *tracks, uint32_t producer, uint32_t kind,
				  uint64_t tid)
{
	struct xsp_track *thread = tracks->buckets[bucket(producer, kind, tid)];

	while (thread && (thread->tid != tid || thread->producer != producer ||
			  thread->kind != kind))
		thread = thread->next;
	return thread;
}

struct xsp_track *xsp_tracks_get(struct xsp_tracks *tracks, uint32_t producer, uint32_t pid,
				 uint32_t kind, uint64_t tid, uint64_t ns)
{
	struct xsp_track *thread = xsp_tracks_find(tracks, producer, kind, tid);

	if (thread)
		return thread;
	thread = make_thread(tracks, &tracks->buckets[bucket(producer, kind, tid)], producer, ns);
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
