// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The pairer's threads and producers. A thread without open ranges is equivalent to a new one, and
 * is forgotten when there are too many.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ranges/pair-local.h"

struct xst_owner *xst_owner_find(struct xsprof_pairer *p, uint32_t producer)
{
	const uint64_t *found = xsp_map_get(&p->owners, producer + 1ull);

	return found ? (struct xst_owner *)(uintptr_t)*found : NULL;
}

struct xst_owner *xst_owner_get(struct xsprof_pairer *p, uint32_t producer)
{
	struct xst_owner *owner = xst_owner_find(p, producer);

	if (owner)
		return owner;
	owner = calloc(1, sizeof(*owner));
	if (!owner || xsp_map_set(&p->owners, producer + 1ull, (uintptr_t)owner)) {
		free(owner);
		return NULL;
	}
	owner->opens.producer = producer;
	owner->next = p->first_owner;
	p->first_owner = owner;
	return owner;
}

void xst_owners_free(struct xsprof_pairer *p)
{
	while (p->first_owner) {
		struct xst_owner *owner = p->first_owner;

		p->first_owner = owner->next;
		xsp_by_category_free(&owner->opens.open);
		xsp_by_category_free(&owner->async);
		free(owner);
	}
	xsp_map_free(&p->owners);
}

/* Removes it from the lists; the caller removes it from its bucket. */
static void free_thread(struct xsprof_pairer *p, struct xst_thread *th)
{
	*(th->older ? &th->older->newer : &p->oldest) = th->newer;
	*(th->newer ? &th->newer->older : &p->newest) = th->older;
	*(th->elder ? &th->elder->younger : &th->owner->oldest) = th->younger;
	*(th->younger ? &th->younger->elder : &th->owner->newest) = th->elder;
	p->nr_threads--;
	xsp_opens_forget(&p->opens, &th->opens);
	free(th->done);
	free(th);
}

static int grow_buckets(struct xsprof_pairer *p)
{
	uint32_t nr = p->nr_buckets ? p->nr_buckets * 4 : 256;
	struct xst_thread **buckets = calloc(nr, sizeof(*buckets));

	if (!buckets)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->nr_buckets; i++) {
		while (p->buckets[i]) {
			struct xst_thread *th = p->buckets[i];
			struct xst_thread **to;

			to = &buckets[xst_hash(p, th->producer, th->tid) & (nr - 1)];
			p->buckets[i] = th->next;
			th->next = *to;
			*to = th;
		}
	}
	free(p->buckets);
	p->buckets = buckets;
	p->nr_buckets = nr;
	return 0;
}

void xst_thread_forget(struct xsprof_pairer *p, struct xst_thread *th)
{
	struct xst_thread **at;

	at = &p->buckets[xst_hash(p, th->producer, th->tid) & (p->nr_buckets - 1)];
	while (*at != th)
		at = &(*at)->next;
	*at = th->next;
	free_thread(p, th);
}

/* Forgets threads without open ranges, which are equivalent to new ones. */
static void sweep(struct xsprof_pairer *p)
{
	struct xst_thread *newer;

	memset(p->cache, 0, sizeof(p->cache));
	for (struct xst_thread *th = p->oldest; th; th = newer) {
		newer = th->newer;
		xsp_opens_catch_up(&th->opens);
		if (!th->opens.stack.open && !th->opens.stack.deep && !th->opens.owed)
			xst_thread_forget(p, th);
	}
}

static bool room_for_thread(struct xsprof_pairer *p)
{
	if (p->nr_threads < XST_MAX_THREADS)
		return true;
	/* Not at every event, when it frees nothing. */
	if (p->refused++ % (XST_MAX_THREADS / 4) == 0)
		sweep(p);
	if (p->nr_threads < XST_MAX_THREADS / 4 * 3)
		p->refused = 0;
	return p->nr_threads < XST_MAX_THREADS;
}

/* Appends it to the list of all threads and to that of its producer. */
static void append(struct xsprof_pairer *p, struct xst_thread *th)
{
	th->older = p->newest;
	*(p->newest ? &p->newest->newer : &p->oldest) = th;
	p->newest = th;
	th->elder = th->owner->newest;
	*(th->elder ? &th->elder->younger : &th->owner->oldest) = th;
	th->owner->newest = th;
	p->nr_threads++;
}

static struct xst_thread *look_up(const struct xsprof_pairer *p, uint32_t hash, uint32_t producer,
				  uint32_t tid)
{
	struct xst_thread *th = p->nr_buckets ? p->buckets[hash & (p->nr_buckets - 1)] : NULL;

	while (th && (th->tid != tid || th->producer != producer))
		th = th->next;
	return th;
}

static struct xst_thread *find_thread(struct xsprof_pairer *p, uint32_t producer, uint32_t tid)
{
	uint32_t hash = xst_hash(p, producer, tid);
	struct xst_thread *th = look_up(p, hash, producer, tid);

	if (th)
		return th;
	if (!room_for_thread(p))
		return NULL;
	if (p->nr_threads >= p->nr_buckets && grow_buckets(p))
		return NULL;
	th = calloc(1, sizeof(*th));
	if (!th)
		return NULL;
	th->owner = xst_owner_get(p, producer);
	if (!th->owner) {
		free(th);
		return NULL;
	}
	xsp_opens_init(&th->opens, &th->owner->opens);
	th->opens.stack.bare = true;
	th->producer = producer;
	th->tid = tid;
	th->next = p->buckets[hash & (p->nr_buckets - 1)];
	p->buckets[hash & (p->nr_buckets - 1)] = th;
	append(p, th);
	return th;
}

struct xst_thread *xst_thread_get(struct xsprof_pairer *p, uint32_t producer, uint32_t tid)
{
	struct xst_thread **cached = &p->cache[(tid ^ producer * 31) % XST_CACHE];

	if (!*cached || (*cached)->tid != tid || (*cached)->producer != producer)
		*cached = find_thread(p, producer, tid);
	if (*cached)
		xsp_opens_catch_up(&(*cached)->opens);
	return *cached;
}

struct xst_thread *xst_thread_find(struct xsprof_pairer *p, uint32_t producer, uint32_t tid)
{
	struct xst_thread *th = p->cache[(tid ^ producer * 31) % XST_CACHE];

	if (!th || th->tid != tid || th->producer != producer)
		th = look_up(p, xst_hash(p, producer, tid), producer, tid);
	if (th)
		xsp_opens_catch_up(&th->opens);
	return th;
}

void xst_threads_free(struct xsprof_pairer *p)
{
	while (p->oldest)
		free_thread(p, p->oldest);
	free(p->buckets);
	p->buckets = NULL;
	p->nr_buckets = 0;
	memset(p->cache, 0, sizeof(p->cache));
}
