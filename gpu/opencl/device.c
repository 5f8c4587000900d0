// SPDX-License-Identifier: LGPL-2.1-only
/*
 * What is known of devices, stated as facts of the process, and their clocks.
 */
#include <stdio.h>

#include "gpu/opencl/local.h"

#define SECOND	1000000000u

static struct opencl_device devices[OPENCL_DEVICES];
static uint32_t nr_devices;

static int32_t device_info(cl_handle device, uint32_t what, size_t size, void *value, size_t *len)
{
	return NEXT(GetDeviceInfo, device_info)(device, what, size, value, len);
}

/* Also a text that could not be had is one, and none has what JSON would escape. */
static void ask_text(cl_handle device, uint32_t what, char *text, size_t size)
{
	size_t n = 0;

	memset(text, 0, size);
	if (device_info(device, what, size - 1, text, NULL))
		text[0] = '\0';
	for (const char *c = text; *c; c++)
		if (*c >= ' ' && *c < 0x7f && *c != '"' && *c != '\\')
			text[n++] = *c;
	text[n] = '\0';
}

static uint64_t ask_number(cl_handle device, uint32_t what, size_t size)
{
	uint64_t value = 0;

	/* Little-endian, as all machines are that OpenCL's runtimes are for. */
	return device_info(device, what, size, &value, NULL) ? 0 : value;
}

static void state(const struct opencl_device *d)
{
	char key[32], text[1200], name[256], vendor[128], driver[64], version[128], id[64] = "";
	uint8_t uuid[16] = { 0 };
	char *p = id;

	ask_text(d->handle, CL_NAME_OF_DEVICE, name, sizeof(name));
	ask_text(d->handle, CL_VENDOR_OF_DEVICE, vendor, sizeof(vendor));
	ask_text(d->handle, CL_DRIVER_OF_DEVICE, driver, sizeof(driver));
	ask_text(d->handle, CL_VERSION_OF_DEVICE, version, sizeof(version));
	if (!device_info(d->handle, CL_UUID_OF_DEVICE, sizeof(uuid), uuid, NULL)) {
		p = stpcpy(p, "\"uuid\": \"");
		for (size_t i = 0; i < sizeof(uuid); i++)
			p += sprintf(p, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x",
				     uuid[i]);
		strcpy(p, "\", ");
	}
	snprintf(key, sizeof(key), "device.%u", d->number);
	snprintf(text, sizeof(text),
		 "{\"id\": %u, \"name\": \"%s\", %s\"vendor\": \"%s\", \"driver\": \"%s\", "
		 "\"version\": \"%s\", \"totalGlobalMem\": %llu, \"computeUnits\": %u, "
		 "\"clockRate\": %llu}",
		 d->number, name, id, vendor, driver, version,
		 (unsigned long long)ask_number(d->handle, CL_MEMORY_OF_DEVICE, sizeof(uint64_t)),
		 (unsigned int)ask_number(d->handle, CL_UNITS_OF_DEVICE, sizeof(uint32_t)),
		 (unsigned long long)1000 *
		 ask_number(d->handle, CL_MHZ_OF_DEVICE, sizeof(uint32_t)));
	(void)xsprof_fact(key, text);
}

struct opencl_device *opencl_device_get(cl_handle handle)
{
	struct opencl_device *d;

	for (uint32_t i = 0; i < nr_devices; i++)
		if (devices[i].handle == handle)
			return &devices[i];
	if (nr_devices == OPENCL_DEVICES)
		return NULL;
	d = &devices[nr_devices];
	d->handle = handle;
	d->number = OPENCL_DEVICE_FIRST + nr_devices;
	state(d);
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
	uint64_t before = collect_clock_now(), device_ns, host_ns;

	if (opencl_next[CL_GetDeviceAndHostTimer] &&
	    !both_timers(d->handle, &device_ns, &host_ns))
		opencl_clock_seen(&d->clock, device_ns, before, collect_clock_now());
}

/* How well it is known is said in the trace, where a time of the device is drawn. */
static void look(struct opencl_device *d, bool last)
{
	uint64_t now = collect_clock_now(), error;
	char text[64];

	if (now - d->asked < SECOND && !last)
		return;
	ask_clock(d);
	if (!d->clock.known)
		return;
	d->asked = now;
	error = opencl_clock_error(&d->clock);
	if (error == d->shown)
		return;
	d->shown = error;
	snprintf(text, sizeof(text), "clock of device %u: known within ns", d->number);
	xsprof_counter(xsprof_name_in(opencl_category(), text), (int64_t)error);
}

void opencl_devices_look(bool last)
{
	/* Acquire: with opencl_device_get(), which is called by other threads. */
	uint32_t nr = __atomic_load_n(&nr_devices, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < nr; i++)
		look(&devices[i], last);
}
