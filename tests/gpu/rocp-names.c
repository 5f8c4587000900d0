// SPDX-License-Identifier: GPL-2.0-only
/*
 * Environment variables of the rocprofiler-sdk stand-in, and the names and numbers of the version
 * that it plays.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/gpu/rocp-stand-in.h"

static const char *const old_kinds[] = {
	"NONE", "HSA_CORE_API", "HSA_AMD_EXT_API", "HSA_IMAGE_EXT_API", "HSA_FINALIZE_EXT_API",
	"HIP_RUNTIME_API", "HIP_COMPILER_API", "MARKER_CORE_API", "MARKER_CONTROL_API",
	"MARKER_NAME_API", "MEMORY_COPY", "KERNEL_DISPATCH", "PAGE_MIGRATION", "SCRATCH_MEMORY",
	"CORRELATION_ID_RETIREMENT", "RCCL_API", NULL,
};
static const char *const new_kinds[] = {
	"NONE", "HSA_CORE_API", "HSA_AMD_EXT_API", "HSA_IMAGE_EXT_API", "HSA_FINALIZE_EXT_API",
	"HIP_RUNTIME_API", "HIP_COMPILER_API", "MARKER_CORE_API", "MARKER_CONTROL_API",
	"MARKER_NAME_API", "MEMORY_COPY", "KERNEL_DISPATCH", "SCRATCH_MEMORY",
	"CORRELATION_ID_RETIREMENT", "RCCL_API", "OMPT", "MEMORY_ALLOCATION", NULL,
};
const char *const rocp_event_kinds[] = {
	"NONE", "HSA_CORE_API", "HSA_AMD_EXT_API", "HSA_IMAGE_EXT_API", "HSA_FINALIZE_EXT_API",
	"HIP_RUNTIME_API", "HIP_COMPILER_API", "MARKER_CORE_API", "MARKER_CONTROL_API",
	"MARKER_NAME_API", "CODE_OBJECT", "SCRATCH_MEMORY", NULL,
};
static const char *const memory_names[] = {
	"MEMORY_ALLOCATION_NONE", "MEMORY_ALLOCATION_ALLOCATE", "MEMORY_ALLOCATION_VMEM_ALLOCATE",
	"MEMORY_ALLOCATION_FREE", "MEMORY_ALLOCATION_VMEM_FREE", NULL,
};
static const char *const hip_names[] = {
	"hipApiName", "hipGetDevice", "hipLaunchKernel", "hipMemcpyAsync", "hipMalloc", "hipFree",
	"hipStreamSynchronize", "hipModuleLaunchKernel", NULL,
};

bool rocp_is(const char *word)
{
	const char *all = getenv("ROCP_STAND_IN"), *at = all ? strstr(all, word) : NULL;
	size_t len = strlen(word);

	return at && (at == all || at[-1] == ',') && (at[len] == ',' || !at[len]);
}

uint32_t rocp_stand_in_version(void)
{
	const char *text = getenv("ROCP_STAND_IN_VERSION");
	unsigned int major = 1, minor = 0;

	if (text)
		sscanf(text, "%u.%u", &major, &minor);
	return ROCP_VERSION(major, minor);
}

const char *const *rocp_kinds(void)
{
	return rocp_stand_in_version() < ROCP_VERSION(0, 6) ? old_kinds : new_kinds;
}

static uint32_t number_in(const char *const *v, const char *name)
{
	for (uint32_t i = 0; v[i]; i++)
		if (!strcmp(v[i], name))
			return i;
	return 0;
}

uint32_t rocp_kind_of(const char *name)
{
	return number_in(rocp_kinds(), name);
}

uint32_t rocp_event_kind_of(const char *name)
{
	return number_in(rocp_event_kinds, name);
}

/* Newer versions have more functions before these. */
int32_t rocp_first_function(void)
{
	return rocp_stand_in_version() >= ROCP_ANCESTORS ? 3 : 0;
}

const char *rocp_hip_name(int32_t operation)
{
	int32_t i = operation - rocp_first_function();

	return i >= 0 && i < (int32_t)(sizeof(hip_names) / sizeof(hip_names[0])) - 1 ?
	       hip_names[i] : NULL;
}

int32_t rocp_hip_number(const char *name)
{
	return (int32_t)number_in(hip_names, name) + rocp_first_function();
}

const char *rocp_memory_name(int32_t operation)
{
	return operation < 5 ? memory_names[operation] : NULL;
}

