// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Finds the object (ELF file) in the process that is Python: the program itself or a library, which
 * may be loaded for one part of the program only. The check whether some code belongs to Python
 * runs wherever a program initialises two conditions, so it takes neither the loader's lock nor
 * memory.
 */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>

#include "collect/python/local.h"

/**
 * struct object - the ELF object that contains some code
 * @code: an address in it
 * @begin: begin of its memory
 * @end: end of its memory
 * @dynamic: its dynamic section, NULL: it has none
 * @base: load bias
 * @seen: number of objects looked at
 * @is_program: it is the program itself
 */
struct object {
	uintptr_t		code;
	uintptr_t		begin;
	uintptr_t		end;
	const ElfW(Dyn)		*dynamic;
	uintptr_t		base;
	uint32_t		seen;
	bool			is_program;
};

static int look_at(struct dl_phdr_info *info, size_t size, void *data)
{
	struct object *o = data;
	uintptr_t begin = UINTPTR_MAX, end = 0;

	(void)size;
	o->dynamic = NULL;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		uintptr_t at = info->dlpi_addr + ph->p_vaddr;

		if (ph->p_type == PT_DYNAMIC)
			o->dynamic = (const ElfW(Dyn) *)at;
		if (ph->p_type != PT_LOAD)
			continue;
		begin = at < begin ? at : begin;
		end = at + ph->p_memsz > end ? at + ph->p_memsz : end;
	}
	o->begin = begin;
	o->end = end;
	o->base = info->dlpi_addr;
	/* The first object is the program. */
	o->is_program = !o->seen++;
	return o->code >= begin && o->code < end;
}

/* Most C libraries relocate these addresses in place. */
static const void *pointer_of(const struct object *o, uintptr_t value)
{
	return (const void *)(value >= o->begin && value < o->end ? value : value + o->base);
}

/* Does it define the symbol? Uses the GNU hash table, which all current linkers write. */
static bool defines(const struct object *o, const char *name)
{
	const uint32_t *hash = NULL, *buckets, *chain;
	const ElfW(Sym) *symbols = NULL;
	const char *texts = NULL;
	uint32_t h = 5381, i;

	for (const ElfW(Dyn) *d = o->dynamic; d && d->d_tag != DT_NULL; d++) {
		if (d->d_tag == DT_GNU_HASH)
			hash = pointer_of(o, d->d_un.d_ptr);
		else if (d->d_tag == DT_SYMTAB)
			symbols = pointer_of(o, d->d_un.d_ptr);
		else if (d->d_tag == DT_STRTAB)
			texts = pointer_of(o, d->d_un.d_ptr);
	}
	if (!hash || !symbols || !texts || !hash[0])
		return false;
	for (const char *c = name; *c; c++)
		h = h * 33 + (unsigned char)*c;
	/* The Bloom filter follows the header, in words of pointer size. */
	buckets = hash + 4 + hash[2] * (sizeof(void *) / 4);
	chain = buckets + hash[0];
	i = buckets[h % hash[0]];
	if (i < hash[1])
		return false;
	for (;; i++) {
		uint32_t of = chain[i - hash[1]];

		if ((of | 1) == (h | 1) && symbols[i].st_shndx != SHN_UNDEF &&
		    !strcmp(texts + symbols[i].st_name, name))
			return true;
		if (of & 1)
			return false;
	}
}

bool python_has(const void *caller)
{
	/* Only the program is remembered: libraries may be unloaded. */
	static uintptr_t begin, end;	/* of a program that is not Python; set in this order */
	struct object o = { .code = (uintptr_t)caller };

	/* Acquire: pairs with the release below. */
	if (o.code < __atomic_load_n(&end, __ATOMIC_ACQUIRE) &&
	    o.code >= __atomic_load_n(&begin, __ATOMIC_RELAXED))
		return false;
	if (!dl_iterate_phdr(look_at, &o))
		return false;
	if (defines(&o, "_PyRuntime"))
		return true;
	if (o.is_program) {
		__atomic_store_n(&begin, o.begin, __ATOMIC_RELAXED);
		/* Release: a thread that sees the end also sees the begin. */
		__atomic_store_n(&end, o.end, __ATOMIC_RELEASE);
	}
	return false;
}

/* ---- what it has ----------------------------------------------------------------------------- */

static void *object;	/* its handle */

/* By an address of its code: dlopen() has no name for the program itself. */
bool python_open(const void *caller)
{
	Dl_info of_caller, of_runtime;
	void *handle = dlopen(NULL, RTLD_LAZY | RTLD_NOLOAD), *runtime;

	if (object)
		return true;
	runtime = handle ? dlsym(handle, "_PyRuntime") : NULL;
	if (!dladdr(caller, &of_caller))
		return false;
	if (!runtime || !dladdr(runtime, &of_runtime) ||
	    of_runtime.dli_fbase != of_caller.dli_fbase) {
		/* A library outside the global scope: opened by its path. */
		if (handle)
			dlclose(handle);
		handle = strchr(of_caller.dli_fname, '/') ?
			dlopen(of_caller.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
	}
	/* Never closed: its functions are called until the process ends. */
	object = handle;
	return handle;
}

void *python_symbol(const char *name)
{
	return object ? dlsym(object, name) : NULL;
}

void *python_handle(void)
{
	return object;
}

bool python_is_free_threaded(void)
{
	const char *(*version)(void);
	void *symbol = python_symbol("Py_GetVersion");

	memcpy(&version, &symbol, sizeof(version));
	return symbol && strstr(version(), "free-threading");
}
