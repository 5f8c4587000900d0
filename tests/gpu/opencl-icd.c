// SPDX-License-Identifier: GPL-2.0-only
/*
 * A stand-in for an OpenCL 1.2 runtime, for loaders: its table has no functions of later versions.
 * A command ends when it is enqueued. It has one extension function, which returns its argument.
 */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <CL/cl_icd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct object {
	const cl_icd_dispatch	*table;	/* loaders read it here */
	int			references;
	cl_ulong		at;
};

static const cl_icd_dispatch table;
static struct object platform = { &table, 1, 0 }, device = { &table, 1, 0 };
static struct object context = { &table, 1, 0 }, queue = { &table, 1, 0 };
static struct object buffer = { &table, 1, 0 };

static cl_ulong now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (cl_ulong)ts.tv_sec * 1000000000u + (cl_ulong)ts.tv_nsec;
}

static cl_int answer(const void *from, size_t n, size_t size, void *value, size_t *len)
{
	if (value && size < n)
		return CL_INVALID_VALUE;
	if (value)
		memcpy(value, from, n);
	if (len)
		*len = n;
	return CL_SUCCESS;
}

static cl_int answer_text(const char *text, size_t size, void *value, size_t *len)
{
	return answer(text, strlen(text) + 1, size, value, len);
}

/* ---- platforms and devices ------------------------------------------------------------------- */

static cl_int get_platforms(cl_uint n, cl_platform_id *list, cl_uint *nr)
{
	if (list && n)
		list[0] = (cl_platform_id)&platform;
	if (nr)
		*nr = 1;
	return CL_SUCCESS;
}

static cl_int platform_info(cl_platform_id p, cl_platform_info what, size_t size, void *value,
			    size_t *len)
{
	(void)p;
	switch (what) {
	case CL_PLATFORM_EXTENSIONS:
		return answer_text("cl_khr_icd", size, value, len);
	case CL_PLATFORM_ICD_SUFFIX_KHR:
		return answer_text("INTEL", size, value, len);
	case CL_PLATFORM_VERSION:
		return answer_text("OpenCL 1.2 stand-in", size, value, len);
	default:
		return answer_text("stand-in", size, value, len);
	}
}

static cl_int get_devices(cl_platform_id p, cl_device_type type, cl_uint n, cl_device_id *list,
			  cl_uint *nr)
{
	(void)p, (void)type;
	if (list && n)
		list[0] = (cl_device_id)&device;
	if (nr)
		*nr = 1;
	return CL_SUCCESS;
}

static cl_int device_info(cl_device_id d, cl_device_info what, size_t size, void *value,
			  size_t *len)
{
	(void)d;
	if (what == CL_DEVICE_VERSION)
		return answer_text("OpenCL 1.2 stand-in", size, value, len);
	return what == CL_DEVICE_NAME ? answer_text("Stand-in", size, value, len) :
					CL_INVALID_VALUE;
}

static cl_context create_context(const cl_context_properties *properties, cl_uint n,
				 const cl_device_id *devices,
				 void (*notify)(const char *, const void *, size_t, void *),
				 void *data, cl_int *error)
{
	(void)properties, (void)n, (void)devices, (void)notify, (void)data;
	if (error)
		*error = CL_SUCCESS;
	return (cl_context)&context;
}

static cl_command_queue create_queue(cl_context c, cl_device_id d,
				     cl_command_queue_properties properties, cl_int *error)
{
	(void)c, (void)d, (void)properties;
	if (error)
		*error = CL_SUCCESS;
	return (cl_command_queue)&queue;
}

static cl_int queue_info(cl_command_queue q, cl_command_queue_info what, size_t size, void *value,
			 size_t *len)
{
	const void *of_context = &context, *of_device = &device;

	(void)q;
	return what == CL_QUEUE_CONTEXT ? answer(&of_context, sizeof(void *), size, value, len) :
	       what == CL_QUEUE_DEVICE ? answer(&of_device, sizeof(void *), size, value, len) :
					 CL_INVALID_VALUE;
}

static cl_mem create_buffer(cl_context c, cl_mem_flags flags, size_t size, void *host,
			    cl_int *error)
{
	(void)c, (void)flags, (void)size, (void)host;
	if (error)
		*error = CL_SUCCESS;
	return (cl_mem)&buffer;
}

/* ---- commands -------------------------------------------------------------------------------- */

static cl_int over(cl_event *event)
{
	struct object *e = event ? calloc(1, sizeof(*e)) : NULL;

	if (!event)
		return CL_SUCCESS;
	if (!e)
		return CL_OUT_OF_HOST_MEMORY;
	*e = (struct object){ &table, 1, now() };
	*event = (cl_event)e;
	return CL_SUCCESS;
}

static cl_int write_buffer(cl_command_queue q, cl_mem to, cl_bool blocking, size_t offset,
			   size_t size, const void *from, cl_uint n, const cl_event *waits,
			   cl_event *event)
{
	(void)q, (void)to, (void)blocking, (void)offset, (void)size, (void)from, (void)n;
	(void)waits;
	return over(event);
}

static cl_int copy_shared(cl_command_queue q, cl_bool blocking, void *to, const void *from,
			  size_t size, cl_uint n, const cl_event *waits, cl_event *event)
{
	(void)q, (void)blocking, (void)to, (void)from, (void)n, (void)waits;
	printf("copied %zu\n", size);
	return over(event);
}

static cl_int finish(cl_command_queue q)
{
	(void)q;
	return CL_SUCCESS;
}

static cl_int event_info(cl_event e, cl_event_info what, size_t size, void *value, size_t *len)
{
	const cl_int status = CL_COMPLETE;

	(void)e;
	return what != CL_EVENT_COMMAND_EXECUTION_STATUS ? CL_INVALID_VALUE :
	       answer(&status, sizeof(status), size, value, len);
}

static cl_int event_times(cl_event e, cl_profiling_info what, size_t size, void *value,
			  size_t *len)
{
	cl_ulong at = ((struct object *)e)->at;

	if (what == CL_PROFILING_COMMAND_END)
		at += 100;
	return answer(&at, sizeof(at), size, value, len);
}

static cl_int retain_event(cl_event e)
{
	__atomic_add_fetch(&((struct object *)e)->references, 1, __ATOMIC_RELAXED);
	return CL_SUCCESS;
}

static cl_int release_event(cl_event e)
{
	if (!__atomic_sub_fetch(&((struct object *)e)->references, 1, __ATOMIC_ACQ_REL))
		free(e);
	return CL_SUCCESS;
}

/* ---- entry points for loaders ---------------------------------------------------------------- */

void *CL_API_CALL clGetExtensionFunctionAddress(const char *name)
{
	return !strcmp(name, "clIcdGetPlatformIDsKHR") ? (void *)get_platforms :
	       !strcmp(name, "clGetPlatformInfo") ? (void *)platform_info :
	       !strcmp(name, "clEnqueueMemcpyINTEL") ? (void *)copy_shared : NULL;
}

/* The dynamic linker may resolve this call to the loader's function. */
static void *address(cl_platform_id p, const char *name)
{
	(void)p;
	return clGetExtensionFunctionAddress(name);
}

static const cl_icd_dispatch table = {
	.clGetPlatformIDs = get_platforms,
	.clGetPlatformInfo = platform_info,
	.clGetDeviceIDs = get_devices,
	.clGetDeviceInfo = device_info,
	.clCreateContext = create_context,
	.clCreateCommandQueue = create_queue,
	.clGetCommandQueueInfo = queue_info,
	.clCreateBuffer = create_buffer,
	.clEnqueueWriteBuffer = write_buffer,
	.clFinish = finish,
	.clGetEventInfo = event_info,
	.clGetEventProfilingInfo = event_times,
	.clRetainEvent = retain_event,
	.clReleaseEvent = release_event,
	.clGetExtensionFunctionAddress = clGetExtensionFunctionAddress,
	.clGetExtensionFunctionAddressForPlatform = address,
};
