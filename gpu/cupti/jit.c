// SPDX-License-Identifier: LGPL-2.1-only
/*
 * What the driver compiles while the program runs, and loads from its cache and stores there: time
 * of the host, on request.
 */
#include "gpu/cupti/local.h"

enum entry { PTX_TO_CUBIN = 1, NVVM_TO_PTX };
enum operation { CACHE_LOAD = 1, CACHE_STORE, COMPILE };

static xsprof_name_t cache_size;

void cupti_jit_init(void)
{
	cache_size = xsprof_name("cache size (bytes)");
}

void cupti_jit(const struct cupti_jit *j)
{
	static const char *const texts[][3] = {
		[PTX_TO_CUBIN] = {
			"JIT Cache Load (PTX to cubin)", "JIT Cache Store (PTX to cubin)",
			"JIT Compile (PTX to cubin)",
		},
		[NVVM_TO_PTX] = {
			"JIT Cache Load (NVVM IR to PTX)", "JIT Cache Store (NVVM IR to PTX)",
			"JIT Compile (NVVM IR to PTX)",
		},
	};
	struct xsprof_device_activity a;
	struct xsprof_kv kv;

	if (j->entry < PTX_TO_CUBIN || j->entry > NVVM_TO_PTX || j->operation < CACHE_LOAD ||
	    j->operation > COMPILE) {
		cupti_miss(CUPTI_MISS_UNKNOWN, 1);
		return;
	}
	if (!cupti_work(&a, XSPROF_GPU_OVERHEAD,
			xsprof_name_in(cupti_category(), texts[j->entry][j->operation - 1]),
			j->start, j->end, j->correlation))
		return;
	a.device = j->device;
	/* The path of the cache is CUPTI's, which may have freed it. */
	kv = xsprof_u64(cache_size, j->cache_size);
	cupti_put(&a, &kv, j->operation != COMPILE);
}
