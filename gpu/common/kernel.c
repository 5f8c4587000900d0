// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Names of kernels, see kernel.h.  C++ names are demangled by the program's own C++ library, or by
 * one that is loaded for it: the collectors are C.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/common/kernel.h"

typedef char *(*demangle_fn)(const char *mangled, char *out, size_t *len, int *status);

static demangle_fn find_demangle(void)
{
	static demangle_fn found;
	static bool searched;
	void *lib, *symbol;

	if (searched)
		return found;
	searched = true;
	symbol = dlsym(RTLD_DEFAULT, "__cxa_demangle");
	if (!symbol) {
		lib = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
		symbol = lib ? dlsym(lib, "__cxa_demangle") : NULL;
	}
	memcpy(&found, &symbol, sizeof(found));
	return found;
}

xsprof_name_t gpu_kernel_name(int category, const char *text)
{
	demangle_fn demangle = strncmp(text, "_Z", 2) ? NULL : find_demangle();
	char *plain = demangle ? demangle(text, NULL, NULL, NULL) : NULL;
	xsprof_name_t name = xsprof_name_in(category, plain ? plain : text);

	free(plain);
	return name;
}
