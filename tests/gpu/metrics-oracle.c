// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compares our declarations of CUPTI's functions that sample counters with CUPTI's headers, and
 * asks CUPTI whether chips have the metrics that the collector chooses: compiled once per version,
 * with its headers, and run with its library. Needs no GPU.
 */
/* Some of these headers use bool. */
#include <stdbool.h>

#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_target.h>

#include "tests/gpu/oracle-counters.h"

WHOLE(cupti_pm_init, priv, CUpti_Profiler_Initialize_Params);
SAME(cupti_pm_chip, device, CUpti_Device_GetChipName_Params, deviceIndex);
SAME(cupti_pm_chip, name, CUpti_Device_GetChipName_Params, pChipName);
WHOLE(cupti_pm_chip, name, CUpti_Device_GetChipName_Params);

typedef CUpti_PmSampling_GetCounterAvailability_Params available_t;
SAME(cupti_pm_available, of, available_t, deviceIndex);
SAME(cupti_pm_available, bytes, available_t, counterAvailabilityImageSize);
SAME(cupti_pm_available, image, available_t, pCounterAvailabilityImage);
WHOLE(cupti_pm_available, image, CUpti_PmSampling_GetCounterAvailability_Params);

typedef CUpti_Profiler_Host_Initialize_Params host_t;
SAME(cupti_pm_host, type, host_t, profilerType);
SAME(cupti_pm_host, chip, host_t, pChipName);
SAME(cupti_pm_host, available, host_t, pCounterAvailabilityImage);
SAME(cupti_pm_host, host, host_t, pHostObject);
PART(cupti_pm_host, host, CUpti_Profiler_Host_Initialize_Params);
_Static_assert(CUPTI_PM_SAMPLING == CUPTI_PROFILER_TYPE_PM_SAMPLING, "type");
SAME(cupti_pm_object, object, CUpti_Profiler_Host_Deinitialize_Params, pHostObject);
WHOLE(cupti_pm_object, object, CUpti_Profiler_Host_Deinitialize_Params);

typedef CUpti_Profiler_Host_ConfigAddMetrics_Params add_t;
SAME(cupti_pm_add, host, add_t, pHostObject);
SAME(cupti_pm_add, names, add_t, ppMetricNames);
SAME(cupti_pm_add, nr, add_t, numMetrics);
WHOLE(cupti_pm_add, nr, CUpti_Profiler_Host_ConfigAddMetrics_Params);

typedef CUpti_Profiler_Host_GetConfigImageSize_Params config_size_t;
SAME(cupti_pm_config_size, host, config_size_t, pHostObject);
SAME(cupti_pm_config_size, bytes, config_size_t, configImageSize);
WHOLE(cupti_pm_config_size, bytes, CUpti_Profiler_Host_GetConfigImageSize_Params);

typedef CUpti_Profiler_Host_GetConfigImage_Params config_image_t;
SAME(cupti_pm_config_image, host, config_image_t, pHostObject);
SAME(cupti_pm_config_image, bytes, config_image_t, configImageSize);
SAME(cupti_pm_config_image, image, config_image_t, pConfigImage);
WHOLE(cupti_pm_config_image, image, CUpti_Profiler_Host_GetConfigImage_Params);

typedef CUpti_Profiler_Host_GetNumOfPasses_Params passes_t;
SAME(cupti_pm_passes, bytes, passes_t, configImageSize);
SAME(cupti_pm_passes, image, passes_t, pConfigImage);
SAME(cupti_pm_passes, passes, passes_t, numOfPasses);
WHOLE(cupti_pm_passes, passes, CUpti_Profiler_Host_GetNumOfPasses_Params);

typedef CUpti_Profiler_Host_EvaluateToGpuValues_Params values_t;
SAME(cupti_pm_values, host, values_t, pHostObject);
SAME(cupti_pm_values, image, values_t, pCounterDataImage);
SAME(cupti_pm_values, bytes, values_t, counterDataImageSize);
SAME(cupti_pm_values, index, values_t, rangeIndex);
SAME(cupti_pm_values, names, values_t, ppMetricNames);
SAME(cupti_pm_values, nr, values_t, numMetrics);
SAME(cupti_pm_values, values, values_t, pMetricValues);
WHOLE(cupti_pm_values, values, CUpti_Profiler_Host_EvaluateToGpuValues_Params);

SAME(cupti_pm_enable, of, CUpti_PmSampling_Enable_Params, deviceIndex);
SAME(cupti_pm_enable, object, CUpti_PmSampling_Enable_Params, pPmSamplingObject);
WHOLE(cupti_pm_enable, object, CUpti_PmSampling_Enable_Params);

typedef CUpti_PmSampling_SetConfig_Params config_t;
SAME(cupti_pm_config, sampling, config_t, pPmSamplingObject);
SAME(cupti_pm_config, bytes, config_t, configSize);
SAME(cupti_pm_config, image, config_t, pConfig);
SAME(cupti_pm_config, hardware, config_t, hardwareBufferSize);
SAME(cupti_pm_config, interval, config_t, samplingInterval);
SAME(cupti_pm_config, trigger, config_t, triggerMode);
PART(cupti_pm_config, trigger, CUpti_PmSampling_SetConfig_Params);
_Static_assert(CUPTI_TRIGGER_CLOCK == CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_SYSCLK_INTERVAL &&
	       CUPTI_TRIGGER_TIME == CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL, "trigger");

SAME(cupti_pm_object, object, CUpti_PmSampling_Start_Params, pPmSamplingObject);
WHOLE(cupti_pm_object, object, CUpti_PmSampling_Start_Params);
SAME(cupti_pm_object, object, CUpti_PmSampling_Stop_Params, pPmSamplingObject);
WHOLE(cupti_pm_object, object, CUpti_PmSampling_Stop_Params);

typedef CUpti_PmSampling_DecodeData_Params decode_t;
SAME(cupti_pm_decode, sampling, decode_t, pPmSamplingObject);
SAME(cupti_pm_decode, image, decode_t, pCounterDataImage);
SAME(cupti_pm_decode, bytes, decode_t, counterDataImageSize);
SAME(cupti_pm_decode, reason, decode_t, decodeStopReason);
SAME(cupti_pm_decode, overflow, decode_t, overflow);
WHOLE(cupti_pm_decode, overflow, CUpti_PmSampling_DecodeData_Params);
_Static_assert(CUPTI_STOP_FULL == CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL, "full");

typedef CUpti_PmSampling_GetCounterDataSize_Params data_size_t;
SAME(cupti_pm_data_size, sampling, data_size_t, pPmSamplingObject);
SAME(cupti_pm_data_size, names, data_size_t, pMetricNames);
SAME(cupti_pm_data_size, nr, data_size_t, numMetrics);
SAME(cupti_pm_data_size, samples, data_size_t, maxSamples);
SAME(cupti_pm_data_size, bytes, data_size_t, counterDataSize);
WHOLE(cupti_pm_data_size, bytes, CUpti_PmSampling_GetCounterDataSize_Params);

typedef CUpti_PmSampling_CounterDataImage_Initialize_Params data_init_t;
SAME(cupti_pm_data_init, object, data_init_t, pPmSamplingObject);
SAME(cupti_pm_data_init, bytes, data_init_t, counterDataSize);
SAME(cupti_pm_data_init, image, data_init_t, pCounterData);
WHOLE(cupti_pm_data_init, image, CUpti_PmSampling_CounterDataImage_Initialize_Params);

typedef CUpti_PmSampling_GetCounterDataInfo_Params data_info_t;
SAME(cupti_pm_data_info, image, data_info_t, pCounterDataImage);
SAME(cupti_pm_data_info, bytes, data_info_t, counterDataImageSize);
SAME(cupti_pm_data_info, total, data_info_t, numTotalSamples);
SAME(cupti_pm_data_info, populated, data_info_t, numPopulatedSamples);
SAME(cupti_pm_data_info, completed, data_info_t, numCompletedSamples);
WHOLE(cupti_pm_data_info, completed, CUpti_PmSampling_GetCounterDataInfo_Params);

typedef CUpti_PmSampling_CounterData_GetSampleInfo_Params sample_t;
SAME(cupti_pm_sample, sampling, sample_t, pPmSamplingObject);
SAME(cupti_pm_sample, image, sample_t, pCounterDataImage);
SAME(cupti_pm_sample, bytes, sample_t, counterDataImageSize);
SAME(cupti_pm_sample, index, sample_t, sampleIndex);
SAME(cupti_pm_sample, start, sample_t, startTimestamp);
SAME(cupti_pm_sample, end, sample_t, endTimestamp);
WHOLE(cupti_pm_sample, end, CUpti_PmSampling_CounterData_GetSampleInfo_Params);

_Static_assert(CUPTI_INVALID_OPERATION == CUPTI_ERROR_INVALID_OPERATION &&
	       CUPTI_OUT_OF_MEMORY == CUPTI_ERROR_OUT_OF_MEMORY &&
	       CUPTI_NOT_INITIALIZED == CUPTI_ERROR_NOT_INITIALIZED &&
	       CUPTI_HARDWARE_BUSY == CUPTI_ERROR_HARDWARE_BUSY &&
	       CUPTI_NO_VGPU == CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED &&
	       CUPTI_NO_PRIVILEGE_VGPU == CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES,
	       "results");
/* 12.6 does not define it. */
#if VERSION >= 1208
_Static_assert(CUPTI_NO_MIG == CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED, "result");
#endif
_Static_assert(CUPTI_SAMPLES <= CUPTI_API_VERSION, "version");

#define TRIAGE	"TPC.TriageCompute."

static const struct expected chips[] = {
	{ "GH100", {
		"gr__cycles_active" PERCENT, TRIAGE "sm__cycles_active" PERCENT,
		TRIAGE "sm__pipe_tensor_cycles_active_realtime" PERCENT,
		"dram__read_throughput" PERCENT, "dram__write_throughput" PERCENT,
		"nvlrx__bytes.sum.per_second", "nvltx__bytes.sum.per_second",
		"PCI.TriageCompute.pcie__read_bytes.sum.per_second",
		"PCI.TriageCompute.pcie__write_bytes.sum.per_second",
		TRIAGE "sm__inst_executed_realtime" PERCENT,
	} },
	/* Instructions need a second pass. */
	{ "GA100", {
		"gr__cycles_active" PERCENT, "sm__cycles_active" PERCENT,
		"sm__pipe_tensor_cycles_active" PERCENT,
		"dram__read_throughput" PERCENT, "dram__write_throughput" PERCENT,
		"nvlrx__bytes.sum.per_second", "nvltx__bytes.sum.per_second",
		"pcie__read_bytes.sum.per_second", "pcie__write_bytes.sum.per_second",
	} },
	/* It has no NVLink. */
	{ "AD102", {
		"gr__cycles_active" PERCENT, "sm__cycles_active" PERCENT,
		"sm__pipe_tensor_cycles_active" PERCENT,
		"dram__read_throughput" PERCENT, "dram__write_throughput" PERCENT,
		"pcie__read_bytes.sum.per_second", "pcie__write_bytes.sum.per_second",
		"sm__inst_executed" PERCENT,
	} },
};

static bool choose_defaults(void)
{
	return choose_all(CUPTI_PM_SAMPLING, chips, ARRAY_SIZE(chips), is_default);
}

int main(void)
{
	ask(CUPTI_PM_SAMPLING, cupti_pm_open);
	if (!choose_defaults() || said)
		return 1;
	/* A metric that the user asked for and that no chip has is reported. */
	setenv("XSPROF_METRICS", "sm__no_such_thing.sum", 1);
	cupti_metrics_init();
	return choose_defaults() && said == ARRAY_SIZE(chips) ? 0 : 1;
}
