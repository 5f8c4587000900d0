// SPDX-License-Identifier: GPL-2.0-only
/*
 * An independent layer: counts enqueued kernels, and writes the number to the file $COUNT_FILE when
 * the program ends. It also compares the collector's constants with OpenCL's headers.
 */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_layer.h>
#include <stdio.h>
#include <stdlib.h>

static cl_icd_dispatch next, ours;
static unsigned long kernels;

static cl_int CL_API_CALL ndrange(cl_command_queue q, cl_kernel k, cl_uint n, const size_t *offset,
				  const size_t *global, const size_t *local, cl_uint nr,
				  const cl_event *waits, cl_event *event)
{
	cl_int err = next.clEnqueueNDRangeKernel(q, k, n, offset, global, local, nr, waits, event);

	if (!err)
		__atomic_fetch_add(&kernels, 1, __ATOMIC_RELAXED);
	return err;
}

static void say(void)
{
	FILE *out = fopen(getenv("COUNT_FILE"), "w");

	if (!out)
		abort();
	fprintf(out, "%lu\n", kernels);
	fclose(out);
}

cl_int CL_API_CALL clGetLayerInfo(cl_layer_info what, size_t size, void *value, size_t *len)
{
	(void)size;
	if (what != CL_LAYER_API_VERSION)
		return CL_INVALID_VALUE;
	if (value)
		*(cl_layer_api_version *)value = CL_LAYER_API_VERSION_100;
	if (len)
		*len = sizeof(cl_layer_api_version);
	return CL_SUCCESS;
}

cl_int CL_API_CALL clInitLayer(cl_uint nr, const cl_icd_dispatch *below, cl_uint *nr_ours,
			       const cl_icd_dispatch **table)
{
	if (nr < sizeof(ours) / sizeof(void *))
		return CL_INVALID_VALUE;
	next = ours = *below;
	ours.clEnqueueNDRangeKernel = ndrange;
	*nr_ours = sizeof(ours) / sizeof(void *);
	*table = &ours;
	return atexit(say) ? CL_OUT_OF_HOST_MEMORY : CL_SUCCESS;
}

/* ---- the collector's constants --------------------------------------------------------------- */

#define HEADERS(name, value)	enum { headers_ ## name = (value) };
#define AT(function)							\
	HEADERS(function, offsetof(cl_icd_dispatch, cl ## function) / sizeof(void *))
#define SLOTS(F)							\
	F(GetDeviceInfo) F(CreateCommandQueue) F(GetCommandQueueInfo) F(GetImageInfo)		\
	F(BuildProgram) F(CreateKernel) F(CreateKernelsInProgram) F(GetKernelInfo)		\
	F(WaitForEvents) F(GetEventInfo) F(RetainEvent) F(ReleaseEvent)				\
	F(GetEventProfilingInfo) F(Flush) F(Finish) F(EnqueueReadBuffer)			\
	F(EnqueueWriteBuffer) F(EnqueueCopyBuffer) F(EnqueueReadImage) F(EnqueueWriteImage)	\
	F(EnqueueCopyImage) F(EnqueueCopyImageToBuffer) F(EnqueueCopyBufferToImage)		\
	F(EnqueueMapBuffer) F(EnqueueMapImage) F(EnqueueUnmapMemObject)				\
	F(EnqueueNDRangeKernel) F(EnqueueTask) F(EnqueueNativeKernel)				\
	F(EnqueueReadBufferRect) F(EnqueueWriteBufferRect) F(EnqueueCopyBufferRect)		\
	F(CompileProgram) F(LinkProgram) F(EnqueueFillBuffer) F(EnqueueFillImage)		\
	F(EnqueueMigrateMemObjects) F(EnqueueMarkerWithWaitList)				\
	F(EnqueueBarrierWithWaitList) F(CreateCommandQueueWithProperties)			\
	F(EnqueueSVMMemcpy) F(EnqueueSVMMemFill) F(EnqueueSVMMap) F(EnqueueSVMUnmap)		\
	F(GetExtensionFunctionAddress) F(GetExtensionFunctionAddressForPlatform)		\
	F(CloneKernel) F(EnqueueSVMMigrateMem) F(GetDeviceAndHostTimer)
SLOTS(AT)
#define CONSTANTS(F)							\
	F(OK, CL_SUCCESS) F(NOT_VALUE, CL_INVALID_VALUE)					\
	F(UNITS_OF_DEVICE, CL_DEVICE_MAX_COMPUTE_UNITS)						\
	F(MHZ_OF_DEVICE, CL_DEVICE_MAX_CLOCK_FREQUENCY)						\
	F(MEMORY_OF_DEVICE, CL_DEVICE_GLOBAL_MEM_SIZE) F(NAME_OF_DEVICE, CL_DEVICE_NAME)	\
	F(VENDOR_OF_DEVICE, CL_DEVICE_VENDOR) F(DRIVER_OF_DEVICE, CL_DRIVER_VERSION)		\
	F(VERSION_OF_DEVICE, CL_DEVICE_VERSION) F(PROPERTIES_OF_QUEUE, CL_QUEUE_PROPERTIES)	\
	F(CONTEXT_OF_QUEUE, CL_QUEUE_CONTEXT) F(DEVICE_OF_QUEUE, CL_QUEUE_DEVICE)		\
	F(QUEUE_OUT_OF_ORDER, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)				\
	F(QUEUE_PROFILING, CL_QUEUE_PROFILING_ENABLE) F(QUEUE_ON_DEVICE, CL_QUEUE_ON_DEVICE)	\
	F(ELEMENT_SIZE_OF_IMAGE, CL_IMAGE_ELEMENT_SIZE)						\
	F(NAME_OF_KERNEL, CL_KERNEL_FUNCTION_NAME)						\
	F(QUEUE_OF_EVENT, CL_EVENT_COMMAND_QUEUE)						\
	F(STATUS_OF_EVENT, CL_EVENT_COMMAND_EXECUTION_STATUS) F(COMPLETE, CL_COMPLETE)		\
	F(AT_QUEUED, CL_PROFILING_COMMAND_QUEUED) F(AT_SUBMITTED, CL_PROFILING_COMMAND_SUBMIT)	\
	F(AT_STARTED, CL_PROFILING_COMMAND_START) F(AT_ENDED, CL_PROFILING_COMMAND_END)		\
	F(LAYER_VERSION, CL_LAYER_API_VERSION) F(LAYER_NAMED, CL_LAYER_NAME)			\
	F(LAYER_VERSION_1, CL_LAYER_API_VERSION_100)
CONSTANTS(HEADERS)

/* Names that both define. */
#undef CL_COMPLETE
#undef CL_QUEUE_ON_DEVICE
#define CL_SLOTS_OF_HEADERS	(sizeof(cl_icd_dispatch) / sizeof(void *))
#include "gpu/opencl/opencl-abi.h"

#define SAME_SLOT(f)	\
	_Static_assert((int)headers_ ## f == (int)CL_ ## f, "the number of cl" #f);
SLOTS(SAME_SLOT)
#define SAME(name, value)	\
	_Static_assert((long)headers_ ## name == (long)CL_ ## name, "the constant " #name);
CONSTANTS(SAME)
_Static_assert(CL_SLOTS <= CL_SLOTS_OF_HEADERS, "functions of the table");
