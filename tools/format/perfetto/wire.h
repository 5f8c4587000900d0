/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The wire format of protocol buffers, written into memory that has room for it.  A message's
 * length stands before it and is known behind it: one byte is kept for it, and a message that
 * is longer is moved up.  It never checks for room.  What is no inline function is in packet.c.
 */
#ifndef XSPROF_OUT_WIRE_H
#define XSPROF_OUT_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define WIRE_MAX	10	/* bytes that one number may take */

static inline char *wire_varint(char *p, uint64_t v)
{
	while (v >= 0x80) {
		*p++ = (char)(v | 0x80);
		v >>= 7;
	}
	*p++ = (char)v;
	return p;
}

static inline char *wire_u64(char *p, uint32_t field, uint64_t v)
{
	return wire_varint(wire_varint(p, (uint64_t)field << 3), v);
}

/* int32 and int64 alike: a negative one takes ten bytes. */
static inline char *wire_i64(char *p, uint32_t field, int64_t v)
{
	return wire_u64(p, field, (uint64_t)v);
}

static inline char *wire_fixed64(char *p, uint32_t field, uint64_t v)
{
	p = wire_varint(p, (uint64_t)field << 3 | 1);
	memcpy(p, &v, sizeof(v));
	return p + sizeof(v);
}

static inline char *wire_double(char *p, uint32_t field, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return wire_fixed64(p, field, bits);
}

/* Begins a message or a string.  Return: where its content goes. */
static inline char *wire_open(char *p, uint32_t field)
{
	return wire_varint(p, (uint64_t)field << 3 | 2) + 1;
}

char *wire_close_long(char *start, char *end);

/* Ends what wire_open() gave @start for.  Return: the end, where it is now. */
static inline char *wire_close(char *start, char *end)
{
	if (__builtin_expect(end - start < 0x80, 1)) {
		start[-1] = (char)(end - start);
		return end;
	}
	return wire_close_long(start, end);
}

/* Text: what is no UTF-8 becomes U+FFFD, one for each byte; needs 3 * @len + 20 bytes. */
char *wire_text(char *p, uint32_t field, const char *s, size_t len);

#endif /* XSPROF_OUT_WIRE_H */
