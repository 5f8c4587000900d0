// SPDX-License-Identifier: LGPL-2.1-only
/*
 * How a program that uses OpenCL comes here: the loader opens the libraries that OPENCL_LAYERS
 * names, asks each for its version, and hands it the table of functions below it for one of its
 * own.  Layers that the user had named are there as well.
 */
#include <dlfcn.h>
#include <errno.h>

#include "gpu/opencl/local.h"

#define EXPORTED	__attribute__((visibility("default")))

EXPORTED int32_t clGetLayerInfo(uint32_t what, size_t size, void *value, size_t *len);
EXPORTED int32_t clInitLayer(uint32_t nr, void *const *next, uint32_t *nr_ours,
			     void *const **ours);
EXPORTED int32_t clInitLayerWithProperties(uint32_t nr, void *const *next, uint32_t *nr_ours,
					   void *const **ours, const intptr_t *properties);

static void *table[CL_SLOTS];

static int32_t answer(const void *from, size_t n, size_t size, void *value, size_t *len)
{
	if (value && size < n)
		return CL_NOT_VALUE;
	if (value)
		memcpy(value, from, n);
	if (len)
		*len = n;
	return CL_OK;
}

int32_t clGetLayerInfo(uint32_t what, size_t size, void *value, size_t *len)
{
	static const char name[] = "xsprof";
	const uint32_t version = CL_LAYER_VERSION_1;

	if (what == CL_LAYER_VERSION)
		return answer(&version, sizeof(version), size, value, len);
	if (what == CL_LAYER_NAMED)
		return answer(name, sizeof(name), size, value, len);
	return CL_NOT_VALUE;
}

/* Attaches if need be. */
static bool is_recording(void)
{
	int err = xsprof_init(NULL);

	return !err || err == -EAGAIN || err == -EBUSY || err == -EALREADY;
}

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
 * What the functions are of stays, though the program closes its loader: the collector's thread
 * still has events to release, and is never unloaded itself.
 */
static bool pin(void *const *next, uint32_t n)
{
	void *last = NULL;
	Dl_info of;

	for (uint32_t i = 0; i < n; i++) {
		if (!next[i] || !dladdr(next[i], &of) || of.dli_fbase == last)
			continue;
		last = of.dli_fbase;
		/* The handle is kept, which is what keeps it. */
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
	opencl_thread_forget();
	opencl_usm_forget();
}

/* Return: CL_OK in any case, as a layer that does nothing does no harm. */
int32_t clInitLayer(uint32_t nr, void *const *next, uint32_t *nr_ours, void *const **ours)
{
	static bool done;
	uint32_t n = nr < CL_SLOTS ? nr : CL_SLOTS;
	uint64_t begin;

	if (!next || !nr_ours || !ours)
		return CL_NOT_VALUE;
	*nr_ours = 0;
	*ours = table;
	/* Another loader in this process: it is passed through, as its functions are others. */
	if (done)
		return CL_OK;
	done = true;
	memcpy(opencl_next, next, n * sizeof(*next));
	memcpy(table, next, n * sizeof(*next));
	*nr_ours = n;
	if (!is_recording())
		return CL_OK;
	if (!pin(next, n)) {
		xsprof_say("OpenCL: its loader cannot be kept in memory: it is not recorded");
		return CL_OK;
	}
	if (!complete()) {
		xsprof_say("OpenCL: this loader lacks functions that are needed: it is not "
			   "recorded");
		return CL_OK;
	}
	begin = xsprof_now();
	opencl_names_init();
	opencl_commands_init();
	if (opencl_thread_start(forget))
		return CL_OK;
	opencl_take_copies(table, n);
	opencl_take_kernels(table, n);
	opencl_take_usm(table, n);
	opencl_started(begin);
	return CL_OK;
}

/* Khronos' loader of 2026 and later calls this one, and unloads a layer that lacks it. */
int32_t clInitLayerWithProperties(uint32_t nr, void *const *next, uint32_t *nr_ours,
				  void *const **ours, const intptr_t *properties)
{
	(void)properties;
	return clInitLayer(nr, next, nr_ours, ours);
}
