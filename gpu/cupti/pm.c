// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Finds CUPTI's functions for counters of the hardware, which it has since CUDA 12.6.
 */
#include <dlfcn.h>
#include <limits.h>

#include "gpu/cupti/local.h"

struct cupti_pm cupti_pm;

/*
 * CUPTI opens these by their names alone, and in wheels nothing says where they are: beside it.
 * Once they are open it finds them by these names.
 */
static void open_beside(void)
{
	static const char *const names[] = { "libnvperf_host.so", "libnvperf_target.so" };
	char path[PATH_MAX + 32], *slash;
	Dl_info info;
	void *func;

	memcpy(&func, &cupti.get_version, sizeof(func));
	if (!dladdr(func, &info) || !info.dli_fname || strlen(info.dli_fname) >= PATH_MAX)
		return;
	strcpy(path, info.dli_fname);
	slash = strrchr(path, '/');
	for (size_t i = 0; i < ARRAY_SIZE(names) && slash; i++) {
		strcpy(slash + 1, names[i]);
		/* Elsewhere CUPTI may still find it, or says that it did not. */
		(void)dlopen(path, RTLD_NOW | RTLD_LOCAL);
	}
}

bool cupti_pm_open(void)
{
	const struct {
		void		*to;
		const char	*name;
	} functions[] = {
		{ &cupti_pm.init, "cuptiProfilerInitialize" },
		{ &cupti_pm.get_chip, "cuptiDeviceGetChipName" },
		{ &cupti_pm.get_available, "cuptiPmSamplingGetCounterAvailability" },
		{ &cupti_pm.host_begin, "cuptiProfilerHostInitialize" },
		{ &cupti_pm.host_end, "cuptiProfilerHostDeinitialize" },
		{ &cupti_pm.add, "cuptiProfilerHostConfigAddMetrics" },
		{ &cupti_pm.get_config_size, "cuptiProfilerHostGetConfigImageSize" },
		{ &cupti_pm.get_config, "cuptiProfilerHostGetConfigImage" },
		{ &cupti_pm.get_passes, "cuptiProfilerHostGetNumOfPasses" },
		{ &cupti_pm.get_values, "cuptiProfilerHostEvaluateToGpuValues" },
		{ &cupti_pm.enable, "cuptiPmSamplingEnable" },
		{ &cupti_pm.set_config, "cuptiPmSamplingSetConfig" },
		{ &cupti_pm.start, "cuptiPmSamplingStart" },
		{ &cupti_pm.stop, "cuptiPmSamplingStop" },
		{ &cupti_pm.decode, "cuptiPmSamplingDecodeData" },
		{ &cupti_pm.get_data_size, "cuptiPmSamplingGetCounterDataSize" },
		{ &cupti_pm.init_data, "cuptiPmSamplingCounterDataImageInitialize" },
		{ &cupti_pm.get_data_info, "cuptiPmSamplingGetCounterDataInfo" },
		{ &cupti_pm.get_sample, "cuptiPmSamplingCounterDataGetSampleInfo" },
	};
	void *symbol;

	for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
		symbol = cupti_version < CUPTI_SAMPLES ? NULL : cupti_symbol(functions[i].name);
		if (!symbol) {
			xsprof_say("this libcupti (version %u) cannot sample GPU counters, which "
				   "needs CUDA 12.6 or newer: metrics are not "
				   "recorded", cupti_version);
			return false;
		}
		memcpy(functions[i].to, &symbol, sizeof(symbol));
	}
	open_beside();
	return true;
}
