// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Finds rocprofiler-sdk's functions in the copy that called us: a process may have loaded several,
 * as PyTorch's wheels bring their own.
 */
#include <errno.h>

#include "gpu/common/library.h"
#include "gpu/common/refused.h"
#include "gpu/rocm/local.h"

struct rocp rocp;
uint32_t rocm_version;

/* Return: the name of a missing function, or NULL. */
static const char *fill(void *lib)
{
	const struct gpu_function functions[] = {
		{ &rocp.text, "rocprofiler_get_status_string" },
		{ &rocp.timestamp, "rocprofiler_get_timestamp" },
		{ &rocp.create_context, "rocprofiler_create_context" },
		{ &rocp.start, "rocprofiler_start_context" },
		{ &rocp.stop, "rocprofiler_stop_context" },
		{ &rocp.create_buffer, "rocprofiler_create_buffer" },
		{ &rocp.flush, "rocprofiler_flush_buffer" },
		{ &rocp.trace, "rocprofiler_configure_buffer_tracing_service" },
		{ &rocp.call_back, "rocprofiler_configure_callback_tracing_service" },
		{ &rocp.kinds, "rocprofiler_iterate_buffer_tracing_kinds" },
		{ &rocp.kind_name, "rocprofiler_query_buffer_tracing_kind_name" },
		{ &rocp.operations, "rocprofiler_iterate_buffer_tracing_kind_operations" },
		{ &rocp.operation_name, "rocprofiler_query_buffer_tracing_kind_operation_name" },
		{ &rocp.event_kinds, "rocprofiler_iterate_callback_tracing_kinds" },
		{ &rocp.event_kind_name, "rocprofiler_query_callback_tracing_kind_name" },
		{ &rocp.agents, "rocprofiler_query_available_agents" },
	};

	return gpu_functions_get(lib, functions, ARRAY_SIZE(functions));
}

static bool is_known(uint32_t version)
{
	return (version >= ROCP_OLDEST && version < ROCP_OLD_END) ||
	       (version >= ROCP_ANCESTORS && version < ROCP_END);
}

int rocm_open(uint32_t version, const void *caller)
{
	const char *missing;
	Dl_info info;
	void *lib;

	if (!is_known(version)) {
		gpu_refused("this rocprofiler-sdk is %u.%u.%u; supported are those of ROCm 6.2 "
			    "to 7 (0.4 to 0.6, and 1): ROCm is not recorded", version / 10000,
			    version / 100 % 100, version % 100);
		return -ENOSYS;
	}
	lib = dladdr(caller, &info) && info.dli_fname ?
	      dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
	if (!lib) {
		gpu_refused("rocprofiler-sdk is not found at the address of its call: ROCm is not "
			    "recorded");
		return -ENOENT;
	}
	missing = fill(lib);
	if (missing) {
		gpu_refused("this rocprofiler-sdk has no %s: ROCm is not recorded", missing);
		return -ENOSYS;
	}
	rocm_version = version;
	return 0;
}

const char *rocm_text(int status)
{
	const char *text = rocp.text(status);

	return text ? text : "unknown error";
}
