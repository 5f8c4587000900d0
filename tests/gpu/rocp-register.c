// SPDX-License-Identifier: GPL-2.0-only
/*
 * A stand-in for librocprofiler-register: if a variable names tools it loads rocprofiler-sdk, and
 * aborts the program if it cannot. ROCP_REGISTER_IS_SDK: it calls the tools itself, and has none of
 * rocprofiler-sdk's functions.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT	__attribute__((visibility("default")))

EXPORT int rocprofiler_register_library_api_table(const char *runtime, void *import,
						  uint32_t version, void **tables, uint64_t n,
						  void *id);

static void configure_first(const char *paths)
{
	void *(*configure)(uint32_t version, const char *text, uint32_t priority, void *client);
	uint64_t client[4] = { 0 };
	char path[4096];
	void *lib, *symbol;

	snprintf(path, sizeof(path), "%.*s", (int)strcspn(paths, ":"), paths);
	lib = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
	symbol = lib ? dlsym(lib, "rocprofiler_configure") : NULL;
	if (!symbol)
		abort();
	memcpy(&configure, &symbol, sizeof(configure));
	printf("configured: %d\n", configure(10000, "stand-in", 0, client) != NULL);
}

int rocprofiler_register_library_api_table(const char *runtime, void *import, uint32_t version,
					   void **tables, uint64_t n, void *id)
{
	const char *named = getenv("ROCPROFILER_REGISTER_LIBRARY");
	const char *paths = getenv("ROCP_TOOL_LIBRARIES");
	int (*set)(const char *, uint64_t, uint64_t, void **, uint64_t);
	void *lib, *symbol;

	(void)import, (void)id;
	printf("tools: %s\n", paths ? paths : "none");
	if (!paths || !*paths)
		return 1;
	if (getenv("ROCP_REGISTER_IS_SDK")) {
		configure_first(paths);
		return 0;
	}
	lib = dlopen(named && *named ? named : "librocprofiler-sdk.so", RTLD_LAZY | RTLD_GLOBAL);
	symbol = lib ? dlsym(lib, "rocprofiler_set_api_table") : NULL;
	if (!symbol)
		abort();
	memcpy(&set, &symbol, sizeof(set));
	return set(runtime, version, 0, tables, n);
}
