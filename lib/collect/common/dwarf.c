// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Reads entries of .eh_frame: searches the table of .eh_frame_hdr for the function's entry, whose
 * call frame instructions cfa.c runs. Reads never leave the entry's stated length, nor the mapped
 * part of the object's segment, which is probed: table and entries may be corrupt.
 */
#include "collect/common/cfa.h"
#include "collect/common/dwarf.h"

#define ENTRY_MAX	(1u << 20)	/* bytes; bounds the time */
#define HEAD_MAX	20u	/* bytes of the table's header read; no table is shorter */

/* ---- entries -------------------------------------------------------------------------------- */

/* The entry at @at after its length word. Empty for 64-bit DWARF, which is not supported. */
static struct bytes entry(const struct elf_object *object, uintptr_t at)
{
	struct bytes b = elf_readable(object, at);
	uint64_t size = elf_is_there(&b, 4) ? fixed(&b, 4) : 0;

	if (size < 4 || size > ENTRY_MAX || !elf_is_there(&b, size))
		return (struct bytes){ b.at, b.at, true };
	b.end = b.at + size;
	return b;
}

static bool read_common(const struct elf_object *object, uintptr_t at, struct dwarf_common *c)
{
	struct bytes b = entry(object, at);
	const char *augmentation;
	uint64_t size;
	uint8_t version, encoding;

	if (fixed(&b, 4) || b.bad)
		return false;
	version = (uint8_t)fixed(&b, 1);
	augmentation = (const char *)b.at;
	while (fixed(&b, 1))
		;
	*c = (struct dwarf_common){ .code_align = uleb(&b) };
	c->data_align = sleb(&b);
	c->back = (uint32_t)(version == 1 ? fixed(&b, 1) : uleb(&b));
	if (b.bad || (version != 1 && version != 3) ||
	    (*augmentation && *augmentation != 'z'))
		return false;
	c->augmented = *augmentation;
	if (c->augmented) {
		size = uleb(&b);
		if (b.bad || size > (uint64_t)(b.end - b.at))
			return false;
		c->program = (struct bytes){ b.at + size, b.end, false };
		b.end = b.at + size;
	} else {
		c->program = b;
	}
	for (; *augmentation; augmentation++) {
		switch (*augmentation) {
		case 'R':
			c->encoding = (uint8_t)fixed(&b, 1);
			break;
		case 'P':
			encoding = (uint8_t)fixed(&b, 1);
			dwarf_pointer(&b, encoding & 0x0f);
			break;
		case 'L':
			fixed(&b, 1);
			break;
		case 'S':
			c->signal = true;
			break;
		default:	/* z: skipped above; B: arm64's key for signing return addresses */
			break;
		}
	}
	return !b.bad;
}

/* A row of the table: offsets, from the table, of a function and its entry. May be unaligned. */
struct row {
	int32_t	function;
	int32_t	entry;
};

/* Return: false if the row is not readable. */
static bool read_row(const struct bytes *table, uint64_t i, struct row *row)
{
	struct bytes b = { table->at + i * sizeof(*row), table->end, false };

	if (!elf_is_there(&b, sizeof(*row)))
		return false;
	memcpy(row, b.at, sizeof(*row));
	return true;
}

/* Skips the header of the table. Return: the number of rows; 0: no usable table. */
static uint64_t read_head(struct bytes *b)
{
	uint64_t version, start, count, form, nr;

	if (!elf_is_there(b, HEAD_MAX))
		return 0;
	version = fixed(b, 1);
	start = fixed(b, 1);
	count = fixed(b, 1);
	form = fixed(b, 1);
	/* The encoding that all linkers write for a sorted table. */
	if (version != 1 || form != (PTR_DATA | PTR_S4))
		return 0;
	dwarf_pointer(b, start & 0x0f);
	nr = dwarf_pointer(b, (uint8_t)count);
	return b->bad || nr > (uint64_t)(b->end - b->at) / sizeof(struct row) ? 0 : nr;
}

/* Return: the entry of the last function that begins at or before @at; 0: none. */
static uintptr_t search(const struct elf_object *object, uintptr_t index, uintptr_t at)
{
	struct bytes b = elf_readable(object, index);
	const int64_t want = (int64_t)(at - index);
	uint64_t low = 0, high = read_head(&b);
	struct row row;

	if (!high)
		return 0;
	while (high - low > 1) {
		uint64_t middle = low + (high - low) / 2;

		if (!read_row(&b, middle, &row))
			return 0;
		if (row.function <= want)
			low = middle;
		else
			high = middle;
	}
	return read_row(&b, low, &row) && row.function <= want ? index + (uintptr_t)row.entry : 0;
}

uintptr_t dwarf_function(const struct elf_object *object, const void *index, uintptr_t at)
{
	uintptr_t found = search(object, (uintptr_t)index, at), link;
	uint64_t begin, size, back;
	struct dwarf_common common;
	struct bytes b;

	if (!found)
		return 0;
	b = entry(object, found);
	link = (uintptr_t)b.at;
	back = fixed(&b, 4);
	if (b.bad || !back || !read_common(object, link - back, &common))
		return 0;
	begin = dwarf_pointer(&b, common.encoding);
	size = dwarf_pointer(&b, common.encoding & 0x0f);
	return b.bad || at < begin || at - begin >= size ? 0 : (uintptr_t)begin;
}

struct unwind_rule dwarf_rule(const struct elf_object *object, const void *index, uintptr_t at)
{
	static const struct unwind_rule unknown = { .kind = UNWIND_UNKNOWN };
	uintptr_t found = search(object, (uintptr_t)index, at), link;
	uint64_t begin, size, back;
	struct dwarf_common common;
	struct bytes b;

	if (!found)
		return unknown;
	b = entry(object, found);
	link = (uintptr_t)b.at;
	back = fixed(&b, 4);
	if (b.bad || !back || !read_common(object, link - back, &common) || common.signal)
		return unknown;
	begin = dwarf_pointer(&b, common.encoding);
	size = dwarf_pointer(&b, common.encoding & 0x0f);
	/* The address is between two functions. */
	if (b.bad || at < begin || at - begin >= size)
		return unknown;
	if (common.augmented)
		skip(&b, uleb(&b));
	return b.bad ? unknown : cfa_rule(&common, b, begin, at);
}
