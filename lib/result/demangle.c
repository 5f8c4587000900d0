// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Demangles C++ names with the process' C++ library, or the system's, which is then loaded. Without
 * one names stay mangled.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "result/demangle.h"

typedef char *demangle_fn(const char *mangled, char *out, size_t *len, int *status);

static char *keep_none(const char *mangled, char *out, size_t *len, int *status)
{
	(void)mangled;
	(void)out;
	(void)len;
	(void)status;
	return NULL;
}

static demangle_fn *find(void)
{
	static demangle_fn *found;
	demangle_fn *fn = __atomic_load_n(&found, __ATOMIC_RELAXED);
	void *symbol, *library;

	if (fn)
		return fn;
	symbol = dlsym(RTLD_DEFAULT, "__cxa_demangle");
	if (!symbol) {
		/* Never closed. */
		library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
		symbol = library ? dlsym(library, "__cxa_demangle") : NULL;
	}
	if (symbol)
		memcpy(&fn, &symbol, sizeof(fn));
	else
		fn = keep_none;
	/* Relaxed: threads that race here find the same. */
	__atomic_store_n(&found, fn, __ATOMIC_RELAXED);
	return fn;
}

char *xsr_demangle(const char *symbol)
{
	return strncmp(symbol, "_Z", 2) ? NULL : find()(symbol, NULL, NULL, NULL);
}
