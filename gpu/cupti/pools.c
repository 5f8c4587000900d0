// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Pools of memory (cudaMallocAsync) that are created, trimmed and destroyed, with what they hold
 * afterwards: on request.
 */
#include "gpu/cupti/local.h"

#define CREATED		1u
#define DESTROYED	2u
#define TRIMMED		3u
#define LOCAL		1u	/* an imported one is of another process, which has the numbers */

enum key { KEY_ADDRESS, KEY_USED, KEY_THRESHOLD, KEY_KEEP, NR_KEYS };

static xsprof_name_t keys[NR_KEYS];

void cupti_pools_init(void)
{
	static const char *const texts[NR_KEYS] = {
		[KEY_ADDRESS] = "address", [KEY_USED] = "used of the pool (bytes)",
		[KEY_THRESHOLD] = "release threshold (bytes)", [KEY_KEEP] = "kept at least (bytes)",
	};

	for (int i = 0; i < NR_KEYS; i++)
		keys[i] = xsprof_name(texts[i]);
}

void cupti_pools(const struct cupti_pool_change *c)
{
	static const char *const texts[][2] = {
		[CREATED] = { "Pool Created (Imported)", "Pool Created" },
		[DESTROYED] = { "Pool Destroyed (Imported)", "Pool Destroyed" },
		[TRIMMED] = { "Pool Trimmed (Imported)", "Pool Trimmed" },
	};
	bool local = c->pool == LOCAL;
	struct xsprof_device_activity a;
	struct xsprof_kv kv[NR_KEYS];
	size_t n = 0;

	if (c->operation < CREATED || c->operation > TRIMMED) {
		cupti_miss(CUPTI_MISS_UNKNOWN, 1);
		return;
	}
	if (!cupti_work(&a, c->operation == CREATED ? XSPROF_GPU_ALLOC : XSPROF_GPU_FREE,
			xsprof_name_in(cupti_category(), texts[c->operation][local]), c->timestamp,
			c->timestamp, c->correlation))
		return;
	a.device = c->device;
	a.bytes = local ? c->size : 0;
	kv[n++] = xsprof_ptr(keys[KEY_ADDRESS], (const void *)(uintptr_t)c->address);
	if (local) {
		kv[n++] = xsprof_u64(keys[KEY_USED], c->used);
		kv[n++] = xsprof_u64(keys[KEY_THRESHOLD], c->threshold);
	}
	if (c->operation == TRIMMED)
		kv[n++] = xsprof_u64(keys[KEY_KEEP], c->keep);
	cupti_put(&a, kv, n);
}
