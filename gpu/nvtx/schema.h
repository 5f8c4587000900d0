/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Schemas as they are kept: schema.c registers them, payload.c reads payloads by them.
 */
#ifndef XSPROF_NVTX_SCHEMA_H
#define XSPROF_NVTX_SCHEMA_H

#include "gpu/nvtx/extension.h"

#define FIELDS		24u
#define VALUES		32u

/* SKIP: no argument, but what is behind it has to be found. */
enum nvtx_field_kind {
	KIND_VALUE, KIND_ENUM, KIND_EMBEDDED, KIND_POINTER, KIND_ARRAY, KIND_SKIP,
};

/* What tells how long an array or a text is. */
enum nvtx_length {
	LENGTH_FIXED,	/* @count */
	LENGTH_ZERO,	/* an element of zeros ends it */
	LENGTH_FIELD,	/* the number, or the product of the numbers, in field @from */
	LENGTH_PAYLOAD,	/* ... in payload @from of the event */
};

/**
 * struct nvtx_field - a field, or an entry that is skipped
 * @name: key of the argument
 * @kind: enum nvtx_field_kind
 * @length: enum nvtx_length, of EMBEDDED and ARRAY
 * @is_message: it is the event's name
 * @pointer: what there is of @length is not in the payload, but where it points to
 * @follows: @offset is not known: it is behind the field before, aligned
 * @align: to so many bytes
 * @type: of an element; of an enumeration: its place
 * @size: bytes in the payload; 0 where @length says how many
 * @count: elements, of LENGTH_FIXED
 * @from: see @length
 * @entry: number of its entry in the schema; NO_ENTRY: of a schema inside
 * @offset: in the payload
 * @text: of @name; never freed
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

/* Whole numbers that may say how long another field is. */
bool nvtx_field_is_length(const struct nvtx_field *f);
/* texts.c, under nvtx_lock(): "outer.text", or "text".  Return: NULL: there is no memory. */
const char *nvtx_text_join(const char *outer, const char *text);
/* An enumeration that was registered, by its place. */
const struct nvtx_enumeration *nvtx_enumeration_at(uint32_t place);

#endif /* XSPROF_NVTX_SCHEMA_H */
