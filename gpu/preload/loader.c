// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Which library has the OpenCL functions that a caller means: what the dynamic linker would have
 * found for it without us.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpu/preload/local.h"

/* What every loader has, and we do not. */
#define PROBE	"clGetPlatformIDs"

#ifdef __x86_64__
#define OLD	"GLIBC_2.2.5"
#else
#define OLD	"GLIBC_2.17"
#endif

/* Programs of another C library are preloaded as well: they do not come here. */
extern void *dlvsym(void *handle, const char *name, const char *version) __attribute__((weak));

/* Not by dlsym(), which is ours.  Threads that look at once find the same. */
preload_dlsym_fn *preload_dlsym(void)
{
	static preload_dlsym_fn *real;
	preload_dlsym_fn *found = __atomic_load_n(&real, __ATOMIC_RELAXED);
	static const char text[] = "xsprof: the C library has no dlsym()\n";
	void *symbol;

	if (found)
		return found;
	symbol = dlvsym ? dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34") : NULL;
	if (!symbol && dlvsym)
		symbol = dlvsym(RTLD_NEXT, "dlsym", OLD);
	if (!symbol) {
		(void)!write(STDERR_FILENO, text, sizeof(text) - 1);
		abort();
	}
	memcpy(&found, &symbol, sizeof(found));
	__atomic_store_n(&real, found, __ATOMIC_RELAXED);
	return found;
}

bool preload_loader_of(const void *function, struct preload_loader *loader)
{
	Dl_info of;

	if (!function || !dladdr(function, &of) || !of.dli_fname)
		return false;
	loader->base = of.dli_fbase;
	/* The handle is kept: addresses of its functions are. */
	loader->handle = dlopen(of.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
	return loader->handle;
}

/* ---- of a caller ----------------------------------------------------------------------------- */

struct asked {
	const void		*caller;
	struct preload_range	*code;
	const char		*any;	/* a loader's name */
};

static int look(struct dl_phdr_info *info, size_t size, void *data)
{
	const char *slash = strrchr(info->dlpi_name, '/');
	struct asked *asked = data;
	uintptr_t begin, at;

	(void)size;
	if (!strncmp(slash ? slash + 1 : info->dlpi_name, "libOpenCL", strlen("libOpenCL")))
		asked->any = info->dlpi_name;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
		at = (uintptr_t)asked->caller;
		if (info->dlpi_phdr[i].p_type == PT_LOAD && at >= begin &&
		    at - begin < info->dlpi_phdr[i].p_memsz)
			*asked->code = (struct preload_range){ begin,
							       info->dlpi_phdr[i].p_memsz };
	}
	return 0;
}

/* By a library that is loaded and its dependencies. */
static bool by_library(const char *name, struct preload_loader *loader)
{
	void *library = name && *name ? dlopen(name, RTLD_LAZY | RTLD_NOLOAD) : NULL;
	bool found;

	if (!library)
		return false;
	found = preload_loader_of(preload_dlsym()(library, PROBE), loader);
	(void)dlclose(library);
	return found;
}

bool preload_find(const void *caller, struct preload_loader *loader, struct preload_range *code)
{
	struct asked asked = { .caller = caller, .code = code };
	Dl_info of;

	/* All that the program was started with, or opened for all. */
	*code = (struct preload_range){ 0, UINTPTR_MAX };
	if (preload_loader_of(preload_dlsym()(RTLD_NEXT, PROBE), loader))
		return true;
	/* What was opened with a library that the program opened, such as a module of Python's. */
	*code = (struct preload_range){ 0, 0 };
	dl_iterate_phdr(look, &asked);
	return (dladdr(caller, &of) && by_library(of.dli_fname, loader)) ||
	       by_library(asked.any, loader);
}
