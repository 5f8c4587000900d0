// SPDX-License-Identifier: LGPL-2.1-only
/*
 * What a call of OpenCL goes to.  The first call that can have work for a device opens the
 * collector: the program has looked for platforms by then, so a loader that has layers has called
 * the collector's, which answers that there is nothing to do here.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "gpu/preload/local.h"

#define COLLECTOR	"libxsprof-opencl.so"
#define NOT_OPERATION	(-59)		/* CL_INVALID_OPERATION */

typedef void *const *begin_fn(preload_dlsym_fn *find, void *loader);

void *preload_linked[CL_SLOTS];
void *preload_found[CL_SLOTS];
struct preload_range preload_caller;

static const char *const names[CL_SLOTS] = {
#define NAME(name, number)	[number] = "cl" #name,
	CL_TAKEN(NAME)
#undef NAME
};

/* ---- the collector --------------------------------------------------------------------------- */

enum { NEW, BUSY, READY };

static int state;
static struct preload_loader recorded;
static void *const *ours;	/* functions in place of @recorded's; NULL: they are its own */

static void *const *open_collector(const struct preload_loader *loader)
{
	void *lib = preload_open(COLLECTOR, "OpenCL"), *symbol;
	begin_fn *begin;

	symbol = lib ? preload_dlsym()(lib, "xsprof_opencl_begin") : NULL;
	memcpy(&begin, &symbol, sizeof(begin));
	return begin ? begin(preload_dlsym(), loader->handle) : NULL;
}

static void say_further(const struct preload_loader *loader)
{
	static bool said;
	Dl_info of;

	if (!__atomic_exchange_n(&said, true, __ATOMIC_RELAXED) && dladdr(loader->base, &of))
		(void)dprintf(STDERR_FILENO, "xsprof: OpenCL: %s is a second loader in this "
			      "process: calls through it are not recorded\n", of.dli_fname);
}

/*
 * No lock: whoever holds the dynamic linker's may wait here for who needs it there.  Return: it is
 * known what calls of @loader go to.
 */
static bool settle(const struct preload_loader *loader, void *const **table)
{
	int was = NEW;

	*table = NULL;
	/* Acquire: with the store of READY.  If another thread is at it, the loader is called. */
	if (__atomic_compare_exchange_n(&state, &was, BUSY, false, __ATOMIC_ACQUIRE,
					__ATOMIC_ACQUIRE)) {
		ours = open_collector(loader);
		recorded = *loader;
		/* Release: whoever sees it sees both. */
		__atomic_store_n(&state, READY, __ATOMIC_RELEASE);
		was = READY;
	}
	if (was != READY)
		return false;
	if (loader->base == recorded.base)
		*table = ours;
	else
		say_further(loader);
	return true;
}

static void *function(const struct preload_loader *loader, void *const *table, uint32_t slot)
{
	return table && table[slot] ? table[slot] : preload_dlsym()(loader->handle, names[slot]);
}

/* Release: who goes there sees what the collector has set up; see entry.c. */
static void fill(void **entries, const struct preload_loader *loader, void *const *table)
{
	for (uint32_t i = 0; i < CL_SLOTS; i++)
		if (names[i])
			__atomic_store_n(&entries[i], function(loader, table, i), __ATOMIC_RELEASE);
}

/* ---- without a loader ------------------------------------------------------------------------ */

static int32_t refuse(void)
{
	return NOT_OPERATION;
}

static void *return_none(void)
{
	return NULL;
}

/* A program that asks for a function weakly finds ours, though there is no OpenCL. */
static void *none(uint32_t slot)
{
	switch (slot) {
	case CL_CreateCommandQueue:
	case CL_CreateCommandQueueWithProperties:
	case CL_CreateKernel:
	case CL_CloneKernel:
	case CL_LinkProgram:
	case CL_EnqueueMapBuffer:
	case CL_EnqueueMapImage:
	case CL_GetExtensionFunctionAddress:
	case CL_GetExtensionFunctionAddressForPlatform:
		return (void *)return_none;
	default:
		return (void *)refuse;
	}
}

/* ---- calls ----------------------------------------------------------------------------------- */

/*
 * Calls of one library, or of all where all mean the same loader, come here once.  What takes its
 * place in memory later may mean another loader: as any calls what the objects know, that is right.
 */
void *preload_choose_linked(uint32_t slot, const void *caller)
{
	static bool filled;
	struct preload_loader loader;
	struct preload_range code;
	void *const *table;
	Dl_info of;
	void *to;

	if (!preload_find(caller, &loader, &code))
		return none(slot);
	/* A library that calls itself does so for a call of the program, which was seen. */
	if (dladdr(caller, &of) && of.dli_fbase == loader.base) {
		table = NULL;
	} else if (settle(&loader, &table) && code.size &&
		   !__atomic_exchange_n(&filled, true, __ATOMIC_RELAXED)) {
		fill(preload_linked, &loader, table);
		/* Read in either order: with one of both no address is in the range. */
		__atomic_store_n(&preload_caller.begin, code.begin, __ATOMIC_RELEASE);
		__atomic_store_n(&preload_caller.size, code.size, __ATOMIC_RELEASE);
	}
	to = function(&loader, table, slot);
	return to ? to : none(slot);
}

static struct preload_loader found;
static int found_state;		/* READY: @found is there */

bool preload_found_in(const void *function)
{
	struct preload_loader loader;
	int was = NEW;

	if (!preload_loader_of(function, &loader))
		return false;
	/* Acquire: with the store of READY. */
	if (__atomic_compare_exchange_n(&found_state, &was, BUSY, false, __ATOMIC_ACQUIRE,
					__ATOMIC_ACQUIRE)) {
		found = loader;
		/* Release: whoever sees it sees which it is. */
		__atomic_store_n(&found_state, READY, __ATOMIC_RELEASE);
		was = READY;
	}
	return was == READY && found.base == loader.base;
}

void *preload_choose_found(uint32_t slot)
{
	void *const *table;

	if (settle(&found, &table))
		fill(preload_found, &found, table);
	return function(&found, table, slot);
}
