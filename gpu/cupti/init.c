// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Entry point: when libcuda is initialised, it opens the library that CUDA_INJECTION64_PATH names,
 * and calls its entry point. A tool that the user had named there is opened and called after us.
 */
#include <dlfcn.h>
#include <stdlib.h>

#include "gpu/common/start.h"
#include "gpu/cupti/handle.h"
#include "gpu/cupti/managed.h"

#define CHAINED		"XSPROF_CUDA_TOOL"
#define ENTRY		"InitializeInjection"

__attribute__((visibility("default"))) int InitializeInjection(void);

static int chain(void)
{
	const char *path = secure_getenv(CHAINED);
	void *lib = path && *path ? dlopen(path, RTLD_NOW) : NULL;
	int (*entry)(void) = NULL;
	Dl_info mine, its;
	void *symbol;

	if (!path || !*path)
		return 1;
	symbol = lib ? dlsym(lib, ENTRY) : NULL;
	/* The path may be another name of this library. */
	if (symbol && dladdr(symbol, &its) && dladdr((void *)chain, &mine) &&
	    its.dli_fbase == mine.dli_fbase)
		return 1;
	memcpy(&entry, &symbol, sizeof(entry));
	if (!entry)
		xsprof_say("%s: %s", path, lib ? "it has no " ENTRY : dlerror());
	return entry ? entry() : 1;
}

/* Return: 1, always: the program could do nothing about an error. */
int InitializeInjection(void)
{
	static bool done;
	uint64_t begin;
	int err;

	if (!done && gpu_is_recording()) {
		done = true;
		begin = xsprof_now();
		cupti_detail_init();
		cupti_budget_init();
		cupti_record_init();
		cupti_bounds_init();
		cupti_wait_init();
		cupti_memory_init();
		cupti_managed_init();
		cupti_pools_init();
		cupti_jit_init();
		cupti_nodes_init();
		cupti_links_init();
		cupti_metrics_init();
		cupti_ranges_init();
		if (!cupti_open()) {
			/* Measures the clock's rate now, not in the first recorded call. */
			(void)xsprof_ticks_ns(0);
			cupti_share_init();
			cupti_handle_init();
			err = cupti_kinds_on();
			if (err)
				cupti_tell(err);
			else if (!cupti_thread_start())
				gpu_started(cupti_category(), "Start of CUPTI", begin);
			else
				cupti_kinds_off();
		}
	}
	return chain();
}
