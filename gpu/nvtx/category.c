// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Our categories, of which each domain is one.
 */
#include "gpu/nvtx/local.h"

static uint32_t default_category;	/* + 1 */

/*
 * In the child of a fork that has recorded nothing yet, the enabled bits are still the parent's
 * and know no category that is new: attach first, as its first marker would.
 */
uint32_t nvtx_new_category(const char *name)
{
	int c;

	xsprof_init(NULL);
	c = xsprof_category(name);
	return c < 0 ? 0 : (uint32_t)c;
}

uint32_t nvtx_default_category(void)
{
	uint32_t c = __atomic_load_n(&default_category, __ATOMIC_RELAXED);

	if (unlikely(!c)) {
		c = nvtx_new_category("nvtx") + 1;
		__atomic_store_n(&default_category, c, __ATOMIC_RELAXED);
	}
	return c - 1;
}
