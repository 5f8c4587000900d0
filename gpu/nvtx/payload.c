// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Payloads as arguments, by their schemas.  They are read without a lock: what is registered is
 * never changed.
 */
#include <stdio.h>

#include "gpu/nvtx/schema.h"

#define PAYLOADS	16u	/* of an event */

/* A value that has no name is a number. */
static void read_enum(struct xsprof_kv *kv, const struct nvtx_field *f, const void *at)
{
	const struct nvtx_enumeration *e = nvtx_enumeration_at(f->type);
	uint64_t v = nvtx_type_unsigned(at, f->size);

	*kv = xsprof_u64(f->name, v);
	for (uint32_t i = 0; i < e->nr_values; i++)
		if (!((e->value[i].value ^ v) << (64 - 8 * f->size)))
			*kv = xsprof_namev(f->name, e->value[i].name);
}

static bool read_field(struct xsprof_kv *kv, const struct nvtx_field *f, const void *at)
{
	const char *text;

	switch (f->kind) {
	case KIND_VALUE:
		return nvtx_type_read(kv, f->name, f->type, at);
	case KIND_ENUM:
		read_enum(kv, f, at);
		return true;
	case KIND_EMBEDDED:
		*kv = (struct xsprof_kv){ .key = f->name, .type = XSPROF_ARG_STR,
					  .len = strnlen(at, f->size) };
		kv->u.str = at;
		return true;
	case KIND_ARRAY:
		return false;
	default:
		memcpy(&text, at, sizeof(text));
		*kv = xsprof_str(f->name, text);
		return true;
	}
}

/* The program's locale may have another decimal point, of one byte or more.  Return: the length. */
static size_t plain_point(char *text)
{
	char *to = text;

	for (const char *p = text; *p; p++) {
		if (strchr("+-0123456789einfa", *p))
			*to++ = *p;
		else if (to == text || to[-1] != '.')
			*to++ = '.';
	}
	*to = 0;
	return (size_t)(to - text);
}

/* There are no lists of such: a text, into memory of @said. */
static bool put_floats(struct nvtx_said *said, struct xsprof_kv *kv, const struct nvtx_field *f,
		       const char *at, uint32_t *used)
{
	size_t room = (NVTX_LIST - *used) * sizeof(int32_t), len = 0;
	size_t size = nvtx_type_size(f->type);
	char *text = (char *)(said->list + *used), *to;
	struct xsprof_kv one;
	char number[64];
	size_t n;

	for (size_t i = 0; i < f->size / size; i++) {
		if (!nvtx_type_read(&one, 0, f->type, at + i * size))
			return false;
		/* So many digits that each value has a text of its own. */
		snprintf(number, sizeof(number), "%.*g", size == sizeof(float) ? 9 : 17, one.u.f64);
		n = plain_point(number);
		/* Before it ", " or "[", behind the last one "]". */
		if (len + n + 3 > room)
			return false;
		to = mempcpy(stpcpy(text + len, i ? ", " : "["), number, n);
		len = (size_t)(to - text);
	}
	if (!len || len == room)
		return false;
	text[len++] = ']';
	*used += (uint32_t)((len + sizeof(int32_t) - 1) / sizeof(int32_t));
	*kv = (struct xsprof_kv){ .key = f->name, .type = XSPROF_ARG_STR, .len = len };
	kv->u.str = text;
	return true;
}

/* Into memory of @said. */
static bool read_array(struct nvtx_said *said, struct xsprof_kv *kv, const struct nvtx_field *f,
		       const char *at, uint32_t *used)
{
	uint32_t size = (uint32_t)nvtx_type_size(f->type), n = f->size / size;
	int32_t *list = said->list + *used;
	struct xsprof_kv one;

	if (n > NVTX_LIST - *used)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		if (!nvtx_type_read(&one, 0, f->type, at + (size_t)i * size))
			return false;
		if (one.type == XSPROF_ARG_F64)
			return put_floats(said, kv, f, at, used);
		/* Of larger numbers there are no lists. */
		if (one.type == XSPROF_ARG_U64 ? one.u.u64 > INT32_MAX :
		    one.u.i64 > INT32_MAX || one.u.i64 < INT32_MIN)
			return false;
		list[i] = (int32_t)one.u.i64;
	}
	*used += n;
	*kv = (struct xsprof_kv){ .key = f->name, .type = XSPROF_ARG_I32S,
				  .len = n * sizeof(*list) };
	kv->u.ptr = list;
	return true;
}

uint32_t nvtx_schema_fields(const struct nvtx_schema *s)
{
	return s->nr_fields;
}

const char *nvtx_schema_field(const struct nvtx_schema *s, uint32_t i)
{
	return s->field[i].text;
}

bool nvtx_schema_number(const struct nvtx_schema *s, uint32_t i, const void *data, size_t size,
			struct xsprof_kv *kv)
{
	const struct nvtx_field *f = &s->field[i];

	return f->kind == KIND_VALUE && nvtx_type_is_number(f->type) && f->size <= size &&
	       f->offset <= size - f->size &&
	       nvtx_type_read(kv, f->name, f->type, (const char *)data + f->offset);
}

/* The name of an event that has no other. */
static void take_message(struct nvtx_said *said, uint32_t category, const struct xsprof_kv *kv)
{
	char text[NVTX_TEXT_MAX];
	size_t len;

	if (kv->type == XSPROF_ARG_NAME) {
		said->name = (xsprof_name_t)kv->u.u64;
	} else if (kv->type == XSPROF_ARG_STR && kv->u.str && kv->len) {
		len = kv->len < sizeof(text) - 1 ? kv->len : sizeof(text) - 1;
		memcpy(text, kv->u.str, len);
		text[len] = 0;
		said->name = xsprof_name_in((int)category, text);
	}
}

/* @used: of said->list. */
static void read_payload(struct nvtx_said *said, struct nvtx_domain domain,
			 const struct nvtx_payload *p, uint32_t *used)
{
	const struct nvtx_schema *s = nvtx_schema_find(domain.index, p->schema);
	const char *data = p->data;
	uint32_t missed = 0;
	bool read;

	if (!s && nvtx_type_size(p->schema) && data && nvtx_type_size(p->schema) <= p->size &&
	    said->n < NVTX_ARGS &&
	    nvtx_type_read(&said->kv[said->n], XSPROF_NAME("payload"), p->schema, data)) {
		said->n++;
		return;
	}
	if (!s || !data) {
		nvtx_miss(NVTX_MISS_PAYLOAD);
		return;
	}
	for (uint32_t i = 0; i < s->nr_fields; i++) {
		const struct nvtx_field *f = &s->field[i];

		read = said->n < NVTX_ARGS && f->size <= p->size && f->offset <= p->size - f->size;
		if (read && f->kind == KIND_ARRAY)
			read = read_array(said, &said->kv[said->n], f, data + f->offset, used);
		else if (read)
			read = read_field(&said->kv[said->n], f, data + f->offset);
		if (!read)
			missed++;
		else if (f->is_message && !said->name)
			take_message(said, domain.category, &said->kv[said->n]);
		else
			said->n++;
	}
	if (missed || s->nr_missed)
		nvtx_miss(NVTX_MISS_FIELDS);
}

void nvtx_read_payloads(struct nvtx_said *said, struct nvtx_domain domain,
			const struct nvtx_payload *payloads, size_t n)
{
	uint32_t used = 0;

	if (n > PAYLOADS || (n && !payloads)) {
		nvtx_miss(NVTX_MISS_PAYLOAD);
		n = payloads ? PAYLOADS : 0;
	}
	for (size_t i = 0; i < n; i++)
		read_payload(said, domain, &payloads[i], &used);
}
