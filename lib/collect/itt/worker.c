// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Tasks of OpenMP workers in oneDNN: a primitive is one task of the thread that runs it, and one
 * more, with the same name and domain, of each worker that takes part. Those of workers get their
 * own category, so that a primitive counts once.
 *
 * The OpenMP runtime that oneDNN calls tells whether a thread is a worker. It is looked up when
 * oneDNN creates its domain, never in a worker, which must not wait for the loader's lock.
 */
#include <dlfcn.h>
#include <string.h>

#include "collect/itt/names.h"

#define PREFIX	"dnnl::"
#define SUFFIX	" (OpenMP worker)"

/* By the domain's category: name of the domain for its workers, 0: none. */
static xsprof_name_t workers[XSPROF_MAX_CATEGORIES];
static int (*thread_num)(void);

/* Searches @part's library and its dependencies: there may be several runtimes. */
static void find_runtime(const void *part)
{
	Dl_info info;
	void *library, *sym;

	if (__atomic_load_n(&thread_num, __ATOMIC_RELAXED) || !dladdr(part, &info))
		return;
	/* Not closed: the function must stay loaded. */
	library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	/* dlopen() has no name for the program itself. */
	sym = dlsym(library ? library : RTLD_DEFAULT, "omp_get_thread_num");
	/* Relaxed: the function's code was loaded before its address was stored. */
	__atomic_store_n((void **)&thread_num, sym, __ATOMIC_RELAXED);
}

bool itt_worker_wants(const char *domain, xsprof_name_t name, const void *part,
		      char text[XSPROF_TEXT_MAX])
{
	if (!domain || strncmp(domain, PREFIX, sizeof(PREFIX) - 1) ||
	    strlen(domain) > XSPROF_TEXT_MAX - sizeof(SUFFIX) ||
	    __atomic_load_n(&workers[name >> XSPROF_NAME_SHIFT], __ATOMIC_RELAXED))
		return false;
	find_runtime(part);
	if (!__atomic_load_n(&thread_num, __ATOMIC_RELAXED))
		return false;
	strcpy(stpcpy(text, domain), SUFFIX);
	return true;
}

void itt_worker_domain(xsprof_name_t name, xsprof_name_t of_workers)
{
	/* Relaxed: a name is only a number. */
	__atomic_store_n(&workers[name >> XSPROF_NAME_SHIFT], of_workers, __ATOMIC_RELAXED);
}

xsprof_name_t itt_worker_name(xsprof_name_t domain)
{
	xsprof_name_t other = __atomic_load_n(&workers[domain >> XSPROF_NAME_SHIFT],
					      __ATOMIC_RELAXED);
	int (*num)(void);

	if (likely(!other))
		return domain;
	num = __atomic_load_n(&thread_num, __ATOMIC_RELAXED);
	return num && num() > 0 ? other : domain;
}
