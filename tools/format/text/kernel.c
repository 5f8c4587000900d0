// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kernel events in the columns of the text format, as in trace-cmd report and the kernel's trace
 * file, between the markers.
 */
#include "format/text/local.h"
#include "text/put.h"

/* The name right-aligned to 16, the id left-aligned to 8, like threads of programs. */
static char *put_task(struct xsp_out *out, uint32_t tid, char *p)
{
	const char *comm = xsp_kernel_comm(out->kernel, tid);
	size_t len = strnlen(comm, 63), width = 0;
	char text[63 * XSP_ESCAPE_MAX], *end, *id;

	end = xsp_escape_text(text, comm, len);
	for (const char *s = text; s < end; s++)
		width += ((unsigned char)*s & 0xc0) != 0x80;
	if (width < 16) {
		memset(p, ' ', 16 - width);
		p += 16 - width;
	}
	memcpy(p, text, end - text);
	p += end - text;
	*p++ = '-';
	id = p;
	p = put_u32(p, tid);
	memset(p, ' ', 9);
	return p - id < 8 ? id + 9 : p + 1;
}

static char *put_lost(const struct xsprof_event *ev, char *p)
{
	p = put_lit(p, "lost:     ");
	if (ev->flags & XSPROF_EVF_UNKNOWN)
		return put_lit(p, "kernel events, number not known");
	p = put_u64(p, ev->value);
	if (ev->flags & XSPROF_EVF_SLOTS)
		return put_lit(p, " times 32 bytes of the kernel's events");
	return put_lit(p, " kernel events");
}

_Static_assert(XSP_KERNEL_ROOM + 4096 <= XSP_BUF_ROOM, "a line, with its task and place");

void text_kernel_event(struct xsp_out *out, const struct xsprof_event *ev)
{
	char *p = xsp_buf_room(&out->buf, XSP_BUF_ROOM);
	const struct xsp_kernel_kind *kind;

	if (ev->type == XSPROF_EV_LOST) {
		p = put_lit(p, "               ?-?        ");
		p = put_lost(ev, text_put_place(out, ev->cpu, ev->ns, p));
	} else {
		kind = xsp_kernel_kind(out->kernel, ev);
		p = put_task(out, ev->tid, p);
		p = text_put_place(out, ev->cpu, ev->ns, p);
		memcpy(p, kind->name, kind->name_len);
		p += kind->name_len;
		p = put_lit(p, ": ");
		p = xsp_kernel_info(out->kernel, ev, p);
	}
	if (ev->flags & XSPROF_EVF_BACK)
		p = put_lit(p, " clock=back");
	*p++ = '\n';
	out->buf.p = p;
}
