// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Creates a category for each NVTX domain.
 */
#include "gpu/nvtx/local.h"

uint32_t nvtx_default;

/*
 * A forked child that has recorded nothing yet still has the parent's enabled bits, which lack a
 * new category: attach first, as the child's first marker would.
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
