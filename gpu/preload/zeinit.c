// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The functions that initialise Level Zero, which a program that is linked with its loader finds
 * here first.  They call the loader's, and open the collector.
 */
#include <dlfcn.h>
#include <string.h>

#include "gpu/preload/local.h"

#define LOADER		"libze_loader.so.1"
#define COLLECTOR	"libxsprof-levelzero.so"
#define UNINITIALIZED	0x78000001
#define UNSUPPORTED	0x78000003

EXPORT int zeInit(uint32_t flags);
EXPORT int zeInitDrivers(uint32_t *n, void **drivers, void *description);

/* One behind us, or that of a loader which was opened with a plug-in of the program. */
static void *next(const char *name)
{
	void *symbol = dlsym(RTLD_NEXT, name), *lib;

	if (symbol)
		return symbol;
	lib = dlopen(LOADER, RTLD_LAZY | RTLD_NOLOAD);
	return lib ? dlsym(lib, name) : NULL;
}

/* PTI comes here again, from the collector. */
static void begin(void)
{
	static void *lib;
	static int failed;
	void *found = __atomic_load_n(&lib, __ATOMIC_ACQUIRE), *symbol;
	void (*collector)(void);

	if (!found && !__atomic_load_n(&failed, __ATOMIC_RELAXED)) {
		found = preload_open(COLLECTOR, "Level Zero");
		/* Release: whoever sees it may use it.  Two threads store the same value. */
		__atomic_store_n(&lib, found, __ATOMIC_RELEASE);
		__atomic_store_n(&failed, !found, __ATOMIC_RELAXED);
	}
	symbol = found ? dlsym(found, "xsprof_levelzero_begin") : NULL;
	memcpy(&collector, &symbol, sizeof(collector));
	if (collector)
		collector();
}

int zeInit(uint32_t flags)
{
	void *symbol = next("zeInit");
	int (*function)(uint32_t flags), ret;

	if (!symbol)
		return UNINITIALIZED;
	memcpy(&function, &symbol, sizeof(function));
	ret = function(flags);
	begin();
	return ret;
}

/* The first call of a program asks how many there are. */
int zeInitDrivers(uint32_t *n, void **drivers, void *description)
{
	void *symbol = next("zeInitDrivers");
	int (*function)(uint32_t *n, void **drivers, void *description), ret;

	if (!symbol)
		return UNSUPPORTED;
	memcpy(&function, &symbol, sizeof(function));
	ret = function(n, drivers, description);
	begin();
	return ret;
}
