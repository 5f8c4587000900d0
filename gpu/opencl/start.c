// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Starts the collector, once per process: for the first loader that calls us, as a layer or through
 * the preloaded library.
 */
#include <dlfcn.h>

#include "gpu/common/refused.h"
#include "gpu/common/start.h"
#include "gpu/opencl/local.h"

static void *table[CL_SLOTS];

static bool complete(void)
{
	static const enum cl_slot needed[] = {
		CL_GetDeviceInfo, CL_GetCommandQueueInfo, CL_GetImageInfo, CL_GetKernelInfo,
		CL_GetEventInfo, CL_RetainEvent, CL_ReleaseEvent, CL_GetEventProfilingInfo,
	};

	for (size_t i = 0; i < ARRAY_SIZE(needed); i++)
		if (!opencl_next[needed[i]])
			return false;
	return true;
}

/*
 * Keeps the libraries of the functions loaded when the program closes its loader: the collector's
 * thread still has events to release, and is never unloaded itself.
 */
static bool pin(void *const *next, uint32_t n)
{
	void *last = NULL;
	Dl_info of;

	for (uint32_t i = 0; i < n; i++) {
		if (!next[i] || !dladdr(next[i], &of) || of.dli_fbase == last)
			continue;
		last = of.dli_fbase;
		/* The handle is never closed. */
		if (!dlopen(of.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE))
			return false;
	}
	return true;
}

static void forget(void *unused)
{
	(void)unused;
	opencl_names_forget();
	opencl_devices_forget();
	opencl_queues_forget();
	opencl_commands_forget();
	gpu_thread_forget(&opencl_thread);
	opencl_usm_forget();
}

void *const *opencl_start(void *const *next, uint32_t n)
{
	static bool done;
	uint64_t begin;

	/*
	 * A second loader in this process has other functions: its calls are passed through. So are
	 * those of a loader that calls the layer after the preloaded library did.
	 */
	if (__atomic_exchange_n(&done, true, __ATOMIC_RELAXED))
		return NULL;
	memcpy(opencl_next, next, n * sizeof(*next));
	memcpy(table, next, n * sizeof(*next));
	if (!gpu_is_recording())
		return table;
	if (!pin(next, n)) {
		gpu_refused("OpenCL: cannot keep its loader in memory: it is not recorded");
		return table;
	}
	if (!complete()) {
		gpu_refused("OpenCL: this loader lacks required functions: it is not recorded");
		return table;
	}
	begin = xsprof_now();
	opencl_names_init();
	opencl_commands_init();
	if (opencl_thread_start(forget))
		return table;
	opencl_take_copies(table, n);
	opencl_take_kernels(table, n);
	opencl_take_usm(table, n);
	gpu_started(opencl_category(), "Start of OpenCL's collector", begin);
	return table;
}
