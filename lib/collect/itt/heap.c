// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Heaps: an allocation is recorded after it succeeded, a release before it starts, so that records
 * are in the order in which an address changes owners. ITT does not pass the size of a release: it
 * is 0.
 */
#include "collect/itt/names.h"

/* The handle is the allocator's name; NULL is none. */
static void *heap_function_create(const char *name, const char *domain)
{
	char text[512];
	size_t n = 0;

	/* "domain: name" without printf(), which may allocate: the caller may be an allocator. */
	for (const char *p = domain; p && *p && n < 240; p++)
		text[n++] = *p;
	if (n) {
		text[n++] = ':';
		text[n++] = ' ';
	}
	for (const char *p = name ? name : "heap"; *p && n < sizeof(text) - 1; p++)
		text[n++] = *p;
	text[n] = 0;
	return (void *)(uintptr_t)itt_intern(ITT_CAT_HEAP, text);
}
ITT_EXPORT(heap_function_create, heap_function_create);
ITT_EXPORT(heap_function_createA, heap_function_create);

static xsprof_name_t name_of(void *heap)
{
	return heap ? (xsprof_name_t)(uintptr_t)heap : itt_intern(ITT_CAT_HEAP, "heap");
}

static void heap_begin(void)
{
}
ITT_EXPORT(heap_allocate_begin, heap_begin);
ITT_EXPORT(heap_free_end, heap_begin);

static void heap_allocate_end(void *heap, void **addr, size_t size, int initialized)
{
	xsprof_name_t name = name_of(heap);

	(void)initialized;
	if (addr && *addr && xsprof_wants(name))
		xsprof_alloc(name, *addr, size, XSPROF_DEVICE_CPU, 0, 0);
}
ITT_EXPORT(heap_allocate_end, heap_allocate_end);

static void heap_free_begin(void *heap, void *addr)
{
	xsprof_name_t name = name_of(heap);

	if (addr && xsprof_wants(name))
		xsprof_free(name, addr, 0, XSPROF_DEVICE_CPU, 0, 0);
}
ITT_EXPORT(heap_free_begin, heap_free_begin);

static void heap_reallocate_begin(void *heap, void *addr, size_t new_size, int initialized)
{
	(void)new_size;
	(void)initialized;
	heap_free_begin(heap, addr);
}
ITT_EXPORT(heap_reallocate_begin, heap_reallocate_begin);

static void heap_reallocate_end(void *heap, void *addr, void **new_addr, size_t new_size,
				int initialized)
{
	if (new_addr && *new_addr)
		heap_allocate_end(heap, new_addr, new_size, initialized);
	else if (addr && new_size)
		heap_allocate_end(heap, &addr, 0, initialized);	/* it failed: the old block stays */
}
ITT_EXPORT(heap_reallocate_end, heap_reallocate_end);

const struct itt_entry itt_heap_entries[] = {
	ITT_ENTRY(heap_function_create, heap_function_create),
	ITT_ENTRY(heap_function_createA, heap_function_create),
	ITT_ENTRY(heap_allocate_begin, heap_begin),
	ITT_ENTRY(heap_allocate_end, heap_allocate_end),
	ITT_ENTRY(heap_free_begin, heap_free_begin),
	ITT_ENTRY(heap_free_end, heap_begin),
	ITT_ENTRY(heap_reallocate_begin, heap_reallocate_begin),
	ITT_ENTRY(heap_reallocate_end, heap_reallocate_end),
	{ NULL, NULL }
};
