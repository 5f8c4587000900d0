// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The functions of roctx, which a program that is linked with it finds here first.  They call the
 * library's, and tell the collector.
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "gpu/rocm/preload/local.h"
#include "gpu/rocm/preload/roctx.h"

#define NEXT(function, name)	ROCM_NEXT(function, name, "roctx")

EXPORT void roctxMarkA(const char *text);
EXPORT int roctxRangePushA(const char *text);
EXPORT int roctxRangePop(void);
EXPORT uint64_t roctxRangeStartA(const char *text);
EXPORT void roctxRangeStop(uint64_t id);

/* ---- the collector --------------------------------------------------------------------------- */

/* By its path, as a sanitizer in between hides which library asks. */
static const struct rocm_roctx *open_collector(void)
{
	char path[PATH_MAX];
	rocm_roctx_entry entry = NULL;
	void *lib = NULL, *symbol;

	if (rocm_beside((const void *)open_collector, COLLECTOR, path, sizeof(path)))
		lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!lib) {
		(void)dprintf(STDERR_FILENO, "xsprof: %s: roctx is not recorded\n", dlerror());
		return NULL;
	}
	symbol = dlsym(lib, ROCM_ROCTX_ENTRY);
	memcpy(&entry, &symbol, sizeof(entry));
	return entry ? entry() : NULL;
}

static const struct rocm_roctx *collector(void)
{
	static const struct rocm_roctx *found;
	static int searched;
	const struct rocm_roctx *c = __atomic_load_n(&found, __ATOMIC_ACQUIRE);

	if (c || __atomic_load_n(&searched, __ATOMIC_RELAXED))
		return c;
	c = open_collector();
	/* Release: whoever sees it may use it.  Two threads store the same value. */
	__atomic_store_n(&found, c, __ATOMIC_RELEASE);
	__atomic_store_n(&searched, 1, __ATOMIC_RELAXED);
	return c;
}

/* ---- the functions --------------------------------------------------------------------------- */

void roctxMarkA(const char *text)
{
	const struct rocm_roctx *c = collector();
	void (*next)(const char *text);

	NEXT(next, "roctxMarkA");
	if (c)
		c->enter();
	if (next)
		next(text);
	if (c)
		c->mark(text);
}

int roctxRangePushA(const char *text)
{
	const struct rocm_roctx *c = collector();
	int (*next)(const char *text), level;

	NEXT(next, "roctxRangePushA");
	if (c)
		c->enter();
	level = next ? next(text) : -1;
	if (c)
		c->push(text);
	return level;
}

int roctxRangePop(void)
{
	const struct rocm_roctx *c = collector();
	int (*next)(void), level;

	NEXT(next, "roctxRangePop");
	if (c)
		c->enter();
	level = next ? next() : -1;
	if (c)
		c->pop();
	return level;
}

uint64_t roctxRangeStartA(const char *text)
{
	const struct rocm_roctx *c = collector();
	uint64_t (*next)(const char *text), id;

	NEXT(next, "roctxRangeStartA");
	if (c)
		c->enter();
	id = next ? next(text) : 0;
	if (c)
		c->start(id, text);
	return id;
}

void roctxRangeStop(uint64_t id)
{
	const struct rocm_roctx *c = collector();
	void (*next)(uint64_t id);

	NEXT(next, "roctxRangeStop");
	if (c)
		c->enter();
	if (next)
		next(id);
	if (c)
		c->stop(id);
}
