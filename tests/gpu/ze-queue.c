// SPDX-License-Identifier: GPL-2.0-only
/*
 * The GPU of ze-driver.c: queues, command lists, events and kernels. A command gets its times at
 * once in an immediate list, otherwise when the list is executed: one microsecond each.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <level_zero/ze_api.h>
#include <level_zero/ze_ddi.h>

#define EXPORT		__attribute__((visibility("default")))
#define COMMANDS	256u

struct event {
	int			done;
	uint64_t		begin;
	uint64_t		end;
};

struct list {
	int			immediate;
	uint32_t		n;
	struct event		*signals[COMMANDS];
};

struct kernel {
	char			name[64];
};

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* ---- objects --------------------------------------------------------------------------------- */

#define MAKE(handle, size) ((*(handle) = calloc(1, size)) ? ZE_RESULT_SUCCESS : \
			    ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY)
#define DESTROY(name, type) static ze_result_t name(type h)	\
{								\
	free(h);						\
	return ZE_RESULT_SUCCESS;				\
}

DESTROY(context_destroy, ze_context_handle_t)
DESTROY(queue_destroy, ze_command_queue_handle_t)
DESTROY(list_destroy, ze_command_list_handle_t)
DESTROY(pool_destroy, ze_event_pool_handle_t)
DESTROY(event_destroy, ze_event_handle_t)
DESTROY(module_destroy, ze_module_handle_t)
DESTROY(kernel_destroy, ze_kernel_handle_t)

static ze_result_t context_create(ze_driver_handle_t d, const ze_context_desc_t *desc,
				  ze_context_handle_t *context)
{
	(void)d, (void)desc;
	return MAKE(context, 16);
}

static ze_result_t queue_create(ze_context_handle_t c, ze_device_handle_t d,
				const ze_command_queue_desc_t *desc,
				ze_command_queue_handle_t *queue)
{
	(void)c, (void)d, (void)desc;
	return MAKE(queue, 16);
}

static ze_result_t list_create(ze_context_handle_t c, ze_device_handle_t d,
			       const ze_command_list_desc_t *desc, ze_command_list_handle_t *list)
{
	(void)c, (void)d, (void)desc;
	return MAKE(list, sizeof(struct list));
}

static ze_result_t list_create_immediate(ze_context_handle_t c, ze_device_handle_t d,
					 const ze_command_queue_desc_t *desc,
					 ze_command_list_handle_t *list)
{
	ze_result_t ret = list_create(c, d, NULL, list);

	(void)desc;
	if (!ret)
		((struct list *)*list)->immediate = 1;
	return ret;
}

static ze_result_t pool_create(ze_context_handle_t c, const ze_event_pool_desc_t *desc, uint32_t n,
			       ze_device_handle_t *devices, ze_event_pool_handle_t *pool)
{
	(void)c, (void)desc, (void)n, (void)devices;
	return MAKE(pool, 16);
}

static ze_result_t event_create(ze_event_pool_handle_t p, const ze_event_desc_t *desc,
				ze_event_handle_t *event)
{
	(void)p, (void)desc;
	return MAKE(event, sizeof(struct event));
}

static ze_result_t module_create(ze_context_handle_t c, ze_device_handle_t d,
				 const ze_module_desc_t *desc, ze_module_handle_t *module,
				 ze_module_build_log_handle_t *log)
{
	(void)c, (void)d, (void)desc;
	if (log)
		*log = NULL;
	return MAKE(module, 16);
}

static ze_result_t kernel_create(ze_module_handle_t m, const ze_kernel_desc_t *desc,
				 ze_kernel_handle_t *kernel)
{
	ze_result_t ret = MAKE(kernel, sizeof(struct kernel));

	(void)m;
	if (!ret)
		strncpy(((struct kernel *)*kernel)->name, desc->pKernelName, 63);
	return ret;
}

static ze_result_t kernel_name(ze_kernel_handle_t kernel, size_t *size, char *name)
{
	const struct kernel *k = (const struct kernel *)kernel;

	if (name)
		strcpy(name, k->name);
	*size = strlen(k->name) + 1;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t kernel_properties(ze_kernel_handle_t k, ze_kernel_properties_t *p)
{
	(void)k;
	p->maxSubgroupSize = 32;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t kernel_group(ze_kernel_handle_t k, uint32_t x, uint32_t y, uint32_t z)
{
	(void)k, (void)x, (void)y, (void)z;
	return ZE_RESULT_SUCCESS;
}

/* ---- commands -------------------------------------------------------------------------------- */

static void run(struct event *e)
{
	if (!e)
		return;
	e->begin = now();
	while (now() < e->begin + 1000)
		;
	e->end = now();
	e->done = 1;
}

static ze_result_t append(ze_command_list_handle_t list, ze_event_handle_t signal)
{
	struct list *l = (struct list *)list;

	if (l->immediate)
		run((struct event *)signal);
	else if (l->n == COMMANDS)
		return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	else
		l->signals[l->n++] = (struct event *)signal;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t append_kernel(ze_command_list_handle_t list, ze_kernel_handle_t k,
				 const ze_group_count_t *groups, ze_event_handle_t signal,
				 uint32_t n, ze_event_handle_t *waits)
{
	(void)k, (void)groups, (void)n, (void)waits;
	return append(list, signal);
}

static ze_result_t append_copy(ze_command_list_handle_t list, void *to, const void *from,
			       size_t size, ze_event_handle_t signal, uint32_t n,
			       ze_event_handle_t *waits)
{
	(void)to, (void)from, (void)size, (void)n, (void)waits;
	return append(list, signal);
}

static ze_result_t append_fill(ze_command_list_handle_t list, void *to, const void *pattern,
			       size_t pattern_size, size_t size, ze_event_handle_t signal,
			       uint32_t n, ze_event_handle_t *waits)
{
	(void)to, (void)pattern, (void)pattern_size, (void)size, (void)n, (void)waits;
	return append(list, signal);
}

static ze_result_t append_barrier(ze_command_list_handle_t list, ze_event_handle_t signal,
				  uint32_t n, ze_event_handle_t *waits)
{
	(void)n, (void)waits;
	return append(list, signal);
}

static ze_result_t append_event(ze_command_list_handle_t list, ze_event_handle_t event)
{
	return append(list, event);
}

static ze_result_t append_nothing(ze_command_list_handle_t list, ze_event_handle_t event)
{
	(void)list, (void)event;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t append_waits(ze_command_list_handle_t list, uint32_t n, ze_event_handle_t *v)
{
	(void)list, (void)n, (void)v;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t list_close(ze_command_list_handle_t list)
{
	(void)list;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t list_reset(ze_command_list_handle_t list)
{
	((struct list *)list)->n = 0;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t execute(ze_command_queue_handle_t q, uint32_t n, ze_command_list_handle_t *v,
			   ze_fence_handle_t fence)
{
	(void)q, (void)fence;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t c = 0; c < ((struct list *)v[i])->n; c++)
			run(((struct list *)v[i])->signals[c]);
	return ZE_RESULT_SUCCESS;
}

static ze_result_t queue_wait(ze_command_queue_handle_t q, uint64_t timeout)
{
	(void)q, (void)timeout;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t event_status(ze_event_handle_t e)
{
	return ((struct event *)e)->done ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
}

static ze_result_t event_wait(ze_event_handle_t e, uint64_t timeout)
{
	(void)timeout;
	return event_status(e);
}

static ze_result_t event_reset(ze_event_handle_t e)
{
	((struct event *)e)->done = 0;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t event_times(ze_event_handle_t event, ze_kernel_timestamp_result_t *result)
{
	const struct event *e = (const struct event *)event;

	result->global = result->context = (ze_kernel_timestamp_data_t){ e->begin, e->end };
	return event_status(event);
}

/* ---- tables for the loader ------------------------------------------------------------------- */

EXPORT ze_result_t zeGetContextProcAddrTable(ze_api_version_t v, ze_context_dditable_t *t)
{
	(void)v;
	t->pfnCreate = context_create;
	t->pfnDestroy = context_destroy;
	return ZE_RESULT_SUCCESS;
}

EXPORT ze_result_t zeGetCommandQueueProcAddrTable(ze_api_version_t v,
						  ze_command_queue_dditable_t *t)
{
	(void)v;
	t->pfnCreate = queue_create;
	t->pfnDestroy = queue_destroy;
	t->pfnExecuteCommandLists = execute;
	t->pfnSynchronize = queue_wait;
	return ZE_RESULT_SUCCESS;
}

EXPORT ze_result_t zeGetCommandListProcAddrTable(ze_api_version_t v, ze_command_list_dditable_t *t)
{
	(void)v;
	t->pfnCreate = list_create;
	t->pfnCreateImmediate = list_create_immediate;
	t->pfnDestroy = list_destroy;
	t->pfnClose = list_close;
	t->pfnReset = list_reset;
	t->pfnAppendLaunchKernel = append_kernel;
	t->pfnAppendMemoryCopy = append_copy;
	t->pfnAppendMemoryFill = append_fill;
	t->pfnAppendBarrier = append_barrier;
	t->pfnAppendSignalEvent = append_event;
	t->pfnAppendEventReset = append_nothing;
	t->pfnAppendWaitOnEvents = append_waits;
	return ZE_RESULT_SUCCESS;
}

EXPORT ze_result_t zeGetEventPoolProcAddrTable(ze_api_version_t v, ze_event_pool_dditable_t *t)
{
	(void)v;
	t->pfnCreate = pool_create;
	t->pfnDestroy = pool_destroy;
	return ZE_RESULT_SUCCESS;
}

EXPORT ze_result_t zeGetEventProcAddrTable(ze_api_version_t v, ze_event_dditable_t *t)
{
	(void)v;
	t->pfnCreate = event_create;
	t->pfnDestroy = event_destroy;
	t->pfnHostSynchronize = event_wait;
	t->pfnQueryStatus = event_status;
	t->pfnHostReset = event_reset;
	t->pfnQueryKernelTimestamp = event_times;
	return ZE_RESULT_SUCCESS;
}

EXPORT ze_result_t zeGetModuleProcAddrTable(ze_api_version_t v, ze_module_dditable_t *t)
{
	(void)v;
	t->pfnCreate = module_create;
	t->pfnDestroy = module_destroy;
	return ZE_RESULT_SUCCESS;
}

EXPORT ze_result_t zeGetKernelProcAddrTable(ze_api_version_t v, ze_kernel_dditable_t *t)
{
	(void)v;
	t->pfnCreate = kernel_create;
	t->pfnDestroy = kernel_destroy;
	t->pfnGetName = kernel_name;
	t->pfnGetProperties = kernel_properties;
	t->pfnSetGroupSize = kernel_group;
	return ZE_RESULT_SUCCESS;
}
