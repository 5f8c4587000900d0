// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Counts unloads of code, which make cached unwind rules wrong, and interposes dlclose() to see
 * them.
 */
#include <dlfcn.h>
#include <stdlib.h>

#include "collect/torch/native.h"

static uint32_t unloads = 1;

uint32_t torch_unloads(void)
{
	/* Acquire: pairs with dlclose(): code loaded later is not taken for the old code. */
	return __atomic_load_n(&unloads, __ATOMIC_ACQUIRE);
}

/*
 * Interposes the program's dlclose() if we are preloaded. A library loaded afterwards may get the
 * addresses of the unloaded one. Counted before and after: rules of the code may be read while it
 * is unloaded.
 */
static int close_library(void *handle)
{
	static int (*real)(void *handle);
	int (*next)(void *handle) = __atomic_load_n(&real, __ATOMIC_RELAXED);
	void *symbol;
	int ret;

	if (!next) {
		symbol = dlsym(RTLD_NEXT, "dlclose");
		if (!symbol)
			abort();
		memcpy(&next, &symbol, sizeof(next));
		__atomic_store_n(&real, next, __ATOMIC_RELAXED);
	}
	__atomic_add_fetch(&unloads, 1, __ATOMIC_RELEASE);
	ret = next(handle);
	__atomic_add_fetch(&unloads, 1, __ATOMIC_RELEASE);
	return ret;
}

TORCH_EXPORT int dlclose(void *handle) __attribute__((alias("close_library")));

bool torch_sees_unloads(void)
{
	void *first = dlsym(RTLD_DEFAULT, "dlclose");
	int (*ours)(void *handle) = close_library;

	return !memcmp(&first, &ours, sizeof(first));
}
