// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Schemas: what is where in a payload, and payloads as arguments.
 *
 * A schema is kept as the fields that can be arguments: numbers, texts, values of enumerations.
 * Others are counted with each payload that has them.  What is registered is never changed or
 * forgotten, so that payloads are read without a lock.
 */
#include "gpu/nvtx/extension.h"

#define SCHEMAS		512u	/* powers of two */
#define FIELDS		24u
#define ENUMS		128u
#define VALUES		32u
#define PAYLOADS	16u	/* of an event */

enum kind { KIND_VALUE, KIND_ENUM, KIND_EMBEDDED, KIND_POINTER };

struct field {
	xsprof_name_t	name;
	uint16_t	kind;
	uint16_t	is_message;
	uint32_t	type;		/* of an enumeration: its place */
	uint32_t	size;
	uint64_t	offset;
};

/* The key is stored last. */
static struct schema {
	uint64_t	id;
	uint32_t	domain;
	uint32_t	nr_fields;
	uint32_t	nr_missed;
	struct field	field[FIELDS];
} schemas[SCHEMAS];

static struct enumeration {
	uint64_t	id;
	uint32_t	domain;
	uint32_t	nr_values;
	uint32_t	size;
	struct {
		uint64_t	value;
		xsprof_name_t	name;
	} value[VALUES];
} enums[ENUMS];

/* ---- types ----------------------------------------------------------------------------------- */

/* Bytes, and whether it is signed or floating. */
static const struct type {
	uint8_t	size;
	char	as;
} types[NVTX_TYPES] = {
	[NVTX_TYPE_CHAR] = { 1, 'i' }, [NVTX_TYPE_UCHAR] = { 1, 'u' },
	[NVTX_TYPE_SHORT] = { sizeof(short), 'i' }, [NVTX_TYPE_USHORT] = { sizeof(short), 'u' },
	[NVTX_TYPE_INT] = { sizeof(int), 'i' }, [NVTX_TYPE_UINT] = { sizeof(int), 'u' },
	[NVTX_TYPE_LONG] = { sizeof(long), 'i' }, [NVTX_TYPE_ULONG] = { sizeof(long), 'u' },
	[NVTX_TYPE_LLONG] = { 8, 'i' }, [NVTX_TYPE_ULLONG] = { 8, 'u' },
	[NVTX_TYPE_I8] = { 1, 'i' }, [NVTX_TYPE_U8] = { 1, 'u' },
	[NVTX_TYPE_I16] = { 2, 'i' }, [NVTX_TYPE_U16] = { 2, 'u' },
	[NVTX_TYPE_I32] = { 4, 'i' }, [NVTX_TYPE_U32] = { 4, 'u' },
	[NVTX_TYPE_I64] = { 8, 'i' }, [NVTX_TYPE_U64] = { 8, 'u' },
	[NVTX_TYPE_FLOAT] = { 4, 'f' }, [NVTX_TYPE_DOUBLE] = { 8, 'f' },
	[NVTX_TYPE_LDOUBLE] = { sizeof(long double), 0 },
	[NVTX_TYPE_SIZE] = { sizeof(size_t), 'u' }, [NVTX_TYPE_ADDRESS] = { sizeof(void *), 'p' },
	[NVTX_TYPE_BYTE] = { 1, 'u' }, [NVTX_TYPE_F32] = { 4, 'f' }, [NVTX_TYPE_F64] = { 8, 'f' },
	[NVTX_TYPE_CATEGORY] = { 4, 'u' }, [NVTX_TYPE_COLOR] = { 4, 'u' },
	[NVTX_TYPE_SCOPE] = { 8, 'u' }, [NVTX_TYPE_PID32] = { 4, 'u' },
	[NVTX_TYPE_PID64] = { 8, 'u' }, [NVTX_TYPE_TID32] = { 4, 'u' },
	[NVTX_TYPE_TID64] = { 8, 'u' }, [NVTX_TYPE_STRING_HANDLE] = { sizeof(void *), 's' },
};

size_t nvtx_type_size(uint64_t type)
{
	return type < NVTX_TYPES ? types[type].size : 0;
}

static uint64_t read_unsigned(const void *at, size_t size)
{
	uint64_t v = 0;

	memcpy(&v, at, size < sizeof(v) ? size : sizeof(v));	/* little-endian, as we are */
	return v;
}

static int64_t read_signed(const void *at, size_t size)
{
	uint64_t v = read_unsigned(at, size);
	unsigned int unused = 64 - 8 * (unsigned int)size;

	return (int64_t)(v << unused) >> unused;
}

bool nvtx_type_read(struct xsprof_kv *kv, xsprof_name_t key, uint64_t type, const void *at)
{
	uint64_t v = read_unsigned(at, nvtx_type_size(type));
	double d;
	float f;

	switch (type < NVTX_TYPES ? types[type].as : 0) {
	case 'i':
		*kv = xsprof_i64(key, read_signed(at, types[type].size));
		return true;
	case 'u':
		*kv = xsprof_u64(key, v);
		return true;
	case 'f':
		memcpy(&f, at, sizeof(f));
		if (types[type].size == sizeof(d))
			memcpy(&d, at, sizeof(d));
		else
			d = (double)f;
		*kv = xsprof_f64(key, d);
		return true;
	case 'p':
		*kv = xsprof_ptr(key, (void *)(uintptr_t)v);
		return true;
	case 's':
		if (!nvtx_is((void *)(uintptr_t)v, NVTX_TAG_STRING))
			return false;
		*kv = xsprof_namev(key, (xsprof_name_t)v);
		return true;
	default:
		return false;
	}
}

/* ---- what is registered ---------------------------------------------------------------------- */

static uint32_t place(uint32_t domain, uint64_t id, uint32_t probe, uint32_t n)
{
	uint64_t key = (id ^ (uint64_t)domain << 40) * 0x9e3779b97f4a7c15ull;

	return ((uint32_t)(key >> 40) + probe) % n;
}

static const struct schema *find_schema(uint32_t domain, uint64_t id)
{
	for (uint32_t i = 0; id && i < SCHEMAS; i++) {
		const struct schema *s = &schemas[place(domain, id, i, SCHEMAS)];
		uint64_t got = __atomic_load_n(&s->id, __ATOMIC_ACQUIRE);

		if (!got)
			break;
		if (got == id && s->domain == domain)
			return s;
	}
	return NULL;
}

static struct enumeration *find_enum(uint32_t domain, uint64_t id)
{
	for (uint32_t i = 0; id && i < ENUMS; i++) {
		struct enumeration *e = &enums[place(domain, id, i, ENUMS)];
		uint64_t got = __atomic_load_n(&e->id, __ATOMIC_ACQUIRE);

		if (!got)
			break;
		if (got == id && e->domain == domain)
			return e;
	}
	return NULL;
}

static uint64_t new_id(void)
{
	static uint32_t last;

	return NVTX_DYNAMIC_ID + __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}

/*
 * Fills @f but for the offset.  Return: the bytes of the entry; 0 where it has no size that is
 * known here.  @f->size is 0 where it can be no argument.
 */
static uint64_t read_entry(struct field *f, uint32_t domain, const struct nvtx_schema_entry *e,
			   uint64_t *align)
{
	const struct enumeration *en = find_enum(domain, e->type);
	uint64_t size = en ? en->size : nvtx_type_size(e->type);
	uint64_t array = e->flags & NVTX_ENTRY_ARRAY;
	bool text = e->type == NVTX_TYPE_CSTRING || e->type == NVTX_TYPE_UTF8;

	*f = (struct field){ .name = xsprof_name(e->name ? e->name : "payload"),
			     .is_message = !!(e->flags & NVTX_ENTRY_MESSAGE),
			     .type = (uint32_t)e->type };
	*align = size;
	if (e->flags & NVTX_ENTRY_FROM)
		return 0;
	if (text || (e->type == NVTX_TYPE_CHAR && array == NVTX_ENTRY_ARRAY_FIXED)) {
		if (array && array != NVTX_ENTRY_ARRAY_FIXED)
			return 0;
		if (e->flags & NVTX_ENTRY_POINTER || !e->length) {
			f->kind = KIND_POINTER;
			*align = f->size = sizeof(void *);
			return f->size;
		}
		f->kind = KIND_EMBEDDED;
		*align = 1;
		/* What lies behind has no place that is known. */
		if (e->length >= 1u << 30)
			return 0;
		f->size = e->length < XSPROF_TEXT_MAX ? (uint32_t)e->length : XSPROF_TEXT_MAX;
		return e->length;
	}
	if (e->flags & NVTX_ENTRY_POINTER) {
		*align = sizeof(void *);
		return sizeof(void *);
	}
	if (array)
		return array == NVTX_ENTRY_ARRAY_FIXED && e->length < 1u << 30 ? size * e->length :
										 0;
	f->kind = en ? KIND_ENUM : KIND_VALUE;
	if (en)
		f->type = (uint32_t)(en - enums);
	f->size = en || (e->type < NVTX_TYPES && types[e->type].as) ? (uint32_t)size : 0;
	return size;
}

static void read_entries(struct schema *s, uint32_t domain, const struct nvtx_schema_attr *attr)
{
	uint64_t pack = attr->mask & NVTX_SCHEMA_HAS_ALIGN ? attr->align : 0, at = 0, size, align;
	bool known = true;	/* where the next entry is */
	struct field f;

	for (size_t i = 0; i < attr->nr_entries; i++) {
		const struct nvtx_schema_entry *e = &attr->entries[i];

		size = read_entry(&f, domain, e, &align);
		if (pack && align > pack)
			align = pack;
		if (e->offset || !i) {
			at = e->offset;
			known = true;
		} else if (align) {
			at = (at + align - 1) / align * align;
		}
		f.offset = at;
		if (known && f.size && s->nr_fields < FIELDS && at < 1u << 30)
			s->field[s->nr_fields++] = f;
		else
			s->nr_missed++;
		known = known && size;
		at += size;
	}
}

static uint64_t schema_register(const void *domain, const struct nvtx_schema_attr *attr)
{
	const uint64_t needed = NVTX_SCHEMA_HAS_ENTRIES | NVTX_SCHEMA_HAS_NR_ENTRIES;
	struct nvtx_domain d = nvtx_chain_domain(domain);
	struct schema *s = NULL;
	uint64_t id;

	if (!attr || (attr->mask & needed) != needed || !attr->entries) {
		nvtx_miss(NVTX_MISS_SCHEMA);
		return 0;
	}
	id = attr->mask & NVTX_SCHEMA_HAS_ID && attr->id ? attr->id : new_id();
	if (attr->mask & NVTX_SCHEMA_HAS_TYPE && attr->type != NVTX_SCHEMA_STATIC) {
		nvtx_miss(NVTX_MISS_SCHEMA);
		return id;
	}
	nvtx_lock();
	if (!find_schema(d.index, id))
		for (uint32_t i = 0; !s && i < SCHEMAS / 2; i++)
			if (!schemas[place(d.index, id, i, SCHEMAS)].id)
				s = &schemas[place(d.index, id, i, SCHEMAS)];
	if (s) {
		s->domain = d.index;
		read_entries(s, d.index, attr);
		__atomic_store_n(&s->id, id, __ATOMIC_RELEASE);
	}
	nvtx_unlock();
	/* One that is registered again is as it was. */
	if (!s && !find_schema(d.index, id))
		nvtx_miss(NVTX_MISS_SCHEMA);
	return id;
}

static uint64_t enum_register(const void *domain, const struct nvtx_enum_attr *attr)
{
	const uint64_t needed = NVTX_ENUM_HAS_ENTRIES | NVTX_ENUM_HAS_NR_ENTRIES;
	struct nvtx_domain d = nvtx_chain_domain(domain);
	struct enumeration *e = NULL;
	bool left_out = false;
	uint64_t id;

	if (!attr || (attr->mask & needed) != needed || !attr->entries) {
		nvtx_miss(NVTX_MISS_SCHEMA);
		return 0;
	}
	id = attr->mask & NVTX_ENUM_HAS_ID && attr->id ? attr->id : new_id();
	nvtx_lock();
	if (!find_enum(d.index, id))
		for (uint32_t i = 0; !e && i < ENUMS / 2; i++)
			if (!enums[place(d.index, id, i, ENUMS)].id)
				e = &enums[place(d.index, id, i, ENUMS)];
	if (e) {
		e->domain = d.index;
		e->size = attr->mask & NVTX_ENUM_HAS_SIZE && attr->size && attr->size <= 8 ?
			  (uint32_t)attr->size : sizeof(int);
		for (size_t i = 0; i < attr->nr_entries; i++) {
			if (!attr->entries[i].name)
				continue;
			if (e->nr_values == VALUES) {
				left_out = true;
				break;
			}
			e->value[e->nr_values].value = attr->entries[i].value;
			e->value[e->nr_values++].name = xsprof_name(attr->entries[i].name);
		}
		__atomic_store_n(&e->id, id, __ATOMIC_RELEASE);
	}
	nvtx_unlock();
	if (left_out || (!e && !find_enum(d.index, id)))
		nvtx_miss(NVTX_MISS_SCHEMA);
	return id;
}

/* ---- payloads -------------------------------------------------------------------------------- */

/* A value that has no name is a number. */
static void read_enum(struct xsprof_kv *kv, const struct field *f, const void *at)
{
	const struct enumeration *e = &enums[f->type];
	uint64_t v = read_unsigned(at, f->size);

	*kv = xsprof_u64(f->name, v);
	for (uint32_t i = 0; i < e->nr_values; i++)
		if (!((e->value[i].value ^ v) << (64 - 8 * f->size)))
			*kv = xsprof_namev(f->name, e->value[i].name);
}

static bool read_field(struct xsprof_kv *kv, const struct field *f, const void *at)
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
	default:
		memcpy(&text, at, sizeof(text));
		*kv = xsprof_str(f->name, text);
		return true;
	}
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

static void read_payload(struct nvtx_said *said, struct nvtx_domain domain,
			 const struct nvtx_payload *p)
{
	const struct schema *s = find_schema(domain.index, p->schema);
	const char *data = p->data;
	uint32_t missed = 0;

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
		const struct field *f = &s->field[i];

		if (said->n >= NVTX_ARGS || f->size > p->size || f->offset > p->size - f->size ||
		    !read_field(&said->kv[said->n], f, data + f->offset))
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
	if (n > PAYLOADS || (n && !payloads)) {
		nvtx_miss(NVTX_MISS_PAYLOAD);
		n = payloads ? PAYLOADS : 0;
	}
	for (size_t i = 0; i < n; i++)
		read_payload(said, domain, &payloads[i]);
}

const struct nvtx_ext_entry nvtx_schema_ext_entries[] = {
	NVTX_EXT_ENTRY(NVTX_EXT_SCHEMA_REGISTER, schema_register),
	NVTX_EXT_ENTRY(NVTX_EXT_ENUM_REGISTER, enum_register),
	{ 0, NULL }
};
