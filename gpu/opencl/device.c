// SPDX-License-Identifier: LGPL-2.1-only
/*
 * What is known of devices, and their clocks.
 */
#include <errno.h>
#include <stdio.h>

#include "gpu/opencl/local.h"

#define SECOND	1000000000u

static struct opencl_device devices[OPENCL_DEVICES];
static uint32_t nr_devices;

static int32_t device_info(cl_handle device, uint32_t what, size_t size, void *value, size_t *len)
{
	return NEXT(GetDeviceInfo, device_info)(device, what, size, value, len);
}

static void ask_text(cl_handle device, uint32_t what, char *text, size_t size)
{
	memset(text, 0, size);
	if (device_info(device, what, size - 1, text, NULL))
		text[0] = '\0';
}

static uint64_t ask_number(cl_handle device, uint32_t what, size_t size)
{
	uint64_t value = 0;

	/* Little-endian, as all machines are that OpenCL's runtimes are for. */
	return device_info(device, what, size, &value, NULL) ? 0 : value;
}

/* As 8-4-4-4-12 digits.  Return: @text, or NULL: it has none. */
static const char *ask_uuid(cl_handle device, char text[40])
{
	uint8_t uuid[16] = { 0 };
	char *p = text;

	if (device_info(device, CL_UUID_OF_DEVICE, sizeof(uuid), uuid, NULL))
		return NULL;
	for (size_t i = 0; i < sizeof(uuid); i++)
		p += sprintf(p, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x",
			     uuid[i]);
	return text;
}

/* Return: its number, or -errno. */
static int state(cl_handle device, uint32_t index)
{
	char name[256], vendor[128], driver[64], version[128], uuid[40];
	const struct xsprof_device_property properties[] = {
		{ .key = "vendor", .text = vendor },
		{ .key = "driver", .text = driver },
		{ .key = "version", .text = version },
		{ .key = "totalGlobalMem",
		  .number = ask_number(device, CL_MEMORY_OF_DEVICE, sizeof(uint64_t)) },
		{ .key = "computeUnits",
		  .number = ask_number(device, CL_UNITS_OF_DEVICE, sizeof(uint32_t)) },
		{ .key = "clockRate",
		  .number = 1000 * ask_number(device, CL_MHZ_OF_DEVICE, sizeof(uint32_t)) },
	};
	const struct xsprof_device d = {
		.size = sizeof(d), .kind = "opencl", .index = index, .name = name,
		.uuid = ask_uuid(device, uuid), .properties = properties,
		.nr_properties = ARRAY_SIZE(properties),
	};

	ask_text(device, CL_NAME_OF_DEVICE, name, sizeof(name));
	ask_text(device, CL_VENDOR_OF_DEVICE, vendor, sizeof(vendor));
	ask_text(device, CL_DRIVER_OF_DEVICE, driver, sizeof(driver));
	ask_text(device, CL_VERSION_OF_DEVICE, version, sizeof(version));
	return xsprof_device_add(&d);
}

/* A runtime of an older version has no such function, and loaders call it all the same. */
static bool has_clock(cl_handle device)
{
	unsigned int major = 0, minor = 0;
	char version[128];

	ask_text(device, CL_VERSION_OF_DEVICE, version, sizeof(version));
	return sscanf(version, "OpenCL %u.%u", &major, &minor) == 2 &&
	       (major > 2 || (major == 2 && minor >= 1));
}

struct opencl_device *opencl_device_get(cl_handle handle)
{
	struct opencl_device *d;
	int number;

	for (uint32_t i = 0; i < nr_devices; i++)
		if (devices[i].handle == handle)
			return &devices[i];
	number = nr_devices < OPENCL_DEVICES ? state(handle, nr_devices) : -ENOSPC;
	if (number < 0)
		return NULL;
	d = &devices[nr_devices];
	d->handle = handle;
	d->number = (uint32_t)number;
	d->clock = has_clock(handle);
	/* Release: the thread sees what is in it. */
	__atomic_store_n(&nr_devices, nr_devices + 1, __ATOMIC_RELEASE);
	return d;
}

void opencl_devices_forget(void)
{
	memset(devices, 0, sizeof(devices));
	nr_devices = 0;
}

static int32_t both_timers(cl_handle device, uint64_t *device_ns, uint64_t *host_ns)
{
	return NEXT(GetDeviceAndHostTimer, both_timers)(device, device_ns, host_ns);
}

static void ask_clock(struct opencl_device *d)
{
	uint64_t before = xsprof_now(), device_ns, host_ns;

	if (!both_timers(d->handle, &device_ns, &host_ns))
		xsprof_device_clock(d->number, device_ns, before, xsprof_now());
}

void opencl_devices_look(bool last)
{
	static uint64_t asked;
	uint64_t now = xsprof_ticks_ns(xsprof_now());
	/* Acquire: with opencl_device_get(), which is called by other threads. */
	uint32_t nr = __atomic_load_n(&nr_devices, __ATOMIC_ACQUIRE);

	if (!opencl_next[CL_GetDeviceAndHostTimer] || (now - asked < SECOND && !last))
		return;
	asked = now;
	for (uint32_t i = 0; i < nr; i++)
		if (devices[i].clock)
			ask_clock(&devices[i]);
}
