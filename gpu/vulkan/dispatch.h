/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Instances and devices of the program, and the functions below us.
 */
#ifndef XSPROF_VULKAN_DISPATCH_H
#define XSPROF_VULKAN_DISPATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "gpu/vulkan/vulkan-abi.h"

/* Functions of instances and physical devices, and of devices, that are called here. */
#define VULKAN_INSTANCE_FUNCTIONS(F)							\
	F(DestroyInstance) F(EnumerateDeviceExtensionProperties)			\
	F(GetPhysicalDeviceProperties) F(GetPhysicalDeviceMemoryProperties)		\
	F(GetPhysicalDeviceQueueFamilyProperties)					\
	F(GetPhysicalDeviceProperties2) F(GetPhysicalDeviceProperties2KHR)		\
	F(GetPhysicalDeviceFeatures2) F(GetPhysicalDeviceFeatures2KHR)			\
	F(GetPhysicalDeviceCalibrateableTimeDomainsEXT)					\
	F(GetPhysicalDeviceCalibrateableTimeDomainsKHR)
#define VULKAN_DEVICE_FUNCTIONS(F)							\
	F(DestroyDevice) F(GetDeviceQueue) F(GetDeviceQueue2)				\
	F(QueueSubmit) F(QueueSubmit2) F(QueueSubmit2KHR) F(QueuePresentKHR)		\
	F(QueueBindSparse) F(QueueWaitIdle) F(DeviceWaitIdle) F(WaitForFences)		\
	F(WaitSemaphores) F(WaitSemaphoresKHR)						\
	F(AcquireNextImageKHR) F(AcquireNextImage2KHR)					\
	F(CreateGraphicsPipelines) F(CreateComputePipelines)				\
	F(CreateCommandPool) F(DestroyCommandPool) F(AllocateCommandBuffers)		\
	F(BeginCommandBuffer) F(EndCommandBuffer) F(CmdResetQueryPool)			\
	F(CmdWriteTimestamp) F(CreateQueryPool) F(DestroyQueryPool)			\
	F(GetQueryPoolResults) F(ResetQueryPool) F(ResetQueryPoolEXT)			\
	F(CreateFence) F(DestroyFence) F(GetFenceStatus) F(ResetFences)			\
	F(GetCalibratedTimestampsEXT) F(GetCalibratedTimestampsKHR)			\
	F(CmdBeginDebugUtilsLabelEXT) F(QueueBeginDebugUtilsLabelEXT)			\
	F(QueueEndDebugUtilsLabelEXT)

#define VULKAN_SLOT(f)	VULKAN_##f,
enum vulkan_instance_slot { VULKAN_INSTANCE_FUNCTIONS(VULKAN_SLOT) VULKAN_INSTANCE_SLOTS };
enum vulkan_device_slot { VULKAN_DEVICE_FUNCTIONS(VULKAN_SLOT) VULKAN_DEVICE_SLOTS };

/**
 * struct vulkan_instance - an instance of the program
 * @older: made before it; the structure is never freed, and used again
 * @key: first word of the instance and of its physical devices; NULL: it was destroyed
 * @handle: the loader's
 * @get_address: of the next layer
 * @api_version: that the program asked for
 * @has_properties2: VK_KHR_get_physical_device_properties2 or what has it is enabled
 * @next: functions of the next layer
 */
struct vulkan_instance {
	struct vulkan_instance	*older;
	void			*key;
	vk_handle		handle;
	vk_get_address		*get_address;
	uint32_t		api_version;
	bool			has_properties2;
	vk_function		next[VULKAN_INSTANCE_SLOTS];
};

struct vulkan_gpu;
struct vulkan_queue;

/**
 * struct vulkan_device - a device of the program
 * @older: made before it; the structure is never freed, and used again
 * @key: first word of the device, its queues and command buffers; NULL: it was destroyed
 * @handle: the loader's
 * @instance: that it is of
 * @physical: that it is of
 * @gpu: the same, as it is recorded; NULL: it has no number
 * @get_address: of the next layer
 * @set_loader_data: makes a command buffer of ours one that lower layers know
 * @number: of those ever made: the context of activities
 * @on: it is recorded: not in the child of a fork
 * @whole: it is one, and no group
 * @host_reset: the host may reset queries
 * @calibrated: enabled: the driver reads both clocks at one time
 * @time_domain: of the host's clock that it reads; VULKAN_TIME_DEVICE: none that is known here
 * @queues: that the program asked for, the newest first; they are never taken out
 * @nr_queues: how many
 * @next: functions of the next layer
 */
struct vulkan_device {
	struct vulkan_device	*older;
	void			*key;
	vk_handle		handle;
	struct vulkan_instance	*instance;
	vk_handle		physical;
	struct vulkan_gpu	*gpu;
	vk_get_address		*get_address;
	vk_set_loader_data	*set_loader_data;
	uint32_t		number;
	bool			on;
	bool			whole;
	bool			host_reset;
	bool			calibrated;
	uint32_t		time_domain;
	struct vulkan_queue	*queues;
	uint32_t		nr_queues;
	vk_function		next[VULKAN_DEVICE_SLOTS];
};

/* The next one of function @slot, which has the type of @like. */
#define NEXT(of, slot, like)	((__typeof__(&(like)))(of)->next[VULKAN_##slot])

static inline void *vulkan_key(vk_handle handle)
{
	return *(void **)handle;
}

/* Of an instance or physical device; of a device, queue or command buffer.  NULL: none of ours. */
struct vulkan_instance *vulkan_instance_of(vk_handle handle);
struct vulkan_device *vulkan_device_of(vk_handle handle);
/* The newest device, and by @older all; whether one is there and not only its structure. */
struct vulkan_device *vulkan_devices(void);
bool vulkan_device_is_there(const struct vulkan_device *device);
/* A structure whose @key is to be set, when all else is.  NULL: no memory. */
struct vulkan_instance *vulkan_instance_new(void);
struct vulkan_device *vulkan_device_new(void);
void vulkan_instance_add(struct vulkan_instance *instance, vk_handle handle);
void vulkan_device_add(struct vulkan_device *device, vk_handle handle);
/* It is destroyed next. */
void vulkan_instance_gone(struct vulkan_instance *instance);
void vulkan_device_gone(struct vulkan_device *device);
void vulkan_dispatch_forget(void);

#endif /* XSPROF_VULKAN_DISPATCH_H */
