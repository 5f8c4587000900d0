// SPDX-License-Identifier: GPL-2.0-only
/*
 * For the program in vulkan.c: batches with labels of command buffers and of a queue.
 */
#include <stdio.h>
#include <string.h>

#include "vulkan-labels.h"
#include "vulkan-work.h"

#define DEVICES	5u
#define EACH	2000u	/* batches of a device: fewer than can be in flight */

static VkDebugUtilsLabelEXT label(const char *name)
{
	return (VkDebugUtilsLabelEXT){
		.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT, .pLabelName = name,
	};
}

#define DEVICE_FUNCTION(w, f)	((PFN_##f)vkGetDeviceProcAddr((w)->device, #f))

/* Makes @w->pool one whose command buffers can be recorded again. */
static void make_pool(struct work *w)
{
	vkDestroyCommandPool(w->device, w->pool, NULL);
	MUST(vkCreateCommandPool(w->device, &(VkCommandPoolCreateInfo){
		.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
		.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
	}, NULL, &w->pool));
}

void labels(void)
{
	const VkDebugUtilsLabelEXT blur = label("blur"), inner = label("inner");
	const VkDebugUtilsLabelEXT frame = label("frame"), pass = label("pass");
	const VkCommandBufferBeginInfo start = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
		.flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT,
	};
	struct work w = { 0 };
	VkCommandBuffer list[2] = { NULL };
	VkSubmitInfo batch = of(2, list);

	make_instance(&w, VK_API_VERSION_1_3);
	make_all(&w, true);
	make_pool(&w);
	list[0] = dispatch(&w, 1, false);
	list[1] = begin(&w, start.flags);
	DEVICE_FUNCTION(&w, vkCmdBeginDebugUtilsLabelEXT)(list[1], &blur);
	DEVICE_FUNCTION(&w, vkCmdBeginDebugUtilsLabelEXT)(list[1], &inner);
	DEVICE_FUNCTION(&w, vkCmdEndDebugUtilsLabelEXT)(list[1]);
	DEVICE_FUNCTION(&w, vkCmdEndDebugUtilsLabelEXT)(list[1]);
	MUST(vkEndCommandBuffer(list[1]));
	MUST(vkQueueSubmit(w.queue, 1, &batch, VK_NULL_HANDLE));
	DEVICE_FUNCTION(&w, vkQueueBeginDebugUtilsLabelEXT)(w.queue, &frame);
	DEVICE_FUNCTION(&w, vkQueueBeginDebugUtilsLabelEXT)(w.queue, &pass);
	MUST(vkQueueSubmit(w.queue, 1, &batch, VK_NULL_HANDLE));
	MUST(vkQueueWaitIdle(w.queue));
	MUST(vkBeginCommandBuffer(list[1], &start));
	MUST(vkEndCommandBuffer(list[1]));
	MUST(vkQueueSubmit(w.queue, 1, &batch, VK_NULL_HANDLE));
	DEVICE_FUNCTION(&w, vkQueueEndDebugUtilsLabelEXT)(w.queue);
	MUST(vkQueueSubmit(w.queue, 1, &batch, VK_NULL_HANDLE));
	DEVICE_FUNCTION(&w, vkQueueEndDebugUtilsLabelEXT)(w.queue);
	MUST(vkQueueSubmit(w.queue, 1, &batch, VK_NULL_HANDLE));
	MUST(vkQueueWaitIdle(w.queue));
	destroy_all(&w);
	vkDestroyInstance(w.instance, NULL);
	puts("call vkQueueSubmit 5\ncall vkQueueWaitIdle 2\nbatch 2 5\nqueues 1\n"
	     "name blur 2\nname pass 1\nname frame 1");
}

static const VkCommandBufferBeginInfo plain = {
	.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
};

/* @names: each label has another name. */
static void record_labels(struct work *w, VkCommandBuffer *list, bool names)
{
	PFN_vkCmdBeginDebugUtilsLabelEXT begin_label =
		DEVICE_FUNCTION(w, vkCmdBeginDebugUtilsLabelEXT);
	PFN_vkCmdEndDebugUtilsLabelEXT end_label = DEVICE_FUNCTION(w, vkCmdEndDebugUtilsLabelEXT);
	static uint32_t number;
	char text[32] = "label";
	VkDebugUtilsLabelEXT mark = label(text);

	for (uint32_t i = 0; i < EACH; i++) {
		if (names)
			snprintf(text, sizeof(text), "label %u", number++);
		list[i] = begin(w, 0);
		begin_label(list[i], &mark);
		end_label(list[i]);
		MUST(vkEndCommandBuffer(list[i]));
	}
}

/* Each in a batch of its own; then freed, or recorded without a label. */
static void submit_labels(struct work *w, const VkCommandBuffer *list, bool freed)
{
	for (uint32_t i = 0; i < EACH; i++) {
		VkSubmitInfo batch = of(1, &list[i]);

		MUST(vkQueueSubmit(w->queue, 1, &batch, VK_NULL_HANDLE));
	}
	MUST(vkQueueWaitIdle(w->queue));
	if (freed)
		vkFreeCommandBuffers(w->device, w->pool, EACH, list);
	for (uint32_t i = 0; i < EACH && !freed; i++) {
		MUST(vkBeginCommandBuffer(list[i], &plain));
		MUST(vkEndCommandBuffer(list[i]));
	}
}

void labelled(const char *how)
{
	bool together = !strcmp(how, "together"), names = !strcmp(how, "names");
	static VkCommandBuffer lists[DEVICES][EACH];
	struct work w[DEVICES] = { 0 };

	make_instance(&w[0], VK_API_VERSION_1_3);
	for (uint32_t d = 0; d < DEVICES; d++) {
		w[d].instance = w[0].instance;
		w[d].physical = w[0].physical;
		make_all(&w[d], true);
		make_pool(&w[d]);
		record_labels(&w[d], lists[d], names);
		if (!together)
			submit_labels(&w[d], lists[d], !strcmp(how, "freed"));
	}
	for (uint32_t d = 0; d < DEVICES && together; d++)
		submit_labels(&w[d], lists[d], false);
	for (uint32_t d = 0; d < DEVICES; d++)
		destroy_all(&w[d]);
	vkDestroyInstance(w[0].instance, NULL);
	printf("call vkQueueSubmit %u\ncall vkQueueWaitIdle %u\nbatch 1 %u\nqueues %u\n",
	       DEVICES * EACH, DEVICES, DEVICES * EACH, DEVICES);
}
