// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Names of calls and of the work of devices.
 */
#include <stdio.h>

#include "gpu/vulkan/local.h"

/* Batches with more command buffers share one name. */
#define COUNTED	16u

static const char *const texts[VULKAN_NR_CALLS] = {
	[VULKAN_CALL_SUBMIT] = "vkQueueSubmit", [VULKAN_CALL_SUBMIT2] = "vkQueueSubmit2",
	[VULKAN_CALL_PRESENT] = "vkQueuePresentKHR", [VULKAN_CALL_SPARSE] = "vkQueueBindSparse",
	[VULKAN_CALL_QUEUE_IDLE] = "vkQueueWaitIdle",
	[VULKAN_CALL_DEVICE_IDLE] = "vkDeviceWaitIdle", [VULKAN_CALL_FENCES] = "vkWaitForFences",
	[VULKAN_CALL_SEMAPHORES] = "vkWaitSemaphores",
	[VULKAN_CALL_ACQUIRE] = "vkAcquireNextImageKHR",
	[VULKAN_CALL_ACQUIRE2] = "vkAcquireNextImage2KHR",
	[VULKAN_CALL_GRAPHICS] = "vkCreateGraphicsPipelines",
	[VULKAN_CALL_COMPUTE] = "vkCreateComputePipelines",
};

static int category;
static xsprof_name_t calls[VULKAN_NR_CALLS], batches[COUNTED + 1], key, moved;

int vulkan_category(void)
{
	return category;
}

void vulkan_names_init(void)
{
	char text[64];

	category = xsprof_category("vulkan");
	if (category < 0)
		category = 0;
	for (int i = 0; i < VULKAN_NR_CALLS; i++)
		calls[i] = xsprof_name_in(category, texts[i]);
	for (uint32_t i = 1; i < COUNTED; i++) {
		snprintf(text, sizeof(text), "batch of %u command buffer%s", i, i > 1 ? "s" : "");
		batches[i] = xsprof_name_in(category, text);
	}
	snprintf(text, sizeof(text), "batch of %u or more command buffers", COUNTED);
	batches[COUNTED] = xsprof_name_in(category, text);
	key = xsprof_name("command buffers");
	moved = xsprof_name("moved (ns)");
}

xsprof_name_t vulkan_call_name(enum vulkan_call call)
{
	return calls[call];
}

xsprof_name_t vulkan_batch_name(uint32_t commands)
{
	return batches[commands < COUNTED ? commands : COUNTED];
}

xsprof_name_t vulkan_batch_key(void)
{
	return key;
}

xsprof_name_t vulkan_moved_key(void)
{
	return moved;
}
