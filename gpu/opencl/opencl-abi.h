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
#define CL_QUEUE_OF_EVENT		0x11d0
#define CL_STATUS_OF_EVENT		0x11d3
#define CL_COMPLETE			0

#define CL_AT_QUEUED			0x1280
#define CL_AT_SUBMITTED			0x1281
#define CL_AT_STARTED			0x1282
#define CL_AT_ENDED			0x1283

#define CL_LAYER_VERSION		0x4240
#define CL_LAYER_NAMED			0x4241
#define CL_LAYER_VERSION_1		100

/*
 * Functions by their names without "cl", and their numbers in the table: those that the collector
 * calls, and those that are the program's calls.
 */
#define CL_ASKED(F)								\
	F(GetDeviceInfo, 3) F(GetCommandQueueInfo, 12) F(GetImageInfo, 21)		\
	F(GetKernelInfo, 39) F(GetEventInfo, 42) F(RetainEvent, 43)			\
	F(ReleaseEvent, 44) F(GetEventProfilingInfo, 45)				\
	F(GetDeviceAndHostTimer, 140)
#define CL_TAKEN(F)								\
	F(CreateCommandQueue, 9) F(BuildProgram, 30) F(CreateKernel, 34)		\
	F(CreateKernelsInProgram, 35) F(WaitForEvents, 41) F(Flush, 46) F(Finish, 47)	\
	F(EnqueueReadBuffer, 48) F(EnqueueWriteBuffer, 49) F(EnqueueCopyBuffer, 50)	\
	F(EnqueueReadImage, 51) F(EnqueueWriteImage, 52) F(EnqueueCopyImage, 53)	\
	F(EnqueueCopyImageToBuffer, 54) F(EnqueueCopyBufferToImage, 55)			\
	F(EnqueueMapBuffer, 56) F(EnqueueMapImage, 57) F(EnqueueUnmapMemObject, 58)	\
	F(EnqueueNDRangeKernel, 59) F(EnqueueTask, 60) F(EnqueueNativeKernel, 61)	\
	F(GetExtensionFunctionAddress, 65) F(EnqueueReadBufferRect, 86)			\
	F(EnqueueWriteBufferRect, 87) F(EnqueueCopyBufferRect, 88)			\
	F(CompileProgram, 98) F(LinkProgram, 99)					\
	F(EnqueueFillBuffer, 102) F(EnqueueFillImage, 103)				\
	F(EnqueueMigrateMemObjects, 104) F(EnqueueMarkerWithWaitList, 105)		\
	F(EnqueueBarrierWithWaitList, 106)						\
	F(GetExtensionFunctionAddressForPlatform, 107)					\
	F(CreateCommandQueueWithProperties, 123) F(EnqueueSVMMemcpy, 129)		\
	F(EnqueueSVMMemFill, 130) F(EnqueueSVMMap, 131) F(EnqueueSVMUnmap, 132)		\
	F(CloneKernel, 137) F(EnqueueSVMMigrateMem, 139)

enum cl_slot {
#define SLOT(name, number)	CL_##name = number,
	CL_ASKED(SLOT)
	CL_TAKEN(SLOT)
#undef SLOT
	CL_SLOTS = 149,		/* of OpenCL 3.0; later ones are passed through */
};

#endif /* XSPROF_OPENCL_ABI_H */
