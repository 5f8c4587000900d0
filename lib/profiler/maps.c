// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Records the memory mappings of code addresses for readers of the trace. Remembers which mappings
 * are in the producer's arena.
 *
 * glibc 2.35 and later has _dl_find_object(), which takes no lock: a collector may hold its
 * language's lock, for which a callback of dl_iterate_phdr() may wait while it holds the loader's
 * lock. Without it, the loader's lock is taken before the names' lock, here and in a program's own
 * callback that interns a name: so the loader is never called with the names' lock held.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <xsprof/abi.h>

#include "profiler/maps.h"
#include "ring/pack.h"

#define BUILD_ID	20u
#define NOTED		512u	/* objects remembered; others are written again */

/**
 * struct object - a loaded object
 * @base: load bias
 * @path: its path, "" for the program itself
 * @phdr: its program headers
 * @nr: number of program headers
 * @id: its build id in hex, or "-"
 */
struct object {
	uint64_t		base;
	const char		*path;
	const ElfW(Phdr)	*phdr;
	uint32_t		nr;
	char			id[2 * BUILD_ID + 2];
};

static void read_build_id(struct object *o)
{
	strcpy(o->id, "-");
	for (uint32_t i = 0; i < o->nr; i++) {
		const ElfW(Phdr) *ph = &o->phdr[i];
		const char *at = (const char *)(o->base + ph->p_vaddr);
		const char *end = at + ph->p_memsz;

		while (ph->p_type == PT_NOTE && end - at >= (ptrdiff_t)sizeof(ElfW(Nhdr))) {
			const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)at;
			size_t name = (note->n_namesz + 3u) & ~3u;
			size_t desc = (note->n_descsz + 3u) & ~3u;
			const unsigned char *id = (const unsigned char *)(note + 1) + name;

			if (name > (size_t)(end - at) || desc > (size_t)(end - at))
				break;
			if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
			    note->n_descsz && note->n_descsz <= BUILD_ID) {
				for (uint32_t k = 0; k < note->n_descsz; k++) {
					o->id[2 * k] = "0123456789abcdef"[id[k] >> 4];
					o->id[2 * k + 1] = "0123456789abcdef"[id[k] & 15];
				}
				o->id[2 * note->n_descsz] = '\0';
				return;
			}
			at += sizeof(*note) + name + desc;
		}
	}
}

/*
 * The loader has no name for the program, and for a library the name that was requested, which may
 * be relative to an earlier working directory. The kernel knows the file of its first segment.
 */
static const char *path_of(const struct object *o, char *path, size_t size)
{
	char link[64] = "/proc/self/exe";
	ssize_t n;

	if (*o->path == '/')
		return o->path;
	for (uint32_t i = 0; *o->path && i < o->nr; i++) {
		const uint64_t page = (uint64_t)getpagesize() - 1;
		uint64_t start = o->base + o->phdr[i].p_vaddr;

		if (o->phdr[i].p_type != PT_LOAD)
			continue;
		snprintf(link, sizeof(link), "/proc/self/map_files/%llx-%llx",
			 (unsigned long long)(start & ~page),
			 (unsigned long long)((start + o->phdr[i].p_filesz + page) & ~page));
		break;
	}
	n = readlink(link, path, size - 1);
	if (n <= 0)
		return o->path;
	path[n] = '\0';
	return path;
}

/* Return: false if the arena has no room for all of it. */
static bool put_object(const struct object *o)
{
	char text[XSPROF_TEXT_MAX], room[1024];
	const char *path = path_of(o, room, sizeof(room));
	bool all = true;

	for (uint32_t i = 0; i < o->nr; i++) {
		const ElfW(Phdr) *ph = &o->phdr[i];
		uint64_t start = o->base + ph->p_vaddr;
		int n;

		if (ph->p_type != PT_LOAD || !(ph->p_flags & PF_X))
			continue;
		n = snprintf(text, sizeof(text), "%llx-%llx %llx %s %s",
			     (unsigned long long)start, (unsigned long long)(start + ph->p_memsz),
			     (unsigned long long)ph->p_offset, o->id, path);
		if (n <= 0 || n >= (int)sizeof(text))
			continue;
		/* A handler that interrupted a holder of the names' lock leaves it out. */
		if (xsp_names_lock(true))
			return false;
		all &= !xsp_arena_add(XSPROF_ENTRY_MAP, 0, 0, text, n);
		xsp_names_unlock();
	}
	return all;
}

/* ---- by address ------------------------------------------------------------------------------ */

#ifndef DLFO_STRUCT_HAS_EH_DBASE
/* As in glibc 2.35, for builds with older headers. */
struct dl_find_object {
	unsigned long long	dlfo_flags;
	void			*dlfo_map_start, *dlfo_map_end;
	struct link_map		*dlfo_link_map;
	void			*dlfo_eh_frame;
	unsigned long long	more[8];
};
#endif

extern int _dl_find_object(void *address, struct dl_find_object *found) __attribute__((weak));

/* By address: hash of the object there. 0: none. */
static uint64_t noted[NOTED];

static uint64_t hash_bytes(uint64_t h, const void *bytes, size_t len)
{
	const unsigned char *at = bytes;

	for (size_t i = 0; i < len; i++)
		h = (h ^ at[i]) * 0x100000001b3u;
	return h;
}

static uint64_t hash_object(const struct object *o)
{
	uint64_t h = hash_bytes(0xcbf29ce484222325u, &o->base, sizeof(o->base));

	h = hash_bytes(h, o->id, strlen(o->id));
	h = hash_bytes(h, o->path, strlen(o->path));
	return h ? h : 1;
}

/* Reads the headers at the begin of its first segment. Return: false: they are not there. */
static bool read_object(const struct dl_find_object *found, struct object *o)
{
	const ElfW(Ehdr) *head = found->dlfo_map_start;
	size_t size = (size_t)((char *)found->dlfo_map_end - (char *)found->dlfo_map_start);

	if (size < sizeof(*head) || memcmp(head->e_ident, ELFMAG, SELFMAG) ||
	    head->e_phentsize != sizeof(ElfW(Phdr)) || head->e_phoff >= size ||
	    head->e_phnum > (size - head->e_phoff) / sizeof(ElfW(Phdr)))
		return false;
	o->base = found->dlfo_link_map->l_addr;
	o->path = found->dlfo_link_map->l_name;
	o->phdr = (const ElfW(Phdr) *)((const char *)head + head->e_phoff);
	o->nr = head->e_phnum;
	read_build_id(o);
	return true;
}

/* Another object may have been at this address before: compare each time. */
static void note_object(const struct dl_find_object *found)
{
	uint32_t at = (uint32_t)(((uintptr_t)found->dlfo_map_start * 0x9e3779b97f4a7c15u) >> 32) %
		      NOTED;
	struct object o;
	uint64_t hash;

	if (!read_object(found, &o))
		return;
	hash = hash_object(&o);
	/* Relaxed: stored after its mappings were added to the arena; stacks are added later. */
	if (__atomic_load_n(&noted[at], __ATOMIC_RELAXED) != hash && put_object(&o))
		__atomic_store_n(&noted[at], hash, __ATOMIC_RELAXED);
}

static bool note_by_address(const uint64_t *address, uint32_t nr)
{
	struct dl_find_object found = { 0 };

	if (!_dl_find_object)
		return false;
	for (uint32_t i = 0; i < nr; i++) {
		if (address[i] & XSPROF_FRAME_NAMED ||
		    (address[i] >= (uintptr_t)found.dlfo_map_start &&
		     address[i] < (uintptr_t)found.dlfo_map_end))
			continue;
		if (!_dl_find_object((void *)(uintptr_t)address[i], &found))
			note_object(&found);
		else
			found.dlfo_map_end = NULL;
	}
	return true;
}

static void forget_by_address(void)
{
	memset(noted, 0, sizeof(noted));
}

/* ---- all that is loaded ---------------------------------------------------------------------- */

static uint64_t added;		/* dlpi_adds when mappings were last written */

/*
 * Has an object been loaded since? Runs under the loader's lock, so a second thread finds it done.
 */
static bool is_new(const struct dl_phdr_info *info, size_t size, bool *first)
{
	uint64_t now = 1;

	if (!*first)
		return true;
	*first = false;
	if (size >= offsetof(struct dl_phdr_info, dlpi_subs))
		now = info->dlpi_adds;
	return __atomic_exchange_n(&added, now, __ATOMIC_RELAXED) != now;
}

static int put_one(struct dl_phdr_info *info, size_t size, void *first)
{
	struct object o = {
		.base = info->dlpi_addr, .path = info->dlpi_name, .phdr = info->dlpi_phdr,
		.nr = info->dlpi_phnum,
	};

	if (!is_new(info, size, first))
		return 1;
	read_build_id(&o);
	put_object(&o);
	return 0;
}

void xsp_maps_note(const uint64_t *address, uint32_t nr)
{
	bool first = true;
	uint32_t named = 0;

	while (named < nr && address[named] & XSPROF_FRAME_NAMED)
		named++;
	if (named < nr && !note_by_address(address + named, nr - named))
		dl_iterate_phdr(put_one, &first);
}

void xsp_maps_forget(void)
{
	forget_by_address();
	__atomic_store_n(&added, 0, __ATOMIC_RELAXED);
}
