// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Caches the handles that a tool returned for names: by text, with a cache by our own name ids in
 * front. Owns their memory, which is bounded and never freed. Takes no lock and never waits: a name
 * that another thread is registering at this moment, or for which there is no room, is not found,
 * and the caller passes its text instead.
 *
 * Entries are only added. A forked child may inherit an entry that another thread of its parent was
 * filling: it stays unfinished, and its name is not found.
 */
#include <string.h>
#include <sys/mman.h>

#include <xsprof/xsprof.h>

#include "base/hash.h"
#include "forward/names.h"

#define TEXTS		8192u	/* powers of two */
#define IDS		8192u
#define PROBES		16u
#define ROOM		(1u << 20)	/* bytes of texts */

struct told_id {
	uint32_t	id;	/* 0: free; taken by compare-and-exchange */
	struct xsp_told	*told;	/* NULL until set */
};

struct xsp_told_names {
	struct xsp_told	told[TEXTS];
	struct told_id	by_id[IDS];
	uint32_t	used;
	char		room[ROOM] __attribute__((aligned(16)));
};

/* Return: an empty cache, NULL without memory; never freed. */
struct xsp_told_names *xsp_told_new(void)
{
	void *p = mmap(NULL, sizeof(struct xsp_told_names), PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/**
 * xsp_told_alloc() - allocate memory with the cache's lifetime
 * @names: may be NULL
 * @size: bytes
 *
 * Return: zeroed memory, aligned to 16 bytes; NULL if it is used up.
 */
void *xsp_told_alloc(struct xsp_told_names *names, size_t size)
{
	uint32_t at;

	if (!names || size > ROOM)
		return NULL;
	size = (size + 15) & ~(size_t)15;
	at = __atomic_load_n(&names->used, __ATOMIC_RELAXED);
	do {
		if (size > ROOM - at)
			return NULL;
	} while (!__atomic_compare_exchange_n(&names->used, &at, at + (uint32_t)size, true,
					      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return names->room + at;
}

static uint32_t hash_of(const char *text, size_t *len)
{
	uint64_t h;

	*len = strnlen(text, XSPROF_TEXT_MAX + 1);
	h = xsp_hash_bytes(XSP_HASH_TEXT, text, *len);
	h ^= h >> 32;
	return (uint32_t)h ? (uint32_t)h : 1;
}

/* The slot of this id, or a free one for it; NULL: none. */
static struct told_id *slot_of(struct xsp_told_names *names, uint32_t id)
{
	uint32_t at = id * 0x9e3779b1u >> 12;

	for (uint32_t i = 0; i < PROBES; i++) {
		struct told_id *slot = &names->by_id[(at + i) % IDS];
		uint32_t now = __atomic_load_n(&slot->id, __ATOMIC_RELAXED);

		if (!now || now == id)
			return slot;
	}
	return NULL;
}

static void note_id(struct xsp_told_names *names, uint32_t id, struct xsp_told *told)
{
	struct told_id *slot = slot_of(names, id);
	uint32_t free = 0;

	/* Taken by another thread just now: the next call uses the next slot. */
	if (slot && __atomic_compare_exchange_n(&slot->id, &free, id, false, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED))
		__atomic_store_n(&slot->told, told, __ATOMIC_RELEASE);
}

static struct xsp_told *add(struct xsp_told_names *names, struct xsp_told *told, const char *text,
			    size_t len, void *(*tell)(const char *text))
{
	char *copy = xsp_told_alloc(names, len + 1);

	if (!copy)
		return NULL;	/* the slot stays as it is: its hash is never found */
	memcpy(copy, text, len);
	__atomic_store_n(&told->text, copy, __ATOMIC_RELEASE);
	told->handle = tell(copy);
	__atomic_store_n(&told->ready, 1, __ATOMIC_RELEASE);
	return told;
}

static struct xsp_told *find_text(struct xsp_told_names *names, const char *text,
				  void *(*tell)(const char *text))
{
	size_t len;
	uint32_t hash = hash_of(text, &len);

	if (len > XSPROF_TEXT_MAX)
		return NULL;
	for (uint32_t i = 0; i < PROBES; i++) {
		struct xsp_told *told = &names->told[(hash + i) % TEXTS];
		uint32_t now = 0;
		const char *have;

		if (__atomic_compare_exchange_n(&told->hash, &now, hash, false, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED))
			return add(names, told, text, len, tell);
		if (now != hash)
			continue;
		have = __atomic_load_n(&told->text, __ATOMIC_ACQUIRE);
		if (!have)
			return NULL;	/* possibly this name: do not register it twice */
		if (!strcmp(have, text))
			return __atomic_load_n(&told->ready, __ATOMIC_ACQUIRE) ? told : NULL;
	}
	return NULL;
}

/**
 * xsp_told_find() - find a tool's handle of a name, or register it
 * @names: may be NULL
 * @text: the name
 * @id: an id that has this name and no other, 0 for none
 * @tell: registers the name with the tool, once per name; its text stays valid
 *
 * Return: the name with its handle; NULL: not available.
 */
struct xsp_told *xsp_told_find(struct xsp_told_names *names, const char *text, uint32_t id,
				void *(*tell)(const char *text))
{
	struct told_id *slot;
	struct xsp_told *told = NULL;

	if (unlikely(!names))
		return NULL;
	slot = id ? slot_of(names, id) : NULL;
	if (slot)
		told = __atomic_load_n(&slot->told, __ATOMIC_ACQUIRE);
	/*
	 * The slot may have been free when its id was read, and then taken for another id before
	 * its name was read: read the id again.
	 */
	if (likely(told && __atomic_load_n(&slot->id, __ATOMIC_RELAXED) == id))
		return told;
	told = find_text(names, text, tell);
	if (told && id)
		note_id(names, id, told);
	return told;
}
