// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program that uses OpenCL, without xsprof, and prints what it did: lines "call NAME COUNT",
 * "work KIND COUNT BYTES", "kernel NAME COUNT NS", and "queues N".
 *
 *	opencl all			each kind of call; times are those of the runtime
 *	opencl threads N M		N threads with a queue each run M kernels
 *	opencl storm M			M kernels in one queue, and one wait
 *	opencl fail			a command that ends with an error
 *	opencl endless			a command that never begins
 *	opencl fork			"all" in a child; its parent only lists platforms
 *	opencl inherit			calls with the parent's queue in a child
 *	opencl queues			more queues than the collector's limit, one after the
 *					other; the last one is out of order
 *	opencl callback			the context ends with a callback that needs a stack
 */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "opencl-setup.h"

#define SIZE	4096u

static const char source[] =
	"__kernel void scale(__global float *x, float by) { x[get_global_id(0)] *= by; }\n"
	"__kernel void plus(__global float *x) { x[get_global_id(0)] += 1; }\n";

static cl_mem a, b;

static void prepare(void)
{
	setup(source, SIZE);
	a = buffer;
	b = new_buffer(SIZE);
}

/* ---- each kind of call ----------------------------------------------------------------------- */

static void buffers(cl_command_queue q)
{
	const size_t origin[3] = { 0, 0, 0 }, region[3] = { 16, 4, 1 };
	static char host[SIZE];
	cl_event event;
	float zero = 0;
	void *mapped;
	cl_int err;

	MUST(clEnqueueFillBuffer(q, a, &zero, sizeof(zero), 0, SIZE, 0, NULL, NULL));
	MUST(clEnqueueWriteBuffer(q, a, CL_FALSE, 0, 1024, host, 0, NULL, &event));
	MUST(clWaitForEvents(1, &event));
	MUST(clReleaseEvent(event));
	MUST(clEnqueueCopyBuffer(q, a, b, 0, 0, 2048, 0, NULL, NULL));
	MUST(clEnqueueReadBuffer(q, b, CL_TRUE, 0, 512, host, 0, NULL, NULL));
	MUST(clEnqueueWriteBufferRect(q, a, CL_TRUE, origin, origin, region, 16, 0, 16, 0, host, 0,
				      NULL, NULL));
	MUST(clEnqueueCopyBufferRect(q, a, b, origin, origin, region, 16, 0, 16, 0, 0, NULL, NULL));
	MUST(clEnqueueReadBufferRect(q, b, CL_TRUE, origin, origin, region, 16, 0, 16, 0, host, 0,
				     NULL, NULL));
	mapped = clEnqueueMapBuffer(q, a, CL_TRUE, CL_MAP_WRITE, 0, 256, 0, NULL, NULL, &err);
	must(err, "clEnqueueMapBuffer");
	MUST(clEnqueueUnmapMemObject(q, a, mapped, 0, NULL, NULL));
	/* Also without a pointer for the error. */
	mapped = clEnqueueMapBuffer(q, a, CL_TRUE, CL_MAP_READ, 0, 256, 0, NULL, NULL, NULL);
	MUST(clEnqueueUnmapMemObject(q, a, mapped, 0, NULL, NULL));
	MUST(clEnqueueMigrateMemObjects(q, 1, &a, 0, 0, NULL, NULL));
	puts("call clEnqueueFillBuffer 1\ncall clEnqueueWriteBuffer 1\ncall clWaitForEvents 1\n"
	     "call clEnqueueCopyBuffer 1\ncall clEnqueueReadBuffer 1\n"
	     "call clEnqueueWriteBufferRect 1\ncall clEnqueueCopyBufferRect 1\n"
	     "call clEnqueueReadBufferRect 1\ncall clEnqueueMapBuffer 2\n"
	     "call clEnqueueUnmapMemObject 2\ncall clEnqueueMigrateMemObjects 1");
	printf("work memset 1 %u\nwork memcpy 11 %u\n", SIZE,
	       1024 + 2048 + 512 + 3 * 64 + 2 * 256);
}

static void images(cl_command_queue q)
{
	const cl_image_format format = { CL_RGBA, CL_UNSIGNED_INT8 };
	const cl_image_desc desc = { .image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 8,
				     .image_height = 8 };
	const size_t origin[3] = { 0, 0, 0 }, region[3] = { 8, 8, 1 };
	const cl_uint color[4] = { 1, 2, 3, 4 };
	static char host[SIZE];
	size_t row;
	void *mapped;
	cl_int err;
	cl_mem x, y;

	x = clCreateImage(context, CL_MEM_READ_WRITE, &format, &desc, NULL, &err);
	must(err, "clCreateImage");
	y = clCreateImage(context, CL_MEM_READ_WRITE, &format, &desc, NULL, &err);
	must(err, "clCreateImage");
	MUST(clEnqueueFillImage(q, x, color, origin, region, 0, NULL, NULL));
	MUST(clEnqueueWriteImage(q, x, CL_TRUE, origin, region, 0, 0, host, 0, NULL, NULL));
	MUST(clEnqueueCopyImage(q, x, y, origin, origin, region, 0, NULL, NULL));
	MUST(clEnqueueCopyImageToBuffer(q, y, a, origin, region, 0, 0, NULL, NULL));
	MUST(clEnqueueCopyBufferToImage(q, a, x, 0, origin, region, 0, NULL, NULL));
	MUST(clEnqueueReadImage(q, x, CL_TRUE, origin, region, 0, 0, host, 0, NULL, NULL));
	mapped = clEnqueueMapImage(q, x, CL_TRUE, CL_MAP_READ, origin, region, &row, NULL, 0, NULL,
				   NULL, &err);
	must(err, "clEnqueueMapImage");
	MUST(clEnqueueUnmapMemObject(q, x, mapped, 0, NULL, NULL));
	MUST(clFinish(q));
	MUST(clReleaseMemObject(x));
	MUST(clReleaseMemObject(y));
	puts("call clEnqueueFillImage 1\ncall clEnqueueWriteImage 1\ncall clEnqueueCopyImage 1\n"
	     "call clEnqueueCopyImageToBuffer 1\ncall clEnqueueCopyBufferToImage 1\n"
	     "call clEnqueueReadImage 1\ncall clEnqueueMapImage 1\n"
	     "call clEnqueueUnmapMemObject 1\ncall clFinish 1");
	printf("work memset 1 256\nwork memcpy 7 %u\n", 6 * 256);
}

static void shared_memory(cl_command_queue q)
{
	const char pattern = 7;
	char *x = clSVMAlloc(context, CL_MEM_READ_WRITE, SIZE, 0);
	char *y = clSVMAlloc(context, CL_MEM_READ_WRITE, SIZE, 0);

	if (!x || !y)
		return;
	MUST(clEnqueueSVMMemFill(q, x, &pattern, 1, 128, 0, NULL, NULL));
	MUST(clEnqueueSVMMemcpy(q, CL_TRUE, y, x, 64, 0, NULL, NULL));
	MUST(clEnqueueSVMMap(q, CL_TRUE, CL_MAP_READ, y, 32, 0, NULL, NULL));
	MUST(clEnqueueSVMUnmap(q, y, 0, NULL, NULL));
	MUST(clFinish(q));
	clSVMFree(context, x);
	clSVMFree(context, y);
	puts("call clEnqueueSVMMemFill 1\ncall clEnqueueSVMMemcpy 1\ncall clEnqueueSVMMap 1\n"
	     "call clEnqueueSVMUnmap 1\ncall clFinish 1\nwork memset 1 128\nwork memcpy 3 96");
}

/* Prints the runtime's own times of a kernel. */
static void timed(cl_command_queue q, cl_kernel k, const char *name)
{
	const size_t global = SIZE / sizeof(float), local = 64;
	cl_ulong begin, end;
	cl_event event;

	MUST(clEnqueueNDRangeKernel(q, k, 1, NULL, &global, &local, 0, NULL, &event));
	MUST(clWaitForEvents(1, &event));
	MUST(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, 8, &begin, NULL));
	MUST(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, 8, &end, NULL));
	MUST(clReleaseEvent(event));
	printf("call clEnqueueNDRangeKernel 1\ncall clWaitForEvents 1\nkernel %s 1 %llu\n", name,
	       (unsigned long long)(end - begin));
}

static void all(void)
{
	cl_command_queue q, timing, any, old;
	cl_kernel scale, plus, copy;
	float by = 2;
	cl_int err;

	prepare();
	scale = kernel("scale");
	MUST(clSetKernelArg(scale, 1, sizeof(by), &by));
	plus = kernel("plus");
	q = queue(0);
	timing = queue(CL_QUEUE_PROFILING_ENABLE);
	any = queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
	old = clCreateCommandQueue(context, device, 0, &err);
	must(err, "clCreateCommandQueue");
	buffers(q);
	images(any);
	shared_memory(q);
	timed(timing, scale, "scale");
	timed(timing, plus, "plus");
	copy = clCloneKernel(plus, &err);
	must(err, "clCloneKernel");
	MUST(clSetKernelArg(copy, 0, sizeof(a), &a));
	timed(timing, copy, "plus");
	MUST(clEnqueueTask(old, plus, 0, NULL, NULL));
	MUST(clEnqueueMarkerWithWaitList(any, 0, NULL, NULL));
	MUST(clEnqueueBarrierWithWaitList(any, 0, NULL, NULL));
	MUST(clFlush(any));
	MUST(clFinish(any));
	MUST(clFinish(old));
	/* A refused call starts no work. */
	if (!clEnqueueReadBuffer(q, NULL, CL_TRUE, 0, 1, &err, 0, NULL, NULL))
		exit(98);
	puts("call clEnqueueTask 1\ncall clEnqueueMarkerWithWaitList 1\n"
	     "call clEnqueueBarrierWithWaitList 1\ncall clFlush 1\ncall clFinish 2\n"
	     "call clEnqueueReadBuffer 1\nkernel plus 1 0\nwork sync 2 0\nqueues 4");
}

/* ---- many ------------------------------------------------------------------------------------ */

static int each;

static void *one_thread(void *unused)
{
	const size_t global = 16;
	cl_command_queue q = queue(0);
	cl_kernel k = kernel("plus");

	(void)unused;
	for (int i = 0; i < each; i++)
		MUST(clEnqueueNDRangeKernel(q, k, 1, NULL, &global, NULL, 0, NULL, NULL));
	MUST(clFinish(q));
	MUST(clReleaseKernel(k));
	MUST(clReleaseCommandQueue(q));
	return NULL;
}

static void threads(int n, int m)
{
	pthread_t list[64];

	prepare();
	each = m;
	for (int i = 0; i < n; i++)
		must(pthread_create(&list[i], NULL, one_thread, NULL), "pthread_create");
	for (int i = 0; i < n; i++)
		pthread_join(list[i], NULL);
	printf("call clEnqueueNDRangeKernel %d\ncall clFinish %d\n"
	       "kernel plus %d 0\nqueues %d\n", n * m, n, n * m, n);
}

/* @error: the event that the command waits for ends with an error; else it never ends. */
static void waiting(int error)
{
	const size_t global = 16;
	cl_command_queue q;
	cl_event event;
	cl_kernel k;

	prepare();
	q = queue(0);
	k = kernel("plus");
	event = user_event();
	MUST(clEnqueueNDRangeKernel(q, k, 1, NULL, &global, NULL, 1, &event, NULL));
	MUST(clFlush(q));
	if (error)
		MUST(clSetUserEventStatus(event, -1));
	usleep(100000);
	puts("call clEnqueueNDRangeKernel 1\ncall clFlush 1");
}

/* ---- ends and beginnings --------------------------------------------------------------------- */

static int forked(void)
{
	int status;
	pid_t pid;

	MUST(clGetPlatformIDs(1, &platform, NULL));
	pid = fork();
	if (!pid) {
		all();
		exit(0);
	}
	waitpid(pid, &status, 0);
	return status;
}

/* The child has no threads of the runtime: its calls have nothing to wait for. */
static int inherited(void)
{
	static char host[64];
	cl_command_queue q;
	int status;
	pid_t pid;

	prepare();
	q = queue(0);
	MUST(clEnqueueWriteBuffer(q, a, CL_TRUE, 0, sizeof(host), host, 0, NULL, NULL));
	MUST(clFinish(q));
	pid = fork();
	if (!pid) {
		MUST(clFlush(q));
		MUST(clFinish(q));
		_exit(0);
	}
	waitpid(pid, &status, 0);
	puts("call clEnqueueWriteBuffer 1\ncall clFinish 2\ncall clFlush 1\nwork memcpy 1 64");
	return status;
}

#define MANY	4200

static void queues(void)
{
	static char host[64];
	cl_event event, over;
	cl_command_queue q;

	prepare();
	for (int i = 0; i < MANY; i++)
		MUST(clReleaseCommandQueue(queue(0)));
	q = queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
	event = user_event();
	MUST(clEnqueueWriteBuffer(q, a, CL_FALSE, 0, 64, host, 1, &event, NULL));
	for (int i = 0; i < 10; i++) {
		MUST(clEnqueueWriteBuffer(q, b, CL_FALSE, 0, 64, host, 0, NULL, &over));
		MUST(clWaitForEvents(1, &over));
		MUST(clReleaseEvent(over));
	}
	puts("call clEnqueueWriteBuffer 11\ncall clWaitForEvents 10\n"
	     "work memcpy 10 640");
}

static void deep(cl_context gone, void *unused)
{
	volatile char stack[400 << 10];

	(void)gone;
	(void)unused;
	for (size_t i = 0; i < sizeof(stack); i += 4096)
		stack[i] = 1;
	puts("called");
	fflush(stdout);
}

static void callback(void)
{
	cl_command_queue q;
	static char host[64];

	prepare();
	MUST(clSetContextDestructorCallback(context, deep, NULL));
	q = queue(0);
	MUST(clEnqueueWriteBuffer(q, a, CL_TRUE, 0, 64, host, 0, NULL, NULL));
	MUST(clReleaseMemObject(a));
	MUST(clReleaseMemObject(b));
	MUST(clReleaseProgram(program));
	MUST(clReleaseCommandQueue(q));
	MUST(clReleaseContext(context));
	puts("call clEnqueueWriteBuffer 1\nwork memcpy 1 64");
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	setvbuf(stdout, NULL, _IOFBF, 1 << 16);
	if (!strcmp(what, "all"))
		all();
	else if (!strcmp(what, "threads") && argc == 4)
		threads(atoi(argv[2]), atoi(argv[3]));
	else if (!strcmp(what, "storm") && argc == 3)
		threads(1, atoi(argv[2]));
	else if (!strcmp(what, "fork"))
		return forked();
	else if (!strcmp(what, "inherit"))
		return inherited();
	else if (!strcmp(what, "queues"))
		queues();
	else if (!strcmp(what, "callback"))
		callback();
	else if (!strcmp(what, "fail") || !strcmp(what, "endless"))
		waiting(!strcmp(what, "fail"));
	else
		return 97;
	return 0;
}
