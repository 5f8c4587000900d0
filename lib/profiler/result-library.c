// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The other library, which makes results: loaded when the first is made, where the program is not
 * linked with it.  Owns which one it is: the one that the loader finds by its name, or else the
 * one in the folder that we ourselves were loaded from.
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>

#include "profiler/local.h"

#define TEXT_(x)	#x
#define TEXT(x)		TEXT_(x)
#define LIBRARY		"libxsprof-trace.so." TEXT(XSPROF_VERSION_MAJOR)
#define OURSELVES	"/libxsprof-user.so"

/*
 * A program that found us by a path of its own (DT_RUNPATH), which the loader does not take for
 * what we load.  In a static one we are in the program's folder, where nobody has put libraries
 * on purpose; and a privileged one takes nothing from where it happens to lie.
 */
static void *load_beside(void)
{
	char path[PATH_MAX];
	const char *name;
	Dl_info self;
	int n;

	if (getauxval(AT_SECURE) || !dladdr((void *)xsp_trace_function, &self) ||
	    !self.dli_fname || *self.dli_fname != '/')
		return NULL;
	name = strrchr(self.dli_fname, '/');
	if (strncmp(name, OURSELVES, strlen(OURSELVES)))
		return NULL;
	n = snprintf(path, sizeof(path), "%.*s/" LIBRARY, (int)(name - self.dli_fname),
		     self.dli_fname);
	return n > 0 && n < (int)sizeof(path) ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
}

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

	if (!lib)
		lib = load_beside();
	return lib ? dlsym(lib, name) : NULL;
}
