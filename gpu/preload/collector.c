// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Collectors of devices are in our folder.
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "gpu/preload/local.h"

/* By its path, as a sanitizer that stands between does not know which library asks. */
void *preload_open(const char *collector, const char *what)
{
	char path[PATH_MAX + NAME_MAX];
	const char *slash;
	Dl_info info;
	void *lib;

	if (!dladdr((const void *)preload_open, &info) || !info.dli_fname)
		return NULL;
	slash = strrchr(info.dli_fname, '/');
	snprintf(path, sizeof(path), "%.*s%s", slash ? (int)(slash + 1 - info.dli_fname) : 0,
		 info.dli_fname, collector);
	lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!lib)
		(void)dprintf(STDERR_FILENO, "xsprof: %s: %s is not recorded\n", dlerror(), what);
	return lib;
}
