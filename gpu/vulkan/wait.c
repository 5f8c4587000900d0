// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Calls that wait, present and compile: each passes its arguments on unchanged.
 */
#include "gpu/vulkan/local.h"

/* ---- of a queue ------------------------------------------------------------------------------ */

static int32_t end_of_queue(struct vulkan_device *d, vk_handle queue, enum vulkan_call call,
			    uint64_t begin, int32_t result)
{
	uint64_t end = xsprof_now();

	vulkan_end(d, vulkan_queue_get(d, queue), call, begin, end, 0);
	return result;
}

static int32_t present(vk_handle queue, const void *info)
{
	struct vulkan_device *d = vulkan_device_of(queue);
	uint64_t begin;

	if (!vulkan_begin(d, &begin))
		return NEXT(d, QueuePresentKHR, present)(queue, info);
	return end_of_queue(d, queue, VULKAN_CALL_PRESENT, begin,
			    NEXT(d, QueuePresentKHR, present)(queue, info));
}

static int32_t bind_sparse(vk_handle queue, uint32_t n, const void *infos, vk_object fence)
{
	struct vulkan_device *d = vulkan_device_of(queue);
	uint64_t begin;

	if (!vulkan_begin(d, &begin))
		return NEXT(d, QueueBindSparse, bind_sparse)(queue, n, infos, fence);
	return end_of_queue(d, queue, VULKAN_CALL_SPARSE, begin,
			    NEXT(d, QueueBindSparse, bind_sparse)(queue, n, infos, fence));
}

static int32_t queue_idle(vk_handle queue)
{
	struct vulkan_device *d = vulkan_device_of(queue);
	uint64_t begin;

	if (!vulkan_begin(d, &begin))
		return NEXT(d, QueueWaitIdle, queue_idle)(queue);
	return end_of_queue(d, queue, VULKAN_CALL_QUEUE_IDLE, begin,
			    NEXT(d, QueueWaitIdle, queue_idle)(queue));
}

/* ---- of a device ----------------------------------------------------------------------------- */

static int32_t end_of(struct vulkan_device *d, enum vulkan_call call, uint64_t begin,
		      int32_t result)
{
	vulkan_end(d, NULL, call, begin, xsprof_now(), 0);
	return result;
}

static int32_t device_idle(vk_handle device)
{
	struct vulkan_device *d = vulkan_device_of(device);
	uint64_t begin;

	if (!vulkan_begin(d, &begin))
		return NEXT(d, DeviceWaitIdle, device_idle)(device);
	return end_of(d, VULKAN_CALL_DEVICE_IDLE, begin,
		      NEXT(d, DeviceWaitIdle, device_idle)(device));
}

static int32_t wait_fences(vk_handle device, uint32_t n, const vk_object *fences, uint32_t all,
			   uint64_t timeout)
{
	struct vulkan_device *d = vulkan_device_of(device);
	uint64_t begin;

	if (!vulkan_begin(d, &begin))
		return NEXT(d, WaitForFences, wait_fences)(device, n, fences, all, timeout);
	return end_of(d, VULKAN_CALL_FENCES, begin,
		      NEXT(d, WaitForFences, wait_fences)(device, n, fences, all, timeout));
}

static int32_t wait_semaphores(vk_handle device, const void *info, uint64_t timeout)
{
	struct vulkan_device *d = vulkan_device_of(device);
	uint64_t begin;

	if (!vulkan_begin(d, &begin))
		return NEXT(d, WaitSemaphores, wait_semaphores)(device, info, timeout);
	return end_of(d, VULKAN_CALL_SEMAPHORES, begin,
		      NEXT(d, WaitSemaphores, wait_semaphores)(device, info, timeout));
}

static int32_t wait_semaphores_khr(vk_handle device, const void *info, uint64_t timeout)
{
	struct vulkan_device *d = vulkan_device_of(device);
	uint64_t begin;

	if (!vulkan_begin(d, &begin))
		return NEXT(d, WaitSemaphoresKHR, wait_semaphores_khr)(device, info, timeout);
	return end_of(d, VULKAN_CALL_SEMAPHORES, begin,
		      NEXT(d, WaitSemaphoresKHR, wait_semaphores_khr)(device, info, timeout));
}

static int32_t acquire(vk_handle device, vk_object swapchain, uint64_t timeout,
		       vk_object semaphore, vk_object fence, uint32_t *image)
{
	struct vulkan_device *d = vulkan_device_of(device);
	uint64_t begin;

	if (!vulkan_begin(d, &begin))
		return NEXT(d, AcquireNextImageKHR, acquire)(device, swapchain, timeout, semaphore,
							     fence, image);
	return end_of(d, VULKAN_CALL_ACQUIRE, begin,
		      NEXT(d, AcquireNextImageKHR, acquire)(device, swapchain, timeout, semaphore,
							    fence, image));
}

static int32_t acquire2(vk_handle device, const void *info, uint32_t *image)
{
	struct vulkan_device *d = vulkan_device_of(device);
	uint64_t begin;

	if (!vulkan_begin(d, &begin))
		return NEXT(d, AcquireNextImage2KHR, acquire2)(device, info, image);
	return end_of(d, VULKAN_CALL_ACQUIRE2, begin,
		      NEXT(d, AcquireNextImage2KHR, acquire2)(device, info, image));
}

static int32_t graphics(vk_handle device, vk_object cache, uint32_t n, const void *infos,
			const void *allocator, vk_object *pipelines)
{
	struct vulkan_device *d = vulkan_device_of(device);
	uint64_t begin;

	if (!vulkan_begin(d, &begin))
		return NEXT(d, CreateGraphicsPipelines, graphics)(device, cache, n, infos,
								  allocator, pipelines);
	return end_of(d, VULKAN_CALL_GRAPHICS, begin,
		      NEXT(d, CreateGraphicsPipelines, graphics)(device, cache, n, infos,
								 allocator, pipelines));
}

static int32_t compute(vk_handle device, vk_object cache, uint32_t n, const void *infos,
		       const void *allocator, vk_object *pipelines)
{
	struct vulkan_device *d = vulkan_device_of(device);
	uint64_t begin;

	if (!vulkan_begin(d, &begin))
		return NEXT(d, CreateComputePipelines, compute)(device, cache, n, infos, allocator,
								pipelines);
	return end_of(d, VULKAN_CALL_COMPUTE, begin,
		      NEXT(d, CreateComputePipelines, compute)(device, cache, n, infos, allocator,
							       pipelines));
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
