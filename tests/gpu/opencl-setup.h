/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Setup shared by the OpenCL programs of tests: a context of the first device, a program, a buffer,
 * kernels and queues. An error ends the program.
 */
#ifndef OPENCL_SETUP_H
#define OPENCL_SETUP_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MUST(call)	must(call, #call)

static cl_platform_id platform;
static cl_context context;
static cl_device_id device;
static cl_program program;
static cl_mem buffer;		/* first argument of all kernels */

static inline void must(cl_int err, const char *what)
{
	if (!err)
		return;
	fprintf(stderr, "%s: %d\n", what, err);
	exit(99);
}

/* A context of the first device of @platform. */
static inline void open_device(void)
{
	cl_int err;

	MUST(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
	context = clCreateContext(NULL, 1, &device, NULL, NULL, &err);
	must(err, "clCreateContext");
}

/* @size: at most 4096 bytes, which are zeroed */
static inline cl_mem new_buffer(size_t size)
{
	char zero[4096] = "";
	cl_int err;
	cl_mem made = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, size, zero,
				     &err);

	must(err, "clCreateBuffer");
	return made;
}

/* Builds @source; the buffer gets @size bytes. */
static inline void setup(const char *source, size_t size)
{
	cl_int err;

	MUST(clGetPlatformIDs(1, &platform, NULL));
	open_device();
	program = clCreateProgramWithSource(context, 1, &source, NULL, &err);
	must(err, "clCreateProgramWithSource");
	MUST(clBuildProgram(program, 0, NULL, "", NULL, NULL));
	buffer = new_buffer(size);
	puts("call clBuildProgram 1");
}

static inline cl_kernel kernel(const char *name)
{
	cl_int err;
	cl_kernel k = clCreateKernel(program, name, &err);

	must(err, "clCreateKernel");
	MUST(clSetKernelArg(k, 0, sizeof(buffer), &buffer));
	return k;
}

static inline cl_command_queue queue(cl_command_queue_properties properties)
{
	cl_queue_properties list[] = { CL_QUEUE_PROPERTIES, properties, 0 };
	cl_int err;
	cl_command_queue q = clCreateCommandQueueWithProperties(context, device,
								properties ? list : NULL, &err);

	must(err, "clCreateCommandQueueWithProperties");
	return q;
}

static inline cl_event user_event(void)
{
	cl_int err;
	cl_event event = clCreateUserEvent(context, &err);

	must(err, "clCreateUserEvent");
	return event;
}

#endif /* OPENCL_SETUP_H */
