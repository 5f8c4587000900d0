// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The collector as registered with the library, and the counts of work that is not recorded, by
 * cause.
 */
#include "gpu/vulkan/local.h"

struct xsprof_miss vulkan_misses[VULKAN_NR_MISSES] = {
	[VULKAN_MISS_NO_QUERIES] = { .text = "batches of queues that have no timestamps" },
	[VULKAN_MISS_PROTECTED] = {
		.text = "batches that are protected or of a group of devices" },
	[VULKAN_MISS_FULL] = { .text = "batches, as too many were under way" },
	[VULKAN_MISS_NO_MEMORY] = {
		.text = "batches, as the device or the host had no memory for it" },
	[VULKAN_MISS_NO_TIMES] = { .text = "batches that the device gave no times of" },
	[VULKAN_MISS_FAILED] = { .text = "batches, as the device was lost" },
	[VULKAN_MISS_QUEUES] = { .text = "batches of more queues or devices than have room" },
	[VULKAN_MISS_EXIT] = { .text = "batches, as the program ended" },
	[VULKAN_MISS_DESTROYED] = {
		.text = "batches under way when their device was destroyed" },
};

/* thread.c sets the functions. */
struct xsprof_collector vulkan_collector = {
	.size = sizeof(vulkan_collector), .version = XSPROF_COLLECTOR_VERSION,
	.name = "vulkan", .category = "vulkan",
	.misses = vulkan_misses, .nr_misses = VULKAN_NR_MISSES,
};
