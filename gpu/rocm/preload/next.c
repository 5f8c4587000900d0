// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Libraries of the program, and files beside them.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>

#include "gpu/rocm/preload/local.h"

struct search {
	const char	*name;
	const char	*part;
	void		*symbol;
};

static int try_library(struct dl_phdr_info *info, size_t size, void *data)
{
	struct search *s = data;
	const char *slash = strrchr(info->dlpi_name, '/');
	void *lib;

	(void)size;
	if (!strstr(slash ? slash : info->dlpi_name, s->part))
		return 0;
	lib = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
	s->symbol = lib ? dlsym(lib, s->name) : NULL;
	return s->symbol != NULL;
}

/* One behind us, or that of a library which was opened with a plug-in, as Python opens PyTorch. */
void *rocm_next(const char *name, const char *part)
{
	struct search s = { .name = name, .part = part, .symbol = dlsym(RTLD_NEXT, name) };

	if (!s.symbol)
		(void)dl_iterate_phdr(try_library, &s);
	return s.symbol;
}

char *rocm_beside(const void *address, const char *file, char *path, size_t size)
{
	const char *slash;
	Dl_info info;
	int n;

	if (!dladdr(address, &info) || !info.dli_fname)
		return NULL;
	slash = strrchr(info.dli_fname, '/');
	n = snprintf(path, size, "%.*s%s", slash ? (int)(slash + 1 - info.dli_fname) : 0,
		     info.dli_fname, file);
	return n >= 0 && (size_t)n < size ? path : NULL;
}
