// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Finds CUPTI: the copy that the program has loaded already, as PyTorch has, or one beside the CUDA
 * runtime that it uses, or where CUDA is usually installed.
 */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "gpu/cupti/local.h"

#define VARIABLE	"XSPROF_CUPTI"

struct cupti cupti;
uint32_t cupti_version;

static void *library;

/* The newest first; since 12.0 there is one a major version. */
static const char *const names[] = {
	"libcupti.so.14", "libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8", "libcupti.so",
};
static const char *const runtimes[] = {
	"libcudart.so.14", "libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0",
};
/* From the folder of the runtime: of an installed CUDA, of wheels of 13, of wheels of 12 and 11. */
static const char *const beside[] = {
	"", "../extras/CUPTI/lib64/", "../../../extras/CUPTI/lib64/", "../../cuda_cupti/lib/",
};
static const char *const installed[] = {
	"/usr/local/cuda/extras/CUPTI/lib64/", "/usr/local/cuda/lib64/", "/opt/cuda/lib64/",
};

static void *try_in(const char *folder)
{
	char path[PATH_MAX];
	void *lib = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(names) && !lib; i++)
		if (snprintf(path, sizeof(path), "%s%s", folder, names[i]) < (int)sizeof(path))
			lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	return lib;
}

static void *try_beside_runtime(void)
{
	char path[PATH_MAX + 64], *slash;
	void *runtime, *func, *lib = NULL;
	Dl_info info;

	for (size_t i = 0; i < ARRAY_SIZE(runtimes) && !lib; i++) {
		runtime = dlopen(runtimes[i], RTLD_NOW | RTLD_NOLOAD);
		func = runtime ? dlsym(runtime, "cudaRuntimeGetVersion") : NULL;
		if (!func || !dladdr(func, &info) || !info.dli_fname)
			continue;
		for (size_t b = 0; b < ARRAY_SIZE(beside) && !lib; b++) {
			if (strlen(info.dli_fname) >= PATH_MAX)
				break;
			strcpy(path, info.dli_fname);
			slash = strrchr(path, '/');
			strcpy(slash ? slash + 1 : path, beside[b]);
			lib = try_in(path);
		}
	}
	return lib;
}

static void *find(void)
{
	const char *named = secure_getenv(VARIABLE);
	void *lib = NULL;

	if (named && *named) {
		lib = dlopen(named, RTLD_NOW | RTLD_LOCAL);
		if (!lib)
			xsprof_say("%s: %s: the GPU is not recorded", VARIABLE, dlerror());
		return lib;
	}
	for (size_t i = 0; i < ARRAY_SIZE(names) && !lib; i++)
		lib = dlopen(names[i], RTLD_NOW | RTLD_NOLOAD);
	if (!lib)
		lib = try_beside_runtime();
	if (!lib)
		lib = try_in("");
	for (size_t i = 0; i < ARRAY_SIZE(installed) && !lib; i++)
		lib = try_in(installed[i]);
	if (!lib)
		xsprof_say("no libcupti was found (it is part of the CUDA toolkit, and of "
			   "PyTorch's wheels): set %s to its path; the GPU is not "
			   "recorded", VARIABLE);
	return lib;
}

/* Return: the name of a function that is missing, or NULL. */
static const char *fill(void *lib)
{
	const struct {
		void		*to;
		const char	*name;
	} functions[] = {
		{ &cupti.get_version, "cuptiGetVersion" },
		{ &cupti.get_result_string, "cuptiGetResultString" },
		{ &cupti.get_callback_name, "cuptiGetCallbackName" },
		{ &cupti.subscribe, "cuptiSubscribe" },
		{ &cupti.unsubscribe, "cuptiUnsubscribe" },
		{ &cupti.register_callbacks, "cuptiActivityRegisterCallbacks" },
		{ &cupti.enable, "cuptiActivityEnable" },
		{ &cupti.disable, "cuptiActivityDisable" },
		{ &cupti.flush_all, "cuptiActivityFlushAll" },
		{ &cupti.get_next, "cuptiActivityGetNextRecord" },
		{ &cupti.get_dropped, "cuptiActivityGetNumDroppedRecords" },
		{ &cupti.set_timestamp, "cuptiActivityRegisterTimestampCallback" },
		{ &cupti.set_thread_id, "cuptiSetThreadIdType" },
		{ &cupti.set_attribute, "cuptiActivitySetAttribute" },
	}, optional[] = {
		{ &cupti.enable_driver, "cuptiActivityEnableDriverApi" },
		{ &cupti.enable_runtime, "cuptiActivityEnableRuntimeApi" },
		{ &cupti.enable_latency, "cuptiActivityEnableLatencyTimestamps" },
		{ &cupti.enable_callback, "cuptiEnableCallback" },
		{ &cupti.get_node_id, "cuptiGetGraphNodeId" },
		{ &cupti.configure_managed, "cuptiActivityConfigureUnifiedMemoryCounter" },
	};
	void *symbol;

	for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
		symbol = dlsym(lib, functions[i].name);
		if (!symbol)
			return functions[i].name;
		memcpy(functions[i].to, &symbol, sizeof(symbol));
	}
	for (size_t i = 0; i < ARRAY_SIZE(optional); i++) {
		symbol = dlsym(lib, optional[i].name);
		memcpy(optional[i].to, &symbol, sizeof(symbol));
	}
	return NULL;
}

int cupti_open(void)
{
	void *lib = find();
	const char *missing;

	if (!lib)
		return -ENOENT;
	library = lib;
	missing = fill(lib);
	if (!missing && !cupti.get_version(&cupti_version) && cupti_version >= CUPTI_OLDEST)
		return 0;
	if (missing)
		xsprof_say("this libcupti has no %s: CUDA 11.8 or newer is needed; the GPU is not "
			   "recorded", missing);
	else
		xsprof_say("this libcupti has version %u: that of CUDA 11.8 (%u) or newer is "
			   "needed; the GPU is not recorded", cupti_version, CUPTI_OLDEST);
	return -ENOSYS;
}

void *cupti_symbol(const char *name)
{
	return dlsym(library, name);
}

const char *cupti_text(int result)
{
	const char *text = NULL;

	if (!cupti.get_result_string || cupti.get_result_string(result, &text) || !text)
		text = "unknown error";
	return text;
}
