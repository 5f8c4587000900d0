/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The part of Level Zero's ABI that the collector uses, written independently.
 */
#ifndef XSPROF_ZE_ABI_H
#define XSPROF_ZE_ABI_H

#include <stddef.h>
#include <stdint.h>

#define ZE_LOADER		"libze_loader.so.1"

#define ZE_UNINITIALIZED	0x78000001	/* no driver */
#define ZE_GPUS			1u		/* flag of zeInit() */
#define ZE_GPU			1u		/* type of a device */
#define ZE_DEVICE_PROPERTIES	3u		/* type of the structure below */
#define ZE_VERSION(major, minor) ((uint32_t)(major) << 16 | (uint32_t)(minor))

struct ze_device {
	uint32_t	structure;
	void		*next;
	uint32_t	type;
	uint32_t	vendor;
	uint32_t	id;
	uint32_t	flags;
	uint32_t	subdevice;
	uint32_t	clock;		/* MHz */
	uint64_t	max_alloc;
	uint32_t	max_contexts;
	uint32_t	max_priority;
	uint32_t	threads_per_unit;
	uint32_t	simd_width;
	uint32_t	units_per_subslice;
	uint32_t	subslices_per_slice;
	uint32_t	slices;
	uint64_t	timer;
	uint32_t	timer_bits;
	uint32_t	kernel_timer_bits;
	uint8_t		uuid[16];
	char		name[256];
};

/**
 * struct ze - functions of the Level Zero loader
 * @init: zeInit()
 * @driver_get: zeDriverGet()
 * @driver_version: zeDriverGetApiVersion()
 * @device_get: zeDeviceGet()
 * @device_properties: zeDeviceGetProperties()
 */
struct ze {
	int	(*init)(uint32_t flags);
	int	(*driver_get)(uint32_t *n, void **drivers);
	int	(*driver_version)(void *driver, uint32_t *version);
	int	(*device_get)(void *driver, uint32_t *n, void **devices);
	int	(*device_properties)(void *device, struct ze_device *properties);
};

#endif /* XSPROF_ZE_ABI_H */
