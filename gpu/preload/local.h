/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What is preloaded into all processes of a command that is recorded with --gpu, so that collectors
 * of devices see programs that would not come to them.  In a process that uses none of these
 * interfaces, nothing of it runs but a look at the names that dlsym() is asked for.
 *
 *	collector.c	opens a collector
 *	zeinit.c	Level Zero: the functions that initialise it
 *	entry.c		OpenCL, where its loader has no layers: its functions, and dlsym()
 *	loader.c	which library has the functions that a caller means
 *	opencl.c	what a call goes to: the collector, or the loader
 */
#ifndef XSPROF_PRELOAD_LOCAL_H
#define XSPROF_PRELOAD_LOCAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpu/opencl/opencl-abi.h"

#define EXPORT		__attribute__((visibility("default")))

/* ---- collector.c ----------------------------------------------------------------------------- */

/* NULL: it cannot be opened, and it is said that @what is not recorded. */
void *preload_open(const char *collector, const char *what);

/* ---- loader.c -------------------------------------------------------------------------------- */

/**
 * struct preload_loader - a library that has OpenCL's functions
 * @handle: of it; it is not unloaded any more
 * @base: where it is
 */
struct preload_loader {
	void		*handle;
	const void	*base;
};

/**
 * struct preload_range - code
 * @begin: its address
 * @size: bytes
 */
struct preload_range {
	uintptr_t	begin;
	uintptr_t	size;
};

typedef void *preload_dlsym_fn(void *handle, const char *name);

/* The C library's. */
preload_dlsym_fn *preload_dlsym(void);
/* The loader whose functions code at @caller means, and all the code that means it for sure. */
bool preload_find(const void *caller, struct preload_loader *loader, struct preload_range *code);
/* The one that @function is of. */
bool preload_loader_of(const void *function, struct preload_loader *loader);

/* ---- opencl.c -------------------------------------------------------------------------------- */

/* What calls of @preload_caller go to, by the functions' numbers; NULL: it is asked each time. */
extern void *preload_linked[CL_SLOTS];
extern struct preload_range preload_caller;
/* The same of functions that dlsym() found, of which there is one loader. */
extern void *preload_found[CL_SLOTS];

void *preload_choose_linked(uint32_t slot, const void *caller);
void *preload_choose_found(uint32_t slot);
/* Is @function, which dlsym() found, of that loader? */
bool preload_found_in(const void *function);

/* ---- entry.c --------------------------------------------------------------------------------- */

/* What dlsym() does for the name of a function that may be OpenCL's. */
void *preload_look_up(void *handle, const char *name);

#endif /* XSPROF_PRELOAD_LOCAL_H */
