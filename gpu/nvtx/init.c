// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Entry point of NVTX: fills the function tables of a copy of NVTX.
 *
 * A process may have many copies of NVTX, of versions 2 and 3, each with tables of its own; none is
 * remembered.  Without a recorder no slot is filled, so that a call costs no more than without a
 * collector.
 */
#include "gpu/common/start.h"
#include "gpu/nvtx/chain.h"

#define VERSION		3u	/* version of NVTX that the collector implements */

static const struct nvtx_entry *const files[] = {
	nvtx_range_entries, nvtx_event_entries, nvtx_name_entries, nvtx_object_entries,
	nvtx_handle_entries, nvtx_miss_entries,
};

static const struct nvtx_callbacks *callbacks_of(nvtx_get_export get_export)
{
	const struct nvtx_callbacks *callbacks = NULL;

	if (get_export)
		callbacks = get_export(NVTX_EXPORT_CALLBACKS);
	return callbacks && callbacks->struct_size >= sizeof(*callbacks) && callbacks->get_module ?
	       callbacks : NULL;
}

/* The length of a module's table depends on the program's version of NVTX: stop at its end. */
static void fill_slots(const struct nvtx_callbacks *callbacks, const struct nvtx_entry *e)
{
	for (; e->module; e++) {
		nvtx_slot **table = NULL;
		unsigned int size = 0;

		if (callbacks->get_module(e->module, &table, &size) && table && e->slot < size &&
		    table[e->slot])
			__atomic_store_n(table[e->slot], e->func, __ATOMIC_RELEASE);
	}
}

/* Fills the slots with functions that call ours and those of the second tool. */
static void fill_chained(const struct nvtx_callbacks *callbacks)
{
	const struct nvtx_entry initialize[] = {
		{ NVTX_CORE2, NVTX_INITIALIZE, nvtx_theirs[NVTX_CORE2][NVTX_INITIALIZE] },
		{ 0, 0, NULL }
	};

	for (size_t f = 0; f < ARRAY_SIZE(files); f++)
		for (const struct nvtx_entry *e = files[f]; e->module; e++)
			__atomic_store_n(&nvtx_ours[e->module][e->slot], e->func,
					 __ATOMIC_RELAXED);
	fill_slots(callbacks, nvtx_chain_entries);
	if (initialize[0].func)
		fill_slots(callbacks, initialize);
}

/* The entry point, called by a copy of NVTX; its name is the interface. */
__attribute__((visibility("default"))) int InitializeInjectionNvtx2(nvtx_get_export get_export);

/* Return: 1; 0: no recorder, or the copy has no tables; NVTX then makes no calls. */
int InitializeInjectionNvtx2(nvtx_get_export get_export)
{
	const struct nvtx_callbacks *callbacks = callbacks_of(get_export);
	const struct nvtx_version *version;
	int (*tool)(nvtx_get_export);

	if (!callbacks)
		return 0;
	if (!gpu_is_recording()) {
		tool = (int (*)(nvtx_get_export))nvtx_chain_find("InitializeInjectionNvtx2");
		return tool ? tool(get_export) : 0;
	}
	nvtx_own_names();
	if (nvtx_chain_init(get_export)) {
		fill_chained(callbacks);
		return 1;
	}
	/* Version 2 does not export its version. */
	version = get_export(NVTX_EXPORT_VERSION);
	if (version && version->struct_size >= sizeof(*version) && version->set_tool_version)
		version->set_tool_version(VERSION);
	for (size_t f = 0; f < ARRAY_SIZE(files); f++)
		fill_slots(callbacks, files[f]);
	return 1;
}
