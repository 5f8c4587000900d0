// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The collector as the library knows it, and what of CUPTI's records is not recorded, by its cause.
 */
#include "gpu/cupti/local.h"

static struct xsprof_miss misses[CUPTI_NR_MISSES] = {
	[CUPTI_MISS_DROPPED]	= { .text = "CUPTI dropped records" },
	[CUPTI_MISS_BUFFERS]	= { .text = "CUPTI buffers, because too many were in use" },
	[CUPTI_MISS_NO_TIME]	= { .text = "activities without a time from CUPTI" },
	[CUPTI_MISS_UNKNOWN]	= { .text = "CUPTI records of unknown kinds" },
	[CUPTI_MISS_EXIT]	= { .text = "CUPTI buffers, because the program ended" },
	[CUPTI_MISS_CONTEXT]	= { .text = "waits in contexts that CUPTI did not report" },
	[CUPTI_MISS_SAMPLES]	= { .text = "metric samples that came too fast" },
	[CUPTI_MISS_SAMPLE_TIME] = { .text = "metric samples of unknown time" },
	[CUPTI_MISS_OF_GRAPHS]	= { .text = "metrics of kernels of graphs" },
	[CUPTI_MISS_OF_OTHERS]	= { .text = "metrics of kernels that wait for other kernels" },
	[CUPTI_MISS_OF_KERNELS]	= { .text = "metrics of kernels, which CUPTI did not measure" },
	[CUPTI_MISS_IN_USE] = { .text = "amounts of memory in use after an allocation or a free" },
};

/* What it does is set where its thread is started. */
struct xsprof_collector cupti_collector = {
	.size = sizeof(cupti_collector), .version = XSPROF_COLLECTOR_VERSION,
	.name = "cupti", .category = "cuda",
	.misses = misses, .nr_misses = CUPTI_NR_MISSES,
};

void cupti_miss(enum cupti_miss what, uint64_t n)
{
	xsprof_collector_missed(&misses[what], n);
}
