// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Stacks of ops: walked by frame pointers, and written once each.  Owns the table of the stacks
 * that the producer's arena holds, and of the code that was mapped when they were written.
 *
 * A walk reads nothing but this thread's stack between its own frame and the stack's end, so that
 * code without frame pointers costs frames and nothing else.
 *
 * The loader's lock, which dl_iterate_phdr() takes, comes before the names' lock, here as in a
 * program's own callback that names something: nothing here asks the loader while it holds that.
 */
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <xsprof/profiler.h>

#include "profiler/stack.h"
#include "ring/pack.h"

#define FRAMES		XSPROF_STACK_FRAMES
#define SLOTS		(1u << 14)	/* of the table; at most three quarters are used */
#define MOST		(SLOTS / 4 * 3)
#define BUILD_ID	20u

/**
 * struct known - a stack that is in the arena
 * @hash: of its addresses, never 0; 0: a free place
 * @id: of it, XSPROF_STACK_MISSED: there was no room for it
 */
struct known {
	uint64_t	hash;
	uint32_t	id;
};

static struct {
	struct known	*table;		/* made at the first stack, and kept */
	uint32_t	nr;
	uint32_t	next;
	uint64_t	added;		/* objects loaded when mappings were written last */
	uint32_t	producer;	/* their arena is this one's, as xsp_producers */
} stacks;

/* ---- the walk ------------------------------------------------------------------------------- */

/* This thread's stack, asked once. */
static __thread struct {
	uintptr_t	base;
	uintptr_t	end;
} own_stack __attribute__((tls_model("initial-exec")));

static void find_stack(void)
{
	pthread_attr_t attr;
	size_t size;
	void *base;

	if (pthread_getattr_np(pthread_self(), &attr))
		return;
	if (!pthread_attr_getstack(&attr, &base, &size)) {
		own_stack.base = (uintptr_t)base;
		own_stack.end = (uintptr_t)base + size;
	}
	pthread_attr_destroy(&attr);
}

/* Another stack than the thread's own (of a fibre, or of signals) is not walked. */
static uint32_t walk(uintptr_t frame, uintptr_t caller, uint64_t *address, uint32_t *left)
{
	bool first = true;
	uint32_t n = 1;
	uintptr_t end;

	if (unlikely(!own_stack.end))
		find_stack();
	end = own_stack.end;
	address[0] = caller;
	*left = 0;
	/* What lies between another stack and the end of this one may be mapped or not. */
	if (unlikely(frame < own_stack.base))
		return n;
	while (frame && !(frame & 7) && end >= 16 && frame <= end - 16) {
		const uintptr_t *words = (const uintptr_t *)frame;
		uintptr_t next = words[0], from = words[1];

		if (!from)
			break;
		/* The first is the caller's, which is there already. */
		if (first && from == caller)
			;
		else if (n < FRAMES)
			address[n++] = from;
		else
			++*left;
		first = false;
		if (next <= frame || *left > 4096)
			break;
		frame = next;
	}
	return n;
}

static uint64_t hash_of(const uint64_t *address, uint32_t n)
{
	uint64_t h = 0x9e3779b97f4a7c15u * n;

	for (uint32_t i = 0; i < n; i++) {
		h = (h ^ address[i]) * 0xd6e8feb86659fd93u;
		h ^= h >> 32;
	}
	return h ? h : 1;
}

/* ---- mappings ------------------------------------------------------------------------------- */

static void build_id(const struct dl_phdr_info *info, char *text, size_t size)
{
	*text = '\0';
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		const char *at = (const char *)(info->dlpi_addr + ph->p_vaddr);
		const char *end = at + ph->p_memsz;

		while (ph->p_type == PT_NOTE && end - at >= (ptrdiff_t)sizeof(ElfW(Nhdr))) {
			const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)at;
			size_t name = (note->n_namesz + 3u) & ~3u;
			size_t desc = (note->n_descsz + 3u) & ~3u;
			const unsigned char *id = (const unsigned char *)(note + 1) + name;

			if (name > (size_t)(end - at) || desc > (size_t)(end - at))
				break;
			if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
			    note->n_descsz <= BUILD_ID && 2 * BUILD_ID < size) {
				for (uint32_t k = 0; k < note->n_descsz; k++)
					snprintf(text + 2 * k, 3, "%02x", id[k]);
				return;
			}
			at += sizeof(*note) + name + desc;
		}
	}
}

static void put_map(const char *text, int len)
{
	/* A handler over the names' lock goes without. */
	if (xsp_names_lock(true))
		return;
	(void)xsp_arena_add(XSPROF_ENTRY_MAP, 0, 0, text, len);
	xsp_names_unlock();
}

/* Has anything been loaded?  All of it under the loader's lock: the second thread finds it done. */
static bool is_new(const struct dl_phdr_info *info, size_t size, bool *first)
{
	uint64_t added = 1;

	if (!*first)
		return true;
	*first = false;
	if (size >= offsetof(struct dl_phdr_info, dlpi_subs))
		added = info->dlpi_adds;
	return __atomic_exchange_n(&stacks.added, added, __ATOMIC_RELAXED) != added;
}

static int put_maps(struct dl_phdr_info *info, size_t size, void *first)
{
	char id[2 * BUILD_ID + 2], text[XSPROF_TEXT_MAX], exe[1024];
	const char *path = info->dlpi_name;

	if (!is_new(info, size, first))
		return 1;
	if (!*path) {
		/* The program itself, which the loader gives no name. */
		ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

		exe[n > 0 ? n : 0] = '\0';
		path = exe;
	}
	build_id(info, id, sizeof(id));
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		uint64_t start = info->dlpi_addr + ph->p_vaddr;
		int n;

		if (ph->p_type != PT_LOAD || !(ph->p_flags & PF_X))
			continue;
		n = snprintf(text, sizeof(text), "%llx-%llx %llx %s %s",
			     (unsigned long long)start, (unsigned long long)(start + ph->p_memsz),
			     (unsigned long long)ph->p_offset, *id ? id : "-", path);
		if (n > 0 && n < (int)sizeof(text))
			put_map(text, n);
	}
	return 0;
}

/* The code that a new stack may be in; the names' lock is not held. */
static void note_maps(void)
{
	bool first = true;

	dl_iterate_phdr(put_maps, &first);
}

/* ---- the table ------------------------------------------------------------------------------ */

static struct known *look_up(struct known *table, uint64_t hash)
{
	uint32_t at = hash & (SLOTS - 1);
	uint64_t there;

	/* Acquire: pairs with the release in add(): the id is visible with the hash. */
	while ((there = __atomic_load_n(&table[at].hash, __ATOMIC_ACQUIRE)) && there != hash)
		at = (at + 1) & (SLOTS - 1);
	return &table[at];
}

static bool make_table(void)
{
	void *table;

	if (stacks.table)
		return true;
	table = mmap(NULL, SLOTS * sizeof(struct known), PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (table == MAP_FAILED)
		return false;
	__atomic_store_n(&stacks.table, table, __ATOMIC_RELEASE);
	return true;
}

/* The names' lock is held. */
static uint32_t add(uint64_t hash, const uint64_t *address, uint32_t n, uint32_t left)
{
	struct known *k;

	if (!make_table())
		return XSPROF_STACK_MISSED;
	k = look_up(stacks.table, hash);
	if (k->hash)
		return k->id;
	if (stacks.nr >= MOST)
		return XSPROF_STACK_MISSED;
	__atomic_store_n(&stacks.nr, stacks.nr + 1, __ATOMIC_RELAXED);
	/* One that found no room is remembered as that, and not tried again. */
	k->id = XSPROF_STACK_MISSED;
	if (!xsp_arena_add(XSPROF_ENTRY_STACK, stacks.next + 1, left, (const char *)address,
			   n * sizeof(*address)))
		k->id = ++stacks.next;
	__atomic_store_n(&k->hash, hash, __ATOMIC_RELEASE);
	return k->id;
}

/* Are the stacks of the table in the arena of the producer that there is now? */
static bool is_current(void)
{
	/* Acquire: pairs with the release in forget(): the table is empty with the number. */
	return __atomic_load_n(&stacks.producer, __ATOMIC_ACQUIRE) ==
	       __atomic_load_n(&xsp_producers, __ATOMIC_RELAXED);
}

/* Empties a table whose stacks are in another producer's arena.  The names' lock is held. */
static void forget(void)
{
	if (is_current())
		return;
	if (stacks.table)
		memset(stacks.table, 0, SLOTS * sizeof(struct known));
	__atomic_store_n(&stacks.nr, 0, __ATOMIC_RELAXED);
	stacks.next = 0;
	__atomic_store_n(&stacks.added, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&stacks.producer, xsp_producers, __ATOMIC_RELEASE);
}

/* A stack that is not in the table. */
static XSP_NOINLINE uint32_t add_new(uint64_t hash, const uint64_t *address, uint32_t n,
				  uint32_t left)
{
	uint32_t named = 0;

	uint32_t id = XSPROF_STACK_MISSED;

	if (unlikely(!is_current())) {
		if (xsp_names_lock(true))
			return id;
		forget();
		xsp_names_unlock();
	}
	/* Without the lock: where no more fit they do not make each other wait. */
	if (__atomic_load_n(&stacks.nr, __ATOMIC_RELAXED) >= MOST)
		return id;
	/*
	 * A collector may hold its language's lock, which a callback of dl_iterate_phdr() may wait
	 * for: names alone need no loader.
	 */
	while (named < n && address[named] & XSPROF_FRAME_NAMED)
		named++;
	if (named < n)
		note_maps();
	/* A handler over the names' lock goes without. */
	if (!xsp_names_lock(true)) {
		forget();
		id = add(hash, address, n, left);
		xsp_names_unlock();
	}
	return id;
}

/* Return: 0: it is not in the table. */
static inline uint32_t find(uint64_t hash)
{
	struct known *table = __atomic_load_n(&stacks.table, __ATOMIC_ACQUIRE), *k;

	if (unlikely(!table || !is_current()))
		return 0;
	k = look_up(table, hash);
	/* Acquire: pairs with the release in add(): the id is visible with the hash. */
	if (likely(__atomic_load_n(&k->hash, __ATOMIC_ACQUIRE) == hash))
		return k->id;
	/* Where no more fit nobody has to find out what it is. */
	return __atomic_load_n(&stacks.nr, __ATOMIC_RELAXED) >= MOST ? XSPROF_STACK_MISSED : 0;
}

uint32_t xsp_stack_here(void *frame, void *caller)
{
	uint64_t address[FRAMES], hash;
	uint32_t n, left, id;

	n = walk((uintptr_t)frame, (uintptr_t)caller, address, &left);
	hash = hash_of(address, n);
	id = find(hash);
	return likely(id) ? id : add_new(hash, address, n, left);
}

/* A program's key may be any number: it is none of those of our own stacks but by chance. */
static uint64_t hash_of_key(uint64_t key)
{
	uint64_t h = (key ^ 0xa0761d6478bd642fu) * 0xe7037ed1a0b428dbu;

	h ^= h >> 32;
	return h ? h : 1;
}

uint32_t xsprof_stack_find(uint64_t key)
{
	return find(hash_of_key(key));
}

uint32_t xsprof_stack_add(uint64_t key, const uint64_t *frames, uint32_t nr, uint32_t left_out)
{
	/* The first of a forked child makes it a producer. */
	if (!xsp_attached() && (!xsp_this_tid() || !xsp_attached()))
		return 0;
	if (!nr)
		return 0;
	if (unlikely(nr > FRAMES)) {
		left_out = left_out < UINT32_MAX - (nr - FRAMES) ? left_out + nr - FRAMES :
			   UINT32_MAX;
		nr = FRAMES;
	}
	return add_new(hash_of_key(key), frames, nr, left_out);
}
