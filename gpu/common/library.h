/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Finds a vendor's library, and functions in it.
 */
#ifndef GPU_LIBRARY_H
#define GPU_LIBRARY_H

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <xsprof/collector.h>

#include "gpu/common/refused.h"

/* A function: @to is the pointer to it. */
struct gpu_function {
	void		*to;
	const char	*name;
};

/* Those that are missing are NULL.  Return: the name of the first of these, or NULL. */
static inline const char *gpu_functions_get(void *lib, const struct gpu_function *list, size_t nr)
{
	const char *missing = NULL;

	for (size_t i = 0; i < nr; i++) {
		void *symbol = dlsym(lib, list[i].name);

		if (!symbol && !missing)
			missing = list[i].name;
		memcpy(list[i].to, &symbol, sizeof(symbol));
	}
	return missing;
}

/**
 * struct gpu_library - where a library may be
 * @variable: the environment variable that names it
 * @what: is not recorded without it
 * @names: of it, the newest first
 * @nr: how many
 * @beside: looks for it beside another library that the program uses
 * @installed: folders with a slash at the end, and NULL
 * @hint: what to say where it is not found
 */
struct gpu_library {
	const char		*variable;
	const char		*what;
	const char *const	*names;
	size_t			nr;
	void			*(*beside)(const struct gpu_library *library);
	const char *const	*installed;
	const char		*hint;
};

/* Sets @path to the folder of the library with @function, including the slash. */
static inline bool gpu_folder_of(const void *function, char *path, size_t size)
{
	char *slash;
	Dl_info info;

	if (!function || !dladdr(function, &info) || !info.dli_fname ||
	    snprintf(path, size, "%s", info.dli_fname) >= (int)size)
		return false;
	slash = strrchr(path, '/');
	if (slash)
		slash[1] = '\0';
	return slash;
}

/* @folder: with a slash at the end; "": where the linker looks */
static inline void *gpu_library_in(const struct gpu_library *l, const char *folder)
{
	char path[PATH_MAX];
	void *lib = NULL;

	for (size_t i = 0; i < l->nr && !lib; i++)
		if (snprintf(path, sizeof(path), "%s%s", folder, l->names[i]) < (int)sizeof(path))
			lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	return lib;
}

/* In this order: the one that is named, one that is loaded, beside, the linker's, installed. */
static inline void *gpu_library_find(const struct gpu_library *l)
{
	const char *named = secure_getenv(l->variable);
	struct stat st;
	void *lib = NULL;

	if (named && *named) {
		/* Opening a FIFO would wait for its other end. */
		if (strchr(named, '/') && !stat(named, &st) && !S_ISREG(st.st_mode)) {
			gpu_refused("%s: %s: it is not a regular file: %s is not recorded",
				    l->variable, named, l->what);
			return NULL;
		}
		lib = dlopen(named, RTLD_NOW | RTLD_LOCAL);
		if (!lib)
			gpu_refused("%s: %s: %s is not recorded", l->variable, dlerror(), l->what);
		return lib;
	}
	for (size_t i = 0; i < l->nr && !lib; i++)
		lib = dlopen(l->names[i], RTLD_NOW | RTLD_NOLOAD);
	if (!lib)
		lib = l->beside(l);
	if (!lib)
		lib = gpu_library_in(l, "");
	for (size_t i = 0; l->installed[i] && !lib; i++)
		lib = gpu_library_in(l, l->installed[i]);
	if (!lib)
		gpu_refused("%s: set %s to its path; %s is not recorded", l->hint, l->variable,
			    l->what);
	return lib;
}

#endif /* GPU_LIBRARY_H */
