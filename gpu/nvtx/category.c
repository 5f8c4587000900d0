// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Our categories, of which each domain is one.
 */
#include "gpu/nvtx/local.h"

uint32_t nvtx_default;

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

uint32_t nvtx_default_new(void)
{
	uint32_t c = nvtx_new_category("nvtx");

	__atomic_store_n(&nvtx_default, c + 1, __ATOMIC_RELAXED);
	return c;
}
