// SPDX-License-Identifier: LGPL-2.1-only
/*
 * A runtime of ROCm registers with rocprofiler-register, which loads rocprofiler-sdk where
 * ROCP_TOOL_LIBRARIES is set, and aborts the program where it cannot.  So the variable names the
 * collector only here, where a runtime registers and rocprofiler-sdk is seen to load; what the
 * program starts has what the user had set.
 */
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "gpu/rocm/preload/local.h"

#define SDK		"librocprofiler-sdk.so"
#define SDK_ENTRY	"rocprofiler_set_api_table"
#define TOOLS		"ROCP_TOOL_LIBRARIES"

typedef int (*register_fn)(const char *runtime, void *import, uint32_t version, void **tables,
			   uint64_t n, void *id);

EXPORT int rocprofiler_register_library_api_table(const char *runtime, void *import,
						  uint32_t version, void **tables, uint64_t n,
						  void *id);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Where rocprofiler-register looks: by its name, and beside itself. */
static int load_sdk(const void *beside)
{
	const char *named = secure_getenv("ROCPROFILER_REGISTER_LIBRARY");
	const char *name = named && *named ? named : SDK;
	char path[PATH_MAX];
	void *lib = dlopen(name, RTLD_LAZY | RTLD_GLOBAL);

	if (!lib && !strchr(name, '/') && rocm_beside(beside, name, path, sizeof(path)))
		lib = dlopen(path, RTLD_LAZY | RTLD_GLOBAL);
	return lib && dlsym(lib, SDK_ENTRY);
}

/* rocprofiler-sdk does not read what is behind the last colon, if there is any. */
static char *add_collector(const char *theirs)
{
	char path[PATH_MAX], *all = NULL;

	if (!rocm_beside((const void *)add_collector, COLLECTOR, path, sizeof(path)) ||
	    access(path, R_OK) || strchr(path, ':'))
		return NULL;
	if (asprintf(&all, "%s%s%s:", theirs ? theirs : "", theirs && *theirs ? ":" : "",
		     path) < 0)
		return NULL;
	return all;
}

static int can_load(register_fn next)
{
	static int loads, tried;

	if (!tried) {
		tried = 1;
		loads = load_sdk((const void *)next);
		if (!loads)
			(void)dprintf(STDERR_FILENO, "xsprof: %s of ROCm cannot be loaded: its "
				      "device activities are not recorded\n", SDK);
	}
	return loads;
}

/*
 * The lock is held, which others wait for that register meanwhile: they need the variable too.  A
 * thread that reads the environment just then is at the mercy of the C library, as with all that
 * set a variable; nothing but the environment says it to rocprofiler-register.
 */
static int call_named(register_fn next, const char *runtime, void *import, uint32_t version,
		      void **tables, uint64_t n, void *id)
{
	const char *theirs = getenv(TOOLS);
	char *kept = theirs ? strdup(theirs) : NULL, *all = add_collector(theirs);
	int ret;

	if (all && (kept || !theirs))
		setenv(TOOLS, all, 1);
	free(all);
	ret = next(runtime, import, version, tables, n, id);
	if (kept)
		setenv(TOOLS, kept, 1);
	else if (!theirs)
		unsetenv(TOOLS);
	free(kept);
	return ret;
}

/* A tool that is called meanwhile may load another runtime, which registers in turn. */
int rocprofiler_register_library_api_table(const char *runtime, void *import, uint32_t version,
					   void **tables, uint64_t n, void *id)
{
	/* The general model would need the dynamic linker of glibc, which musl does not have. */
	static __thread int inside __attribute__((tls_model("initial-exec")));
	register_fn next;
	int ret;

	ROCM_NEXT(next, "rocprofiler_register_library_api_table", "rocprofiler-register");
	if (!next)
		return -1;
	if (inside)
		return next(runtime, import, version, tables, n, id);
	inside = 1;
	pthread_mutex_lock(&lock);
	ret = can_load(next) ? call_named(next, runtime, import, version, tables, n, id) :
			       next(runtime, import, version, tables, n, id);
	pthread_mutex_unlock(&lock);
	inside = 0;
	return ret;
}
