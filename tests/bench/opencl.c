// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures the CPU time of the calling thread for enqueueing a kernel: the minimum of many rounds,
 * each of which waits for its commands. Prints ns per command.
 */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ROUNDS		200
#define COMMANDS	500

static void must(cl_int err, const char *what)
{
	if (!err)
		return;
	fprintf(stderr, "opencl: %s: %d\n", what, err);
	exit(1);
}

static double cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

int main(void)
{
	const char *source = "__kernel void one(__global int *x) { x[0] = 1; }";
	double least = 1e18, begin, took;
	const size_t global = 1;
	cl_platform_id platform;
	cl_command_queue queue;
	cl_program program;
	cl_context context;
	cl_device_id device;
	cl_kernel kernel;
	cl_mem memory;
	cl_int err;

	must(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
	must(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
	context = clCreateContext(NULL, 1, &device, NULL, NULL, &err);
	must(err, "clCreateContext");
	program = clCreateProgramWithSource(context, 1, &source, NULL, &err);
	must(err, "clCreateProgramWithSource");
	must(clBuildProgram(program, 0, NULL, "", NULL, NULL), "clBuildProgram");
	kernel = clCreateKernel(program, "one", &err);
	must(err, "clCreateKernel");
	memory = clCreateBuffer(context, CL_MEM_READ_WRITE, 64, NULL, &err);
	must(err, "clCreateBuffer");
	must(clSetKernelArg(kernel, 0, sizeof(memory), &memory), "clSetKernelArg");
	queue = clCreateCommandQueueWithProperties(context, device, NULL, &err);
	must(err, "clCreateCommandQueueWithProperties");
	for (int r = 0; r < ROUNDS; r++) {
		begin = cpu_ns();
		for (int i = 0; i < COMMANDS; i++)
			must(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL,
						    NULL), "clEnqueueNDRangeKernel");
		took = cpu_ns() - begin;
		must(clFinish(queue), "clFinish");
		if (took < least)
			least = took;
	}
	printf("%.1f\n", least / COMMANDS);
	return 0;
}
