// SPDX-License-Identifier: GPL-2.0-only
/*
 * An independent layer: counts submits, batches and their command buffers, and writes the numbers
 * to the file $COUNT_FILE when an instance is destroyed. It also compares the collector's constants
 * with Vulkan's headers, and misreports a device as $COUNT_LIE selects:
 *
 *	transfer	its queues can only copy
 *	no-bits		its queues have no timestamps
 *	few-bits	its timestamps have 36 bits
 *	uncalibrated	it has no VK_EXT_calibrated_timestamps
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

#define EXPORTED	__attribute__((visibility("default")))
#define BITS		((1ull << 36) - 1)

static PFN_vkGetInstanceProcAddr next_instance;
static PFN_vkGetDeviceProcAddr next_device;
static VkInstance instance;
static PFN_vkGetPhysicalDeviceQueueFamilyProperties next_families;
static PFN_vkEnumerateDeviceExtensionProperties next_extensions;
static PFN_vkDestroyInstance next_destroy;
static PFN_vkQueueSubmit next_submit;
static PFN_vkQueueSubmit2 next_submit2;
static unsigned long submits, batches, commands;

static int lies(const char *what)
{
	const char *lie = getenv("COUNT_LIE");

	return lie && !strcmp(lie, what);
}

static void count(unsigned long *what, unsigned long n)
{
	__atomic_fetch_add(what, n, __ATOMIC_RELAXED);
}

static VkResult VKAPI_CALL submit(VkQueue queue, uint32_t n, const VkSubmitInfo *list,
				  VkFence fence)
{
	count(&submits, 1);
	for (uint32_t i = 0; i < n; i++) {
		count(&batches, list[i].commandBufferCount != 0);
		count(&commands, list[i].commandBufferCount);
	}
	return next_submit(queue, n, list, fence);
}

static VkResult VKAPI_CALL submit2(VkQueue queue, uint32_t n, const VkSubmitInfo2 *list,
				   VkFence fence)
{
	count(&submits, 1);
	for (uint32_t i = 0; i < n; i++) {
		count(&batches, list[i].commandBufferInfoCount != 0);
		count(&commands, list[i].commandBufferInfoCount);
	}
	return next_submit2(queue, n, list, fence);
}

static void VKAPI_CALL families(VkPhysicalDevice device, uint32_t *n, VkQueueFamilyProperties *list)
{
	next_families(device, n, list);
	for (uint32_t i = 0; list && i < *n; i++) {
		if (lies("transfer"))
			list[i].queueFlags = VK_QUEUE_TRANSFER_BIT;
		if (lies("no-bits") || lies("few-bits"))
			list[i].timestampValidBits = lies("few-bits") ? 36 : 0;
	}
}

static VkResult VKAPI_CALL extensions(VkPhysicalDevice device, const char *layer, uint32_t *n,
				      VkExtensionProperties *list)
{
	VkResult err = next_extensions(device, layer, n, list);

	for (uint32_t i = 0; list && lies("uncalibrated") && i < *n; i++)
		if (strstr(list[i].extensionName, "calibrated_timestamps"))
			strcpy(list[i].extensionName, "VK_TEST_none");
	return err;
}

/* Truncates results, as a device does whose timestamps have so few bits. */
static VkResult VKAPI_CALL results(VkDevice device, VkQueryPool pool, uint32_t first, uint32_t n,
				   size_t size, void *data, VkDeviceSize stride,
				   VkQueryResultFlags flags)
{
	VkResult err = ((PFN_vkGetQueryPoolResults)next_device(device, "vkGetQueryPoolResults"))
			(device, pool, first, n, size, data, stride, flags);

	for (uint32_t i = 0; lies("few-bits") && i < n; i++)
		*(uint64_t *)((char *)data + i * stride) &= BITS;
	return err;
}

static void VKAPI_CALL destroy_instance(VkInstance gone, const VkAllocationCallbacks *allocator)
{
	FILE *out = fopen(getenv("COUNT_FILE"), "w");

	if (!out)
		abort();
	fprintf(out, "%lu %lu %lu\n", submits, batches, commands);
	fclose(out);
	next_destroy(gone, allocator);
}

static VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo *info,
					   const VkAllocationCallbacks *allocator,
					   VkInstance *made)
{
	VkLayerInstanceCreateInfo *chain = (void *)info->pNext;
	PFN_vkCreateInstance create;
	VkResult err;

	while (chain->sType != VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO ||
	       chain->function != VK_LAYER_LINK_INFO)
		chain = (void *)chain->pNext;
	next_instance = chain->u.pLayerInfo->pfnNextGetInstanceProcAddr;
	chain->u.pLayerInfo = chain->u.pLayerInfo->pNext;
	create = (PFN_vkCreateInstance)next_instance(NULL, "vkCreateInstance");
	err = create(info, allocator, made);
	if (err)
		return err;
	/* Later the loader would return the first layer's. */
	instance = *made;
	next_destroy = (PFN_vkDestroyInstance)next_instance(instance, "vkDestroyInstance");
	next_families = (PFN_vkGetPhysicalDeviceQueueFamilyProperties)
			next_instance(instance, "vkGetPhysicalDeviceQueueFamilyProperties");
	next_extensions = (PFN_vkEnumerateDeviceExtensionProperties)
			  next_instance(instance, "vkEnumerateDeviceExtensionProperties");
	return err;
}

static VkResult VKAPI_CALL create_device(VkPhysicalDevice device, const VkDeviceCreateInfo *info,
					 const VkAllocationCallbacks *allocator, VkDevice *made)
{
	VkLayerDeviceCreateInfo *chain = (void *)info->pNext;
	PFN_vkGetInstanceProcAddr address;
	PFN_vkCreateDevice create;
	VkResult err;

	while (chain->sType != VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO ||
	       chain->function != VK_LAYER_LINK_INFO)
		chain = (void *)chain->pNext;
	address = chain->u.pLayerInfo->pfnNextGetInstanceProcAddr;
	create = (PFN_vkCreateDevice)address(instance, "vkCreateDevice");
	next_device = chain->u.pLayerInfo->pfnNextGetDeviceProcAddr;
	chain->u.pLayerInfo = chain->u.pLayerInfo->pNext;
	err = create(device, info, allocator, made);
	if (err)
		return err;
	next_submit = (PFN_vkQueueSubmit)next_device(*made, "vkQueueSubmit");
	next_submit2 = (PFN_vkQueueSubmit2)next_device(*made, "vkQueueSubmit2");
	return err;
}

static PFN_vkVoidFunction VKAPI_CALL device_address(VkDevice device, const char *name)
{
	if (!strcmp(name, "vkGetDeviceProcAddr"))
		return (PFN_vkVoidFunction)device_address;
	if (!strcmp(name, "vkQueueSubmit"))
		return (PFN_vkVoidFunction)submit;
	if (!strcmp(name, "vkQueueSubmit2"))
		return (PFN_vkVoidFunction)submit2;
	if (!strcmp(name, "vkGetQueryPoolResults"))
		return (PFN_vkVoidFunction)results;
	return next_device(device, name);
}

static PFN_vkVoidFunction VKAPI_CALL instance_address(VkInstance of, const char *name)
{
	if (!strcmp(name, "vkGetInstanceProcAddr"))
		return (PFN_vkVoidFunction)instance_address;
	if (!strcmp(name, "vkCreateInstance"))
		return (PFN_vkVoidFunction)create_instance;
	if (!strcmp(name, "vkDestroyInstance"))
		return (PFN_vkVoidFunction)destroy_instance;
	if (!strcmp(name, "vkCreateDevice"))
		return (PFN_vkVoidFunction)create_device;
	if (!strcmp(name, "vkGetPhysicalDeviceQueueFamilyProperties"))
		return (PFN_vkVoidFunction)families;
	if (!strcmp(name, "vkEnumerateDeviceExtensionProperties"))
		return (PFN_vkVoidFunction)extensions;
	return next_instance(of, name);
}

EXPORTED VkResult VKAPI_CALL
vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface *n)
{
	n->loaderLayerInterfaceVersion = 2;
	n->pfnGetInstanceProcAddr = instance_address;
	n->pfnGetDeviceProcAddr = device_address;
	n->pfnGetPhysicalDeviceProcAddr = NULL;
	return VK_SUCCESS;
}

/* ---- the collector's constants --------------------------------------------------------------- */

#include "gpu/vulkan/vulkan-abi.h"

#define SAME(ours, theirs)	\
	_Static_assert((long long)(ours) == (long long)(theirs), #ours " " #theirs)
#define AT(ours, member, theirs, their_member)						\
	SAME(offsetof(struct ours, member), offsetof(theirs, their_member));		\
	SAME(sizeof(((struct ours *)0)->member), sizeof(((theirs *)0)->their_member))
#define WHOLE(ours, theirs)	SAME(sizeof(struct ours), sizeof(theirs))
#define TYPE(ours, theirs)	SAME(VULKAN_IS_##ours, VK_STRUCTURE_TYPE_##theirs)

SAME(VULKAN_OK, VK_SUCCESS);
SAME(VULKAN_NOT_READY, VK_NOT_READY);
SAME(VULKAN_NO_MEMORY, VK_ERROR_OUT_OF_HOST_MEMORY);
SAME(VULKAN_NOT_STARTED, VK_ERROR_INITIALIZATION_FAILED);
SAME(VULKAN_LOST, VK_ERROR_DEVICE_LOST);
SAME(VULKAN_NO_EXTENSION, VK_ERROR_EXTENSION_NOT_PRESENT);
SAME(VULKAN_NO_FEATURE, VK_ERROR_FEATURE_NOT_PRESENT);
SAME(VULKAN_LINK_INFO, VK_LAYER_LINK_INFO);
SAME(VULKAN_LOADER_DATA, VK_LOADER_DATA_CALLBACK);
SAME(VULKAN_NEGOTIATE, LAYER_NEGOTIATE_INTERFACE_STRUCT);
SAME(VULKAN_QUEUE_GRAPHICS, VK_QUEUE_GRAPHICS_BIT);
SAME(VULKAN_QUEUE_COMPUTE, VK_QUEUE_COMPUTE_BIT);
SAME(VULKAN_STAGE_TOP, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT);
SAME(VULKAN_STAGE_BOTTOM, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT);
SAME(VULKAN_QUERY_TIMESTAMP, VK_QUERY_TYPE_TIMESTAMP);
SAME(VULKAN_RESULT_64, VK_QUERY_RESULT_64_BIT);
SAME(VULKAN_RESULT_AVAILABLE, VK_QUERY_RESULT_WITH_AVAILABILITY_BIT);
SAME(VULKAN_PROTECTED, VK_SUBMIT_PROTECTED_BIT);
SAME(VULKAN_HEAP_LOCAL, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT);
SAME(VULKAN_TIME_DEVICE, VK_TIME_DOMAIN_DEVICE_EXT);
SAME(VULKAN_TIME_MONOTONIC, VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT);
SAME(VULKAN_TIME_MONOTONIC_RAW, VK_TIME_DOMAIN_CLOCK_MONOTONIC_RAW_EXT);
SAME(VULKAN_1_1, VK_API_VERSION_1_1);
SAME(VULKAN_1_2, VK_API_VERSION_1_2);
TYPE(INSTANCE, INSTANCE_CREATE_INFO);
TYPE(DEVICE, DEVICE_CREATE_INFO);
TYPE(SUBMIT, SUBMIT_INFO);
TYPE(FENCE, FENCE_CREATE_INFO);
TYPE(QUERIES, QUERY_POOL_CREATE_INFO);
TYPE(COMMAND_POOL, COMMAND_POOL_CREATE_INFO);
TYPE(COMMANDS, COMMAND_BUFFER_ALLOCATE_INFO);
TYPE(BEGIN, COMMAND_BUFFER_BEGIN_INFO);
TYPE(LAYER_INSTANCE, LOADER_INSTANCE_CREATE_INFO);
TYPE(LAYER_DEVICE, LOADER_DEVICE_CREATE_INFO);
TYPE(FEATURES_1_2, PHYSICAL_DEVICE_VULKAN_1_2_FEATURES);
TYPE(FEATURES2, PHYSICAL_DEVICE_FEATURES_2);
TYPE(PROPERTIES2, PHYSICAL_DEVICE_PROPERTIES_2);
TYPE(GROUP_SUBMIT, DEVICE_GROUP_SUBMIT_INFO);
TYPE(GROUP_DEVICE, DEVICE_GROUP_DEVICE_CREATE_INFO);
TYPE(ID, PHYSICAL_DEVICE_ID_PROPERTIES);
TYPE(PROTECTED_SUBMIT, PROTECTED_SUBMIT_INFO);
TYPE(TIMESTAMP, CALIBRATED_TIMESTAMP_INFO_EXT);
TYPE(DRIVER, PHYSICAL_DEVICE_DRIVER_PROPERTIES);
TYPE(HOST_RESET, PHYSICAL_DEVICE_HOST_QUERY_RESET_FEATURES);
TYPE(SUBMIT2, SUBMIT_INFO_2);
TYPE(COMMAND_SUBMIT, COMMAND_BUFFER_SUBMIT_INFO);
AT(vk_negotiate, get_instance_address, VkNegotiateLayerInterface, pfnGetInstanceProcAddr);
AT(vk_negotiate, get_device_address, VkNegotiateLayerInterface, pfnGetDeviceProcAddr);
AT(vk_negotiate, get_physical_address, VkNegotiateLayerInterface, pfnGetPhysicalDeviceProcAddr);
AT(vk_instance_link, get_instance_address, VkLayerInstanceLink, pfnNextGetInstanceProcAddr);
AT(vk_layer_instance, function, VkLayerInstanceCreateInfo, function);
AT(vk_layer_instance, link, VkLayerInstanceCreateInfo, u.pLayerInfo);
AT(vk_device_link, get_instance_address, VkLayerDeviceLink, pfnNextGetInstanceProcAddr);
AT(vk_device_link, get_device_address, VkLayerDeviceLink, pfnNextGetDeviceProcAddr);
AT(vk_layer_device, function, VkLayerDeviceCreateInfo, function);
AT(vk_layer_device, link, VkLayerDeviceCreateInfo, u.pLayerInfo);
AT(vk_layer_device, set_loader_data, VkLayerDeviceCreateInfo, u.pfnSetDeviceLoaderData);
WHOLE(vk_application, VkApplicationInfo);
AT(vk_application, api_version, VkApplicationInfo, apiVersion);
WHOLE(vk_instance_info, VkInstanceCreateInfo);
AT(vk_instance_info, application, VkInstanceCreateInfo, pApplicationInfo);
AT(vk_instance_info, extensions, VkInstanceCreateInfo, ppEnabledExtensionNames);
WHOLE(vk_queue_info, VkDeviceQueueCreateInfo);
AT(vk_queue_info, family, VkDeviceQueueCreateInfo, queueFamilyIndex);
WHOLE(vk_device_info, VkDeviceCreateInfo);
AT(vk_device_info, queues, VkDeviceCreateInfo, pQueueCreateInfos);
AT(vk_device_info, extensions, VkDeviceCreateInfo, ppEnabledExtensionNames);
AT(vk_group_device, nr_devices, VkDeviceGroupDeviceCreateInfo, physicalDeviceCount);
WHOLE(vk_extension, VkExtensionProperties);
WHOLE(vk_family, VkQueueFamilyProperties);
AT(vk_family, valid_bits, VkQueueFamilyProperties, timestampValidBits);
WHOLE(vk_properties, VkPhysicalDeviceProperties);
AT(vk_properties, device_type, VkPhysicalDeviceProperties, deviceType);
AT(vk_properties, name, VkPhysicalDeviceProperties, deviceName);
AT(vk_properties, cache_uuid, VkPhysicalDeviceProperties, pipelineCacheUUID);
AT(vk_properties, timestamp_period, VkPhysicalDeviceProperties, limits.timestampPeriod);
WHOLE(vk_properties2, VkPhysicalDeviceProperties2);
WHOLE(vk_id, VkPhysicalDeviceIDProperties);
AT(vk_id, device_uuid, VkPhysicalDeviceIDProperties, deviceUUID);
WHOLE(vk_driver, VkPhysicalDeviceDriverProperties);
AT(vk_driver, name, VkPhysicalDeviceDriverProperties, driverName);
AT(vk_driver, info, VkPhysicalDeviceDriverProperties, driverInfo);
WHOLE(vk_memory, VkPhysicalDeviceMemoryProperties);
AT(vk_memory, nr_heaps, VkPhysicalDeviceMemoryProperties, memoryHeapCount);
AT(vk_memory, heaps, VkPhysicalDeviceMemoryProperties, memoryHeaps);
WHOLE(vk_features2, VkPhysicalDeviceFeatures2);
AT(vk_features_1_2, host_reset, VkPhysicalDeviceVulkan12Features, hostQueryReset);
WHOLE(vk_host_reset, VkPhysicalDeviceHostQueryResetFeatures);
AT(vk_host_reset, enabled, VkPhysicalDeviceHostQueryResetFeatures, hostQueryReset);
AT(vk_queue_info2, family, VkDeviceQueueInfo2, queueFamilyIndex);
WHOLE(vk_submit, VkSubmitInfo);
AT(vk_submit, nr_commands, VkSubmitInfo, commandBufferCount);
AT(vk_submit, commands, VkSubmitInfo, pCommandBuffers);
WHOLE(vk_submit2, VkSubmitInfo2);
AT(vk_submit2, flags, VkSubmitInfo2, flags);
AT(vk_submit2, nr_commands, VkSubmitInfo2, commandBufferInfoCount);
AT(vk_submit2, commands, VkSubmitInfo2, pCommandBufferInfos);
WHOLE(vk_command_submit, VkCommandBufferSubmitInfo);
AT(vk_command_submit, commands, VkCommandBufferSubmitInfo, commandBuffer);
AT(vk_protected_submit, is_protected, VkProtectedSubmitInfo, protectedSubmit);
WHOLE(vk_command_pool_info, VkCommandPoolCreateInfo);
AT(vk_command_pool_info, family, VkCommandPoolCreateInfo, queueFamilyIndex);
WHOLE(vk_commands_info, VkCommandBufferAllocateInfo);
AT(vk_commands_info, level, VkCommandBufferAllocateInfo, level);
AT(vk_commands_info, count, VkCommandBufferAllocateInfo, commandBufferCount);
WHOLE(vk_begin_info, VkCommandBufferBeginInfo);
WHOLE(vk_queries_info, VkQueryPoolCreateInfo);
AT(vk_queries_info, query_type, VkQueryPoolCreateInfo, queryType);
AT(vk_queries_info, count, VkQueryPoolCreateInfo, queryCount);
WHOLE(vk_fence_info, VkFenceCreateInfo);
WHOLE(vk_timestamp_info, VkCalibratedTimestampInfoEXT);
AT(vk_timestamp_info, domain, VkCalibratedTimestampInfoEXT, timeDomain);
AT(vk_label, name, VkDebugUtilsLabelEXT, pLabelName);
SAME(sizeof(vk_object), sizeof(VkFence));
SAME(sizeof(vk_handle), sizeof(VkQueue));
