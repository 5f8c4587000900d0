// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Finds PTI, in this order: the copy that the program has loaded (as PyTorch does), one beside its
 * SYCL runtime, the dynamic linker's path, oneAPI's usual installation folders.
 */
#include <errno.h>

#include "gpu/common/library.h"
#include "gpu/common/refused.h"
#include "gpu/levelzero/local.h"

#define FIRST_FUNCTION	1u		/* lowest id of a Level Zero function in PTI */

struct pti pti;

/* Version 1.0 appended fields to records; the part read here is the same since 0.12. */
static const char *const names[] = { "libpti_view.so.1", "libpti_view.so.0" };
static const char *const runtimes[] = { "libsycl.so.9", "libsycl.so.8", "libsycl.so.7" };
static const char *const installed[] = { "/opt/intel/oneapi/pti/latest/lib/", NULL };
/* libpti_view opens one of these and forwards its functions to it. */
static const char *const cores[] = { "pti/libpti.so", "libpti.so" };

/* Python wheels put both libraries into one folder. */
static void *beside_runtime(const struct gpu_library *l)
{
	char path[PATH_MAX];
	void *runtime, *lib = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(runtimes) && !lib; i++) {
		runtime = dlopen(runtimes[i], RTLD_NOW | RTLD_NOLOAD);
		if (runtime && gpu_folder_of(dlsym(runtime, "__sycl_register_lib"), path,
					     sizeof(path)))
			lib = gpu_library_in(l, path);
	}
	return lib;
}

static const struct gpu_library where = {
	.variable = "XSPROF_PTI", .what = "Level Zero", .names = names, .nr = ARRAY_SIZE(names),
	.beside = beside_runtime, .installed = installed,
	.hint = "no libpti_view.so.1 was found (Intel's PTI, part of oneAPI and of the Python "
		"package intel-pti)",
};

/* Return: the name of the first missing function, or NULL. */
static const char *fill(void *lib)
{
	const struct gpu_function functions[] = {
		{ &pti.version, "ptiVersionString" },
		{ &pti.set_callbacks, "ptiViewSetCallbacks" },
		{ &pti.set_timestamp, "ptiViewSetTimestampCallback" },
		{ &pti.enable, "ptiViewEnable" },
		{ &pti.disable, "ptiViewDisable" },
		{ &pti.flush, "ptiFlushAllViews" },
		{ &pti.get_next, "ptiViewGetNextRecord" },
		{ &pti.get_name, "ptiViewGetApiIdName" },
		{ &pti.enable_call, "ptiViewEnableDriverApi" },
		{ &pti.enable_runtime_class, "ptiViewEnableRuntimeApiClass" },
		{ &pti.text, "ptiResultTypeToString" },
	};
	const struct gpu_function optional = { &pti.sycl_begins, "xptiTraceInit" };

	(void)gpu_functions_get(lib, &optional, 1);
	return gpu_functions_get(lib, functions, ARRAY_SIZE(functions));
}

/* libpti_view could not open its core library: print the linker's reason. */
static void tell_core(void *lib)
{
	char folder[PATH_MAX], path[PATH_MAX + 32];
	const char *why = "its libpti.so is missing";
	FILE *file;

	for (size_t i = 0; i < ARRAY_SIZE(cores); i++) {
		if (!gpu_folder_of(dlsym(lib, "ptiViewEnable"), folder, sizeof(folder)))
			break;
		snprintf(path, sizeof(path), "%s%s", folder, cores[i]);
		file = fopen(path, "re");
		if (!file)
			continue;
		fclose(file);
		if (!dlopen(path, RTLD_NOW | RTLD_LOCAL))
			why = dlerror();
		break;
	}
	gpu_refused("PTI %s does not work: %s; it needs libxptifw.so of the SYCL runtime (Python "
		    "package intel-cmplr-lib-rt) and a new Level Zero loader; Level Zero is not "
		    "recorded", pti.version(), why);
}

/* PTI refuses to trace SYCL if XPTI_SUBSCRIBERS names another tool, as it names us: hide it. */
static void *find_alone(void)
{
	static const char variable[] = "XPTI_SUBSCRIBERS";
	const char *theirs = secure_getenv(variable);
	char *kept = theirs && strstr(theirs, "libxsprof-levelzero.so") && !strchr(theirs, ',') ?
		     strdup(theirs) : NULL;
	void *lib;

	if (kept)
		unsetenv(variable);
	lib = gpu_library_find(&where);
	/* PTI sets the variable to itself; restore it so that child processes load us. */
	if (kept)
		setenv(variable, kept, 1);
	free(kept);
	return lib;
}

int levelzero_open(void)
{
	void *lib = find_alone();
	const char *missing, *name;

	if (!lib)
		return -ENOENT;
	missing = fill(lib);
	if (missing) {
		gpu_refused("this PTI has no %s: 0.12 or newer is needed; Level Zero is not "
			    "recorded", missing);
		return -ENOSYS;
	}
	if (pti.get_name(PTI_GROUP_LEVELZERO, FIRST_FUNCTION, &name) == PTI_NOT_IMPLEMENTED) {
		tell_core(lib);
		return -ENOSYS;
	}
	return 0;
}

const char *levelzero_text(int result)
{
	const char *text = pti.text(result);

	return text ? text : "unknown error";
}
