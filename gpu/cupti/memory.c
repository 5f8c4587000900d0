// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Memory that the program allocates and frees: on request.  How much of a device's is in use after
 * each is known where they come in order: all of a flush are sorted by their times first.  One that
 * a buffer held back for longer has no such number, and those after it have the right one again.
 */
#include <stdlib.h>

#include "gpu/cupti/local.h"

#define KEPT		4096u
#define DEVICES		64u
#define ALLOCATED	1u
#define FREED		2u
#define NOT_A_STREAM	UINT32_MAX

enum key { KEY_ADDRESS, KEY_IN_USE, KEY_ASYNC, NR_KEYS };

static xsprof_name_t keys[NR_KEYS];

static struct cupti_memory kept[KEPT];
static uint32_t nr_kept;

/* Of a device: not known any more when something is freed that was never told of. */
static struct {
	uint64_t	in_use;
	uint64_t	last;		/* ns */
	bool		unknown;
} devices[DEVICES];

void cupti_memory_init(void)
{
	static const char *const texts[NR_KEYS] = {
		[KEY_ADDRESS] = "address", [KEY_IN_USE] = "in use (bytes)", [KEY_ASYNC] = "async",
	};

	for (int i = 0; i < NR_KEYS; i++)
		keys[i] = xsprof_name(texts[i]);
}

static bool is_on_device(uint32_t kind)
{
	return kind == 3 || kind == 4 || kind == 6;
}

/* Return: it is known how much is in use after this. */
static bool account(const struct cupti_memory *m)
{
	bool late;

	if (m->device >= DEVICES || !is_on_device(m->memory) || devices[m->device].unknown)
		return false;
	late = m->timestamp < devices[m->device].last;
	if (!late)
		devices[m->device].last = m->timestamp;
	if (m->operation == ALLOCATED)
		devices[m->device].in_use += m->bytes;
	else if (m->bytes && m->bytes <= devices[m->device].in_use)
		devices[m->device].in_use -= m->bytes;
	else
		devices[m->device].unknown = true;
	return !late && !devices[m->device].unknown;
}

static xsprof_name_t name_of(const struct cupti_memory *m)
{
	static const char *const memories[] = {
		"Unknown", "Pageable", "Pinned", "Device", "Array", "Managed", "Device Static",
		"Managed Static",
	};
	char text[48], *p = stpcpy(text, m->operation == ALLOCATED ? "Alloc (" : "Free (");

	strcpy(stpcpy(p, memories[m->memory < ARRAY_SIZE(memories) ? m->memory : 0]), ")");
	return xsprof_name_in(cupti_category(), text);
}

static void put(const struct cupti_memory *m)
{
	uint32_t kind = m->operation == ALLOCATED ? XSPROF_GPU_ALLOC : XSPROF_GPU_FREE;
	struct xsprof_device_activity a;
	struct xsprof_kv kv[NR_KEYS];
	size_t n = 0;

	if (!cupti_work(&a, kind, name_of(m), m->timestamp, m->timestamp, m->correlation))
		return;
	a.device = m->device;
	a.context = m->context;
	a.stream = m->async ? m->stream : NOT_A_STREAM;
	a.bytes = m->bytes;
	kv[n++] = xsprof_ptr(keys[KEY_ADDRESS], (const void *)(uintptr_t)m->address);
	if (account(m))
		kv[n++] = xsprof_u64(keys[KEY_IN_USE], devices[m->device].in_use);
	if (m->async)
		kv[n++] = xsprof_bool(keys[KEY_ASYNC], true);
	cupti_put(&a, kv, n);
}

static int by_time(const void *pa, const void *pb)
{
	const struct cupti_memory *a = pa, *b = pb;

	return (a->timestamp > b->timestamp) - (a->timestamp < b->timestamp);
}

void cupti_memory_settle(void)
{
	qsort(kept, nr_kept, sizeof(kept[0]), by_time);
	for (uint32_t i = 0; i < nr_kept; i++)
		put(&kept[i]);
	nr_kept = 0;
}

void cupti_memory(const struct cupti_memory *m)
{
	if (m->operation != ALLOCATED && m->operation != FREED) {
		cupti_miss(CUPTI_MISS_UNKNOWN, 1);
		return;
	}
	if (nr_kept == KEPT)
		cupti_memory_settle();
	kept[nr_kept++] = *m;
}
