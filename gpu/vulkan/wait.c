// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Calls that wait, present and compile: each passes its arguments on unchanged.
 */
#include "gpu/vulkan/local.h"

static int32_t end_of(struct vulkan_device *d, vk_handle queue, enum vulkan_call call,
		      uint64_t begin, int32_t result)
{
	uint64_t end = xsprof_now();

	vulkan_end(d, queue ? vulkan_queue_get(d, queue) : NULL, call, begin, end, 0);
	return result;
}

/*
 * Calls the next layer's function, and records the call; its arguments are @handle and those that
 * follow. @queue: NULL: the call is of a device. Value: the function's result.
 */
#define CALL(call, queue, slot, like, handle, ...)	({				\
	struct vulkan_device *d = vulkan_device_of(handle);				\
	uint64_t begin;									\
	bool on = vulkan_begin(d, &begin);						\
	int32_t result = NEXT(d, slot, like)(handle, ##__VA_ARGS__);			\
											\
	on ? end_of(d, queue, VULKAN_CALL_##call, begin, result) : result;		\
})

/* ---- calls of a queue ------------------------------------------------------------------------ */

static int32_t present(vk_handle queue, const void *info)
{
	return CALL(PRESENT, queue, QueuePresentKHR, present, queue, info);
}

static int32_t bind_sparse(vk_handle queue, uint32_t n, const void *infos, vk_object fence)
{
	return CALL(SPARSE, queue, QueueBindSparse, bind_sparse, queue, n, infos, fence);
}

static int32_t queue_idle(vk_handle queue)
{
	return CALL(QUEUE_IDLE, queue, QueueWaitIdle, queue_idle, queue);
}

/* ---- calls of a device ----------------------------------------------------------------------- */

static int32_t device_idle(vk_handle device)
{
	return CALL(DEVICE_IDLE, NULL, DeviceWaitIdle, device_idle, device);
}

static int32_t wait_fences(vk_handle device, uint32_t n, const vk_object *fences, uint32_t all,
			   uint64_t timeout)
{
	return CALL(FENCES, NULL, WaitForFences, wait_fences, device, n, fences, all, timeout);
}

static int32_t wait_semaphores(vk_handle device, const void *info, uint64_t timeout)
{
	return CALL(SEMAPHORES, NULL, WaitSemaphores, wait_semaphores, device, info, timeout);
}

static int32_t wait_semaphores_khr(vk_handle device, const void *info, uint64_t timeout)
{
	return CALL(SEMAPHORES, NULL, WaitSemaphoresKHR, wait_semaphores_khr, device, info,
		    timeout);
}

static int32_t acquire(vk_handle device, vk_object swapchain, uint64_t timeout,
		       vk_object semaphore, vk_object fence, uint32_t *image)
{
	return CALL(ACQUIRE, NULL, AcquireNextImageKHR, acquire, device, swapchain, timeout,
		    semaphore, fence, image);
}

static int32_t acquire2(vk_handle device, const void *info, uint32_t *image)
{
	return CALL(ACQUIRE2, NULL, AcquireNextImage2KHR, acquire2, device, info, image);
}

static int32_t graphics(vk_handle device, vk_object cache, uint32_t n, const void *infos,
			const void *allocator, vk_object *pipelines)
{
	return CALL(GRAPHICS, NULL, CreateGraphicsPipelines, graphics, device, cache, n, infos,
		    allocator, pipelines);
}

static int32_t compute(vk_handle device, vk_object cache, uint32_t n, const void *infos,
		       const void *allocator, vk_object *pipelines)
{
	return CALL(COMPUTE, NULL, CreateComputePipelines, compute, device, cache, n, infos,
		    allocator, pipelines);
}

const struct vulkan_hook vulkan_wait_hooks[] = {
	HOOK(QueuePresentKHR, present),
	HOOK(QueueBindSparse, bind_sparse),
	HOOK(QueueWaitIdle, queue_idle),
	HOOK(DeviceWaitIdle, device_idle),
	HOOK(WaitForFences, wait_fences),
	HOOK(WaitSemaphores, wait_semaphores),
	HOOK(WaitSemaphoresKHR, wait_semaphores_khr),
	HOOK(AcquireNextImageKHR, acquire),
	HOOK(AcquireNextImage2KHR, acquire2),
	HOOK(CreateGraphicsPipelines, graphics),
	HOOK(CreateComputePipelines, compute),
	{ NULL, 0, NULL },
};
