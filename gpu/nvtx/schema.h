/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Registered payload schemas: schema.c fills them, payload.c decodes payloads with them.
 */
#ifndef XSPROF_NVTX_SCHEMA_H
#define XSPROF_NVTX_SCHEMA_H

#include "gpu/nvtx/extension.h"

#define FIELDS		24u
#define VALUES		32u

/* SKIP: never an argument; kept because the offset of the next field depends on its length. */
enum nvtx_field_kind {
	KIND_VALUE, KIND_ENUM, KIND_EMBEDDED, KIND_POINTER, KIND_ARRAY, KIND_SKIP,
};

/* Where the number of elements of an array or a text comes from. */
enum nvtx_length {
	LENGTH_FIXED,	/* @count */
	LENGTH_ZERO,	/* an all-zero element terminates it */
	LENGTH_FIELD,	/* the value, or the product of the values, of field @from */
	LENGTH_PAYLOAD,	/* ... of payload @from of the event */
};

/**
 * struct nvtx_field - a field, or an entry that is skipped
 * @name: key of the argument
 * @kind: enum nvtx_field_kind
 * @length: enum nvtx_length; for KIND_EMBEDDED and KIND_ARRAY
 * @is_message: the field holds the event's name
 * @pointer: the payload holds a pointer to the elements, not the elements
 * @follows: @offset is unknown: the field starts at the end of the previous one, aligned
 * @align: alignment in bytes
 * @type: type of an element; for KIND_ENUM the index of the enumeration
 * @size: bytes in the payload; 0 if @length decides
 * @count: number of elements, for LENGTH_FIXED
 * @from: index of the field or payload that holds the length, see @length
 * @entry: index of the entry in the schema; NO_ENTRY for a field of a nested schema
 * @offset: offset in the payload
 * @text: text of @name; never freed
 */
struct nvtx_field {
	xsprof_name_t	name;
	uint8_t		kind;
	uint8_t		length;
	bool		is_message;
	bool		pointer;
	bool		follows;
	uint32_t	align;
	uint32_t	type;
	uint32_t	size;
	uint32_t	count;
	uint32_t	from;
	uint32_t	entry;
	uint64_t	offset;
	const char	*text;
};

#define NO_ENTRY	UINT32_MAX

/* @id is stored last, with release.  Fields of nested schemas are copied into @field. */
struct nvtx_schema {
	uint64_t	id;
	uint64_t	size;		/* of a payload; 0: unknown */
	uint64_t	align;		/* of a payload nested in another one */
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

/* Can the field hold the length of another one? True for integers. */
bool nvtx_field_is_length(const struct nvtx_field *f);
/* texts.c, under nvtx_lock(): "outer.text", or "text".  Return: NULL without memory. */
const char *nvtx_text_join(const char *outer, const char *text);
/* A registered enumeration by its index. */
const struct nvtx_enumeration *nvtx_enumeration_at(uint32_t place);

#endif /* XSPROF_NVTX_SCHEMA_H */
