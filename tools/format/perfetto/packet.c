// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rare packets of a Perfetto trace, and the rare paths of all others.
 */
#include "format/perfetto/packet.h"
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

/* Its tag and one byte for its length. */
#define CONTENT		2

/* A name, or two texts, with each byte replaced by three, and the other fields. */
_Static_assert(3 * XSP_NAME_BYTES + 4096 <= XSP_SCRATCH, "a packet with a name in the scratch");
_Static_assert(2 * 3 * XSPROF_TEXT_MAX + 4096 <= XSP_SCRATCH, "one with texts");

char *pf_packet_open(struct xsp_out *out, uint64_t ns, uint32_t sequence, uint32_t flags)
{
	char *p = wire_open(out->scratch, PF_TRACE_PACKET);

	if (ns)
		p = wire_u64(p, PF_TIMESTAMP, ns);
	p = wire_u64(p, PF_SEQUENCE, sequence);
	return flags ? wire_u64(p, PF_FLAGS, flags) : p;
}

char *pf_put_string(char *p, uint32_t field, const char *s)
{
	return s && *s ? wire_text(p, field, s, strnlen(s, XSPROF_TEXT_MAX)) : p;
}

void pf_packet_close(struct xsp_out *out, char *p)
{
	p = wire_close(out->scratch + CONTENT, p);
	xsp_buf_put(&out->buf, out->scratch, (size_t)(p - out->scratch));
}
