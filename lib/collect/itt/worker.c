// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Tasks of OpenMP's workers in oneDNN: a primitive is one task of the thread that runs it, and
 * one more, of the same name and domain, of each worker that takes part.  Those of workers get a
 * category of their own, so that a primitive counts once.
 *
 * The OpenMP runtime that oneDNN calls says who is a worker.  It is looked up when oneDNN makes its
 * domain and never in a worker, which must not wait for the loader's lock.
 */
#include <dlfcn.h>
#include <string.h>

#include "collect/itt/names.h"

#define PREFIX	"dnnl::"
#define SUFFIX	" (OpenMP worker)"

/* By the domain's category: the name of the domain of its workers, 0 none. */
static xsprof_name_t workers[XSPROF_MAX_CATEGORIES];
static int (*thread_num)(void);

/* @part's library and those that it needs are searched: there may be several runtimes. */
static void find_runtime(const void *part)
{
	Dl_info info;
	void *library, *sym;

	if (__atomic_load_n(&thread_num, __ATOMIC_RELAXED) || !dladdr(part, &info))
		return;
	/* Not closed: the function must stay. */
	library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	/* The program itself has no name that dlopen() knows. */
	sym = dlsym(library ? library : RTLD_DEFAULT, "omp_get_thread_num");
	/* Relaxed: only the runtime's code is read through it, and that was there before. */
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
	/* Relaxed: a name is a number. */
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
