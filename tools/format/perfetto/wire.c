// SPDX-License-Identifier: GPL-2.0-only
/*
 * The wire format of protocol buffers: see wire.h.
 */
#include "format/perfetto/wire.h"
#include "text/utf8.h"

char *wire_close_long(char *start, char *end)
{
	size_t len = (size_t)(end - start), more = 0, v;

	for (v = len; v >= 0x80; v >>= 7)
		more++;
	memmove(start + more, start, len);
	wire_varint(start - 1, len);
	return end + more;
}

char *wire_text(char *p, uint32_t field, const char *s, size_t len)
{
	char *start = wire_open(p, field);

	return wire_close(start, xsp_utf8_copy(start, s, len));
}
