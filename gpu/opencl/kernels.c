// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Calls that create queues and kernels, run kernels, wait, and compile.
 */
#include "gpu/opencl/local.h"

/* ---- queues ---------------------------------------------------------------------------------- */

/* Enables profiling also if the program does not, if the device can. */
static cl_handle create_queue(cl_handle context, cl_handle device, uint64_t properties,
			      int32_t *error)
{
	uint64_t timed = properties | CL_QUEUE_PROFILING;
	cl_handle queue;

	queue = NEXT(CreateCommandQueue, create_queue)(context, device, timed, error);
	if (!queue && timed != properties) {
		timed = properties;
		queue = NEXT(CreateCommandQueue, create_queue)(context, device, timed, error);
	}
	if (queue)
		opencl_queue_made(queue, timed);
	return queue;
}

#define PROPERTIES_MAX	32u

/* Copies a list of pairs that ends with 0 to @timed, with profiling. Return: the properties. */
static uint64_t with_times(const uint64_t *list, uint64_t *timed)
{
	uint64_t properties = 0;
	uint32_t n = 0;

	for (; list && list[0]; list += 2) {
		if (list[0] == CL_PROPERTIES_OF_QUEUE)
			properties = list[1];
		else if (n + 4 < PROPERTIES_MAX)
			memcpy(timed + n, list, 2 * sizeof(*list)), n += 2;
	}
	timed[n++] = CL_PROPERTIES_OF_QUEUE;
	timed[n++] = properties | CL_QUEUE_PROFILING;
	timed[n] = 0;
	return properties;
}

static uint32_t pairs(const uint64_t *list)
{
	uint32_t n = 0;

	while (list && list[2 * n])
		n++;
	return n;
}

static cl_handle create_queue_with(cl_handle context, cl_handle device, const uint64_t *list,
				   int32_t *error)
{
	uint64_t timed[PROPERTIES_MAX + 1], properties = with_times(list, timed);
	bool other = !(properties & (CL_QUEUE_PROFILING | CL_QUEUE_ON_DEVICE)) &&
		     2 * pairs(list) + 4 < PROPERTIES_MAX;
	cl_handle queue = NULL;

	if (other)
		queue = NEXT(CreateCommandQueueWithProperties, create_queue_with)
			(context, device, timed, error);
	if (!queue)
		queue = NEXT(CreateCommandQueueWithProperties, create_queue_with)
			(context, device, list, error);
	/* The host enqueues no commands in a queue on the device. */
	if (queue && !(properties & CL_QUEUE_ON_DEVICE))
		opencl_queue_made(queue, properties);
	return queue;
}

/* ---- kernels --------------------------------------------------------------------------------- */

static cl_handle create_kernel(cl_handle program, const char *name, int32_t *error)
{
	cl_handle kernel = NEXT(CreateKernel, create_kernel)(program, name, error);

	if (kernel)
		opencl_kernel_made(kernel);
	return kernel;
}

static int32_t create_kernels(cl_handle program, uint32_t n, cl_handle *kernels, uint32_t *nr)
{
	uint32_t made = 0;
	int32_t err;

	err = NEXT(CreateKernelsInProgram, create_kernels)(program, n, kernels, &made);
	if (nr)
		*nr = made;
	for (uint32_t i = 0; !err && kernels && i < made && i < n; i++)
		opencl_kernel_made(kernels[i]);
	return err;
}

static cl_handle clone_kernel(cl_handle from, int32_t *error)
{
	cl_handle kernel = NEXT(CloneKernel, clone_kernel)(from, error);

	if (kernel)
		opencl_kernel_made(kernel);
	return kernel;
}

static int32_t ndrange(cl_handle queue, cl_handle kernel, uint32_t dimensions,
		       const size_t *offset, const size_t *global, const size_t *local, uint32_t n,
		       const cl_handle *waits, cl_handle *event)
{
	struct opencl_calling c;

	event = opencl_begin(&c, queue, event);
	if (c.on) {
		/* Before the call: afterwards another thread may release the kernel. */
		c.kernel = opencl_kernel_name(kernel);
		c.dimensions = dimensions;
		c.global = global;
		c.local = local;
	}
	return opencl_end(&c, CALL_NDRANGE, 0, NEXT(EnqueueNDRangeKernel, ndrange)
			  (queue, kernel, dimensions, offset, global, local, n, waits, event));
}

static int32_t task(cl_handle queue, cl_handle kernel, uint32_t n, const cl_handle *waits,
		    cl_handle *event)
{
	struct opencl_calling c;

	event = opencl_begin(&c, queue, event);
	if (c.on)
		c.kernel = opencl_kernel_name(kernel);
	return opencl_end(&c, CALL_TASK, 0, NEXT(EnqueueTask, task)
			  (queue, kernel, n, waits, event));
}

static int32_t native(cl_handle queue, void (*function)(void *), void *args, size_t size,
		      uint32_t nr, const cl_handle *memory, const void **at, uint32_t n,
		      const cl_handle *waits, cl_handle *event)
{
	return ENQUEUE(NATIVE, 0, NEXT(EnqueueNativeKernel, native), queue, function, args, size,
		       nr, memory, at, n, waits, event);
}

/* ---- waiting --------------------------------------------------------------------------------- */

static int32_t marker(cl_handle queue, uint32_t n, const cl_handle *waits, cl_handle *event)
{
	return ENQUEUE(MARKER, 0, NEXT(EnqueueMarkerWithWaitList, marker), queue, n, waits, event);
}

static int32_t barrier(cl_handle queue, uint32_t n, const cl_handle *waits, cl_handle *event)
{
	return ENQUEUE(BARRIER, 0, NEXT(EnqueueBarrierWithWaitList, barrier), queue, n, waits,
		       event);
}

static int32_t finish(cl_handle queue)
{
	struct opencl_calling c;

	(void)opencl_begin(&c, queue, NULL);
	return opencl_call_end(&c, CALL_FINISH, NEXT(Finish, finish)(queue));
}

static int32_t flush(cl_handle queue)
{
	struct opencl_calling c;

	(void)opencl_begin(&c, queue, NULL);
	return opencl_call_end(&c, CALL_FLUSH, NEXT(Flush, flush)(queue));
}

static int32_t wait_for(uint32_t n, const cl_handle *events)
{
	struct opencl_calling c;

	(void)opencl_begin(&c, NULL, NULL);
	return opencl_call_end(&c, CALL_WAIT, NEXT(WaitForEvents, wait_for)(n, events));
}

/* ---- programs -------------------------------------------------------------------------------- */

typedef void notify_fn(cl_handle program, void *data);

static int32_t build(cl_handle program, uint32_t n, const cl_handle *devices, const char *options,
		     notify_fn *notify, void *data)
{
	struct opencl_calling c;

	(void)opencl_begin(&c, NULL, NULL);
	return opencl_call_end(&c, CALL_BUILD, NEXT(BuildProgram, build)
			       (program, n, devices, options, notify, data));
}

static int32_t compile(cl_handle program, uint32_t n, const cl_handle *devices,
		       const char *options, uint32_t nr, const cl_handle *headers,
		       const char **names, notify_fn *notify, void *data)
{
	struct opencl_calling c;

	(void)opencl_begin(&c, NULL, NULL);
	return opencl_call_end(&c, CALL_COMPILE, NEXT(CompileProgram, compile)
			       (program, n, devices, options, nr, headers, names, notify, data));
}

static cl_handle link_programs(cl_handle context, uint32_t n, const cl_handle *devices,
			       const char *options, uint32_t nr, const cl_handle *programs,
			       notify_fn *notify, void *data, int32_t *error)
{
	struct opencl_calling c;
	cl_handle program;

	(void)opencl_begin(&c, NULL, NULL);
	program = NEXT(LinkProgram, link_programs)(context, n, devices, options, nr, programs,
						   notify, data, error);
	(void)opencl_call_end(&c, CALL_LINK, CL_OK);
	return program;
}

void opencl_take_kernels(void **table, uint32_t nr)
{
	TAKE(CreateCommandQueue, create_queue);
	TAKE(CreateCommandQueueWithProperties, create_queue_with);
	TAKE(CreateKernel, create_kernel);
	TAKE(CreateKernelsInProgram, create_kernels);
	TAKE(CloneKernel, clone_kernel);
	TAKE(EnqueueNDRangeKernel, ndrange);
	TAKE(EnqueueTask, task);
	TAKE(EnqueueNativeKernel, native);
	TAKE(EnqueueMarkerWithWaitList, marker);
	TAKE(EnqueueBarrierWithWaitList, barrier);
	TAKE(Finish, finish);
	TAKE(Flush, flush);
	TAKE(WaitForEvents, wait_for);
	TAKE(BuildProgram, build);
	TAKE(CompileProgram, compile);
	TAKE(LinkProgram, link_programs);
}
