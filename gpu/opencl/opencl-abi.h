/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What the collector knows of OpenCL's binary interface: numbers of functions in the loader's
 * table, and constants.  Handles are pointers to what only a runtime knows.  The oracle in
 * tests/gpu compares all of this with the headers where these are installed.
 */
#ifndef XSPROF_OPENCL_ABI_H
#define XSPROF_OPENCL_ABI_H

#include <stddef.h>
#include <stdint.h>

typedef void *cl_handle;

#define CL_OK				0
#define CL_NOT_PROPERTIES		(-35)	/* invalid queue properties */
#define CL_NOT_VALUE			(-30)	/* invalid value */

#define CL_UNITS_OF_DEVICE		0x1002
#define CL_MHZ_OF_DEVICE		0x100c
#define CL_MEMORY_OF_DEVICE		0x101f
#define CL_NAME_OF_DEVICE		0x102b
#define CL_VENDOR_OF_DEVICE		0x102c
#define CL_DRIVER_OF_DEVICE		0x102d
#define CL_VERSION_OF_DEVICE		0x102f
#define CL_UUID_OF_DEVICE		0x106a	/* cl_khr_device_uuid */

#define CL_CONTEXT_OF_QUEUE		0x1090
#define CL_DEVICE_OF_QUEUE		0x1091
#define CL_PROPERTIES_OF_QUEUE		0x1093
#define CL_QUEUE_OUT_OF_ORDER		(1u << 0)
#define CL_QUEUE_PROFILING		(1u << 1)
#define CL_QUEUE_ON_DEVICE		(1u << 2)

#define CL_ELEMENT_SIZE_OF_IMAGE	0x1111
#define CL_NAME_OF_KERNEL		0x1190
#define CL_STATUS_OF_EVENT		0x11d3
#define CL_COMPLETE			0

#define CL_AT_QUEUED			0x1280
#define CL_AT_SUBMITTED			0x1281
#define CL_AT_STARTED			0x1282
#define CL_AT_ENDED			0x1283

#define CL_LAYER_VERSION		0x4240
#define CL_LAYER_NAMED			0x4241
#define CL_LAYER_VERSION_1		100

/* Numbers in the table, by the functions' names without "cl". */
enum cl_slot {
	CL_GetDeviceInfo = 3,
	CL_CreateCommandQueue = 9,
	CL_GetCommandQueueInfo = 12,
	CL_GetImageInfo = 21,
	CL_BuildProgram = 30,
	CL_CreateKernel = 34,
	CL_CreateKernelsInProgram = 35,
	CL_GetKernelInfo = 39,
	CL_WaitForEvents = 41,
	CL_GetEventInfo = 42,
	CL_RetainEvent = 43,
	CL_ReleaseEvent = 44,
	CL_GetEventProfilingInfo = 45,
	CL_Flush = 46,
	CL_Finish = 47,
	CL_EnqueueReadBuffer = 48,
	CL_EnqueueWriteBuffer = 49,
	CL_EnqueueCopyBuffer = 50,
	CL_EnqueueReadImage = 51,
	CL_EnqueueWriteImage = 52,
	CL_EnqueueCopyImage = 53,
	CL_EnqueueCopyImageToBuffer = 54,
	CL_EnqueueCopyBufferToImage = 55,
	CL_EnqueueMapBuffer = 56,
	CL_EnqueueMapImage = 57,
	CL_EnqueueUnmapMemObject = 58,
	CL_EnqueueNDRangeKernel = 59,
	CL_EnqueueTask = 60,
	CL_EnqueueNativeKernel = 61,
	CL_EnqueueReadBufferRect = 86,
	CL_EnqueueWriteBufferRect = 87,
	CL_EnqueueCopyBufferRect = 88,
	CL_CompileProgram = 98,
	CL_LinkProgram = 99,
	CL_EnqueueFillBuffer = 102,
	CL_EnqueueFillImage = 103,
	CL_EnqueueMigrateMemObjects = 104,
	CL_EnqueueMarkerWithWaitList = 105,
	CL_EnqueueBarrierWithWaitList = 106,
	CL_GetExtensionFunctionAddressForPlatform = 107,
	CL_CreateCommandQueueWithProperties = 123,
	CL_EnqueueSVMMemcpy = 129,
	CL_EnqueueSVMMemFill = 130,
	CL_EnqueueSVMMap = 131,
	CL_EnqueueSVMUnmap = 132,
	CL_CloneKernel = 137,
	CL_EnqueueSVMMigrateMem = 139,
	CL_GetDeviceAndHostTimer = 140,
	CL_SLOTS = 149,		/* of OpenCL 3.0; later ones are passed through */
};

#endif /* XSPROF_OPENCL_ABI_H */
