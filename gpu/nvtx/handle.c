// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Names of CUDA's streams and contexts.  The collector of CUDA knows which numbers its records have
 * for a handle; without it, or if it does not know the handle, the call is counted.
 */
#include <xsprof/collector.h>

#include "gpu/nvtx/local.h"

static void give_name(const char *type, const void *handle, const char *name, enum nvtx_miss miss)
{
	if (!name || xsprof_handle_name(type, handle, name))
		nvtx_miss(miss);
}

static void give_name_wide(const char *type, const void *handle, const void *name,
			   enum nvtx_miss miss)
{
	char utf8[NVTX_TEXT_MAX];

	nvtx_wide_text(utf8, sizeof(utf8), name);
	give_name(type, handle, name ? utf8 : NULL, miss);
}

#define CALLS(func, type, miss) \
	static void func(const void *handle, const char *name) \
	{ \
		give_name(type, handle, name, miss); \
	} \
	static void func##_wide(const void *handle, const void *name) \
	{ \
		give_name_wide(type, handle, name, miss); \
	}

CALLS(name_context, "CUcontext", NVTX_MISS_CuContext)
CALLS(name_stream, "CUstream", NVTX_MISS_CuStream)
/* The runtime's streams are the driver's. */
CALLS(name_runtime_stream, "CUstream", NVTX_MISS_CudaStream)

const struct nvtx_entry nvtx_handle_entries[] = {
	NVTX_ENTRY(NVTX_CUDA, NVTX_NAME_CONTEXT_A, name_context),
	NVTX_ENTRY(NVTX_CUDA, NVTX_NAME_CONTEXT_W, name_context_wide),
	NVTX_ENTRY(NVTX_CUDA, NVTX_NAME_STREAM_A, name_stream),
	NVTX_ENTRY(NVTX_CUDA, NVTX_NAME_STREAM_W, name_stream_wide),
	NVTX_ENTRY(NVTX_CUDART, NVTX_NAME_RUNTIME_STREAM_A, name_runtime_stream),
	NVTX_ENTRY(NVTX_CUDART, NVTX_NAME_RUNTIME_STREAM_W, name_runtime_stream_wide),
	{ 0, 0, NULL }
};
