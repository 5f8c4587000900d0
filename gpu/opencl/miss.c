// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The collector as the library knows it, and what of the program's commands is not recorded, by its
 * cause.
 */
#include "gpu/opencl/local.h"

struct xsprof_miss opencl_misses[OPENCL_NR_MISSES] = {
	[OPENCL_MISS_NO_EVENT]	= { .text = "commands without an event from the runtime" },
	[OPENCL_MISS_NO_TIMES]	= { .text = "commands without times from the runtime" },
	[OPENCL_MISS_FAILED]	= { .text = "commands that ended with an error" },
	[OPENCL_MISS_FULL]	= { .text = "commands, because too many were in flight" },
	[OPENCL_MISS_QUEUES]	= { .text = "commands of queues or devices beyond the limit" },
	[OPENCL_MISS_PLATFORMS]	= {
		.text = "functions of extensions, of further platforms" },
	[OPENCL_MISS_EXIT]	= { .text = "commands, because the program ended" },
};

/* What it does is set where its thread is started. */
struct xsprof_collector opencl_collector = {
	.size = sizeof(opencl_collector), .version = XSPROF_COLLECTOR_VERSION,
	.name = "opencl", .category = "opencl",
	.misses = opencl_misses, .nr_misses = OPENCL_NR_MISSES,
};
