// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The other library, which makes results: loaded when the first is made, where the program is not
 * linked with it.  Owns which one it is.
 */
#include <dlfcn.h>

#include "local.h"

#define TEXT_(x)	#x
#define TEXT(x)		TEXT_(x)
#define LIBRARY		"libxsprof-trace.so." TEXT(XSPROF_VERSION_MAJOR)

/**
 * xsp_trace_function() - a function of libxsprof-trace
 * @name: its name
 *
 * The library stays loaded; loading it again is a look-up.
 *
 * Return: the function, or NULL: it is not there.
 */
void *xsp_trace_function(const char *name)
{
	void *lib = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

	return lib ? dlsym(lib, name) : NULL;
}
