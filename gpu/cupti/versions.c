// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Versions of CUPTI, the driver and the runtime, as facts of the process.
 */
#include "gpu/cupti/local.h"

/*
 * @libs: NULL at the end.  As CUDA counts versions: 13000 is 13.0.  The driver's is the newest that
 * it can run.
 */
static void state(const char *fact, const char *const *libs, const char *function)
{
	int (*get)(int *version) = NULL;
	void *lib = NULL, *symbol;
	char text[16];
	int version;

	for (size_t i = 0; libs[i] && !lib; i++)
		lib = dlopen(libs[i], RTLD_NOW | RTLD_NOLOAD);
	symbol = lib ? dlsym(lib, function) : NULL;
	memcpy(&get, &symbol, sizeof(get));
	if (get && !get(&version)) {
		snprintf(text, sizeof(text), "%d", version);
		(void)xsprof_fact(fact, text);
	}
	if (lib)
		(void)dlclose(lib);
}

void cupti_state_versions(void)
{
	static const char *const driver[] = { "libcuda.so.1", NULL };
	char text[16];

	snprintf(text, sizeof(text), "%u", cupti_version);
	(void)xsprof_fact("cupti_version", text);
	state("cuda_driver_version", driver, "cuDriverGetVersion");
	state("cuda_runtime_version", cupti_runtimes, "cudaRuntimeGetVersion");
}
