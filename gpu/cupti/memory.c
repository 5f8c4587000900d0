// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Memory that the program allocates and frees: on request.  How much of a device's is in use after
 * each is known where they come in order (in-use.c), so all of a flush are sorted by their times
 * first.  One that a buffer held back for longer has no such number, and those after it have the
 * right one again.
 */
#include <stdlib.h>

#include "gpu/cupti/in-use.h"

#define KEPT		4096u
#define FREED		2u

enum key { KEY_ADDRESS, KEY_IN_USE, KEY_ASYNC, NR_KEYS };

static xsprof_name_t keys[NR_KEYS];

static struct cupti_memory kept[KEPT];
static uint32_t nr_kept;

void cupti_memory_init(void)
{
	static const char *const texts[NR_KEYS] = {
		[KEY_ADDRESS] = "address", [KEY_IN_USE] = "in use (bytes)", [KEY_ASYNC] = "async",
	};

	for (int i = 0; i < NR_KEYS; i++)
		keys[i] = xsprof_name(texts[i]);
}

static xsprof_name_t name_of(const struct cupti_memory *m)
{
	static const char *const memories[] = {
		"Unknown", "Pageable", "Pinned", "Device", "Array", "Managed", "Device Static",
		"Managed Static",
	};
	char text[48], *p = stpcpy(text, m->operation == CUPTI_ALLOCATED ? "Alloc (" : "Free (");

	strcpy(stpcpy(p, memories[m->memory < ARRAY_SIZE(memories) ? m->memory : 0]), ")");
	return xsprof_name_in(cupti_category(), text);
}

static void put(const struct cupti_memory *m)
{
	uint32_t kind = m->operation == CUPTI_ALLOCATED ? XSPROF_GPU_ALLOC : XSPROF_GPU_FREE;
	struct xsprof_device_activity a;
	struct xsprof_kv kv[NR_KEYS];
	enum cupti_use use;
	uint64_t in_use;
	size_t n = 0;

	if (!cupti_work(&a, kind, name_of(m), m->timestamp, m->timestamp, m->correlation))
		return;
	a.device = m->device;
	a.context = m->context;
	if (m->async)
		a.stream = m->stream;
	a.bytes = m->bytes;
	kv[n++] = xsprof_ptr(keys[KEY_ADDRESS], (const void *)(uintptr_t)m->address);
	use = cupti_in_use(m, &in_use);
	if (use == CUPTI_USE_KNOWN)
		kv[n++] = xsprof_u64(keys[KEY_IN_USE], in_use);
	cupti_miss(CUPTI_MISS_IN_USE, use == CUPTI_USE_UNKNOWN);
	if (m->async)
		kv[n++] = xsprof_bool(keys[KEY_ASYNC], true);
	cupti_put(&a, kv, n);
}

/* Sorts records of one time by correlation id, which wraps: qsort() does not keep their order. */
static int by_time(const void *pa, const void *pb)
{
	const struct cupti_memory *a = pa, *b = pb;
	int32_t calls = (int32_t)(a->correlation - b->correlation);

	if (a->timestamp != b->timestamp)
		return a->timestamp > b->timestamp ? 1 : -1;
	return (calls > 0) - (calls < 0);
}

void cupti_memory_settle(void)
{
	qsort(kept, nr_kept, sizeof(kept[0]), by_time);
	for (uint32_t i = 0; i < nr_kept; i++)
		put(&kept[i]);
	nr_kept = 0;
}

void cupti_memory_anew(void)
{
	cupti_memory_settle();
	cupti_in_use_anew(xsprof_ticks_ns(xsprof_now()));
}

void cupti_memory(const struct cupti_memory *m)
{
	if (m->operation != CUPTI_ALLOCATED && m->operation != FREED) {
		cupti_miss(CUPTI_MISS_UNKNOWN, 1);
		return;
	}
	if (nr_kept == KEPT)
		cupti_memory_settle();
	kept[nr_kept++] = *m;
}
