// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Finds CUPTI: the copy that the program has loaded already, as PyTorch does, else one beside the
 * CUDA runtime in use, else one where CUDA is usually installed.
 */
#include <errno.h>

#include "gpu/common/refused.h"
#include "gpu/cupti/local.h"

struct cupti cupti;
uint32_t cupti_version;

static void *library;

/* The newest first; since 12.0 there is one per major version. */
static const char *const names[] = {
	"libcupti.so.14", "libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8", "libcupti.so",
};
const char *const cupti_runtimes[] = {
	"libcudart.so.14", "libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0", NULL,
};
/* Relative to the runtime's folder: installed CUDA, wheels of 13, wheels of 12 and 11. */
static const char *const beside[] = {
	"", "../extras/CUPTI/lib64/", "../../../extras/CUPTI/lib64/", "../../cuda_cupti/lib/",
};
static const char *const installed[] = {
	"/usr/local/cuda/extras/CUPTI/lib64/", "/usr/local/cuda/lib64/", "/opt/cuda/lib64/",
	NULL,
};

static void *beside_runtime(const struct gpu_library *l)
{
	char folder[PATH_MAX], path[PATH_MAX + 64];
	void *runtime, *lib = NULL;

	for (size_t i = 0; cupti_runtimes[i] && !lib; i++) {
		runtime = dlopen(cupti_runtimes[i], RTLD_NOW | RTLD_NOLOAD);
		if (!runtime || !gpu_folder_of(dlsym(runtime, "cudaRuntimeGetVersion"), folder,
					       sizeof(folder)))
			continue;
		for (size_t b = 0; b < ARRAY_SIZE(beside) && !lib; b++) {
			snprintf(path, sizeof(path), "%s%s", folder, beside[b]);
			lib = gpu_library_in(l, path);
		}
	}
	return lib;
}

static const struct gpu_library where = {
	.variable = "XSPROF_CUPTI", .what = "the GPU", .names = names, .nr = ARRAY_SIZE(names),
	.beside = beside_runtime, .installed = installed,
	.hint = "no libcupti was found (it is part of the CUDA toolkit, and of PyTorch's wheels)",
};

/* Return: the name of a missing function, or NULL. */
static const char *fill(void *lib)
{
	const struct gpu_function functions[] = {
		{ &cupti.get_version, "cuptiGetVersion" },
		{ &cupti.get_result_string, "cuptiGetResultString" },
		{ &cupti.get_callback_name, "cuptiGetCallbackName" },
		{ &cupti.get_device_id, "cuptiGetDeviceId" },
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
		{ &cupti.get_attribute, "cuptiActivityGetAttribute" },
		{ &cupti.enable_driver, "cuptiActivityEnableDriverApi" },
		{ &cupti.enable_runtime, "cuptiActivityEnableRuntimeApi" },
		{ &cupti.enable_latency, "cuptiActivityEnableLatencyTimestamps" },
		{ &cupti.enable_all_waits, "cuptiActivityEnableAllSyncRecords" },
		{ &cupti.enable_callback, "cuptiEnableCallback" },
		{ &cupti.get_node_id, "cuptiGetGraphNodeId" },
		{ &cupti.get_context_id, "cuptiGetContextId" },
		{ &cupti.get_stream_id, "cuptiGetStreamIdEx" },
		{ &cupti.configure_managed, "cuptiActivityConfigureUnifiedMemoryCounter" },
	};

	(void)gpu_functions_get(lib, optional, ARRAY_SIZE(optional));
	return gpu_functions_get(lib, functions, ARRAY_SIZE(functions));
}

int cupti_open(void)
{
	void *lib = gpu_library_find(&where);
	const char *missing;

	if (!lib)
		return -ENOENT;
	library = lib;
	missing = fill(lib);
	if (!missing && !cupti.get_version(&cupti_version) && cupti_version >= CUPTI_OLDEST)
		return 0;
	if (missing)
		gpu_refused("this libcupti has no %s: CUDA 11.8 or newer is needed; the GPU is not "
			    "recorded", missing);
	else
		gpu_refused("this libcupti has version %u: that of CUDA 11.8 (%u) or newer is "
			    "needed; the GPU is not recorded", cupti_version, CUPTI_OLDEST);
	return -ENOSYS;
}

bool cupti_functions_get(const struct gpu_function *functions, size_t nr)
{
	return !gpu_functions_get(library, functions, nr);
}

const char *cupti_text(int result)
{
	const char *text = NULL;

	if (!cupti.get_result_string || cupti.get_result_string(result, &text) || !text)
		text = "unknown error";
	return text;
}
