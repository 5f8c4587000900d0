// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compares our declarations of CUPTI's functions that measure kernels with CUPTI's headers, and
 * asks CUPTI whether chips have the metrics of kernels that the collector chooses: as
 * metrics-oracle.c.
 */
/* Some of these headers use bool. */
#include <stdbool.h>

#include <cupti_activity.h>
#include <cupti_callbacks.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>

#include "tests/gpu/oracle-counters.h"

typedef CUpti_Profiler_GetCounterAvailability_Params available_t;
SAME(cupti_pm_available, of, available_t, ctx);
SAME(cupti_pm_available, bytes, available_t, counterAvailabilityImageSize);
SAME(cupti_pm_available, image, available_t, pCounterAvailabilityImage);
PART(cupti_pm_available, image, CUpti_Profiler_GetCounterAvailability_Params);

typedef CUpti_RangeProfiler_Enable_Params enable_t;
SAME(cupti_pm_enable, of, enable_t, ctx);
SAME(cupti_pm_enable, object, enable_t, pRangeProfilerObject);
PART(cupti_pm_enable, object, CUpti_RangeProfiler_Enable_Params);

SAME(cupti_pm_object, object, CUpti_RangeProfiler_Start_Params, pRangeProfilerObject);
WHOLE(cupti_pm_object, object, CUpti_RangeProfiler_Start_Params);
SAME(cupti_pm_object, object, CUpti_RangeProfiler_Disable_Params, pRangeProfilerObject);
WHOLE(cupti_pm_object, object, CUpti_RangeProfiler_Disable_Params);

typedef CUpti_RangeProfiler_Stop_Params stop_t;
SAME(cupti_range_stop, profiler, stop_t, pRangeProfilerObject);
SAME(cupti_range_stop, pass, stop_t, passIndex);
SAME(cupti_range_stop, target, stop_t, targetNestingLevel);
SAME(cupti_range_stop, all, stop_t, isAllPassSubmitted);
WHOLE(cupti_range_stop, all, CUpti_RangeProfiler_Stop_Params);

typedef CUpti_RangeProfiler_SetConfig_Params config_t;
SAME(cupti_range_config, profiler, config_t, pRangeProfilerObject);
SAME(cupti_range_config, bytes, config_t, configSize);
SAME(cupti_range_config, config, config_t, pConfig);
SAME(cupti_range_config, image_bytes, config_t, counterDataImageSize);
SAME(cupti_range_config, image, config_t, pCounterDataImage);
SAME(cupti_range_config, range, config_t, range);
SAME(cupti_range_config, replay, config_t, replayMode);
SAME(cupti_range_config, ranges, config_t, maxRangesPerPass);
SAME(cupti_range_config, levels, config_t, numNestingLevels);
SAME(cupti_range_config, lowest, config_t, minNestingLevel);
SAME(cupti_range_config, pass, config_t, passIndex);
SAME(cupti_range_config, target, config_t, targetNestingLevel);
WHOLE(cupti_range_config, target, CUpti_RangeProfiler_SetConfig_Params);
_Static_assert(CUPTI_RANGE_AUTO == CUPTI_AutoRange && CUPTI_REPLAY_KERNEL == CUPTI_KernelReplay &&
	       CUPTI_RANGES == CUPTI_PROFILER_TYPE_RANGE_PROFILER, "modes");

typedef CUpti_RangeProfiler_DecodeData_Params decode_t;
SAME(cupti_range_decode, profiler, decode_t, pRangeProfilerObject);
SAME(cupti_range_decode, dropped, decode_t, numOfRangeDropped);
WHOLE(cupti_range_decode, dropped, CUpti_RangeProfiler_DecodeData_Params);

typedef CUpti_RangeProfiler_GetCounterDataSize_Params data_size_t;
SAME(cupti_range_data_size, profiler, data_size_t, pRangeProfilerObject);
SAME(cupti_range_data_size, names, data_size_t, pMetricNames);
SAME(cupti_range_data_size, nr, data_size_t, numMetrics);
SAME(cupti_range_data_size, ranges, data_size_t, maxNumOfRanges);
SAME(cupti_range_data_size, nodes, data_size_t, maxNumRangeTreeNodes);
SAME(cupti_range_data_size, bytes, data_size_t, counterDataSize);
WHOLE(cupti_range_data_size, bytes, CUpti_RangeProfiler_GetCounterDataSize_Params);

typedef CUpti_RangeProfiler_CounterDataImage_Initialize_Params data_init_t;
SAME(cupti_pm_data_init, object, data_init_t, pRangeProfilerObject);
SAME(cupti_pm_data_init, bytes, data_init_t, counterDataSize);
SAME(cupti_pm_data_init, image, data_init_t, pCounterData);
WHOLE(cupti_pm_data_init, image, CUpti_RangeProfiler_CounterDataImage_Initialize_Params);

typedef CUpti_RangeProfiler_GetCounterDataInfo_Params data_info_t;
SAME(cupti_range_data_info, image, data_info_t, pCounterDataImage);
SAME(cupti_range_data_info, bytes, data_info_t, counterDataImageSize);
SAME(cupti_range_data_info, ranges, data_info_t, numTotalRanges);
WHOLE(cupti_range_data_info, ranges, CUpti_RangeProfiler_GetCounterDataInfo_Params);

/* Callbacks' data, of which measuring kernels uses more than the rest. */
SAME(cupti_callback, site, CUpti_CallbackData, callbackSite);
SAME(cupti_callback, result, CUpti_CallbackData, functionReturnValue);
SAME(cupti_callback, symbol, CUpti_CallbackData, symbolName);
SAME(cupti_callback, context, CUpti_CallbackData, context);
SAME(cupti_callback, context_id, CUpti_CallbackData, contextUid);
SAME(cupti_callback, correlation, CUpti_CallbackData, correlationId);
_Static_assert(CUPTI_CONTEXT_ENDS == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING, "callback");

/* 12.6 does not define it. */
#if VERSION >= 1208
_Static_assert(CUPTI_NO_CONFIDENTIAL == CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED, "result");
#endif

#define WARPS	"sm__warps_active.avg.pct_of_peak_sustained_active"
#define HITS	"lts__t_sector_hit_rate.pct"
#define OF_DRAM	".sum.pct_of_peak_sustained_elapsed"

static const struct expected chips[] = {
	{ "GH100", {
		"sm__cycles_active" PERCENT, WARPS, "sm__pipe_tensor_cycles_active" PERCENT,
		"dram__bytes_read" OF_DRAM, "dram__bytes_write" OF_DRAM,
		"sm__inst_executed" PERCENT,
	} },
	{ "GA100", {
		"sm__cycles_active" PERCENT, WARPS, "sm__pipe_tensor_cycles_active" PERCENT,
		"dram__bytes_read" OF_DRAM, "dram__bytes_write" OF_DRAM,
		"sm__inst_executed" PERCENT,
	} },
	{ "AD102", {
		"sm__cycles_active" PERCENT, WARPS, "sm__pipe_tensor_cycles_active" PERCENT,
		"dram__bytes_read" OF_DRAM, "dram__bytes_write" OF_DRAM,
		"sm__inst_executed" PERCENT,
	} },
	/* Metrics of memory need a second pass. */
	{ "TU102", {
		"sm__cycles_active" PERCENT, WARPS, "sm__pipe_tensor_cycles_active" PERCENT,
		"sm__inst_executed" PERCENT,
	} },
};

/* A metric that the user named comes last, and may need a second pass. */
static bool is_named(const char *const *names, const struct cupti_chip *chip)
{
	uint32_t n = 0;

	while (names[n])
		n++;
	printf("%s: %u metrics in %u passes\n", chip->name, chip->nr, chip->passes);
	return chip->nr == n + 1 && !strcmp(chip->names[n], HITS) &&
	       (chip->passes == 2 || strcmp(chip->name, "GH100"));
}

int main(void)
{
	setenv("XSPROF_METRICS_BY", "kernel", 1);
	ask(CUPTI_RANGES, cupti_ranges_open);
	if (!choose_all(CUPTI_RANGES, chips, ARRAY_SIZE(chips), is_default) || said)
		return 1;
	setenv("XSPROF_METRICS", HITS, 1);
	cupti_metrics_init();
	return choose_all(CUPTI_RANGES, chips, ARRAY_SIZE(chips), is_named) && !said ? 0 : 1;
}
