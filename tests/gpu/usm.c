// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes each call of unified shared memory, on the first device of each platform that has the
 * extension, once with its own event, and prints its calls.
 */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <stdio.h>
#include <stdlib.h>

#define SIZE	1024

#define MUST(call)	must(call, #call)

static void must(cl_int err, const char *what)
{
	if (!err)
		return;
	fprintf(stderr, "usm: %s: %d\n", what, err);
	exit(1);
}

#define FUNCTION(platform, name)	\
	((cl ## name ## _fn)clGetExtensionFunctionAddressForPlatform(platform, "cl" #name))

static void play(cl_platform_id platform)
{
	clEnqueueMemcpyINTEL_fn copy = FUNCTION(platform, EnqueueMemcpyINTEL);
	clEnqueueMemFillINTEL_fn fill = FUNCTION(platform, EnqueueMemFillINTEL);
	clEnqueueMemsetINTEL_fn set = FUNCTION(platform, EnqueueMemsetINTEL);
	clEnqueueMigrateMemINTEL_fn migrate = FUNCTION(platform, EnqueueMigrateMemINTEL);
	clEnqueueMemAdviseINTEL_fn advise = FUNCTION(platform, EnqueueMemAdviseINTEL);
	clSharedMemAllocINTEL_fn make = FUNCTION(platform, SharedMemAllocINTEL);
	cl_command_queue queue;
	cl_context context;
	cl_device_id device;
	cl_event event;
	char *x, *y;
	cl_int err;

	if (!copy || !fill || !migrate || !advise || !make)
		return;
	MUST(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
	context = clCreateContext(NULL, 1, &device, NULL, NULL, &err);
	must(err, "clCreateContext");
	queue = clCreateCommandQueueWithProperties(context, device, NULL, &err);
	must(err, "clCreateCommandQueueWithProperties");
	x = make(context, device, NULL, SIZE, 0, &err);
	must(err, "clSharedMemAllocINTEL");
	y = make(context, device, NULL, SIZE, 0, &err);
	must(err, "clSharedMemAllocINTEL");
	MUST(fill(queue, x, "ab", 2, SIZE, 0, NULL, NULL));
	MUST(copy(queue, CL_FALSE, y, x, SIZE / 2, 0, NULL, &event));
	MUST(copy(queue, CL_TRUE, y + SIZE / 2, x, SIZE / 2, 1, &event, NULL));
	MUST(clReleaseEvent(event));
	MUST(migrate(queue, x, SIZE, CL_MIGRATE_MEM_OBJECT_HOST, 0, NULL, NULL));
	/* A runtime may refuse the advice; then the device does nothing. */
	if (!advise(queue, x, SIZE, 0, 0, NULL, NULL))
		puts("Advise (USM) 0");
	/* Old programs use it; a runtime may lack it. */
	if (set) {
		MUST(set(queue, x, 0, SIZE / 4, 0, NULL, NULL));
		printf("Memset (USM) %d\n", SIZE / 4);
	}
	MUST(clFinish(queue));
	if (y[1] != 'b' || y[SIZE - 2] != 'a')
		must(1, "what was copied");
	printf("Memset (USM) %d\nMemcpy (USM) %d\nMemcpy (USM) %d\nMigrate (USM) 0\n", SIZE,
	       SIZE / 2, SIZE / 2);
}

int main(void)
{
	cl_platform_id platforms[8];
	cl_uint n;

	MUST(clGetPlatformIDs(8, platforms, &n));
	for (cl_uint i = 0; i < n && i < 8; i++)
		play(platforms[i]);
	return 0;
}
