// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Memory of the collector: lock-free maps of fixed size, and an allocator that maps pages and never
 * frees them. Never calls malloc(): see local.h.
 *
 * A map has sets of eight slots; a key may be in any of four adjacent sets. A slot is claimed by
 * changing its key from 0 to 1, filled, and published by storing the key. Two threads that insert
 * the same key at the same time would make two slots: callers either hold itt_lock() or use keys
 * (addresses, ids of instances) that a correct program does not create twice at once.
 */
#include <string.h>
#include <sys/mman.h>

#include "collect/itt/local.h"

#define PROBES		4u
#define CHUNK		(256u << 10)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *chunk;
static size_t chunk_left;

void itt_lock(void)
{
	pthread_mutex_lock(&lock);
}

void itt_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

void *itt_alloc(size_t size)
{
	void *p;

	size = (size + 15) & ~(size_t)15;
	if (size > chunk_left) {
		size_t len = size > CHUNK ? size : CHUNK;

		p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (p == MAP_FAILED)
			return NULL;
		chunk = p;
		chunk_left = len;
	}
	p = chunk;
	chunk += size;
	chunk_left -= size;
	return p;
}

char *itt_strdup(const char *text)
{
	size_t len = strnlen(text, XSPROF_TEXT_MAX);
	char *copy = itt_alloc(len + 1);

	if (copy)
		memcpy(copy, text, len);
	return copy;
}

static uint64_t key_of(uint64_t key)
{
	return key > 1 ? key : key + 2;
}

static struct itt_slot *set_of(struct itt_map *map, uint64_t key, uint32_t probe)
{
	return map->slot[(itt_mix(key) + probe) % ITT_MAP_SETS];
}

struct itt_slot *itt_map_find(struct itt_map *map, uint64_t key)
{
	key = key_of(key);
	for (uint32_t p = 0; p < PROBES; p++) {
		struct itt_slot *set = set_of(map, key, p);

		for (uint32_t i = 0; i < ITT_MAP_WAYS; i++)
			if (__atomic_load_n(&set[i].key, __ATOMIC_ACQUIRE) == key)
				return &set[i];
	}
	return NULL;
}

bool itt_map_get(struct itt_map *map, uint64_t key, uint64_t v[3])
{
	struct itt_slot *s = itt_map_find(map, key);

	if (!s)
		return false;
	for (int i = 0; i < 3; i++)
		v[i] = __atomic_load_n(&s->v[i], __ATOMIC_RELAXED);
	/* The slot may have been freed and filled for another key: check the key again. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(&s->key, __ATOMIC_RELAXED) == key_of(key);
}

struct itt_slot *itt_map_put(struct itt_map *map, uint64_t key, const uint64_t v[3])
{
	struct itt_slot *s = itt_map_find(map, key);

	if (s) {
		for (int i = 0; i < 3; i++)
			__atomic_store_n(&s->v[i], v[i], __ATOMIC_RELAXED);
		return s;
	}
	key = key_of(key);
	for (uint32_t p = 0; p < PROBES; p++) {
		struct itt_slot *set = set_of(map, key, p);

		for (uint32_t i = 0; i < ITT_MAP_WAYS; i++) {
			uint64_t free = 0;

			if (!__atomic_compare_exchange_n(&set[i].key, &free, 1, false,
							 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
				continue;
			for (int k = 0; k < 3; k++)
				__atomic_store_n(&set[i].v[k], v[k], __ATOMIC_RELAXED);
			__atomic_store_n(&set[i].key, key, __ATOMIC_RELEASE);
			return &set[i];
		}
	}
	return NULL;
}

bool itt_map_take(struct itt_map *map, uint64_t key, uint64_t v[3])
{
	struct itt_slot *s = itt_map_find(map, key);
	uint64_t want = key_of(key);

	if (!s || !__atomic_compare_exchange_n(&s->key, &want, 1, false, __ATOMIC_ACQUIRE,
					       __ATOMIC_RELAXED))
		return false;
	for (int i = 0; i < 3; i++)
		v[i] = __atomic_load_n(&s->v[i], __ATOMIC_RELAXED);
	__atomic_store_n(&s->key, 0, __ATOMIC_RELEASE);
	return true;
}
