// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Stacks of ops: walked by frame pointers, and written once each.  Owns the table of the stacks
 * that the producer's arena holds, and of the code that was mapped when they were written.
 *
 * A walk reads nothing but this thread's stack between its own frame and the stack's end, so that
 * code without frame pointers costs frames and nothing else.
 */
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "local.h"

#define FRAMES		64u
#define SLOTS		(1u << 14)	/* of the table; at most three quarters are used */
#define MOST		(SLOTS / 4 * 3)
#define BUILD_ID	20u

/**
 * struct known - a stack that is in the arena
 * @hash: of its addresses, never 0; 0: a free place
 * @id: of it, 0: there was no room for it
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
} stacks;

/* ---- the walk ------------------------------------------------------------------------------- */

/* Where this thread's stack ends, asked once. */
static uintptr_t stack_end(void)
{
	static __thread uintptr_t end __attribute__((tls_model("initial-exec")));
	pthread_attr_t attr;
	size_t size;
	void *base;

	if (likely(end))
		return end;
	if (pthread_getattr_np(pthread_self(), &attr))
		return 0;
	if (!pthread_attr_getstack(&attr, &base, &size))
		end = (uintptr_t)base + size;
	pthread_attr_destroy(&attr);
	return end;
}

/* Another stack than the thread's own (of a fibre, or of signals) is not walked. */
static uint32_t walk(uintptr_t frame, uintptr_t caller, uint64_t *address, uint32_t *left)
{
	uintptr_t end = stack_end();
	bool first = true;
	uint32_t n = 1;

	address[0] = caller;
	*left = 0;
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

static int put_maps(struct dl_phdr_info *info, size_t size, void *data)
{
	char id[2 * BUILD_ID + 2], text[XSPROF_TEXT_MAX], exe[1024];
	const char *path = info->dlpi_name;

	(void)size;
	(void)data;
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
			(void)xsp_arena_add(XSPROF_ENTRY_MAP, 0, 0, text, n);
	}
	return 0;
}

static int count_added(struct dl_phdr_info *info, size_t size, void *data)
{
	if (size >= offsetof(struct dl_phdr_info, dlpi_subs))
		*(uint64_t *)data = info->dlpi_adds;
	return 1;
}

/* The code that a new stack may be in; the names' lock is held. */
static void note_maps(void)
{
	uint64_t added = 0;

	/* The loader's lock is never held over ours by anybody who then waits for ours. */
	dl_iterate_phdr(count_added, &added);
	if (added == stacks.added)
		return;
	stacks.added = added;
	dl_iterate_phdr(put_maps, NULL);
}

/* ---- the table ------------------------------------------------------------------------------ */

static struct known *look_up(struct known *table, uint64_t hash)
{
	uint32_t at = hash & (SLOTS - 1);
	uint64_t there;

	/* Acquire: pairs with the release in add(): who sees a hash sees its id. */
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
		return 0;
	k = look_up(stacks.table, hash);
	if (k->hash)
		return k->id;
	/* An op without its stack, counted as names are that find no room. */
	if (stacks.nr >= MOST) {
		__atomic_add_fetch(&xsp_set.arena->missed, 1, __ATOMIC_RELAXED);
		return 0;
	}
	stacks.nr++;
	note_maps();
	/* One that found no room is remembered as that, and not tried again. */
	if (!xsp_arena_add(XSPROF_ENTRY_STACK, stacks.next + 1, left, (const char *)address,
			   n * sizeof(*address)))
		k->id = ++stacks.next;
	__atomic_store_n(&k->hash, hash, __ATOMIC_RELEASE);
	return k->id;
}

uint32_t xsp_stack_here(void *frame, void *caller)
{
	struct known *table = __atomic_load_n(&stacks.table, __ATOMIC_ACQUIRE), *k;
	uint64_t address[FRAMES], hash;
	uint32_t n, left, id = 0;

	n = walk((uintptr_t)frame, (uintptr_t)caller, address, &left);
	hash = hash_of(address, n);
	if (likely(table != NULL)) {
		k = look_up(table, hash);
		if (likely(__atomic_load_n(&k->hash, __ATOMIC_ACQUIRE) == hash))
			return k->id;
	}
	/* A handler over the names' lock goes without. */
	if (!xsp_names_lock(true)) {
		id = add(hash, address, n, left);
		xsp_names_unlock();
	}
	return id;
}

/* The names' lock is held, or nobody else is there. */
void xsp_stacks_forget(void)
{
	if (stacks.table)
		memset(stacks.table, 0, SLOTS * sizeof(struct known));
	stacks.nr = stacks.next = 0;
	stacks.added = 0;
}
