// SPDX-License-Identifier: GPL-2.0-only
/*
 * A stand-in for a Level Zero driver, which the real loader opens if ZE_ENABLE_ALT_DRIVERS names
 * it: one GPU that executes nothing, but returns times (ze-queue.c). It has the functions that
 * tests/gpu/ze-work.c and PTI call.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <level_zero/ze_api.h>
#include <level_zero/ze_ddi.h>
#include <level_zero/zes_ddi.h>
#include <level_zero/zet_ddi.h>

#define EXPORT		__attribute__((visibility("default")))

static int driver, device;
static void *latest;

/* ---- driver and device ----------------------------------------------------------------------- */

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static ze_result_t init(ze_init_flags_t flags)
{
	(void)flags;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t driver_get(uint32_t *n, ze_driver_handle_t *v)
{
	if (*n && v)
		v[0] = (ze_driver_handle_t)&driver;
	*n = 1;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t driver_version(ze_driver_handle_t d, ze_api_version_t *version)
{
	(void)d;
	*version = ZE_API_VERSION_1_3;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t driver_properties(ze_driver_handle_t d, ze_driver_properties_t *p)
{
	(void)d;
	p->driverVersion = 1;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t driver_extensions(ze_driver_handle_t d, uint32_t *n,
				     ze_driver_extension_properties_t *v)
{
	(void)d, (void)v;
	*n = 0;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t driver_function(ze_driver_handle_t d, const char *name, void **function)
{
	(void)d, (void)name;
	*function = NULL;
	return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
}

static ze_result_t device_get(ze_driver_handle_t d, uint32_t *n, ze_device_handle_t *v)
{
	(void)d;
	if (*n && v)
		v[0] = (ze_device_handle_t)&device;
	*n = 1;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t device_parts(ze_device_handle_t d, uint32_t *n, ze_device_handle_t *v)
{
	(void)d, (void)v;
	*n = 0;
	return ZE_RESULT_SUCCESS;
}

/* Its clock is the host's, in ns. */
static ze_result_t device_properties(ze_device_handle_t d, ze_device_properties_t *p)
{
	(void)d;
	p->type = ZE_DEVICE_TYPE_GPU;
	p->vendorId = 0x8086;
	p->deviceId = 0xbd5;
	p->coreClockRate = 1600;
	p->numSlices = 1;
	p->numSubslicesPerSlice = 1;
	p->numEUsPerSubslice = 8;
	p->numThreadsPerEU = 8;
	p->timerResolution = p->stype == ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2 ? 1000000000 : 1;
	p->timestampValidBits = p->kernelTimestampValidBits = 64;
	memset(p->uuid.id, 0xd0, sizeof(p->uuid.id));
	strcpy(p->name, "Stand-in driver's GPU");
	return ZE_RESULT_SUCCESS;
}

static ze_result_t device_times(ze_device_handle_t d, uint64_t *host, uint64_t *its)
{
	(void)d;
	*host = now();
	*its = now();
	return ZE_RESULT_SUCCESS;
}

static ze_result_t device_pci(ze_device_handle_t d, ze_pci_ext_properties_t *p)
{
	(void)d;
	p->address = (ze_pci_address_ext_t){ .bus = 0x3a };
	return ZE_RESULT_SUCCESS;
}

static ze_result_t device_peer(ze_device_handle_t d, ze_device_handle_t p, ze_bool_t *can)
{
	(void)d, (void)p;
	*can = 0;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t device_groups(ze_device_handle_t d, uint32_t *n,
				 ze_command_queue_group_properties_t *v)
{
	(void)d;
	if (*n && v) {
		v[0].flags = ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE |
			     ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY;
		v[0].numQueues = 1;
	}
	*n = 1;
	return ZE_RESULT_SUCCESS;
}

/* ---- memory ---------------------------------------------------------------------------------- */

#define MAKE(handle, size) ((*(handle) = calloc(1, size)) ? ZE_RESULT_SUCCESS : \
			    ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY)
static ze_result_t mem_host(ze_context_handle_t c, const ze_host_mem_alloc_desc_t *desc,
			    size_t size, size_t alignment, void **p)
{
	(void)c, (void)desc, (void)alignment;
	return MAKE(p, size);
}

static ze_result_t mem_device(ze_context_handle_t c, const ze_device_mem_alloc_desc_t *desc,
			      size_t size, size_t alignment, ze_device_handle_t d, void **p)
{
	ze_result_t ret = MAKE(p, size);

	(void)c, (void)desc, (void)alignment, (void)d;
	latest = *p;
	return ret;
}

static ze_result_t mem_free(ze_context_handle_t c, void *p)
{
	(void)c;
	free(p);
	return ZE_RESULT_SUCCESS;
}

/* It knows only its latest allocation. */
static ze_result_t mem_properties(ze_context_handle_t c, const void *p,
				  ze_memory_allocation_properties_t *properties,
				  ze_device_handle_t *d)
{
	(void)c;
	properties->type = p == latest ? ZE_MEMORY_TYPE_DEVICE : ZE_MEMORY_TYPE_UNKNOWN;
	if (d)
		*d = p == latest ? (ze_device_handle_t)&device : NULL;
	return ZE_RESULT_SUCCESS;
}

/* ---- tables for the loader ------------------------------------------------------------------- */

EXPORT ze_result_t zeGetGlobalProcAddrTable(ze_api_version_t v, ze_global_dditable_t *t)
{
	(void)v;
	t->pfnInit = init;
	return ZE_RESULT_SUCCESS;
}

EXPORT ze_result_t zeGetDriverProcAddrTable(ze_api_version_t v, ze_driver_dditable_t *t)
{
	(void)v;
	t->pfnGet = driver_get;
	t->pfnGetApiVersion = driver_version;
	t->pfnGetProperties = driver_properties;
	t->pfnGetExtensionProperties = driver_extensions;
	t->pfnGetExtensionFunctionAddress = driver_function;
	return ZE_RESULT_SUCCESS;
}

EXPORT ze_result_t zeGetDeviceProcAddrTable(ze_api_version_t v, ze_device_dditable_t *t)
{
	(void)v;
	t->pfnGet = device_get;
	t->pfnGetSubDevices = device_parts;
	t->pfnGetProperties = device_properties;
	t->pfnGetGlobalTimestamps = device_times;
	t->pfnPciGetPropertiesExt = device_pci;
	t->pfnCanAccessPeer = device_peer;
	t->pfnGetCommandQueueGroupProperties = device_groups;
	return ZE_RESULT_SUCCESS;
}

EXPORT ze_result_t zeGetMemProcAddrTable(ze_api_version_t v, ze_mem_dditable_t *t)
{
	(void)v;
	t->pfnAllocHost = mem_host;
	t->pfnAllocDevice = mem_device;
	t->pfnFree = mem_free;
	t->pfnGetAllocProperties = mem_properties;
	return ZE_RESULT_SUCCESS;
}

/* The loader needs these tables, but they are empty. */
#define NOTHING_OF(getter, type) EXPORT ze_result_t getter(ze_api_version_t v, type *t)	\
{										\
	(void)v, (void)t;							\
	return ZE_RESULT_SUCCESS;						\
}

NOTHING_OF(zeGetFenceProcAddrTable, ze_fence_dditable_t)
NOTHING_OF(zeGetImageProcAddrTable, ze_image_dditable_t)
NOTHING_OF(zeGetModuleBuildLogProcAddrTable, ze_module_build_log_dditable_t)
NOTHING_OF(zeGetPhysicalMemProcAddrTable, ze_physical_mem_dditable_t)
NOTHING_OF(zeGetSamplerProcAddrTable, ze_sampler_dditable_t)
NOTHING_OF(zeGetVirtualMemProcAddrTable, ze_virtual_mem_dditable_t)
NOTHING_OF(zetGetDeviceProcAddrTable, zet_device_dditable_t)
NOTHING_OF(zetGetContextProcAddrTable, zet_context_dditable_t)
NOTHING_OF(zetGetCommandListProcAddrTable, zet_command_list_dditable_t)
NOTHING_OF(zetGetModuleProcAddrTable, zet_module_dditable_t)
NOTHING_OF(zetGetKernelProcAddrTable, zet_kernel_dditable_t)
NOTHING_OF(zetGetMetricGroupProcAddrTable, zet_metric_group_dditable_t)
NOTHING_OF(zetGetMetricProcAddrTable, zet_metric_dditable_t)
NOTHING_OF(zetGetMetricStreamerProcAddrTable, zet_metric_streamer_dditable_t)
NOTHING_OF(zetGetMetricQueryPoolProcAddrTable, zet_metric_query_pool_dditable_t)
NOTHING_OF(zetGetMetricQueryProcAddrTable, zet_metric_query_dditable_t)
NOTHING_OF(zetGetTracerExpProcAddrTable, zet_tracer_exp_dditable_t)
NOTHING_OF(zetGetDebugProcAddrTable, zet_debug_dditable_t)
NOTHING_OF(zesGetDriverProcAddrTable, zes_driver_dditable_t)
NOTHING_OF(zesGetDeviceProcAddrTable, zes_device_dditable_t)
NOTHING_OF(zesGetSchedulerProcAddrTable, zes_scheduler_dditable_t)
NOTHING_OF(zesGetPerformanceFactorProcAddrTable, zes_performance_factor_dditable_t)
NOTHING_OF(zesGetPowerProcAddrTable, zes_power_dditable_t)
NOTHING_OF(zesGetFrequencyProcAddrTable, zes_frequency_dditable_t)
NOTHING_OF(zesGetEngineProcAddrTable, zes_engine_dditable_t)
NOTHING_OF(zesGetStandbyProcAddrTable, zes_standby_dditable_t)
NOTHING_OF(zesGetFirmwareProcAddrTable, zes_firmware_dditable_t)
NOTHING_OF(zesGetMemoryProcAddrTable, zes_memory_dditable_t)
NOTHING_OF(zesGetFabricPortProcAddrTable, zes_fabric_port_dditable_t)
NOTHING_OF(zesGetTemperatureProcAddrTable, zes_temperature_dditable_t)
NOTHING_OF(zesGetPsuProcAddrTable, zes_psu_dditable_t)
NOTHING_OF(zesGetFanProcAddrTable, zes_fan_dditable_t)
NOTHING_OF(zesGetLedProcAddrTable, zes_led_dditable_t)
NOTHING_OF(zesGetRasProcAddrTable, zes_ras_dditable_t)
NOTHING_OF(zesGetDiagnosticsProcAddrTable, zes_diagnostics_dditable_t)
