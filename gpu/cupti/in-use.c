// SPDX-License-Identifier: LGPL-2.1-only
/*
 * How much of each device's memory is in use, of what was allocated since this began: a bounded
 * table of addresses, with the latest that is known of each.
 *
 * A free of memory that was allocated before changes nothing. Neither does an allocation that is
 * reported after its free: CUPTI gives buffers back in no order. So the table keeps freed addresses
 * as well, with their times, until another one needs the place.
 */
#include "gpu/cupti/in-use.h"

#define ADDRESSES	65536u	/* a power of 2 */
#define PROBES		64u
#define DEVICES		64u

/**
 * struct use - the latest of an address
 * @address: 0: the place is not used
 * @bytes: 0: freed
 * @timestamp: CUPTI's, ns
 * @correlation: of its call
 * @device: the device with the memory
 */
struct use {
	uint64_t	address;
	uint64_t	bytes;
	uint64_t	timestamp;
	uint32_t	correlation;
	uint32_t	device;
};

static struct use uses[ADDRESSES];
static struct {
	uint64_t	in_use;
	uint64_t	last;		/* ns */
} devices[DEVICES];
static uint64_t since;		/* ns */
static bool full;		/* something did not fit: sums are too small */
static bool used;

static bool is_on_device(uint32_t kind)
{
	return kind == 3 || kind == 4 || kind == 6;
}

/* Calls of one time are in the order of their numbers, which wrap. */
static bool is_later(const struct cupti_memory *m, const struct use *u)
{
	if (m->timestamp != u->timestamp)
		return m->timestamp > u->timestamp;
	return (int32_t)(m->correlation - u->correlation) >= 0;
}

/*
 * The place of the address, or one for it: a new one, else that of what was freed longest ago.
 * NULL: none. A place that was used stays so, so that those behind it are found.
 */
static struct use *place_of(uint64_t address)
{
	uint32_t first = (uint32_t)((address * 0x9e3779b97f4a7c15u) >> 48);
	struct use *freed = NULL;

	for (uint32_t i = 0; i < PROBES; i++) {
		struct use *u = &uses[(first + i) & (ADDRESSES - 1)];

		if (u->address == address || !u->address)
			return u;
		if (!u->bytes && (!freed || u->timestamp < freed->timestamp))
			freed = u;
	}
	return freed;
}

static void change(const struct cupti_memory *m)
{
	bool allocated = m->operation == CUPTI_ALLOCATED;
	struct use *u = place_of(m->address);

	used = true;
	if (!u) {
		full |= allocated;
		return;
	}
	if (u->address == m->address && !is_later(m, u))
		return;
	/* Also where a free was lost, and the address is another allocation's now. */
	devices[u->device].in_use -= u->bytes;
	*u = (struct use){
		.address = m->address, .bytes = allocated ? m->bytes : 0,
		.timestamp = m->timestamp, .correlation = m->correlation, .device = m->device,
	};
	devices[u->device].in_use += u->bytes;
}

enum cupti_use cupti_in_use(const struct cupti_memory *m, uint64_t *bytes)
{
	bool late;

	if (!is_on_device(m->memory) || m->device >= DEVICES || !m->address)
		return CUPTI_USE_NONE;
	if (m->timestamp < since)
		return CUPTI_USE_UNKNOWN;
	late = m->timestamp < devices[m->device].last;
	if (!late)
		devices[m->device].last = m->timestamp;
	change(m);
	*bytes = devices[m->device].in_use;
	return late || full ? CUPTI_USE_UNKNOWN : CUPTI_USE_KNOWN;
}

void cupti_in_use_anew(uint64_t now)
{
	since = now;
	full = false;
	memset(devices, 0, sizeof(devices));
	/* Not untouched pages: they would take memory where allocations are not recorded. */
	if (used)
		memset(uses, 0, sizeof(uses));
	used = false;
}
