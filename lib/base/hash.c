// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Seeds of hashes: see hash.h.
 */
#include <sys/random.h>

#include "base/hash.h"

uint64_t xsp_hash_seed(const void *of)
{
	uint64_t seed;

	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != sizeof(seed))
		seed = xsp_hash_mix((uintptr_t)of);
	return seed;
}

uint64_t xsp_hash_secret;

__attribute__((constructor(101))) void xsp_hash_begin(void)
{
	if (!xsp_hash_secret)
		xsp_hash_secret = xsp_hash_seed(&xsp_hash_secret) | 1;
}
