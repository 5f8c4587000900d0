// SPDX-License-Identifier: LGPL-2.1-only
/*
 * What CUPTI had to do since this was last asked, as its records tell it.  Called by the
 * collector's thread.
 */
#include "gpu/cupti/local.h"

static struct cupti_load load;

/* All of a graph is of one call, and comes together, if not of several streams. */
void cupti_load_launch(uint32_t graph, uint32_t correlation)
{
	static uint32_t last;

	load.in_graphs += !!graph;
	load.launches[CUPTI_LAUNCH_KERNEL] += !graph;
	load.launches[CUPTI_LAUNCH_GRAPH] += graph && correlation != last;
	last = graph ? correlation : last;
}

void cupti_load_overhead(uint64_t ns)
{
	load.overhead += ns;
}

const struct cupti_load *cupti_load(void)
{
	return &load;
}

void cupti_load_anew(void)
{
	load = (struct cupti_load){ .overhead = 0 };
}
