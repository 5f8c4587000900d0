// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The collector as the library knows it, and what of rocprofiler-sdk's records is not recorded, by
 * its cause.
 */
#include "gpu/rocm/local.h"

static struct xsprof_miss misses[ROCM_NR_MISSES] = {
	[ROCM_MISS_BUFFERS]	= { .text = "ROCm records, because all buffers were full" },
	[ROCM_MISS_DROPPED]	= { .text = "records that rocprofiler-sdk dropped" },
	[ROCM_MISS_NO_TIME]	= { .text = "activities without a time from rocprofiler-sdk" },
	[ROCM_MISS_UNKNOWN]	= { .text = "rocprofiler-sdk records of unknown kinds" },
	[ROCM_MISS_EXIT]	= { .text = "ROCm buffers, because the program ended" },
};

/* What it does is set where its thread is started. */
struct xsprof_collector rocm_collector = {
	.size = sizeof(rocm_collector), .version = XSPROF_COLLECTOR_VERSION,
	.name = "rocm", .category = "rocm", .misses = misses, .nr_misses = ROCM_NR_MISSES,
};

void rocm_miss(enum rocm_miss what, uint64_t n)
{
	xsprof_collector_missed(&misses[what], n);
}
