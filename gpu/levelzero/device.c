// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Devices, contexts and queues of PTI's records, identified by uuid and address, and their numbers
 * and names in the trace. Called by the collector's thread.
 */
#include <stdio.h>

#include "gpu/levelzero/local.h"

#define DEVICES		XSPROF_DEVICES_OF_KIND
#define HANDLES		4096u	/* a power of two; beyond them all objects share the last number */

/* An object of the program, known by its address alone, which a later object may reuse. */
struct handle {
	const void		*at;
	uint32_t		number;		/* from 1 */
	struct levelzero_place	place;		/* for queues */
};

/* The drivers' devices come first, so that each has the same number in all programs. */
static struct {
	const struct ze_device	*known;		/* NULL: sub-device exposed as a device */
	uint8_t			uuid[PTI_UUID];
	uint32_t		number;
	bool			told;
} devices[DEVICES];
static uint32_t nr_devices;

static struct handle contexts[HANDLES], queues[HANDLES];
static uint32_t nr_contexts, nr_queues;

/* Return: the object's slot, or a free one; NULL: all candidate slots hold others. */
static struct handle *look_for(struct handle *v, const void *at, uint32_t *first)
{
	*first = (uint32_t)(((uintptr_t)at * 0x9e3779b97f4a7c15ull) >> 40) & (HANDLES - 1);
	for (uint32_t i = 0; i < 16; i++) {
		struct handle *h = &v[(*first + i) & (HANDLES - 1)];

		if (!h->number || h->at == at)
			return h;
	}
	return NULL;
}

/* The same, but takes another object's slot if none is free. */
static struct handle *find(struct handle *v, const void *at)
{
	uint32_t first;
	struct handle *h = look_for(v, at, &first);

	if (h)
		return h;
	v[first].number = 0;
	return &v[first];
}

static uint32_t context_of(const void *at)
{
	struct handle *h = find(contexts, at);

	if (!h->number) {
		h->at = at;
		h->number = ++nr_contexts;
	}
	return h->number;
}

/* ---- devices --------------------------------------------------------------------------------- */

static char *uuid_text(char *p, const uint8_t uuid[PTI_UUID])
{
	for (size_t i = 0; i < PTI_UUID; i++)
		p += sprintf(p, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", uuid[i]);
	return p;
}

#define NUMBER(word, value)	{ .key = (word), .number = (value) }

static uint32_t tell(uint32_t index, const char *address)
{
	const struct ze_device *known = devices[index].known;
	char text[48], bus[PTI_ADDRESS + 1] = "";
	const struct xsprof_device_property properties[] = {
		{ .key = "pciAddress", .text = bus },
		NUMBER("vendorId", known ? known->vendor : 0),
		NUMBER("deviceId", known ? known->id : 0),
		NUMBER("clockRate", known ? known->clock * 1000ull : 0),
		NUMBER("numSlices", known ? known->slices : 0),
		NUMBER("numSubslicesPerSlice", known ? known->subslices_per_slice : 0),
		NUMBER("numEUsPerSubslice", known ? known->units_per_subslice : 0),
		NUMBER("numThreadsPerEU", known ? known->threads_per_unit : 0),
	};
	const struct xsprof_device device = {
		.size = sizeof(device), .kind = "levelzero", .index = index, .uuid = text,
		.name = known ? known->name : NULL,
		.properties = properties, .nr_properties = known ? ARRAY_SIZE(properties) : 1,
	};
	int ret;

	uuid_text(text, devices[index].uuid);
	memcpy(bus, address, PTI_ADDRESS);
	ret = xsprof_device_add(&device);
	return ret < 0 ? 0 : (uint32_t)ret;
}

/* Return: the device's index; the last index if the table is full. */
static uint32_t find_device(const uint8_t uuid[PTI_UUID])
{
	const struct ze_device *known;
	uint32_t i;

	while (nr_devices < DEVICES && (known = levelzero_gpu(nr_devices))) {
		devices[nr_devices].known = known;
		memcpy(devices[nr_devices++].uuid, known->uuid, PTI_UUID);
	}
	for (i = 0; i < nr_devices; i++)
		if (!memcmp(devices[i].uuid, uuid, PTI_UUID))
			return i;
	if (nr_devices == DEVICES)
		return DEVICES - 1;
	memcpy(devices[nr_devices].uuid, uuid, PTI_UUID);
	return nr_devices++;
}

uint32_t levelzero_device(const uint8_t uuid[PTI_UUID], const char *address)
{
	uint32_t i = find_device(uuid);

	if (!devices[i].told)
		devices[i].number = tell(i, address);
	devices[i].told = true;
	return devices[i].number;
}

/* ---- places ---------------------------------------------------------------------------------- */

static void name(const struct levelzero_place *place, uint64_t sycl)
{
	char text[48];

	if (sycl == PTI_NO_QUEUE || sycl == UINT64_MAX)
		return;
	snprintf(text, sizeof(text), "SYCL queue %llu", (unsigned long long)sycl);
	(void)xsprof_stream_name(place->device, place->context, place->stream, text);
}

struct levelzero_place levelzero_place(const uint8_t uuid[PTI_UUID], const char *address,
				       const void *context, const void *queue, uint64_t sycl)
{
	struct levelzero_place place = {
		.device = levelzero_device(uuid, address), .context = context_of(context),
	};
	struct handle *h = find(queues, queue);

	if (h->number && h->place.device == place.device && h->place.context == place.context)
		return h->place;
	h->at = queue;
	h->number = ++nr_queues;
	place.stream = h->number;
	h->place = place;
	name(&place, sycl);
	return place;
}

bool levelzero_place_of(const void *queue, struct levelzero_place *place)
{
	uint32_t unused;
	const struct handle *h = queue ? look_for(queues, queue, &unused) : NULL;

	if (!h || !h->number)
		return false;
	*place = h->place;
	return true;
}

uint32_t levelzero_queues(void)
{
	return nr_queues;
}
