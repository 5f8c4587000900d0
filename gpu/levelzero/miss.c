// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The collector as registered with the library, and the counts of PTI's records that are not
 * recorded, by cause.
 */
#include "gpu/levelzero/local.h"

static struct xsprof_miss misses[LEVELZERO_NR_MISSES] = {
	[LEVELZERO_MISS_DROPPED]	= { .text = "records of PTI, as all buffers were full" },
	[LEVELZERO_MISS_NO_TIME]	= { .text = "activities for which PTI has no time" },
	[LEVELZERO_MISS_UNKNOWN]	= { .text = "PTI records of an unknown kind" },
	[LEVELZERO_MISS_REST]		= { .text = "rests of buffers that PTI cannot read" },
	[LEVELZERO_MISS_QUEUE]		= { .text = "waits in queues of which PTI told nothing" },
	[LEVELZERO_MISS_EXIT]		= { .text = "buffers of PTI, as the program ended" },
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
