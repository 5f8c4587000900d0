/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Reads numbers from a byte range. Reading beyond the end returns 0 and sets @bad.
 */
#ifndef XSPROF_COLLECT_BYTES_H
#define XSPROF_COLLECT_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/**
 * struct bytes - the bytes left to read
 * @at: next byte
 * @end: end, exclusive
 * @bad: a read went beyond the end
 */
struct bytes {
	const uint8_t	*at;
	const uint8_t	*end;
	bool		bad;
};

/* Reads a little-endian number of @size bytes. */
static inline uint64_t fixed(struct bytes *b, size_t size)
{
	uint64_t v = 0;

	if ((size_t)(b->end - b->at) < size) {
		b->bad = true;
		b->at = b->end;
		return 0;
	}
	memcpy(&v, b->at, size);
	b->at += size;
	return v;
}

/* Reads a LEB128 number, signed if @has_sign. */
static inline uint64_t leb(struct bytes *b, bool has_sign)
{
	uint64_t v = 0, byte;
	unsigned int shift = 0;

	do {
		byte = fixed(b, 1);
		v |= shift < 64 ? (byte & 0x7f) << shift : 0;
		shift += 7;
	} while (byte & 0x80);
	if (has_sign && shift < 64 && byte & 0x40)
		v |= ~(uint64_t)0 << shift;
	return v;
}

static inline uint64_t uleb(struct bytes *b)
{
	return leb(b, false);
}

static inline int64_t sleb(struct bytes *b)
{
	return (int64_t)leb(b, true);
}

static inline void skip(struct bytes *b, uint64_t size)
{
	if (size > (uint64_t)(b->end - b->at))
		b->bad = true;
	else
		b->at += size;
}

#endif /* XSPROF_COLLECT_BYTES_H */
