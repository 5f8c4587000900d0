/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What the files of NVTX's extensions share.
 */
#ifndef XSPROF_NVTX_EXTENSION_H
#define XSPROF_NVTX_EXTENSION_H

#include "gpu/nvtx/chain.h"
#include "gpu/nvtx/ext-abi.h"

/* As an entry of the core's tables; ends with a NULL function. */
struct nvtx_ext_entry {
	uint32_t	slot;
	nvtx_slot	func;
};

#define NVTX_EXT_ENTRY(slot, func)	{ slot, (nvtx_slot)(func) }

extern const struct nvtx_ext_entry nvtx_schema_ext_entries[], nvtx_event_ext_entries[],
	nvtx_counter_ext_entries[];

/* Bytes of a type of one value, or 0. */
size_t nvtx_type_size(uint64_t type);
/* A value of such a type as an argument.  Return: false where there is none for it. */
bool nvtx_type_read(struct xsprof_kv *kv, xsprof_name_t key, uint64_t type, const void *at);

#endif /* XSPROF_NVTX_EXTENSION_H */
