// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Allocations of tensors. PyTorch's allocators call memoryProfilingEnabled(), and then
 * reportMemoryUsageToProfiler(), or reportOutOfMemoryToProfiler() if an allocation failed, through
 * the PLT: ours interpose them. Calls meant for PyTorch's own profiler are passed on.
 */
#include <dlfcn.h>

#include "collect/torch/local.h"

/* c10::Device: two bytes, type and index. */
typedef void (*report_fn)(void *ptr, int64_t size, size_t total, size_t reserved, uint16_t device);
typedef void (*failed_fn)(int64_t size, size_t total, size_t reserved, uint16_t device);
typedef bool (*enabled_fn)(void);

#define ENABLED		_ZN3c1022memoryProfilingEnabledEv
#define REPORT		_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE
#define REPORT_1_13	_ZN3c1027reportMemoryUsageToProfilerEPvlllNS_6DeviceE
#define FAILED		_ZN3c1027reportOutOfMemoryToProfilerElmmNS_6DeviceE
#define FAILED_1_13	_ZN3c1027reportOutOfMemoryToProfilerElllNS_6DeviceE
#define TEXT_(x)	#x
#define TEXT(x)		TEXT_(x)

TORCH_EXPORT bool ENABLED(void);
TORCH_EXPORT void REPORT(void *ptr, int64_t size, size_t total, size_t reserved, uint16_t device);
TORCH_EXPORT void REPORT_1_13(void *ptr, int64_t size, size_t total, size_t reserved,
			      uint16_t device);
TORCH_EXPORT void FAILED(int64_t size, size_t total, size_t reserved, uint16_t device);
TORCH_EXPORT void FAILED_1_13(int64_t size, size_t total, size_t reserved, uint16_t device);

static enabled_fn real_enabled;
static report_fn real_report;
static failed_fn real_failed;	/* NULL: this version has none */

static bool find(void)
{
	void *library, *enabled, *report, *failed;

	if (__atomic_load_n(&real_report, __ATOMIC_ACQUIRE))
		return true;
	library = torch_library("/libc10.so");
	if (!library)
		return false;
	enabled = dlsym(library, TEXT(ENABLED));
	report = dlsym(library, TEXT(REPORT));
	if (!report)
		report = dlsym(library, TEXT(REPORT_1_13));
	if (!enabled || !report)
		return false;
	failed = dlsym(library, TEXT(FAILED));
	if (!failed)
		failed = dlsym(library, TEXT(FAILED_1_13));
	memcpy(&real_enabled, &enabled, sizeof(enabled));
	memcpy(&real_failed, &failed, sizeof(failed));
	/* Release: a thread that sees this pointer also sees the others. */
	__atomic_store_n((void **)&real_report, report, __ATOMIC_RELEASE);
	return true;
}

static bool recorded(void)
{
	return torch_wanted() && torch_records(XSPROF_DETAIL_MEMORY, TORCH_ALL);
}

bool ENABLED(void)
{
	return recorded() || (find() && real_enabled());
}

void REPORT(void *ptr, int64_t size, size_t total, size_t reserved, uint16_t device)
{
	if (recorded())
		torch_user.memory(ptr, size, total, reserved,
				  torch_device(device));
	if (find() && real_enabled())
		real_report(ptr, size, total, reserved, device);
}

void REPORT_1_13(void *ptr, int64_t size, size_t total, size_t reserved, uint16_t device)
{
	REPORT(ptr, size, total, reserved, device);
}

void FAILED(int64_t size, size_t total, size_t reserved, uint16_t device)
{
	if (recorded())
		torch_user.out_of_memory(size, total, reserved, torch_device(device));
	if (find() && real_failed && real_enabled())
		real_failed(size, total, reserved, device);
}

void FAILED_1_13(int64_t size, size_t total, size_t reserved, uint16_t device)
{
	FAILED(size, total, reserved, device);
}
