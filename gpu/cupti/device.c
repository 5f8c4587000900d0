// SPDX-License-Identifier: LGPL-2.1-only
/*
 * What is known of devices, stated as facts of the process, and which device a context is on.
 */
#include <stdio.h>
#include <stdlib.h>

#include "gpu/cupti/local.h"

#define FEW		1024u
#define MOST		(1u << 20)
#define SLICE		3u	/* properties of a slice alone */

/*
 * Context ids count from 1 in a process.  The table grows with them; of two in one place of the
 * largest the newer one is wanted.  Both are of the collector's thread alone.
 */
struct place {
	uint32_t	context;
	uint32_t	device;
};

static struct place few[FEW], *places = few;
static uint32_t nr_places = FEW;
static uint32_t used;

/* Without memory it stays as it is. */
static void grow(void)
{
	struct place *more = calloc(2 * (size_t)nr_places, sizeof(*more));

	if (!more)
		return;
	for (uint32_t i = 0; i < nr_places; i++)
		if (places[i].context)
			more[places[i].context % (2 * nr_places)] = places[i];
	if (places != few)
		free(places);
	places = more;
	nr_places *= 2;
}

void cupti_context_is(uint32_t context, uint32_t device)
{
	struct place *p = &places[context % nr_places];

	used |= device < 32 ? 1u << device : 0;
	if (p->context && p->context != context && nr_places < MOST) {
		grow();
		p = &places[context % nr_places];
	}
	p->context = context;
	p->device = device;
}

bool cupti_device_of(uint32_t context, uint32_t *device)
{
	const struct place *p = &places[context % nr_places];

	*device = p->device;
	return context && p->context == context;
}

uint32_t cupti_devices_used(void)
{
	return used;
}

static void put_uuid(char *text, const char *prefix, const uint8_t uuid[16])
{
	char *p = stpcpy(text, prefix);

	for (size_t i = 0; i < 16; i++)
		p += sprintf(p, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", uuid[i]);
}

void cupti_uuid(char *text, const uint8_t uuid[16])
{
	put_uuid(text, "GPU-", uuid);
}

/* A part of a GPU with memory and multiprocessors of its own (MIG), which is a device to CUDA. */
static bool is_slice(const struct cupti_device *d)
{
	static const uint8_t none[16];

	return d->mig && d->gpu_instance != UINT32_MAX &&
	       memcmp(d->mig_uuid, none, sizeof(none)) != 0;
}

#define NUMBER(word, value)	{ .key = (word), .number = (value) }

/* In the words of Kineto's "deviceProperties". */
void cupti_device(const struct cupti_device *d)
{
	char uuid[48], gpu[48];
	const struct xsprof_device_property properties[] = {
		NUMBER("totalGlobalMem", d->memory),
		NUMBER("computeMajor", d->major),
		NUMBER("computeMinor", d->minor),
		NUMBER("maxThreadsPerBlock", d->threads_per_block),
		NUMBER("maxThreadsPerMultiprocessor", d->warps_per_sm * d->warp),
		NUMBER("regsPerBlock", d->registers_per_block),
		NUMBER("warpSize", d->warp),
		NUMBER("sharedMemPerBlock", d->shared_per_block),
		NUMBER("numSms", d->multiprocessors),
		NUMBER("regsPerMultiprocessor", d->registers_per_sm),
		NUMBER("sharedMemPerMultiprocessor", d->shared_per_sm),
		NUMBER("maxBlocksPerMultiprocessor", d->blocks_per_sm),
		NUMBER("memoryBandwidth", d->bandwidth * 1000ull),
		NUMBER("clockRate", d->clock),
		NUMBER("l2CacheSize", d->l2),
		/* Of a slice: the last SLICE. */
		{ .key = "gpuUuid", .text = gpu },
		NUMBER("gpuInstance", d->gpu_instance),
		NUMBER("computeInstance", d->compute_instance),
	};
	const struct xsprof_device device = {
		.size = sizeof(device), .kind = "cuda", .index = d->id, .name = d->name,
		.uuid = uuid, .properties = properties,
		.nr_properties = ARRAY_SIZE(properties) - (is_slice(d) ? 0 : SLICE),
	};

	cupti_uuid(gpu, d->uuid);
	/* Slices of a GPU have its uuid, and are different devices. */
	if (is_slice(d))
		put_uuid(uuid, "MIG-", d->mig_uuid);
	else
		strcpy(uuid, gpu);
	(void)xsprof_device_add(&device);
}
