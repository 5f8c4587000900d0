// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Finds CUPTI's functions for hardware counters, which it has since CUDA 12.6, and says why a
 * device's counters cannot be read.
 */
#include "gpu/common/refused.h"
#include "gpu/cupti/local.h"

struct cupti_pm cupti_pm;
struct cupti_ranges cupti_ranges;

/*
 * CUPTI opens these by name without a path, and those in wheels are on no search path: open them
 * here, from CUPTI's folder, so that CUPTI finds them loaded.
 */
static void open_beside(void)
{
	static const char *const names[] = { "libnvperf_host.so", "libnvperf_target.so" };
	char folder[PATH_MAX], path[PATH_MAX + 32];
	void *func;

	memcpy(&func, &cupti.get_version, sizeof(func));
	if (!gpu_folder_of(func, folder, sizeof(folder)))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof(path), "%s%s", folder, names[i]);
		/* If this fails, CUPTI may still find it, or reports that it did not. */
		(void)dlopen(path, RTLD_NOW | RTLD_LOCAL);
	}
}

/* Finds the host profiler and @functions. */
static bool find(const struct gpu_function *functions, size_t nr)
{
	const struct gpu_function host[] = {
		{ &cupti_pm.init, "cuptiProfilerInitialize" },
		{ &cupti_pm.get_chip, "cuptiDeviceGetChipName" },
		{ &cupti_pm.host_begin, "cuptiProfilerHostInitialize" },
		{ &cupti_pm.host_end, "cuptiProfilerHostDeinitialize" },
		{ &cupti_pm.add, "cuptiProfilerHostConfigAddMetrics" },
		{ &cupti_pm.get_config_size, "cuptiProfilerHostGetConfigImageSize" },
		{ &cupti_pm.get_config, "cuptiProfilerHostGetConfigImage" },
		{ &cupti_pm.get_passes, "cuptiProfilerHostGetNumOfPasses" },
		{ &cupti_pm.get_values, "cuptiProfilerHostEvaluateToGpuValues" },
	};

	if (cupti_version < CUPTI_SAMPLES || !cupti_functions_get(host, ARRAY_SIZE(host)) ||
	    !cupti_functions_get(functions, nr)) {
		gpu_refused("this libcupti (version %u) cannot read GPU counters, which needs CUDA "
			    "12.6 or newer: metrics are not recorded", cupti_version);
		return false;
	}
	open_beside();
	return true;
}

bool cupti_pm_open(void)
{
	const struct gpu_function functions[] = {
		{ &cupti_pm.get_available, "cuptiPmSamplingGetCounterAvailability" },
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

	return find(functions, ARRAY_SIZE(functions));
}

bool cupti_ranges_open(void)
{
	const struct gpu_function functions[] = {
		{ &cupti_ranges.get_available, "cuptiProfilerGetCounterAvailability" },
		{ &cupti_ranges.enable, "cuptiRangeProfilerEnable" },
		{ &cupti_ranges.disable, "cuptiRangeProfilerDisable" },
		{ &cupti_ranges.set_config, "cuptiRangeProfilerSetConfig" },
		{ &cupti_ranges.start, "cuptiRangeProfilerStart" },
		{ &cupti_ranges.stop, "cuptiRangeProfilerStop" },
		{ &cupti_ranges.decode, "cuptiRangeProfilerDecodeData" },
		{ &cupti_ranges.get_data_size, "cuptiRangeProfilerGetCounterDataSize" },
		{ &cupti_ranges.init_data, "cuptiRangeProfilerCounterDataImageInitialize" },
		{ &cupti_ranges.get_data_info, "cuptiRangeProfilerGetCounterDataInfo" },
	};

	return find(functions, ARRAY_SIZE(functions));
}

/* ---- refused --------------------------------------------------------------------------------- */

static const char *cure(int err)
{
	switch (err) {
	case CUPTI_NO_PRIVILEGE:
	case CUPTI_NO_PRIVILEGE_VGPU:
		return ": the driver allows only root to read GPU counters (ERR_NVGPUCTRPERM; its "
		       "option NVreg_RestrictProfilingToAdminUsers=0 allows all users)";
	case CUPTI_INVALID_OPERATION:
	case CUPTI_HARDWARE_BUSY:
		return ": another profiler or a monitor uses its counters (dcgmi profiling --pause "
		       "makes DCGM release them)";
	case CUPTI_NOT_INITIALIZED:
		return ": libnvperf_host.so and libnvperf_target.so must be beside libcupti";
	case CUPTI_NO_MIG:
		return ": it is partitioned by MIG";
	case CUPTI_NO_VGPU:
		return ": it is a virtual GPU, whose host must allow it";
	case CUPTI_NO_CONFIDENTIAL:
		return ": confidential computing is on, which does not allow that";
	default:
		return "";
	}
}

void cupti_pm_tell(uint32_t device, int err)
{
	gpu_refused("the metrics of GPU %u are not recorded: %s (%d)%s", device, cupti_text(err),
		    err, cure(err));
}
