// SPDX-License-Identifier: GPL-2.0-only
/*
 * An OpenCL 1.2 program on the runtime of opencl-icd.c: writes a buffer, and calls an extension
 * function that it looks up in both ways. It prints its calls like opencl.c.
 */
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#include <CL/cl.h>
#include <stdio.h>

typedef cl_int copy_fn(cl_command_queue q, cl_bool blocking, void *to, const void *from,
		       size_t size, cl_uint n, const cl_event *waits, cl_event *event);

int main(void)
{
	copy_fn *copy, *copy_of_platform;
	cl_platform_id platform;
	cl_command_queue queue;
	cl_device_id device;
	cl_context context;
	char host[64] = "";
	cl_mem buffer;

	if (clGetPlatformIDs(1, &platform, NULL) ||
	    clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL))
		return 99;
	context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
	queue = clCreateCommandQueue(context, device, 0, NULL);
	buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof(host), NULL, NULL);
	if (clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, 64, host, 0, NULL, NULL))
		return 98;
	copy = (copy_fn *)clGetExtensionFunctionAddress("clEnqueueMemcpyINTEL");
	copy_of_platform = (copy_fn *)
		clGetExtensionFunctionAddressForPlatform(platform, "clEnqueueMemcpyINTEL");
	if (!copy || !copy_of_platform || copy(queue, CL_TRUE, host, host, 16, 0, NULL, NULL) ||
	    copy_of_platform(queue, CL_TRUE, host, host, 32, 0, NULL, NULL) || clFinish(queue))
		return 97;
	puts("call clEnqueueWriteBuffer 1\ncall clEnqueueMemcpyINTEL 2\ncall clFinish 1\n"
	     "work memcpy 3 112");
	return 0;
}
