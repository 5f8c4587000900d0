/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For the program in vulkan.c: a device, a buffer of numbers, and a shader for them.
 */
#ifndef XSPROF_TEST_VULKAN_WORK_H
#define XSPROF_TEST_VULKAN_WORK_H

#include <stdbool.h>
#include <vulkan/vulkan.h>

#define COUNT	4096u
#define BYTES	(COUNT * sizeof(uint32_t))

/* The objects of one of the program's devices. */
struct work {
	VkInstance		instance;
	VkPhysicalDevice	physical;
	VkDevice		device;
	VkQueue			queue;
	VkCommandPool		pool;
	VkBuffer		buffer;
	VkDeviceMemory		memory;
	VkDescriptorSetLayout	sets;
	VkDescriptorPool	descriptors;
	VkPipelineLayout	layout;
	VkShaderModule		shader;
	VkPipeline		pipeline;
	VkDescriptorSet		set;
	VkQueryPool		queries;
	float			period;
	uint32_t		*x;
};

void must(VkResult err, const char *what);
#define MUST(call)	must(call, #call)

void make_instance(struct work *w, uint32_t version);
/* @modern: with Vulkan 1.3. */
void make_device(struct work *w, bool modern);
void make_all(struct work *w, bool modern);
void destroy_all(struct work *w);

/* Command buffers: a begun one; steps for each of the numbers, with timestamps; a copy. */
VkCommandBuffer begin(struct work *w, VkCommandBufferUsageFlags flags);
VkCommandBuffer dispatch(struct work *w, uint32_t steps, bool timed);
VkCommandBuffer copy(struct work *w);
VkSubmitInfo of(uint32_t nr, const VkCommandBuffer *commands);
/* Checks that each number has taken @steps steps in all. */
void check(const struct work *w, uint32_t steps);

#endif /* XSPROF_TEST_VULKAN_WORK_H */
