// SPDX-License-Identifier: GPL-2.0-only
/*
 * The wire format of protocol buffers: see wire.h.
 */
#include "out/escape.h"
#include "out/wire.h"

char *wire_close_long(char *start, char *end)
{
	size_t len = (size_t)(end - start), more = 0, v;

	for (v = len; v >= 0x80; v >>= 7)
		more++;
	memmove(start + more, start, len);
	wire_varint(start - 1, len);
	return end + more;
}

char *wire_utf8(char *p, const char *str, size_t len)
{
	const unsigned char *s = (const unsigned char *)str, *end = s + len;
	unsigned int cp;
	size_t n;

	while (s < end) {
		if (*s < 0x80) {
			*p++ = (char)*s++;
			continue;
		}
		n = xsp_utf8(s, (size_t)(end - s), &cp);
		if (n) {
			memcpy(p, s, n);
			p += n;
			s += n;
			continue;
		}
		memcpy(p, "\xef\xbf\xbd", 3);
		p += 3;
		s++;
	}
	return p;
}

char *wire_text(char *p, uint32_t field, const char *s, size_t len)
{
	char *start = wire_open(p, field);

	return wire_close(start, wire_utf8(start, s, len));
}
