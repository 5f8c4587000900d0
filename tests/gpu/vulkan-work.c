// SPDX-License-Identifier: GPL-2.0-only
/*
 * The device, buffer and shader of the program in vulkan.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vulkan-shader.h"
#include "vulkan-work.h"

void must(VkResult err, const char *what)
{
	if (!err)
		return;
	fprintf(stderr, "%s: %d\n", what, err);
	exit(99);
}

/* ---- setting up ------------------------------------------------------------------------------ */

void make_instance(struct work *w, uint32_t version)
{
	const VkApplicationInfo application = {
		.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = version,
	};
	static const char *const extensions[] = { VK_EXT_DEBUG_UTILS_EXTENSION_NAME };
	const VkInstanceCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
		.pApplicationInfo = version ? &application : NULL,
		.enabledExtensionCount = version != 0, .ppEnabledExtensionNames = extensions,
	};
	VkPhysicalDeviceProperties properties;
	uint32_t nr = 1;

	MUST(vkCreateInstance(&info, NULL, &w->instance));
	if (vkEnumeratePhysicalDevices(w->instance, &nr, &w->physical) < 0 || !nr)
		exit(98);
	vkGetPhysicalDeviceProperties(w->physical, &properties);
	w->period = properties.limits.timestampPeriod;
}

void make_device(struct work *w, bool modern)
{
	const float priority = 1;
	const VkDeviceQueueCreateInfo queue = {
		.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueCount = 1,
		.pQueuePriorities = &priority,
	};
	const VkPhysicalDeviceVulkan13Features v13 = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES,
		.synchronization2 = 1,
	};
	const VkPhysicalDeviceTimelineSemaphoreFeatures timeline = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES,
		.timelineSemaphore = 1, .pNext = (void *)&v13,
	};
	const VkDeviceCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, .queueCreateInfoCount = 1,
		.pQueueCreateInfos = &queue, .pNext = modern ? &timeline : NULL,
	};
	const VkCommandPoolCreateInfo pool = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
	};

	MUST(vkCreateDevice(w->physical, &info, NULL, &w->device));
	vkGetDeviceQueue(w->device, 0, 0, &w->queue);
	MUST(vkCreateCommandPool(w->device, &pool, NULL, &w->pool));
}

static uint32_t memory_type(const struct work *w, uint32_t types)
{
	const uint32_t want = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
			      VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
	VkPhysicalDeviceMemoryProperties p;

	vkGetPhysicalDeviceMemoryProperties(w->physical, &p);
	for (uint32_t i = 0; i < p.memoryTypeCount; i++)
		if (types >> i & 1 && (p.memoryTypes[i].propertyFlags & want) == want)
			return i;
	exit(97);
}

static void make_buffer(struct work *w)
{
	const VkBufferCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = 2 * BYTES,
		.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
			 VK_BUFFER_USAGE_TRANSFER_DST_BIT,
	};
	VkMemoryAllocateInfo memory = { .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO };
	VkMemoryRequirements need;

	MUST(vkCreateBuffer(w->device, &info, NULL, &w->buffer));
	vkGetBufferMemoryRequirements(w->device, w->buffer, &need);
	memory.allocationSize = need.size;
	memory.memoryTypeIndex = memory_type(w, need.memoryTypeBits);
	MUST(vkAllocateMemory(w->device, &memory, NULL, &w->memory));
	MUST(vkBindBufferMemory(w->device, w->buffer, w->memory, 0));
	MUST(vkMapMemory(w->device, w->memory, 0, VK_WHOLE_SIZE, 0, (void **)&w->x));
	memset(w->x, 0, 2 * BYTES);
}

static void make_set(struct work *w)
{
	const VkDescriptorSetLayoutBinding binding = {
		.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, .descriptorCount = 1,
		.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
	};
	const VkDescriptorSetLayoutCreateInfo sets = {
		.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, .bindingCount = 1,
		.pBindings = &binding,
	};
	const VkDescriptorPoolSize size = { VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1 };
	const VkDescriptorPoolCreateInfo pool = {
		.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO, .maxSets = 1,
		.poolSizeCount = 1, .pPoolSizes = &size,
	};
	VkDescriptorSetAllocateInfo allocate = {
		.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO, .descriptorSetCount = 1,
	};
	const VkDescriptorBufferInfo buffer = { w->buffer, 0, BYTES };
	VkWriteDescriptorSet write = {
		.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET, .descriptorCount = 1,
		.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, .pBufferInfo = &buffer,
	};

	MUST(vkCreateDescriptorSetLayout(w->device, &sets, NULL, &w->sets));
	MUST(vkCreateDescriptorPool(w->device, &pool, NULL, &w->descriptors));
	allocate.descriptorPool = w->descriptors;
	allocate.pSetLayouts = &w->sets;
	MUST(vkAllocateDescriptorSets(w->device, &allocate, &w->set));
	write.dstSet = w->set;
	vkUpdateDescriptorSets(w->device, 1, &write, 0, NULL);
}

static void make_pipeline(struct work *w)
{
	const VkPushConstantRange push = { VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(uint32_t) };
	const VkPipelineLayoutCreateInfo layout = {
		.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO, .setLayoutCount = 1,
		.pSetLayouts = &w->sets, .pushConstantRangeCount = 1, .pPushConstantRanges = &push,
	};
	const VkShaderModuleCreateInfo shader = {
		.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = sizeof(code),
		.pCode = code,
	};
	VkComputePipelineCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
		.stage = { .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
			   .stage = VK_SHADER_STAGE_COMPUTE_BIT, .pName = "main" },
	};
	const VkQueryPoolCreateInfo queries = {
		.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
		.queryType = VK_QUERY_TYPE_TIMESTAMP, .queryCount = 2,
	};

	MUST(vkCreatePipelineLayout(w->device, &layout, NULL, &w->layout));
	MUST(vkCreateShaderModule(w->device, &shader, NULL, &w->shader));
	info.layout = w->layout;
	info.stage.module = w->shader;
	MUST(vkCreateComputePipelines(w->device, VK_NULL_HANDLE, 1, &info, NULL, &w->pipeline));
	MUST(vkCreateQueryPool(w->device, &queries, NULL, &w->queries));
	puts("call vkCreateComputePipelines 1");
}

void make_all(struct work *w, bool modern)
{
	make_device(w, modern);
	make_buffer(w);
	make_set(w);
	make_pipeline(w);
}

void destroy_all(struct work *w)
{
	vkDestroyQueryPool(w->device, w->queries, NULL);
	vkDestroyPipeline(w->device, w->pipeline, NULL);
	vkDestroyShaderModule(w->device, w->shader, NULL);
	vkDestroyPipelineLayout(w->device, w->layout, NULL);
	vkDestroyDescriptorPool(w->device, w->descriptors, NULL);
	vkDestroyDescriptorSetLayout(w->device, w->sets, NULL);
	vkDestroyBuffer(w->device, w->buffer, NULL);
	vkFreeMemory(w->device, w->memory, NULL);
	vkDestroyCommandPool(w->device, w->pool, NULL);
	vkDestroyDevice(w->device, NULL);
}

/* ---- command buffers ------------------------------------------------------------------------- */

VkCommandBuffer begin(struct work *w, VkCommandBufferUsageFlags flags)
{
	const VkCommandBufferAllocateInfo info = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, .commandPool = w->pool,
		.commandBufferCount = 1,
	};
	const VkCommandBufferBeginInfo start = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO, .flags = flags,
	};
	VkCommandBuffer c;

	MUST(vkAllocateCommandBuffers(w->device, &info, &c));
	MUST(vkBeginCommandBuffer(c, &start));
	return c;
}

/* Records @steps steps for each of the numbers; @timed: with timestamps of the program's own. */
VkCommandBuffer dispatch(struct work *w, uint32_t steps, bool timed)
{
	const VkMemoryBarrier barrier = {
		.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
		.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
		.dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT,
	};
	VkCommandBuffer c = begin(w, VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT);

	if (timed) {
		vkCmdResetQueryPool(c, w->queries, 0, 2);
		vkCmdWriteTimestamp(c, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, w->queries, 0);
	}
	vkCmdPipelineBarrier(c, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT |
			     VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
			     0, 1, &barrier, 0, NULL, 0, NULL);
	vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_COMPUTE, w->pipeline);
	vkCmdBindDescriptorSets(c, VK_PIPELINE_BIND_POINT_COMPUTE, w->layout, 0, 1, &w->set, 0,
				NULL);
	vkCmdPushConstants(c, w->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(steps), &steps);
	vkCmdDispatch(c, COUNT / 64, 1, 1);
	if (timed)
		vkCmdWriteTimestamp(c, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, w->queries, 1);
	MUST(vkEndCommandBuffer(c));
	return c;
}

VkCommandBuffer copy(struct work *w)
{
	const VkBufferCopy region = { 0, BYTES, BYTES };
	VkCommandBuffer c = begin(w, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);

	vkCmdCopyBuffer(c, w->buffer, w->buffer, 1, &region);
	MUST(vkEndCommandBuffer(c));
	return c;
}

VkSubmitInfo of(uint32_t nr, const VkCommandBuffer *commands)
{
	return (VkSubmitInfo){
		.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = nr,
		.pCommandBuffers = commands,
	};
}

static uint32_t after(uint32_t x, uint32_t steps)
{
	while (steps--)
		x = x * 3 + 1;
	return x;
}

void check(const struct work *w, uint32_t steps)
{
	for (uint32_t i = 0; i < COUNT; i++)
		if (w->x[i] != after(0, steps))
			exit(96);
}
