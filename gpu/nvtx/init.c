// SPDX-License-Identifier: LGPL-2.1-only
/*
 * How a copy of NVTX finds the collector, and how its tables are filled.
 *
 * A process may have many copies, each with tables of its own, of versions 2 and 3.  Nothing of
 * them is remembered.  Where nobody records, no slot is filled: a call costs the program what it
 * costs without a collector.
 */
#include <errno.h>

#include "gpu/nvtx/local.h"

#define VERSION		3u	/* of NVTX, that this is written for */

static const struct nvtx_entry *const files[] = {
	nvtx_range_entries, nvtx_event_entries, nvtx_name_entries, nvtx_object_entries,
	nvtx_miss_entries,
};

/* Attaches if need be: in the child of a fork that is what the first marker would do. */
static bool is_recording(void)
{
	int err = xsprof_init(NULL);

	return !err || err == -EAGAIN || err == -EBUSY || err == -EALREADY;
}

/* A module's table has the slots that the program's version of NVTX has, and ends there. */
static void fill_module(const struct nvtx_callbacks *callbacks, uint32_t module)
{
	nvtx_slot **table = NULL;
	unsigned int size = 0;

	if (!callbacks->get_module(module, &table, &size) || !table)
		return;
	for (size_t f = 0; f < ARRAY_SIZE(files); f++)
		for (const struct nvtx_entry *e = files[f]; e->module; e++)
			if (e->module == module && e->slot < size && table[e->slot])
				__atomic_store_n(table[e->slot], e->func, __ATOMIC_RELEASE);
}

/* The entry point, called by a copy of NVTX; its name is the interface. */
__attribute__((visibility("default"))) int InitializeInjectionNvtx2(nvtx_get_export get_export);

/* Return: 1; 0 where nobody records, or the copy has no tables: it then calls nothing. */
int InitializeInjectionNvtx2(nvtx_get_export get_export)
{
	const struct nvtx_callbacks *callbacks;
	const struct nvtx_version *version;

	if (!get_export || !is_recording())
		return 0;
	callbacks = get_export(NVTX_EXPORT_CALLBACKS);
	if (!callbacks || callbacks->struct_size < sizeof(*callbacks) || !callbacks->get_module)
		return 0;
	/* Version 2 has no such table. */
	version = get_export(NVTX_EXPORT_VERSION);
	if (version && version->struct_size >= sizeof(*version) && version->set_tool_version)
		version->set_tool_version(VERSION);
	for (uint32_t m = NVTX_CORE; m < NVTX_MODULES; m++)
		fill_module(callbacks, m);
	return 1;
}
