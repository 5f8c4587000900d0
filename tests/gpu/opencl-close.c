// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program that opens OpenCL's loader, uses it and closes it, twice. It prints its calls like
 * opencl.c.
 */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define EACH	100

/* Returns the loader's function of that name. */
#define OF(lib, f)	((__typeof__(&(f)))find(lib, #f))

static void *find(void *lib, const char *name)
{
	void *symbol = dlsym(lib, name);

	if (symbol)
		return symbol;
	fprintf(stderr, "%s\n", dlerror());
	exit(99);
}

static void use(void *lib)
{
	static char host[64];
	cl_platform_id platform;
	cl_command_queue queue;
	cl_context context;
	cl_device_id device;
	cl_mem memory;
	cl_int err;

	if (OF(lib, clGetPlatformIDs)(1, &platform, NULL) ||
	    OF(lib, clGetDeviceIDs)(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL))
		exit(98);
	context = OF(lib, clCreateContext)(NULL, 1, &device, NULL, NULL, &err);
	queue = OF(lib, clCreateCommandQueue)(context, device, 0, &err);
	memory = OF(lib, clCreateBuffer)(context, CL_MEM_READ_WRITE, 4096, NULL, &err);
	for (int i = 0; i < EACH; i++)
		if (OF(lib, clEnqueueWriteBuffer)(queue, memory, CL_TRUE, 0, 64, host, 0, NULL,
						  NULL))
			exit(97);
	OF(lib, clFinish)(queue);
	OF(lib, clReleaseMemObject)(memory);
	OF(lib, clReleaseCommandQueue)(queue);
	OF(lib, clReleaseContext)(context);
	printf("call clEnqueueWriteBuffer %d\ncall clFinish 1\nwork memcpy %d %d\n", EACH, EACH,
	       64 * EACH);
}

int main(void)
{
	for (int i = 0; i < 2; i++) {
		void *lib = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);

		if (!lib)
			return 96;
		use(lib);
		dlclose(lib);
		/* Give other threads time to do what is left. */
		usleep(200000);
	}
	return 0;
}
