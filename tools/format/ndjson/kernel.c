// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kernel events as objects: every field as the capture describes it, or the whole record in hex
 * without a description.
 */
#include "format/common/kernel-field.h"
#include "format/common/out.h"
#include "format/ndjson/local.h"
#include "text/json.h"

#define PIECE	(8u << 10)	/* bytes of a record converted to hex at a time */
#define STRING	(32u << 10)	/* limit of a field's text: longer ones are truncated */

static void put_scratch(struct xsp_out *out, const char *end)
{
	xsp_buf_put(&out->buf, out->scratch, (size_t)(end - out->scratch));
}

/* "KEY": an array of numbers, or its bytes in hex if their type is unknown. */
static char *put_array(char *p, const struct xsprof_kernel_field *field, const char *bytes,
		       size_t len)
{
	uint32_t width = xsp_field_width(field);

	if (!width || len % width)
		return xsp_json_hex(p, bytes, len);
	*p++ = '[';
	for (size_t i = 0; i < len / width; i++) {
		uint64_t v = xsp_field_element(field, bytes, width, i);

		if (i)
			*p++ = ',';
		p = field->flags & XSPROF_KFIELD_SIGNED ? put_i64(p, (int64_t)v) : put_u64(p, v);
	}
	*p++ = ']';
	return p;
}

/* A field beyond the end of the event is null. */
static char *put_field(char *p, const struct xsprof_event *ev,
		       const struct xsprof_kernel_field *field)
{
	size_t len, key_len = strnlen(field->name, 256);
	const char *bytes;
	uint64_t v;

	if (field->flags & XSPROF_KFIELD_STRING) {
		bytes = xsp_field_bytes(ev, field, &len);
		if (bytes && key_len < 256)
			return xsp_json_field(p, field->name, bytes, len < STRING ? len : STRING);
	}
	*p++ = '"';
	p = xsp_escape_json(p, field->name, key_len, NULL);
	p = put_lit(p, "\":");
	if (xsprof_kernel_value(ev, field, &v))
		return field->flags & XSPROF_KFIELD_SIGNED ? put_i64(p, (int64_t)v) :
							     put_u64(p, v);
	bytes = xsp_field_bytes(ev, field, &len);
	return bytes ? put_array(p, field, bytes, len < STRING ? len : STRING) :
		       put_lit(p, "null");
}

static void put_fields(struct xsp_out *out, const struct xsprof_event *ev,
		       const struct xsprof_kernel_event *kind)
{
	char sep = '{', *p;

	xsp_buf_puts(&out->buf, ",\"fields\":");
	for (uint32_t i = 0; i < kind->nr_fields; i++) {
		if (xsp_field_common(&kind->fields[i]))
			continue;
		p = out->scratch;
		*p++ = sep;
		sep = ',';
		put_scratch(out, put_field(p, ev, &kind->fields[i]));
	}
	xsp_buf_puts(&out->buf, sep == '{' ? "{}" : "}");
}

static void put_bytes(struct xsp_out *out, const struct xsprof_event *ev)
{
	const char *s = (const char *)ev->rec;
	size_t left = ev->rec_size;

	xsp_buf_puts(&out->buf, ",\"record_hex\":\"");
	while (left) {
		size_t n = left < PIECE ? left : PIECE;
		/* Without its quotes. */
		char *end = xsp_json_hex(out->scratch, s, n);

		xsp_buf_put(&out->buf, out->scratch + 1, (size_t)(end - out->scratch) - 2);
		s += n;
		left -= n;
	}
	xsp_buf_puts(&out->buf, "\"");
}

static void put_lost(struct xsp_out *out, const struct xsprof_event *ev, char *p)
{
	p = FIELD(p, "cpu", put_i64, ev->cpu);
	if (ev->flags & XSPROF_EVF_UNKNOWN)
		p = put_lit(p, ",\"value\":null");
	else
		p = FIELD(p, "value", put_u64, ev->value);
	p = ev->flags & XSPROF_EVF_SLOTS ? put_lit(p, ",\"unit\":\"slots\"}\n") :
					   put_lit(p, ",\"unit\":\"events\"}\n");
	out->buf.p = p;
}

void ndjson_kernel_event(struct xsp_out *out, const struct xsprof_event *ev)
{
	char *p = put_u64(put_lit(xsp_buf_room(&out->buf, XSP_BUF_ROOM), "{\"ns\":"), ev->ns);
	const struct xsp_kernel_kind *kind;
	const char *comm;

	if (ev->type == XSPROF_EV_LOST) {
		put_lost(out, ev, put_lit(p, ",\"type\":\"kernel-lost\""));
		return;
	}
	kind = xsp_kernel_kind(out->kernel, ev);
	p = put_lit(p, ",\"type\":\"kernel\",");
	if (kind->kind) {
		const char *system = kind->kind->system;

		p = xsp_json_field(p, "system", system, strnlen(system, 256));
		*p++ = ',';
	}
	p = xsp_json_field(p, "name", kind->name, kind->name_len);
	p = FIELD(p, "cpu", put_i64, ev->cpu);
	p = FIELD(p, "tid", put_u32, ev->tid);
	p = FIELD(p, "pid", put_u32, ev->pid);
	comm = xsp_kernel_comm(out->kernel, ev->tid);
	*p++ = ',';
	p = xsp_json_field(p, "comm", comm, strnlen(comm, 64));
	p = FIELD(p, "ticks", put_u64, ev->ticks);
	p = FIELD(p, "flags", put_u32, ev->aux & 0xff);
	p = FIELD(p, "preempt_count", put_u32, ev->aux >> 8 & 0xff);
	p = FIELD(p, "id", put_u32, ev->name);
	if (ev->flags & XSPROF_EVF_BACK)
		p = put_lit(p, ",\"back\":true");
	out->buf.p = p;
	if (kind->kind)
		put_fields(out, ev, kind->kind);
	else
		put_bytes(out, ev);
	xsp_buf_puts(&out->buf, "}\n");
}
