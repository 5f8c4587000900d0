// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The collector as the library knows it, and what of the program's commands is not recorded, by its
 * cause.
 */
#include "gpu/opencl/local.h"

struct xsprof_miss opencl_misses[OPENCL_NR_MISSES] = {
	[OPENCL_MISS_NO_EVENT]	= { .text = "commands that the runtime gave no event for" },
	[OPENCL_MISS_NO_TIMES]	= { .text = "commands that the runtime has no times of" },
	[OPENCL_MISS_FAILED]	= { .text = "commands that ended with an error" },
	[OPENCL_MISS_FULL]	= { .text = "commands, as too many were under way" },
	[OPENCL_MISS_QUEUES]	= { .text = "commands of more queues or devices than have room" },
	[OPENCL_MISS_PLATFORMS]	= {
		.text = "functions of extensions, of further platforms" },
	[OPENCL_MISS_EXIT]	= { .text = "commands, as the program ended" },
};

/* What it does is set where its thread is started. */
struct xsprof_collector opencl_collector = {
	.size = sizeof(opencl_collector), .version = XSPROF_COLLECTOR_VERSION,
	.name = "opencl", .category = "opencl",
	.misses = opencl_misses, .nr_misses = OPENCL_NR_MISSES,
};
