// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The collector as registered with the library, and the counts of PTI's records that are not
 * recorded, by cause.
 */
#include "gpu/levelzero/local.h"

static struct xsprof_miss misses[LEVELZERO_NR_MISSES] = {
	[LEVELZERO_MISS_DROPPED]	= { .text = "PTI records, because all buffers were full" },
	[LEVELZERO_MISS_NO_TIME]	= { .text = "activities without a time from PTI" },
	[LEVELZERO_MISS_UNKNOWN]	= { .text = "PTI records of unknown kinds" },
	[LEVELZERO_MISS_REST]		= { .text = "ends of buffers that PTI cannot read" },
	[LEVELZERO_MISS_QUEUE]		= { .text = "waits in queues that PTI did not report" },
	[LEVELZERO_MISS_EXIT]		= { .text = "PTI buffers, because the program ended" },
};

/* thread.c sets the functions. */
struct xsprof_collector levelzero_collector = {
	.size = sizeof(levelzero_collector), .version = XSPROF_COLLECTOR_VERSION,
	.name = "levelzero", .category = "levelzero",
	.misses = misses, .nr_misses = LEVELZERO_NR_MISSES,
};

void levelzero_miss(enum levelzero_miss what, uint64_t n)
{
	xsprof_collector_missed(&misses[what], n);
}
