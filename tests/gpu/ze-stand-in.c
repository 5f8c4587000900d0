// SPDX-License-Identifier: GPL-2.0-only
/*
 * A stand-in for Level Zero's loader, with a driver and two GPUs. ZE_STAND_IN "none": no driver;
 * "old": an old driver; "cpu": a device that is not a GPU.
 */
#include <stdlib.h>
#include <string.h>

#include "gpu/levelzero/ze-abi.h"

#define EXPORT	__attribute__((visibility("default")))

EXPORT int zeInit(uint32_t flags);
EXPORT int zeDriverGet(uint32_t *n, void **drivers);
EXPORT int zeDriverGetApiVersion(void *driver, uint32_t *version);
EXPORT int zeDeviceGet(void *driver, uint32_t *n, void **devices);
EXPORT int zeDeviceGetProperties(void *device, struct ze_device *properties);

static int is(const char *what)
{
	const char *said = getenv("ZE_STAND_IN");

	return said && !strcmp(said, what);
}

int zeInit(uint32_t flags)
{
	(void)flags;
	return is("none") ? ZE_UNINITIALIZED : 0;
}

int zeDriverGet(uint32_t *n, void **drivers)
{
	if (is("none"))
		return ZE_UNINITIALIZED;
	if (drivers)
		drivers[0] = &drivers;
	*n = 1;
	return 0;
}

int zeDriverGetApiVersion(void *driver, uint32_t *version)
{
	*version = is("old") ? ZE_VERSION(1, 2) : ZE_VERSION(1, 6);
	return !driver;
}

int zeDeviceGet(void *driver, uint32_t *n, void **devices)
{
	if (devices)
		for (uintptr_t i = 0; i < 2; i++)
			devices[i] = (void *)(i + 1);
	*n = 2;
	return !driver;
}

int zeDeviceGetProperties(void *device, struct ze_device *p)
{
	int i = (int)(uintptr_t)device - 1;

	if (p->structure != ZE_DEVICE_PROPERTIES)
		return 1;
	p->type = is("cpu") ? 2 : ZE_GPU;
	p->vendor = 0x8086;
	p->id = 0xbd5;
	p->clock = 1600;
	p->slices = 1;
	p->subslices_per_slice = 64;
	p->units_per_subslice = 8;
	p->threads_per_unit = 8;
	memset(p->uuid, 0xa0 + i, sizeof(p->uuid));
	strcpy(p->name, i ? "Stand-in 1" : "Stand-in 0");
	return 0;
}
