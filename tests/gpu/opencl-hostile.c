// SPDX-License-Identifier: GPL-2.0-only
/*
 * Uses of OpenCL that a collector may get wrong. Prints what each one did like opencl.c, and its
 * outcome as lines "result ...", which must be the same when it is recorded.
 *
 *	opencl-hostile buffers N	a command buffer with two kernels, enqueued N times
 *	opencl-hostile chain		commands that wait for a user event that is set to an error
 *	opencl-hostile never		commands that wait for an event that is never set, and
 *					commands that do not; nothing is released
 *	opencl-hostile outstanding N	a queue and all else is released with N kernels in flight
 *	opencl-hostile callbacks N	callbacks of N commands release their event and its buffer,
 *					and enqueue another command
 */
#include <stdint.h>
#include <unistd.h>

#include "opencl-setup.h"
#include <CL/cl_ext.h>

#define ITEMS	16u
#define SIZE	(ITEMS * sizeof(float))
#define MANY	512

static const char source[] =
	"__kernel void plus(__global float *x) { x[get_global_id(0)] += 1; }\n"
	"__kernel void twice(__global float *x) { x[get_global_id(0)] *= 2; }\n";

static const size_t global = ITEMS;

static cl_int status_of(cl_event event)
{
	cl_int status;

	MUST(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status,
			    NULL));
	return status;
}

/* ---- command buffers ------------------------------------------------------------------------- */

static void *extension(const char *name)
{
	void *function = clGetExtensionFunctionAddressForPlatform(platform, name);

	if (function)
		return function;
	printf("none: %s\n", name);
	exit(0);
}

#define EXTENSION(name)	name##KHR_fn name = (name##KHR_fn)extension(#name "KHR")

static void buffers(int n)
{
	cl_kernel plus, twice;
	cl_sync_point_khr after;
	cl_command_buffer_khr recorded;
	float x[ITEMS];
	cl_command_queue q;
	cl_event event;
	cl_int err;

	setup(source, SIZE);
	EXTENSION(clCreateCommandBuffer);
	EXTENSION(clCommandNDRangeKernel);
	EXTENSION(clFinalizeCommandBuffer);
	EXTENSION(clEnqueueCommandBuffer);
	EXTENSION(clReleaseCommandBuffer);
	q = queue(0);
	plus = kernel("plus");
	twice = kernel("twice");
	recorded = clCreateCommandBuffer(1, &q, NULL, &err);
	must(err, "clCreateCommandBufferKHR");
	MUST(clCommandNDRangeKernel(recorded, NULL, NULL, plus, 1, NULL, &global, NULL, 0, NULL,
				    &after, NULL));
	MUST(clCommandNDRangeKernel(recorded, NULL, NULL, twice, 1, NULL, &global, NULL, 1, &after,
				    NULL, NULL));
	MUST(clFinalizeCommandBuffer(recorded));
	/* Once with an event, then with a queue each; the last one is refused. */
	MUST(clEnqueueCommandBuffer(0, NULL, recorded, 0, NULL, &event));
	MUST(clWaitForEvents(1, &event));
	MUST(clReleaseEvent(event));
	for (int i = 1; i < n; i++) {
		MUST(clEnqueueCommandBuffer(1, &q, recorded, 0, NULL, NULL));
		MUST(clFinish(q));
	}
	err = clEnqueueCommandBuffer(1, &q, NULL, 0, NULL, NULL);
	MUST(clEnqueueReadBuffer(q, buffer, CL_TRUE, 0, SIZE, x, 0, NULL, NULL));
	MUST(clReleaseCommandBuffer(recorded));
	printf("call clEnqueueCommandBufferKHR %d\ncall clWaitForEvents 1\ncall clFinish %d\n"
	       "call clEnqueueReadBuffer 1\nwork memcpy 1 %zu\n"
	       "result %.0f %.0f refused %d\n", n + 1, n - 1, SIZE, x[0], x[ITEMS - 1], err != 0);
}

/* ---- user events ----------------------------------------------------------------------------- */

static void chain(void)
{
	cl_event user, first, second, third;
	cl_command_queue q, other;
	cl_kernel k;
	cl_int waited;

	setup(source, SIZE);
	q = queue(0);
	other = queue(0);
	k = kernel("plus");
	user = user_event();
	MUST(clEnqueueNDRangeKernel(q, k, 1, NULL, &global, NULL, 1, &user, &first));
	MUST(clEnqueueNDRangeKernel(other, k, 1, NULL, &global, NULL, 1, &first, &second));
	MUST(clEnqueueMarkerWithWaitList(q, 1, &second, &third));
	MUST(clFlush(q));
	MUST(clFlush(other));
	MUST(clSetUserEventStatus(user, -77));
	waited = clWaitForEvents(1, &third);
	printf("call clEnqueueNDRangeKernel 2\ncall clEnqueueMarkerWithWaitList 1\n"
	       "call clFlush 2\ncall clWaitForEvents 1\n"
	       "result wait %d first %d second %d third %d\n",
	       waited, status_of(first) < 0, status_of(second) < 0, status_of(third) < 0);
}

static void never(void)
{
	cl_command_queue q, other;
	cl_event user, stuck;
	cl_kernel k;

	setup(source, SIZE);
	q = queue(0);
	other = queue(0);
	k = kernel("plus");
	user = user_event();
	for (int i = 0; i < 3; i++)
		MUST(clEnqueueNDRangeKernel(q, k, 1, NULL, &global, NULL, 1, &user, &stuck));
	MUST(clFlush(q));
	for (int i = 0; i < 5; i++)
		MUST(clEnqueueNDRangeKernel(other, k, 1, NULL, &global, NULL, 0, NULL, NULL));
	MUST(clFinish(other));
	printf("call clEnqueueNDRangeKernel 8\ncall clFlush 1\ncall clFinish 1\nkernel plus 5 0\n"
	       "result %d\n", status_of(stuck) > 0);
}

/* ---- releases -------------------------------------------------------------------------------- */

static void outstanding(int n)
{
	cl_command_queue q;
	cl_event user, last;
	cl_kernel k;

	setup(source, SIZE);
	q = queue(0);
	k = kernel("plus");
	user = user_event();
	for (int i = 0; i < n; i++)
		MUST(clEnqueueNDRangeKernel(q, k, 1, NULL, &global, NULL, 1, &user,
					    i == n - 1 ? &last : NULL));
	MUST(clFlush(q));
	/* The runtime keeps what commands need. */
	MUST(clReleaseKernel(k));
	MUST(clReleaseMemObject(buffer));
	MUST(clReleaseCommandQueue(q));
	MUST(clReleaseProgram(program));
	MUST(clReleaseContext(context));
	MUST(clSetUserEventStatus(user, CL_COMPLETE));
	MUST(clReleaseEvent(user));
	MUST(clWaitForEvents(1, &last));
	printf("call clEnqueueNDRangeKernel %d\ncall clFlush 1\ncall clWaitForEvents 1\n"
	       "kernel plus %d 0\nresult %d\n", n, n, status_of(last));
	MUST(clReleaseEvent(last));
}

struct job {
	cl_mem			mem;
	cl_command_queue	other;
};

static struct job jobs[MANY];
static uint32_t called;

static void CL_CALLBACK completed(cl_event event, cl_int status, void *data)
{
	struct job *job = data;
	float one = 1;

	if (status)
		exit(98);
	MUST(clEnqueueFillBuffer(job->other, job->mem, &one, sizeof(one), 0, SIZE, 0, NULL, NULL));
	MUST(clFlush(job->other));
	MUST(clReleaseMemObject(job->mem));
	MUST(clReleaseEvent(event));
	__atomic_fetch_add(&called, 1, __ATOMIC_RELEASE);
}

static void callbacks(int n)
{
	static float x[ITEMS];
	cl_command_queue q, other;
	cl_event event;

	n = n < MANY ? n : MANY;
	setup(source, SIZE);
	q = queue(0);
	other = queue(0);
	for (int i = 0; i < n; i++) {
		jobs[i] = (struct job){ .mem = new_buffer(SIZE), .other = other };
		MUST(clEnqueueWriteBuffer(q, jobs[i].mem, CL_FALSE, 0, SIZE, x, 0, NULL, &event));
		MUST(clSetEventCallback(event, CL_COMPLETE, completed, &jobs[i]));
	}
	MUST(clFlush(q));
	while (__atomic_load_n(&called, __ATOMIC_ACQUIRE) < (uint32_t)n)
		usleep(1000);
	MUST(clFinish(other));
	printf("call clEnqueueWriteBuffer %d\ncall clEnqueueFillBuffer %d\ncall clFlush %d\n"
	       "call clFinish 1\nwork memcpy %d %zu\nwork memset %d %zu\nresult %u\n", n, n, n + 1,
	       n, n * SIZE, n, n * SIZE, called);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int n = argc > 2 ? atoi(argv[2]) : 10;

	setvbuf(stdout, NULL, _IOFBF, 1 << 16);
	if (!strcmp(what, "buffers"))
		buffers(n);
	else if (!strcmp(what, "chain"))
		chain();
	else if (!strcmp(what, "never"))
		never();
	else if (!strcmp(what, "outstanding"))
		outstanding(n);
	else if (!strcmp(what, "callbacks"))
		callbacks(n);
	else
		return 97;
	return 0;
}
