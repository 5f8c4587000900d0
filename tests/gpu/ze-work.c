// SPDX-License-Identifier: GPL-2.0-only
/*
 * A Level Zero program: each thread, with its own queue, runs a kernel, a copy and a fill in a
 * command list, and waits for the queue, N times. Prints the number of rounds.
 *
 * Usage: ze-work N [THREADS [SECONDS [sycl]]]; with SECONDS it goes on for as long, N at a time;
 * with "sycl" it begins as SYCL's runtime does, by XPTI and a loader that it opens.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <level_zero/ze_api.h>

#define DO(call) do {						\
	ze_result_t r_ = (call);				\
								\
	if (r_) {						\
		printf("%s: %#x\n", #call, (unsigned int)r_);	\
		return 1;					\
	}							\
} while (0)

#define THREADS	64

static ze_context_handle_t context;
static ze_kernel_handle_t kernel;
static ze_device_handle_t device;
static void *memory;
static char host[4096];
static unsigned long times;
static time_t until;

/* Debian 12's loader lacks this, and PTI needs it to load. */
ze_result_t zesInit(uint32_t flags);

ze_result_t zesInit(uint32_t flags)
{
	(void)flags;
	return ZE_RESULT_ERROR_UNINITIALIZED;
}

static int work(ze_command_queue_handle_t queue)
{
	ze_command_list_desc_t list_desc = { .stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC };
	ze_group_count_t groups = { 4, 1, 1 };
	ze_command_list_handle_t list;
	char zero = 0;

	DO(zeCommandListCreate(context, device, &list_desc, &list));
	DO(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
	DO(zeCommandListAppendMemoryCopy(list, memory, host, sizeof(host), NULL, 0, NULL));
	DO(zeCommandListAppendMemoryFill(list, memory, &zero, 1, 512, NULL, 0, NULL));
	DO(zeCommandListClose(list));
	DO(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
	DO(zeCommandQueueSynchronize(queue, UINT64_MAX));
	DO(zeCommandListDestroy(list));
	__atomic_fetch_add(&times, 1, __ATOMIC_RELAXED);
	return 0;
}

static int run(long n)
{
	ze_command_queue_desc_t queue_desc = { .stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC };
	ze_command_queue_handle_t queue;

	DO(zeCommandQueueCreate(context, device, &queue_desc, &queue));
	do {
		for (long i = 0; i < n; i++)
			if (work(queue))
				return 1;
	} while (time(NULL) < until);
	DO(zeCommandQueueDestroy(queue));
	return 0;
}

static void *thread(void *n)
{
	return run((long)n) ? n : NULL;
}

/* As libsycl does: XPTI first, which loads the subscribers that the environment names. */
static ze_result_t init_as_sycl(void)
{
	void *xpti = dlopen(getenv("XPTI_FRAMEWORK_DISPATCHER"), RTLD_LAZY);
	void *loader = dlopen("libze_loader.so.1", RTLD_LAZY);
	int (*begin)(void) = xpti ? (int (*)(void))dlsym(xpti, "xptiFrameworkInitialize") : NULL;
	int (*stream)(const char *name, uint32_t major, uint32_t minor, const char *version) =
		begin ? (int (*)(const char *, uint32_t, uint32_t, const char *))
			dlsym(xpti, "xptiInitialize") : NULL;
	ze_result_t (*init)(ze_init_flags_t flags) =
		loader ? (ze_result_t (*)(ze_init_flags_t))dlsym(loader, "zeInit") : NULL;

	if (!stream || !init)
		return ZE_RESULT_ERROR_UNINITIALIZED;
	/* The return value only says that it was loaded already. */
	(void)begin();
	(void)stream("sycl", 9, 0, "9.0");
	fprintf(stderr, "children find %s\n", getenv("XPTI_SUBSCRIBERS"));
	return init(0);
}

int main(int argc, char **argv)
{
	ze_kernel_desc_t kernel_desc = { .stype = ZE_STRUCTURE_TYPE_KERNEL_DESC };
	ze_context_desc_t context_desc = { .stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC };
	ze_module_desc_t module_desc = { .stype = ZE_STRUCTURE_TYPE_MODULE_DESC };
	ze_device_mem_alloc_desc_t mem_desc = { .stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC };
	int nr = argc > 2 ? atoi(argv[2]) : 1;
	pthread_t threads[THREADS];
	ze_driver_handle_t driver;
	ze_module_handle_t module;
	uint32_t one = 1;

	DO(argc > 4 ? init_as_sycl() : zeInit(0));
	DO(zeDriverGet(&one, &driver));
	DO(zeDeviceGet(driver, &one, &device));
	DO(zeContextCreate(driver, &context_desc, &context));
	DO(zeModuleCreate(context, device, &module_desc, &module, NULL));
	kernel_desc.pKernelName = "axpy";
	DO(zeKernelCreate(module, &kernel_desc, &kernel));
	DO(zeKernelSetGroupSize(kernel, 32, 1, 1));
	DO(zeMemAllocDevice(context, &mem_desc, sizeof(host), 64, device, &memory));
	until = argc > 3 ? time(NULL) + atoi(argv[3]) : 0;
	for (int i = 1; i < nr && i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, thread, (void *)atol(argv[1])))
			return 1;
	if (run(argc > 1 ? atol(argv[1]) : 1))
		return 1;
	for (int i = 1; i < nr && i < THREADS; i++)
		pthread_join(threads[i], NULL);
	DO(zeMemFree(context, memory));
	DO(zeKernelDestroy(kernel));
	DO(zeModuleDestroy(module));
	DO(zeContextDestroy(context));
	printf("%lu\n", times);
	return 0;
}
