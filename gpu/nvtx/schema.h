/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Schemas as they are kept: schema.c registers them, payload.c reads payloads by them.
 */
#ifndef XSPROF_NVTX_SCHEMA_H
#define XSPROF_NVTX_SCHEMA_H

#include "gpu/nvtx/extension.h"

#define FIELDS		24u
#define VALUES		32u
#define FIELD_TEXT	48u	/* of the name of a field, with those that it is inside of */

enum nvtx_field_kind { KIND_VALUE, KIND_ENUM, KIND_EMBEDDED, KIND_POINTER, KIND_ARRAY };

struct nvtx_field {
	xsprof_name_t	name;
	uint16_t	kind;
	uint16_t	is_message;
	uint32_t	type;		/* of an enumeration: its place */
	uint32_t	size;
	uint64_t	offset;
	char		text[FIELD_TEXT];	/* of @name */
};

/* The key is stored last.  A schema inside of it has its fields here. */
struct nvtx_schema {
	uint64_t	id;
	uint64_t	size;		/* of a payload, and how it is aligned inside of another */
	uint64_t	align;
	uint32_t	domain;
	uint32_t	nr_fields;
	uint32_t	nr_missed;
	struct nvtx_field field[FIELDS];
};

struct nvtx_enumeration {
	uint64_t	id;
	uint32_t	domain;
	uint32_t	nr_values;
	uint32_t	size;
	struct {
		uint64_t	value;
		xsprof_name_t	name;
	} value[VALUES];
};

/* An enumeration that was registered, by its place. */
const struct nvtx_enumeration *nvtx_enumeration_at(uint32_t place);

#endif /* XSPROF_NVTX_SCHEMA_H */
