// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packets of a Perfetto trace: what is rare in those that are written by hand (wire.h), and those
 * that protobuf-c writes.
 */
#include <errno.h>

#include "format/perfetto/packet.h"
#include "text/utf8.h"

/* Texts are made in the first half of the scratch, packets in the second. */
#define HALF		(XSP_SCRATCH / 2)

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

char *pf_text(char **at, const char *s, size_t len)
{
	char *text = *at, *end = xsp_utf8_copy(text, s, len);

	*end = '\0';
	*at = end + 1;
	return text;
}

void pf_put(struct xsp_out *out, const Pf__TracePacket *packet)
{
	char head[2 * WIRE_MAX], *p, *body = out->scratch + HALF;
	size_t len = pf__trace_packet__get_packed_size(packet);

	/* Three texts of the longest kind are less than that. */
	if (len > HALF) {
		out->buf.err = EMSGSIZE;
		return;
	}
	pf__trace_packet__pack(packet, (uint8_t *)body);
	p = wire_varint(head, PF_TRACE_PACKET << 3 | 2);
	p = wire_varint(p, len);
	xsp_buf_put(&out->buf, head, (size_t)(p - head));
	xsp_buf_put(&out->buf, body, len);
}
