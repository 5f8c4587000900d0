/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The program's instances and devices, and the functions of the next layer.
 */
#ifndef XSPROF_VULKAN_DISPATCH_H
#define XSPROF_VULKAN_DISPATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "gpu/vulkan/vulkan-abi.h"

/*
 * Functions of the next layer that the collector calls: of instances and physical devices, and of
 * devices.
 */
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
	F(FreeCommandBuffers)								\
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
 * @older: the instance made before it; structures are reused and never freed
 * @key: first word of the instance and its physical devices; NULL: destroyed
 * @handle: the loader's handle
 * @get_address: function lookup of the next layer
 * @api_version: version that the program requested
 * @has_properties2: vkGetPhysicalDeviceProperties2() is available
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
 * @older: the device made before it; structures are reused and never freed
 * @key: first word of the device, its queues and command buffers; NULL: destroyed
 * @handle: the loader's handle
 * @instance: instance of the device
 * @physical: its physical device
 * @gpu: the recorded GPU of @physical; NULL: none, too many GPUs
 * @get_address: function lookup of the next layer
 * @set_loader_data: makes our command buffers valid for lower layers
 * @number: count of devices made so far: the context of its activities
 * @on: recorded; false in a forked child
 * @whole: a single device, not a device group
 * @host_reset: the host may reset queries
 * @calibrated: the extension is enabled: the driver reads both clocks at the same time
 * @time_domain: domain of the host clock it reads; VULKAN_TIME_DEVICE: none that we know
 * @queues: queues that the program asked for, the newest first; never removed
 * @nr_queues: number of queues
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

/* The next layer's function @slot, with the type of @like. */
#define NEXT(of, slot, like)	((__typeof__(&(like)))(of)->next[VULKAN_##slot])

static inline void *vulkan_key(vk_handle handle)
{
	return *(void **)handle;
}

/* Find by an instance or physical device; by a device, queue or command buffer. NULL: unknown. */
struct vulkan_instance *vulkan_instance_of(vk_handle handle);
struct vulkan_device *vulkan_device_of(vk_handle handle);
/* The newest device, all others follow by @older; and whether a structure is in use. */
struct vulkan_device *vulkan_devices(void);
bool vulkan_device_is_there(const struct vulkan_device *device);
/* Return: a structure to fill; @key is set last. NULL without memory. */
struct vulkan_instance *vulkan_instance_new(void);
struct vulkan_device *vulkan_device_new(void);
void vulkan_instance_add(struct vulkan_instance *instance, vk_handle handle);
void vulkan_device_add(struct vulkan_device *device, vk_handle handle);
/* To be called before the object is destroyed. */
void vulkan_instance_gone(struct vulkan_instance *instance);
void vulkan_device_gone(struct vulkan_device *device);
void vulkan_dispatch_forget(void);

#endif /* XSPROF_VULKAN_DISPATCH_H */
