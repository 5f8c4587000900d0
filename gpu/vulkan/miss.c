// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The collector as registered with the library, and the counts of work that is not recorded, by
 * cause.
 */
#include "gpu/vulkan/local.h"

struct xsprof_miss vulkan_misses[VULKAN_NR_MISSES] = {
	[VULKAN_MISS_NO_QUERIES] = { .text = "batches of queues without timestamps" },
	[VULKAN_MISS_PROTECTED] = {
		.text = "batches that are protected or of a device group" },
	[VULKAN_MISS_FULL] = { .text = "batches, because too many were in flight" },
	[VULKAN_MISS_NO_MEMORY] = {
		.text = "batches, because the device or the host was out of memory" },
	[VULKAN_MISS_NO_TIMES] = { .text = "batches without times from the device" },
	[VULKAN_MISS_FAILED] = { .text = "batches, because the device was lost" },
	[VULKAN_MISS_QUEUES] = { .text = "batches of queues or devices beyond the limit" },
	[VULKAN_MISS_EXIT] = { .text = "batches, because the program ended" },
	[VULKAN_MISS_DESTROYED] = {
		.text = "batches in flight when their device was destroyed" },
	[VULKAN_MISS_LABELS] = {
		.text = "labels, because too many command buffers have one" },
	[VULKAN_MISS_NAMES] = {
		.text = "labels, because there are too many different ones" },
};

/* thread.c sets the functions. */
struct xsprof_collector vulkan_collector = {
	.size = sizeof(vulkan_collector), .version = XSPROF_COLLECTOR_VERSION,
	.name = "vulkan", .category = "vulkan",
	.misses = vulkan_misses, .nr_misses = VULKAN_NR_MISSES,
};
