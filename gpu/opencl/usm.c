// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Unified shared memory, which SYCL's runtimes use, and command buffers: extensions, whose
 * functions are not in the loader's table. A program asks a platform for their addresses, and gets
 * ours. Each platform has its own functions, so we have one for each platform.
 */
#include <pthread.h>

#include "gpu/opencl/local.h"

enum usm { USM_MEMCPY, USM_FILL, USM_SET, USM_MIGRATE, USM_ADVISE, COMMAND_BUFFER, NR_USM };

#define PLATFORMS	8u	/* calls of functions of further ones are counted */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cl_handle platforms[PLATFORMS];
/* Written once, under the lock, before the program gets the function that reads it. */
static void *runtime[PLATFORMS][NR_USM];

typedef int32_t copy_fn(cl_handle queue, uint32_t blocking, void *to, const void *from, size_t size,
			uint32_t n, const cl_handle *waits, cl_handle *event);
typedef int32_t fill_fn(cl_handle queue, void *to, const void *pattern, size_t pattern_size,
			size_t size, uint32_t n, const cl_handle *waits, cl_handle *event);
typedef int32_t set_fn(cl_handle queue, void *to, int32_t value, size_t size, uint32_t n,
		       const cl_handle *waits, cl_handle *event);
typedef int32_t migrate_fn(cl_handle queue, const void *memory, size_t size, uint64_t flags,
			   uint32_t n, const cl_handle *waits, cl_handle *event);
typedef int32_t advise_fn(cl_handle queue, const void *memory, size_t size, uint32_t advice,
			  uint32_t n, const cl_handle *waits, cl_handle *event);

typedef int32_t buffer_fn(uint32_t nr, cl_handle *queues, cl_handle buffer, uint32_t n,
			  const cl_handle *waits, cl_handle *event);

static int32_t copy(unsigned int p, cl_handle queue, uint32_t blocking, void *to, const void *from,
		    size_t size, uint32_t n, const cl_handle *waits, cl_handle *event)
{
	return ENQUEUE(USM_MEMCPY, size, (copy_fn *)runtime[p][USM_MEMCPY], queue, blocking, to,
		       from, size, n, waits, event);
}

static int32_t fill(unsigned int p, cl_handle queue, void *to, const void *pattern,
		    size_t pattern_size, size_t size, uint32_t n, const cl_handle *waits,
		    cl_handle *event)
{
	return ENQUEUE(USM_FILL, size, (fill_fn *)runtime[p][USM_FILL], queue, to, pattern,
		       pattern_size, size, n, waits, event);
}

static int32_t set(unsigned int p, cl_handle queue, void *to, int32_t value, size_t size,
		   uint32_t n, const cl_handle *waits, cl_handle *event)
{
	return ENQUEUE(USM_SET, size, (set_fn *)runtime[p][USM_SET], queue, to, value, size, n,
		       waits, event);
}

static int32_t migrate(unsigned int p, cl_handle queue, const void *memory, size_t size,
		       uint64_t flags, uint32_t n, const cl_handle *waits, cl_handle *event)
{
	return ENQUEUE(USM_MIGRATE, 0, (migrate_fn *)runtime[p][USM_MIGRATE], queue, memory, size,
		       flags, n, waits, event);
}

static int32_t advise(unsigned int p, cl_handle queue, const void *memory, size_t size,
		      uint32_t advice, uint32_t n, const cl_handle *waits, cl_handle *event)
{
	return ENQUEUE(USM_ADVISE, 0, (advise_fn *)runtime[p][USM_ADVISE], queue, memory, size,
		       advice, n, waits, event);
}

static int32_t event_info(cl_handle event, uint32_t what, size_t size, void *value, size_t *len)
{
	return NEXT(GetEventInfo, event_info)(event, what, size, value, len);
}

/*
 * A command buffer runs as a whole, like a graph: its commands have no events. Without @queues it
 * runs in the queue that it was created with, which its event tells.
 */
static int32_t enqueue_buffer(unsigned int p, uint32_t nr, cl_handle *queues, cl_handle buffer,
			      uint32_t n, const cl_handle *waits, cl_handle *event)
{
	buffer_fn *next = (buffer_fn *)runtime[p][COMMAND_BUFFER];
	struct opencl_calling c;
	int32_t result;

	event = opencl_begin(&c, nr && queues ? queues[0] : NULL, event);
	result = next(nr, queues, buffer, n, waits, event);
	if (c.on && !result && !c.queue && *event)
		(void)event_info(*event, CL_QUEUE_OF_EVENT, sizeof(c.queue), &c.queue, NULL);
	return opencl_end(&c, CALL_COMMAND_BUFFER, 0, result);
}

#define OF_PLATFORM(p)								\
static int32_t copy_##p(cl_handle queue, uint32_t blocking, void *to,		\
			const void *from, size_t size, uint32_t n,		\
			const cl_handle *waits, cl_handle *event)		\
{										\
	return copy(p, queue, blocking, to, from, size, n, waits, event);	\
}										\
										\
static int32_t fill_##p(cl_handle queue, void *to, const void *pattern,		\
			size_t pattern_size, size_t size, uint32_t n,		\
			const cl_handle *waits, cl_handle *event)		\
{										\
	return fill(p, queue, to, pattern, pattern_size, size, n, waits, event); \
}										\
										\
static int32_t set_##p(cl_handle queue, void *to, int32_t value, size_t size,	\
		       uint32_t n, const cl_handle *waits, cl_handle *event)	\
{										\
	return set(p, queue, to, value, size, n, waits, event);			\
}										\
										\
static int32_t migrate_##p(cl_handle queue, const void *memory, size_t size,	\
			   uint64_t flags, uint32_t n, const cl_handle *waits,	\
			   cl_handle *event)					\
{										\
	return migrate(p, queue, memory, size, flags, n, waits, event);		\
}										\
										\
static int32_t advise_##p(cl_handle queue, const void *memory, size_t size,	\
			  uint32_t advice, uint32_t n, const cl_handle *waits,	\
			  cl_handle *event)					\
{										\
	return advise(p, queue, memory, size, advice, n, waits, event);		\
}										\
										\
static int32_t buffer_##p(uint32_t nr, cl_handle *queues, cl_handle buffer,	\
			  uint32_t n, const cl_handle *waits, cl_handle *event)	\
{										\
	return enqueue_buffer(p, nr, queues, buffer, n, waits, event);		\
}

OF_PLATFORM(0)
OF_PLATFORM(1)
OF_PLATFORM(2)
OF_PLATFORM(3)
OF_PLATFORM(4)
OF_PLATFORM(5)
OF_PLATFORM(6)
OF_PLATFORM(7)

#define ALL(name)	{ (void *)name##_0, (void *)name##_1, (void *)name##_2, (void *)name##_3, \
			  (void *)name##_4, (void *)name##_5, (void *)name##_6, (void *)name##_7 }

static const struct {
	const char	*name;
	void		*ours[PLATFORMS];
} functions[NR_USM] = {
	[USM_MEMCPY] = { "clEnqueueMemcpyINTEL", ALL(copy) },
	[USM_FILL] = { "clEnqueueMemFillINTEL", ALL(fill) },
	[USM_SET] = { "clEnqueueMemsetINTEL", ALL(set) },
	[USM_MIGRATE] = { "clEnqueueMigrateMemINTEL", ALL(migrate) },
	[USM_ADVISE] = { "clEnqueueMemAdviseINTEL", ALL(advise) },
	[COMMAND_BUFFER] = { "clEnqueueCommandBufferKHR", ALL(buffer) },
};

/* Return: our function for @function of the runtime; @function if there are too many platforms. */
static void *take(cl_handle platform, enum usm what, void *function)
{
	void *ours = function;

	pthread_mutex_lock(&lock);
	for (unsigned int p = 0; p < PLATFORMS; p++) {
		if (platforms[p] && platforms[p] != platform)
			continue;
		platforms[p] = platform;
		runtime[p][what] = function;
		ours = functions[what].ours[p];
		break;
	}
	pthread_mutex_unlock(&lock);
	if (ours == function)
		opencl_miss(OPENCL_MISS_PLATFORMS, 1);
	return ours;
}

/* A runtime may ask its loader, and so us, for its own functions. */
static bool is_ours(enum usm what, const void *function)
{
	for (unsigned int p = 0; p < PLATFORMS; p++)
		if (functions[what].ours[p] == function)
			return true;
	return false;
}

static void *ours_for(cl_handle platform, const char *name, void *function)
{
	for (unsigned int i = 0; function && name && i < NR_USM; i++)
		if (!strcmp(name, functions[i].name))
			return is_ours(i, function) ? function : take(platform, i, function);
	return function;
}

static void *address(cl_handle platform, const char *name)
{
	return ours_for(platform, name, NEXT(GetExtensionFunctionAddressForPlatform, address)
			(platform, name));
}

/* The loader chooses the platform, by the name. */
static void *address_of_any(const char *name)
{
	static char any;

	return ours_for(&any, name, NEXT(GetExtensionFunctionAddress, address_of_any)(name));
}

void opencl_usm_forget(void)
{
	pthread_mutex_init(&lock, NULL);
}

void opencl_take_usm(void **table, uint32_t nr)
{
	TAKE(GetExtensionFunctionAddress, address_of_any);
	TAKE(GetExtensionFunctionAddressForPlatform, address);
}
