/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Declarations shared by the files of NVTX's extensions.
 */
#ifndef XSPROF_NVTX_EXTENSION_H
#define XSPROF_NVTX_EXTENSION_H

#include "gpu/nvtx/chain.h"
#include "gpu/nvtx/ext-abi.h"

/* Our function for a slot of the extension's table; the list ends with a NULL function. */
struct nvtx_ext_entry {
	uint32_t	slot;
	nvtx_slot	func;
};

#define NVTX_EXT_ENTRY(slot, func)	{ slot, (nvtx_slot)(func) }

extern const struct nvtx_ext_entry nvtx_schema_ext_entries[], nvtx_event_ext_entries[],
	nvtx_counter_ext_entries[];

/* type.c: size in bytes of a scalar type, 0: not a scalar. */
size_t nvtx_type_size(uint64_t type);
/* Reads a scalar into an argument.  Return: false if no argument can hold the type. */
bool nvtx_type_read(struct xsprof_kv *kv, xsprof_name_t key, uint64_t type, const void *at);
bool nvtx_type_is_read(uint64_t type);
bool nvtx_type_is_number(uint64_t type);
bool nvtx_type_is_whole(uint64_t type);
uint64_t nvtx_type_unsigned(const void *at, size_t size);

/* schema.c, payload.c: a registered schema, NULL if there is none; its fields by index. */
struct nvtx_schema;
const struct nvtx_schema *nvtx_schema_find(uint32_t domain, uint64_t id);
uint32_t nvtx_schema_fields(const struct nvtx_schema *s);
const char *nvtx_schema_field(const struct nvtx_schema *s, uint32_t i);
/* Return: false if the field is not a number or lies beyond @size. */
bool nvtx_schema_number(const struct nvtx_schema *s, uint32_t i, const void *data, size_t size,
			struct xsprof_kv *kv);

#endif /* XSPROF_NVTX_EXTENSION_H */
