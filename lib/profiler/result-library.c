// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Loads libxsprof-trace, which makes results, at the first result, unless the program is linked
 * with it. Chooses the library that the loader finds by its name, else the one in the folder of
 * this library.
 */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>

#include "profiler/result-library.h"

/* Weak: defined if the program is linked with libxsprof-trace. */
#pragma weak xsprof_result_open
#pragma weak xsprof_result_post_process
#pragma weak xsprof_result_save_as
#pragma weak xsprof_result_save_memory_snapshot
#pragma weak xsprof_result_free

#define TEXT_(x)	#x
#define TEXT(x)		TEXT_(x)
#define LIBRARY		"libxsprof-trace.so." TEXT(XSPROF_VERSION_MAJOR)
#define OURSELVES	"/libxsprof-user.so"

/*
 * For programs that found this library by their own DT_RUNPATH, which does not apply to our
 * dlopen(). In a static program this would be the program's folder, where no one put libraries on
 * purpose; and a privileged program loads nothing from such a place.
 */
static void *function_of(const char *name);

static void *load_beside(void)
{
	char path[PATH_MAX];
	const char *name;
	Dl_info self;
	int n;

	if (getauxval(AT_SECURE) || !dladdr((void *)function_of, &self) ||
	    !self.dli_fname || *self.dli_fname != '/')
		return NULL;
	name = strrchr(self.dli_fname, '/');
	if (strncmp(name, OURSELVES, strlen(OURSELVES)))
		return NULL;
	n = snprintf(path, sizeof(path), "%.*s/" LIBRARY, (int)(name - self.dli_fname),
		     self.dli_fname);
	return n > 0 && n < (int)sizeof(path) ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
}

/*
 * A function of libxsprof-trace; NULL: not found. The library stays loaded; loading it again is
 * only a lookup.
 */
static void *function_of(const char *name)
{
	void *lib = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

	if (!lib)
		lib = load_beside();
	return lib ? dlsym(lib, name) : NULL;
}

typedef int (*open_fn)(const char *, const struct xsprof_result_options *,
		       struct xsprof_result **);

int xsp_result_open(const char *path, const struct xsprof_result_options *opts,
		    struct xsprof_result **result)
{
	open_fn open_result = xsprof_result_open;
	int err;

	if (!open_result)
		open_result = (open_fn)function_of("xsprof_result_open");
	err = open_result ? open_result(path, opts, result) : -ENOSYS;
	/* An older library does not know all options. */
	return err == -E2BIG ? -ENOSYS : err;
}

typedef int (*process_fn)(struct xsprof_result *,
			  int (*)(void *, struct xsprof_profiler_event *), void *);

int xsp_result_post_process(struct xsprof_result *result,
			    int (*each)(void *data, struct xsprof_profiler_event *ev), void *data)
{
	process_fn process = xsprof_result_post_process;

	if (!process)
		process = (process_fn)function_of("xsprof_result_post_process");
	return process ? process(result, each, data) : -ENOSYS;
}

/*
 * All functions from one library, as a result can be used only by the library that made it. One
 * that the program is linked with may be older and lack xsprof_result_save_as().
 */
int xsp_result_find(struct xsp_result_functions *f)
{
	open_fn of_program = xsprof_result_open;

	f->save = xsprof_result_save_as;
	f->save_memory = xsprof_result_save_memory_snapshot;
	f->free = xsprof_result_free;
	if (of_program)
		return f->save && f->free ? 0 : -ENOSYS;
	f->save = (xsp_result_save_as_fn)function_of("xsprof_result_save_as");
	f->save_memory = (xsp_result_save_fn)function_of("xsprof_result_save_memory_snapshot");
	f->free = (xsp_result_free_fn)function_of("xsprof_result_free");
	return f->save && f->free ? 0 : -ENOSYS;
}
