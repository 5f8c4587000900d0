// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Physical devices: their identity, and the relation of their clocks to ours.
 */
#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "gpu/vulkan/local.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct vulkan_gpu gpus[VULKAN_GPUS];
static uint32_t nr_gpus;

static void properties_of(vk_handle physical, struct vk_properties *properties)
{
	NEXT(vulkan_instance_of(physical), GetPhysicalDeviceProperties, properties_of)
		(physical, properties);
}

static void memory_of(vk_handle physical, struct vk_memory *memory)
{
	NEXT(vulkan_instance_of(physical), GetPhysicalDeviceMemoryProperties, memory_of)
		(physical, memory);
}

static void properties2_of(vk_handle physical, struct vk_properties2 *properties)
{
	struct vulkan_instance *i = vulkan_instance_of(physical);

	if (i->api_version >= VULKAN_1_1)
		NEXT(i, GetPhysicalDeviceProperties2, properties2_of)(physical, properties);
	else
		NEXT(i, GetPhysicalDeviceProperties2KHR, properties2_of)(physical, properties);
}

/* ---- what they are --------------------------------------------------------------------------- */

static void uuid_text(const uint8_t *uuid, char *text)
{
	for (size_t i = 0; i < 16; i++)
		text += sprintf(text, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x",
				uuid[i]);
}

static uint64_t bytes_of(const struct vk_memory *memory)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < memory->nr_heaps && i < ARRAY_SIZE(memory->heaps); i++)
		if (memory->heaps[i].flags & VULKAN_HEAP_LOCAL)
			bytes += memory->heaps[i].size;
	return bytes;
}

/* Registers the GPU with the library. Return: its number, or -errno. */
static int state(uint32_t index, const uint8_t *uuid, const struct vk_properties *p,
		 const struct vk_driver *driver, const struct vk_memory *memory)
{
	static const char *const types[] = { "other", "integrated", "discrete", "virtual", "CPU" };
	char driver_text[sizeof(driver->name) + sizeof(driver->info)], id[48], period[32];
	char version[64];
	const struct xsprof_device_property properties[] = {
		{ .key = "type",
		  .text = types[p->device_type < ARRAY_SIZE(types) ? p->device_type : 0] },
		{ .key = "vendorId", .number = p->vendor },
		{ .key = "deviceId", .number = p->device },
		{ .key = "driver", .text = driver_text },
		{ .key = "driverVersion", .number = p->driver_version },
		{ .key = "version", .text = version },
		{ .key = "totalGlobalMem", .number = bytes_of(memory) },
		{ .key = "timestampPeriod", .text = period },
	};
	const struct xsprof_device d = {
		.size = sizeof(d), .kind = "vulkan", .index = index, .name = p->name, .uuid = id,
		.properties = properties, .nr_properties = ARRAY_SIZE(properties),
	};

	uuid_text(uuid, id);
	snprintf(driver_text, sizeof(driver_text), "%s%s%s", driver->name,
		 *driver->info ? " " : "", driver->info);
	snprintf(version, sizeof(version), "Vulkan %u.%u.%u", p->api_version >> 22 & 127,
		 p->api_version >> 12 & 1023, p->api_version & 4095);
	snprintf(period, sizeof(period), "%g ns", (double)p->timestamp_period);
	return xsprof_device_add(&d);
}

/*
 * Identifies the GPU by its UUID; without vkGetPhysicalDeviceProperties2() by the UUID of its
 * pipeline cache, which two GPUs of the same model share.
 */
static void identify(const struct vulkan_device *device, struct vk_properties *properties,
		     struct vk_driver *driver, uint8_t *uuid)
{
	struct vk_id id = { .type = VULKAN_IS_ID };
	struct vk_properties2 p = { .type = VULKAN_IS_PROPERTIES2, .next = &id };

	properties_of(device->physical, properties);
	memcpy(uuid, properties->cache_uuid, sizeof(properties->cache_uuid));
	if (!device->instance->has_properties2 || properties->api_version < VULKAN_1_1)
		return;
	if (properties->api_version >= VULKAN_1_2)
		id.next = driver;
	properties2_of(device->physical, &p);
	memcpy(uuid, id.device_uuid, sizeof(id.device_uuid));
}

/* Called with the lock held. A forked child registers the GPUs that it uses again. */
static int state_once(struct vulkan_gpu *gpu, const uint8_t *uuid, const struct vk_properties *p,
		      const struct vk_driver *driver, const struct vk_memory *memory)
{
	int number;

	if (gpu->stated)
		return 0;
	number = state((uint32_t)(gpu - gpus), uuid, p, driver, memory);
	if (number < 0)
		return number;
	memcpy(gpu->uuid, uuid, sizeof(gpu->uuid));
	gpu->number = (uint32_t)number;
	gpu->clock.period = (uint64_t)((double)p->timestamp_period * (1ull << 32));
	gpu->stated = true;
	return 0;
}

struct vulkan_gpu *vulkan_gpu_get(const struct vulkan_device *device)
{
	struct vk_driver driver = { .type = VULKAN_IS_DRIVER };
	struct vk_properties p;
	struct vk_memory memory;
	uint8_t uuid[16];
	uint32_t i = 0;
	int err;

	identify(device, &p, &driver, uuid);
	memory_of(device->physical, &memory);
	pthread_mutex_lock(&lock);
	while (i < nr_gpus && memcmp(gpus[i].uuid, uuid, sizeof(uuid)))
		i++;
	err = i < VULKAN_GPUS ? state_once(&gpus[i], uuid, &p, &driver, &memory) : -ENOSPC;
	if (!err && i == nr_gpus)
		nr_gpus++;
	pthread_mutex_unlock(&lock);
	return err ? NULL : &gpus[i];
}

/* The table of GPUs stays, so that a GPU has the same number in the child. */
void vulkan_gpus_forget(void)
{
	pthread_mutex_init(&lock, NULL);
	for (uint32_t i = 0; i < VULKAN_GPUS; i++) {
		gpus[i].stated = gpus[i].calibrated = false;
		gpus[i].clock = (struct vulkan_clock){ .period = 0 };
		gpus[i].asked = 0;
	}
}

/* ---- clocks ---------------------------------------------------------------------------------- */

static int32_t both_clocks(vk_handle handle, uint32_t nr, const struct vk_timestamp_info *infos,
			   uint64_t *times, uint64_t *deviation)
{
	struct vulkan_device *d = vulkan_device_of(handle);

	if (d->next[VULKAN_GetCalibratedTimestampsEXT])
		return NEXT(d, GetCalibratedTimestampsEXT, both_clocks)(handle, nr, infos, times,
									deviation);
	return NEXT(d, GetCalibratedTimestampsKHR, both_clocks)(handle, nr, infos, times,
								deviation);
}

static uint64_t host_now(uint32_t domain)
{
	struct timespec ts;

	clock_gettime(domain == VULKAN_TIME_MONOTONIC ? CLOCK_MONOTONIC : CLOCK_MONOTONIC_RAW, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/*
 * Narrows the bounds: the driver read @host on the clock @domain, with an error of @deviation ns.
 */
static void narrow(uint64_t *before, uint64_t *after, uint32_t domain, uint64_t host,
		   uint64_t deviation)
{
	uint64_t first = xsprof_now(), at = host_now(domain), second = xsprof_now();
	uint64_t low = xsprof_ns_ticks(xsprof_ticks_ns(first) - at + host - deviation);
	uint64_t high = xsprof_ns_ticks(xsprof_ticks_ns(second) - at + host + deviation);

	if (low > *before && low <= *after)
		*before = low;
	if (high < *after && high >= *before)
		*after = high;
}

void vulkan_gpu_ask(struct vulkan_device *device, uint64_t every)
{
	const struct vk_timestamp_info infos[2] = {
		{ .type = VULKAN_IS_TIMESTAMP, .domain = VULKAN_TIME_DEVICE },
		{ .type = VULKAN_IS_TIMESTAMP, .domain = device->time_domain },
	};
	uint32_t nr = device->time_domain == VULKAN_TIME_DEVICE ? 1 : 2;
	uint64_t times[2], deviation = 0, now = vulkan_now_ns(), before, after;
	struct vulkan_gpu *gpu = device->gpu;

	if (!device->calibrated || now - gpu->asked < every)
		return;
	before = xsprof_now();
	if (both_clocks(device->handle, nr, infos, times, &deviation))
		return;
	after = xsprof_now();
	if (nr == 2)
		narrow(&before, &after, device->time_domain, times[1], deviation);
	gpu->asked = now;
	gpu->calibrated = true;
	xsprof_device_clock(gpu->number, vulkan_clock_ns(&gpu->clock, times[0], UINT64_MAX),
			    before, after);
}

void vulkan_gpu_bound(struct vulkan_gpu *gpu, struct vulkan_times device, struct vulkan_times host)
{
	uint64_t now = xsprof_ticks_ns(host.end);
	struct vulkan_bounds b = {
		.low = (int64_t)(xsprof_ticks_ns(host.begin) - device.begin),
		.high = (int64_t)(now - device.end),
	};

	if (gpu->calibrated || b.low > b.high)
		return;
	b = vulkan_clock_agree(&gpu->clock, b, now);
	xsprof_device_clock(gpu->number, device.end,
			    xsprof_ns_ticks(device.end + (uint64_t)b.low),
			    xsprof_ns_ticks(device.end + (uint64_t)b.high));
}
