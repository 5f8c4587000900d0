// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The account of what is not recorded: a counter in the trace for each, with its sum at the times
 * at which it changed.
 */
#include <xsprof/xsprof.h>

#include "gpu/common/collect.h"

/*
 * Called by a collector's thread, and by the program's end where that thread did not stop in time.
 * Relaxed: both write the same counter with the same sum.
 */
void collect_misses_show(struct collect_miss *list, unsigned int nr, int category)
{
	for (unsigned int i = 0; i < nr; i++) {
		uint64_t n = __atomic_load_n(&list[i].n, __ATOMIC_RELAXED);
		uint64_t shown = __atomic_load_n(&list[i].shown, __ATOMIC_RELAXED);
		xsprof_name_t name;

		name = n == shown ? 0 : xsprof_name_in(category, list[i].text);
		/* Later, where recording is paused. */
		if (!name || !xsprof_wants(name))
			continue;
		__atomic_store_n(&list[i].shown, n, __ATOMIC_RELAXED);
		xsprof_counter(name, (int64_t)n);
	}
}
