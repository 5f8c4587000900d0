// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The object in the process that is Python: the program itself, or a library, which may have been
 * opened for one part of the program alone.
 */
#include <dlfcn.h>

#include "collect/python/local.h"

static void *object;	/* its handle */

void *python_symbol(const char *name)
{
	return object ? dlsym(object, name) : NULL;
}

bool python_has(const void *caller)
{
	Dl_info of_caller, of_runtime;
	void *handle, *runtime;

	if (!dladdr(caller, &of_caller))
		return false;
	/* The program itself has no name under which it could be opened. */
	handle = dlopen(of_caller.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	if (!handle)
		handle = dlopen(NULL, RTLD_LAZY | RTLD_NOLOAD);
	runtime = handle ? dlsym(handle, "_PyRuntime") : NULL;
	if (!runtime || !dladdr(runtime, &of_runtime) ||
	    of_runtime.dli_fbase != of_caller.dli_fbase) {
		if (handle)
			dlclose(handle);
		return false;
	}
	/* It stays open: what is looked up in it is called as long as the process lives. */
	if (object)
		dlclose(handle);
	else
		object = handle;
	return true;
}
