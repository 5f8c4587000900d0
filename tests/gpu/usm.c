// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes each call of unified shared memory, on the first device of each platform that has the
 * extension, once with its own event, and prints its calls.
 */
#include "opencl-setup.h"
#include <CL/cl_ext.h>

#define SIZE	1024

#define FUNCTION(name)	\
	((cl ## name ## _fn)clGetExtensionFunctionAddressForPlatform(platform, "cl" #name))

static void play(void)
{
	clEnqueueMemcpyINTEL_fn copy = FUNCTION(EnqueueMemcpyINTEL);
	clEnqueueMemFillINTEL_fn fill = FUNCTION(EnqueueMemFillINTEL);
	clEnqueueMemsetINTEL_fn set = FUNCTION(EnqueueMemsetINTEL);
	clEnqueueMigrateMemINTEL_fn migrate = FUNCTION(EnqueueMigrateMemINTEL);
	clEnqueueMemAdviseINTEL_fn advise = FUNCTION(EnqueueMemAdviseINTEL);
	clSharedMemAllocINTEL_fn make = FUNCTION(SharedMemAllocINTEL);
	cl_command_queue q;
	cl_event event;
	char *x, *y;
	cl_int err;

	if (!copy || !fill || !migrate || !advise || !make)
		return;
	open_device();
	q = queue(0);
	x = make(context, device, NULL, SIZE, 0, &err);
	must(err, "clSharedMemAllocINTEL");
	y = make(context, device, NULL, SIZE, 0, &err);
	must(err, "clSharedMemAllocINTEL");
	MUST(fill(q, x, "ab", 2, SIZE, 0, NULL, NULL));
	MUST(copy(q, CL_FALSE, y, x, SIZE / 2, 0, NULL, &event));
	MUST(copy(q, CL_TRUE, y + SIZE / 2, x, SIZE / 2, 1, &event, NULL));
	MUST(clReleaseEvent(event));
	MUST(migrate(q, x, SIZE, CL_MIGRATE_MEM_OBJECT_HOST, 0, NULL, NULL));
	/* A runtime may refuse the advice: then there is no work. */
	if (!advise(q, x, SIZE, 0, 0, NULL, NULL))
		puts("Advise (USM) 0");
	/* Used by old programs; a runtime may not have it. */
	if (set) {
		MUST(set(q, x, 0, SIZE / 4, 0, NULL, NULL));
		printf("Memset (USM) %d\n", SIZE / 4);
	}
	MUST(clFinish(q));
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
	for (cl_uint i = 0; i < n && i < 8; i++) {
		platform = platforms[i];
		play();
	}
	return 0;
}
