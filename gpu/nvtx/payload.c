// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Decodes payloads into arguments, with the schemas of schema.c.  Takes no lock: a registered
 * schema is never changed.
 */
#include <stdio.h>

#include "gpu/nvtx/schema.h"

#define PAYLOADS	16u	/* per event */
#define MOST		XSPROF_TEXT_MAX	/* elements searched for a terminating zero */

/* The name of the enumeration's value; a value without a name stays a number. */
static void read_enum(struct xsprof_kv *kv, const struct nvtx_field *f, const void *at)
{
	const struct nvtx_enumeration *e = nvtx_enumeration_at(f->type);
	uint64_t v = nvtx_type_unsigned(at, f->size);

	*kv = xsprof_u64(f->name, v);
	for (uint32_t i = 0; i < e->nr_values; i++)
		if (!((e->value[i].value ^ v) << (64 - 8 * f->size)))
			*kv = xsprof_namev(f->name, e->value[i].name);
}

/*
 * Replaces the locale's decimal point, which may have several bytes, by '.'.  Return: the new
 * length.
 */
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

/* An array of floats becomes the text "[a, b]", in @said's list memory. */
static bool put_floats(struct nvtx_said *said, struct xsprof_kv *kv, const struct nvtx_field *f,
		       const char *at, uint64_t count, uint32_t *used)
{
	size_t room = (NVTX_LIST - *used) * sizeof(int32_t), len = 0;
	size_t size = nvtx_type_size(f->type);
	char *text = (char *)(said->list + *used), *to;
	struct xsprof_kv one;
	char number[64];
	size_t n;

	for (size_t i = 0; i < count; i++) {
		if (!nvtx_type_read(&one, 0, f->type, at + i * size))
			return false;
		/* 9 and 17 digits: enough to read the same float or double back. */
		snprintf(number, sizeof(number), "%.*g", size == sizeof(float) ? 9 : 17, one.u.f64);
		n = plain_point(number);
		/* 3: ", " or "[" before the number, "]" after the last one. */
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

/* An array of integers as a list of int32 in @said's list memory; of floats see put_floats(). */
static bool read_array(struct nvtx_said *said, struct xsprof_kv *kv, const struct nvtx_field *f,
		       const char *at, uint64_t n, uint32_t *used)
{
	uint32_t size = (uint32_t)nvtx_type_size(f->type);
	int32_t *list = said->list + *used;
	struct xsprof_kv one;

	if (n > NVTX_LIST - *used)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		if (!nvtx_type_read(&one, 0, f->type, at + (size_t)i * size))
			return false;
		if (one.type == XSPROF_ARG_F64)
			return put_floats(said, kv, f, at, n, used);
		/* Lists hold int32 only. */
		if (one.type == XSPROF_ARG_U64 ? one.u.u64 > INT32_MAX :
		    one.u.i64 > INT32_MAX || one.u.i64 < INT32_MIN)
			return false;
		list[i] = (int32_t)one.u.i64;
	}
	*used += (uint32_t)n;
	*kv = (struct xsprof_kv){ .key = f->name, .type = XSPROF_ARG_I32S,
				  .len = n * sizeof(*list) };
	kv->u.ptr = list;
	return true;
}

/* ---- lengths --------------------------------------------------------------------------------- */

/**
 * struct reading - state while the payloads of an event are decoded
 * @said: the result: arguments and name of the event
 * @all: payloads of the event
 * @n: number of payloads
 * @p: current payload
 * @s: schema of @p
 * @behind: offset at which the last field ended; UNKNOWN
 * @used: number of elements of @said->list in use
 */
struct reading {
	struct nvtx_said		*said;
	const struct nvtx_payload	*all;
	size_t				n;
	const struct nvtx_payload	*p;
	const struct nvtx_schema	*s;
	size_t				behind;
	uint32_t			*used;
};

#define UNKNOWN	SIZE_MAX

/* Are @size bytes at @at in the payload? */
static bool is_in(const struct nvtx_payload *p, uint64_t at, uint64_t size)
{
	return size <= p->size && at <= p->size - size;
}

/*
 * The value of a field at a fixed offset, or the product of its values if it is an array.  A
 * negative value counts as 0.
 */
static bool read_product(const struct nvtx_payload *p, const struct nvtx_field *f,
			 uint64_t *product)
{
	size_t size = nvtx_type_size(f->type);
	struct xsprof_kv kv;

	*product = 1;
	if (f->follows || !nvtx_field_is_length(f) || !is_in(p, f->offset, f->size))
		return false;
	for (size_t at = 0; at < f->size; at += size) {
		if (!nvtx_type_read(&kv, 0, f->type, (const char *)p->data + f->offset + at))
			return false;
		if (kv.type == XSPROF_ARG_I64 && kv.u.i64 < 0)
			kv.u.u64 = 0;
		if (__builtin_mul_overflow(*product, kv.u.u64, product))
			return false;
	}
	return true;
}

static bool read_payload_length(const struct reading *r, uint32_t domain, uint32_t payload,
				uint64_t *n)
{
	const struct nvtx_payload *p = payload < r->n ? &r->all[payload] : NULL;
	const struct nvtx_schema *s = p ? nvtx_schema_find(domain, p->schema) : NULL;
	struct nvtx_field bare = { .kind = KIND_VALUE };

	if (!p || !p->data)
		return false;
	if (s)
		return s->nr_fields == 1 && read_product(p, &s->field[0], n);
	bare.type = p->schema < NVTX_TYPES ? (uint32_t)p->schema : 0;
	bare.size = (uint32_t)nvtx_type_size(bare.type);
	return bare.size && read_product(p, &bare, n);
}

/* Counts the elements before the all-zero one.  Return: false: none among the first @most. */
static bool count_elements(const char *at, size_t size, uint64_t most, uint64_t *n)
{
	static const char zeros[16];

	for (*n = 0; *n < most; ++*n)
		if (!memcmp(at + *n * size, zeros, size))
			return true;
	return false;
}

/*
 * Finds the address and the number of elements of a text or an array.  Return: false if the length
 * is unknown or exceeds the payload.
 */
static bool find_elements(struct reading *r, uint32_t domain, const struct nvtx_field *f,
			  const char **at, uint64_t *n)
{
	size_t size = f->kind == KIND_EMBEDDED ? 1 : nvtx_type_size(f->type);
	size_t begin = (size_t)(*at - (const char *)r->p->data);
	uint64_t room = f->pointer ? UINT64_MAX : (r->p->size - begin) / size;
	bool zero = f->length == LENGTH_ZERO;
	const char *to;

	if (f->pointer) {
		memcpy(&to, *at, sizeof(to));
		*at = to;
	}
	if (!*at)
		return false;
	*n = f->count;
	if (f->length == LENGTH_FIELD && !read_product(r->p, &r->s->field[f->from], n))
		return false;
	if (f->length == LENGTH_PAYLOAD && !read_payload_length(r, domain, f->from, n))
		return false;
	/* Search no further than an argument can be long, nor past the end of the payload. */
	if (zero && !count_elements(*at, size, room < MOST ? room : MOST, n))
		return false;
	if (*n > room)
		return false;
	if (!f->pointer && f->length != LENGTH_FIXED)
		r->behind = begin + (*n + zero) * size;
	return true;
}

/* ---- fields ---------------------------------------------------------------------------------- */

static bool read_field(struct reading *r, uint32_t domain, struct xsprof_kv *kv,
		       const struct nvtx_field *f, const char *at)
{
	const char *text;
	uint64_t n;

	switch (f->kind) {
	case KIND_VALUE:
		return nvtx_type_read(kv, f->name, f->type, at);
	case KIND_ENUM:
		read_enum(kv, f, at);
		return true;
	case KIND_EMBEDDED:
		if (!find_elements(r, domain, f, &at, &n))
			return false;
		*kv = (struct xsprof_kv){ .key = f->name, .type = XSPROF_ARG_STR };
		kv->len = strnlen(at, n < XSPROF_TEXT_MAX ? n : XSPROF_TEXT_MAX);
		kv->u.str = at;
		return true;
	case KIND_ARRAY:
		return find_elements(r, domain, f, &at, &n) &&
		       read_array(r->said, kv, f, at, n, r->used);
	case KIND_POINTER:
		memcpy(&text, at, sizeof(text));
		*kv = xsprof_str(f->name, text);
		return true;
	default:
		return false;
	}
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

	return f->kind == KIND_VALUE && !f->follows && nvtx_type_is_number(f->type) &&
	       f->size <= size &&
	       f->offset <= size - f->size &&
	       nvtx_type_read(kv, f->name, f->type, (const char *)data + f->offset);
}

/* Takes the event's name from a message field; used for an event without a name. */
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

/* Return: the offset of the field; UNKNOWN also if the field exceeds the payload. */
static size_t place_of(const struct reading *r, const struct nvtx_field *f)
{
	size_t at = f->offset;

	if (f->follows) {
		if (r->behind > SIZE_MAX - f->align)
			return UNKNOWN;
		at = (r->behind + f->align - 1) / f->align * f->align;
	}
	return is_in(r->p, at, f->size) ? at : UNKNOWN;
}

/* Decodes one field.  Return: true if it became an argument or the event's name. */
static bool read_next(struct reading *r, struct nvtx_domain domain, const struct nvtx_field *f)
{
	struct nvtx_said *said = r->said;
	size_t at = place_of(r, f);
	struct xsprof_kv *kv = &said->kv[said->n];

	r->behind = UNKNOWN;
	if (at == UNKNOWN)
		return false;
	if (f->size)
		r->behind = at + f->size;
	if (said->n == NVTX_ARGS ||
	    !read_field(r, domain.index, kv, f, (const char *)r->p->data + at))
		return false;
	if (f->is_message && !said->name)
		take_message(said, domain.category, kv);
	else
		said->n++;
	return true;
}

/* Decodes the payload @r->p. */
static void read_payload(struct reading *r, struct nvtx_domain domain)
{
	const struct nvtx_payload *p = r->p;
	struct nvtx_said *said = r->said;
	uint32_t missed = 0;

	r->s = nvtx_schema_find(domain.index, p->schema);
	r->behind = UNKNOWN;
	if (!r->s && nvtx_type_size(p->schema) && p->data &&
	    nvtx_type_size(p->schema) <= p->size && said->n < NVTX_ARGS &&
	    nvtx_type_read(&said->kv[said->n], XSPROF_NAME("payload"), p->schema, p->data)) {
		said->n++;
		return;
	}
	if (!r->s || !p->data) {
		nvtx_miss(NVTX_MISS_PAYLOAD);
		return;
	}
	for (uint32_t i = 0; i < r->s->nr_fields; i++)
		missed += !read_next(r, domain, &r->s->field[i]);
	if (missed || r->s->nr_missed)
		nvtx_miss(NVTX_MISS_FIELDS);
}

void nvtx_read_payloads(struct nvtx_said *said, struct nvtx_domain domain,
			const struct nvtx_payload *payloads, size_t n)
{
	struct reading r = { .said = said, .all = payloads };
	uint32_t used = 0;

	if (n > PAYLOADS || (n && !payloads)) {
		nvtx_miss(NVTX_MISS_PAYLOAD);
		n = payloads ? PAYLOADS : 0;
	}
	r.n = n;
	r.used = &used;
	for (size_t i = 0; i < n; i++) {
		r.p = &payloads[i];
		read_payload(&r, domain);
	}
}
