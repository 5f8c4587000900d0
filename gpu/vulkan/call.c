// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Common part of all hooked calls: decides whether a call is recorded, and writes its activity.
 */
#include "gpu/vulkan/local.h"

bool vulkan_active;

bool vulkan_begin(const struct vulkan_device *device, uint64_t *begin)
{
	if (!device->on || !(xsprof_enabled() >> vulkan_category() & 1) ||
	    !gpu_thread_ready(&vulkan_thread))
		return false;
	*begin = xsprof_now();
	return true;
}

void vulkan_end(const struct vulkan_device *device, const struct vulkan_queue *queue,
		enum vulkan_call call, uint64_t begin, uint64_t end, uint64_t correlation)
{
	const struct xsprof_device_activity a = {
		.size = sizeof(a), .name = vulkan_call_name(call), .kind = XSPROF_GPU_RUNTIME,
		.begin = begin, .end = end, .correlation = correlation,
		.device = device->gpu ? device->gpu->number : XSPROF_NO_DEVICE,
		.context = device->number,
		.stream = queue ? queue->number : XSPROF_NO_STREAM, .thread = xsprof_thread_id(),
	};

	xsprof_device_activity(&a, NULL, 0);
}
