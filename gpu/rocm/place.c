// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Where something ran on a device: queues of HSA, by the ids that records have of them, and what
 * copies are in, of which records say no queue.  Called by the collector's thread.
 */
#include <stdio.h>

#include "gpu/rocm/local.h"

#define PLACES		4096u	/* a power of two; of more there are the numbers of the last */
#define PROBES		16u
#define COPIES		(1ull << 63)	/* no id of a queue */

static struct place {
	uint64_t	id;
	uint32_t	device;
	uint32_t	stream;		/* from 1 */
} places[PLACES];
static uint32_t nr_streams;

/* Return: its place, or a free one, from another one where need be. */
static struct place *find(uint32_t device, uint64_t id)
{
	uint32_t first = (uint32_t)((id * 64 + device) * 0x9e3779b97f4a7c15ull >> 40);
	struct place *p;

	for (uint32_t i = 0; i < PROBES; i++) {
		p = &places[(first + i) & (PLACES - 1)];
		if (!p->stream || (p->device == device && p->id == id))
			return p;
	}
	p = &places[first & (PLACES - 1)];
	p->stream = 0;
	return p;
}

static uint32_t stream_of(uint32_t device, uint64_t id, const char *name)
{
	struct place *p = find(device, id);

	if (!p->stream) {
		*p = (struct place){ .id = id, .device = device, .stream = ++nr_streams };
		(void)xsprof_stream_name(device, 0, p->stream, name);
	}
	return p->stream;
}

uint32_t rocm_queue(uint32_t device, uint64_t queue)
{
	char name[40];

	snprintf(name, sizeof(name), "HSA queue %llu", (unsigned long long)queue);
	return stream_of(device, queue, name);
}

uint32_t rocm_copies(uint32_t device, enum rocm_way way)
{
	static const char *const names[] = {
		[ROCM_TO_DEVICE] = "copies to the device", [ROCM_TO_HOST] = "copies to the host",
		[ROCM_IN_DEVICES] = "copies between devices", [ROCM_IN_HOST] = "copies in the host",
	};

	return stream_of(device, COPIES + way, names[way]);
}
