// SPDX-License-Identifier: LGPL-2.1-only
/*
 * How a program that uses CUDA comes here: libcuda opens the library that CUDA_INJECTION64_PATH
 * names when it is initialised, and calls its one entry point.  A tool that the user had named
 * there is opened and called after us.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>

#include "gpu/cupti/local.h"

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
	/* Not ourselves, whatever the path is called. */
	if (symbol && dladdr(symbol, &its) && dladdr((void *)chain, &mine) &&
	    its.dli_fbase == mine.dli_fbase)
		return 1;
	memcpy(&entry, &symbol, sizeof(entry));
	if (!entry)
		xsprof_say("%s: %s", path, lib ? "it has no " ENTRY : dlerror());
	return entry ? entry() : 1;
}

/* Attaches if need be. */
static bool is_recording(void)
{
	int err = xsprof_init(NULL);

	return !err || err == -EAGAIN || err == -EBUSY || err == -EALREADY;
}

/* Return: 1, as there is nothing that a program could do about it. */
int InitializeInjection(void)
{
	static bool done;
	uint64_t begin;
	int err;

	if (!done && is_recording()) {
		done = true;
		begin = xsprof_now();
		cupti_detail_init();
		cupti_budget_init();
		cupti_record_init();
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
			/* The rate is measured now, not in the program's first call. */
			(void)xsprof_ticks_ns(0);
			cupti_share_init();
			err = cupti_kinds_on();
			if (err)
				cupti_tell(err);
			else if (!cupti_thread_start())
				cupti_record_start(begin);
			else
				cupti_kinds_off();
		}
	}
	return chain();
}
