// SPDX-License-Identifier: GPL-2.0-only
/*
 * Our view of CUPTI's functions for counters against its own headers, and which metrics the
 * collector chooses of chips, asked of CUPTI itself: compiled once for each version, with that
 * version's headers, and run with its library.  Needs no GPU.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_target.h>
#include <cupti_version.h>

#include "gpu/cupti/local.h"

#define NO_DRIVER	999

#define SAME(ours, field, theirs, their_field) \
	_Static_assert(offsetof(struct ours, field) == offsetof(theirs, their_field) && \
		       sizeof(((struct ours *)0)->field) == sizeof(((theirs *)0)->their_field), \
		       #ours "." #field)
/* The size of what the collector knows is that of 12.6, the first. */
#define WHOLE(ours, last, theirs) \
	_Static_assert(CUPTI_SIZE(ours, last) == theirs##_STRUCT_SIZE, #ours)
#define PART(ours, last, theirs) \
	_Static_assert(VERSION > 1206 ? CUPTI_SIZE(ours, last) <= theirs##_STRUCT_SIZE : \
		       CUPTI_SIZE(ours, last) == theirs##_STRUCT_SIZE, #ours)

WHOLE(cupti_pm_init, priv, CUpti_Profiler_Initialize_Params);
SAME(cupti_pm_chip, device, CUpti_Device_GetChipName_Params, deviceIndex);
SAME(cupti_pm_chip, name, CUpti_Device_GetChipName_Params, pChipName);
WHOLE(cupti_pm_chip, name, CUpti_Device_GetChipName_Params);

typedef CUpti_PmSampling_GetCounterAvailability_Params available_t;
SAME(cupti_pm_available, device, available_t, deviceIndex);
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
SAME(cupti_pm_host_end, host, CUpti_Profiler_Host_Deinitialize_Params, pHostObject);
WHOLE(cupti_pm_host_end, host, CUpti_Profiler_Host_Deinitialize_Params);

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

SAME(cupti_pm_enable, device, CUpti_PmSampling_Enable_Params, deviceIndex);
SAME(cupti_pm_enable, sampling, CUpti_PmSampling_Enable_Params, pPmSamplingObject);
WHOLE(cupti_pm_enable, sampling, CUpti_PmSampling_Enable_Params);

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

SAME(cupti_pm_run, sampling, CUpti_PmSampling_Start_Params, pPmSamplingObject);
WHOLE(cupti_pm_run, sampling, CUpti_PmSampling_Start_Params);
SAME(cupti_pm_run, sampling, CUpti_PmSampling_Stop_Params, pPmSamplingObject);
WHOLE(cupti_pm_run, sampling, CUpti_PmSampling_Stop_Params);

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
SAME(cupti_pm_data_init, sampling, data_init_t, pPmSamplingObject);
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
/* 12.6 has no word for it. */
#if VERSION >= 1208
_Static_assert(CUPTI_NO_MIG == CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED, "result");
#endif
_Static_assert(CUPTI_SAMPLES <= CUPTI_API_VERSION, "version");

/* ---- what the collector calls ---------------------------------------------------------------- */

static uint32_t said;

void xsprof_say(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	putchar('\n');
	said++;
}

xsprof_name_t xsprof_name(const char *text)
{
	return text ? 1 : 0;
}

/* ---- what it chooses ------------------------------------------------------------------------- */

#define PERCENT	".avg.pct_of_peak_sustained_elapsed"
#define TRIAGE	"TPC.TriageCompute."

static const struct {
	const char	*chip;
	const char	*names[11];
} chips[] = {
	{ "GH100", {
		"gr__cycles_active" PERCENT, TRIAGE "sm__cycles_active" PERCENT,
		TRIAGE "sm__pipe_tensor_cycles_active_realtime" PERCENT,
		"dram__read_throughput" PERCENT, "dram__write_throughput" PERCENT,
		"nvlrx__bytes.sum.per_second", "nvltx__bytes.sum.per_second",
		"PCI.TriageCompute.pcie__read_bytes.sum.per_second",
		"PCI.TriageCompute.pcie__write_bytes.sum.per_second",
		TRIAGE "sm__inst_executed_realtime" PERCENT,
	} },
	/* Instructions do not fit. */
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

static bool is_chosen(const char *const *wanted, const struct cupti_chip *chip)
{
	uint32_t n = 0;

	while (wanted[n])
		n++;
	for (uint32_t i = 0; i < n || i < chip->nr; i++) {
		if (i < n && i < chip->nr && !strcmp(wanted[i], chip->names[i]))
			continue;
		printf("%s: %s, not %s\n", chip->name, i < chip->nr ? chip->names[i] : "none",
		       i < n ? wanted[i] : "none");
		return false;
	}
	return true;
}

static bool choose_all(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(chips); i++) {
		struct cupti_chip chip = { .type = CUPTI_PM_SAMPLING, .name = chips[i].chip };
		int err = cupti_chip_choose(&chip, 0);
		bool good = !err && is_chosen(chips[i].names, &chip);

		if (err)
			printf("%s: %d\n", chips[i].chip, err);
		cupti_chip_close(&chip);
		if (!good)
			return false;
	}
	return true;
}

int main(void)
{
	uint32_t version = 0;
	struct cupti_chip chip = { .type = CUPTI_PM_SAMPLING, .name = "GH100" };

	setenv("XSPROF_METRICS", "default", 1);
	/* Newer ones say nothing where there is no driver. */
	if (cupti_open() || !cupti_pm_open())
		return 3;
	cupti_metrics_init();
	if (cupti.get_version(&version) == NO_DRIVER ||
	    cupti_chip_choose(&chip, 0) == NO_DRIVER)
		return 3;
	cupti_chip_close(&chip);
	if (version != CUPTI_API_VERSION) {
		printf("version %u, headers of %u\n", version, CUPTI_API_VERSION);
		return 1;
	}
	if (!choose_all() || said)
		return 1;
	/* One that is asked for and that no chip has is told of. */
	setenv("XSPROF_METRICS", "sm__no_such_thing.sum", 1);
	cupti_metrics_init();
	return choose_all() && said == ARRAY_SIZE(chips) ? 0 : 1;
}
