// SPDX-License-Identifier: LGPL-2.1-only
/*
 * When code is unloaded: rules of unwinding that were read of it are those of other code then. Owns
 * the count of these times, and the dlclose() by which they are seen.
 */
#include <dlfcn.h>
#include <stdlib.h>

#include "collect/torch/native.h"

static uint32_t unloads = 1;

uint32_t torch_unloads(void)
{
	/* Acquire: pairs with dlclose(): what comes then is not taken for what was there. */
	return __atomic_load_n(&unloads, __ATOMIC_ACQUIRE);
}

/*
 * The program's dlclose() where we are preloaded: it comes before the C library's. What is loaded
 * after it may be where other code was. Counted twice: rules of code that is unloaded may be read
 * meanwhile.
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
