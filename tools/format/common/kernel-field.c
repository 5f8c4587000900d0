// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fields of kernel events: see kernel-field.h.
 */
#include <string.h>

#include "format/common/kernel-field.h"

bool xsp_field_common(const struct xsprof_kernel_field *field)
{
	return !strncmp(field->name, "common_", 7);
}

uint32_t xsp_field_width(const struct xsprof_kernel_field *field)
{
	/* In this order: "long" and "short" may be followed by "int". */
	static const struct {
		const char	*word;
		uint32_t	width;
	} words[] = {
		{ "long", 8 }, { "64", 8 }, { "short", 2 }, { "16", 2 }, { "int", 4 },
		{ "32", 4 }, { "u8", 1 }, { "s8", 1 }, { "char", 1 },
	};
	const char *type = field->type;

	/* "int8_t" is not an int. */
	if (strstr(type, "int8"))
		return 1;
	/* Pointers, and CPU masks, whose words are long. */
	if (strchr(type, '*') || strstr(type, "cpumask"))
		return 0;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strstr(type, words[i].word))
			return words[i].width;
	return 0;
}

const char *xsp_field_bytes(const struct xsprof_event *ev, const struct xsprof_kernel_field *field,
			    size_t *len)
{
	const char *at;

	if (!field || field->size || !(field->flags & XSPROF_KFIELD_ARRAY))
		return xsprof_kernel_bytes(ev, field, len);
	*len = 0;
	if (!ev->rec || field->offset > ev->rec_size)
		return NULL;
	at = (const char *)ev->rec + field->offset;
	*len = ev->rec_size - field->offset;
	if (field->flags & XSPROF_KFIELD_STRING)
		*len = strnlen(at, *len);
	return at;
}

uint64_t xsp_field_element(const struct xsprof_kernel_field *field, const char *bytes,
			   uint32_t width, size_t i)
{
	unsigned int shift = 64 - 8 * width;
	uint64_t v = 0;

	memcpy(&v, bytes + i * width, width);
	if (field->flags & XSPROF_KFIELD_SIGNED && shift)
		v = (uint64_t)((int64_t)(v << shift) >> shift);
	return v;
}
