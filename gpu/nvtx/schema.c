// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Schemas: what is where in a payload.
 *
 * A schema is kept as the fields that can be arguments: numbers and arrays of them, texts, values
 * of enumerations, and those of schemas inside of it.  Others are counted with each payload that
 * has them.  What is registered is never changed or forgotten, so that payloads are read without a
 * lock.
 */
#include "gpu/nvtx/schema.h"

#define SCHEMAS		512u	/* powers of two */
#define ENUMS		128u

static struct nvtx_schema schemas[SCHEMAS];
static struct nvtx_enumeration enums[ENUMS];

/* ---- what is registered ---------------------------------------------------------------------- */

static uint32_t place(uint32_t domain, uint64_t id, uint32_t probe, uint32_t n)
{
	uint64_t key = (id ^ (uint64_t)domain << 40) * 0x9e3779b97f4a7c15ull;

	return ((uint32_t)(key >> 40) + probe) % n;
}

const struct nvtx_schema *nvtx_schema_find(uint32_t domain, uint64_t id)
{
	for (uint32_t i = 0; id && i < SCHEMAS; i++) {
		const struct nvtx_schema *s = &schemas[place(domain, id, i, SCHEMAS)];
		uint64_t got = __atomic_load_n(&s->id, __ATOMIC_ACQUIRE);

		if (!got)
			break;
		if (got == id && s->domain == domain)
			return s;
	}
	return NULL;
}

static struct nvtx_enumeration *find_enum(uint32_t domain, uint64_t id)
{
	for (uint32_t i = 0; id && i < ENUMS; i++) {
		struct nvtx_enumeration *e = &enums[place(domain, id, i, ENUMS)];
		uint64_t got = __atomic_load_n(&e->id, __ATOMIC_ACQUIRE);

		if (!got)
			break;
		if (got == id && e->domain == domain)
			return e;
	}
	return NULL;
}

const struct nvtx_enumeration *nvtx_enumeration_at(uint32_t place)
{
	return &enums[place];
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
static uint64_t read_entry(struct nvtx_field *f, uint32_t domain, const struct nvtx_schema_entry *e,
			   uint64_t *align)
{
	const struct nvtx_enumeration *en = find_enum(domain, e->type);
	uint64_t size = en ? en->size : nvtx_type_size(e->type);
	uint64_t array = e->flags & NVTX_ENTRY_ARRAY;
	bool text = e->type == NVTX_TYPE_CSTRING || e->type == NVTX_TYPE_UTF8;

	*f = (struct nvtx_field){ .name = xsprof_name(e->name ? e->name : "payload"),
			     .is_message = !!(e->flags & NVTX_ENTRY_MESSAGE),
			     .type = (uint32_t)e->type };
	strncpy(f->text, e->name ? e->name : "payload", sizeof(f->text) - 1);
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
	if (array && (array != NVTX_ENTRY_ARRAY_FIXED || e->length >= 1u << 30))
		return 0;
	if (array) {
		f->kind = KIND_ARRAY;
		if (!en && nvtx_type_is_number(e->type) && e->length <= NVTX_LIST)
			f->size = (uint32_t)(size * e->length);
		return size * e->length;
	}
	f->kind = en ? KIND_ENUM : KIND_VALUE;
	if (en)
		f->type = (uint32_t)(en - enums);
	f->size = en || nvtx_type_is_read(e->type) ? (uint32_t)size : 0;
	return size;
}

static void add_field(struct nvtx_schema *s, const struct nvtx_field *f)
{
	if (s->nr_fields < FIELDS && f->offset < 1u << 30)
		s->field[s->nr_fields++] = *f;
	else
		s->nr_missed++;
}

/* The fields of @inner, which is at @at of @s: they are called "outer.inner". */
static void add_schema(struct nvtx_schema *s, const struct nvtx_schema *inner, const char *name,
		       uint64_t at)
{
	char text[2 * FIELD_TEXT];
	size_t len = name ? strnlen(name, FIELD_TEXT - 1) : 0;
	struct nvtx_field f;

	memcpy(text, name ? name : "", len);
	if (len)
		text[len++] = '.';
	for (uint32_t i = 0; i < inner->nr_fields; i++) {
		f = inner->field[i];
		strcpy(text + len, f.text);
		text[FIELD_TEXT - 1] = 0;
		f.name = xsprof_name(text);
		memcpy(f.text, text, FIELD_TEXT);
		f.offset += at;
		add_field(s, &f);
	}
	s->nr_missed += inner->nr_missed;
}

/* A schema inside of another, which is neither pointed to nor an array. */
static const struct nvtx_schema *inner_schema(uint32_t domain, const struct nvtx_schema_entry *e)
{
	if (e->flags & (NVTX_ENTRY_POINTER | NVTX_ENTRY_FROM | NVTX_ENTRY_ARRAY))
		return NULL;
	return nvtx_schema_find(domain, e->type);
}

static void read_entries(struct nvtx_schema *s, uint32_t domain,
			 const struct nvtx_schema_attr *attr)
{
	uint64_t pack = attr->mask & NVTX_SCHEMA_HAS_ALIGN ? attr->align : 0, at = 0, size, align;
	bool known = true;	/* where the next entry is */
	struct nvtx_field f;

	s->align = 1;
	for (size_t i = 0; i < attr->nr_entries; i++) {
		const struct nvtx_schema_entry *e = &attr->entries[i];
		const struct nvtx_schema *inner = inner_schema(domain, e);

		size = read_entry(&f, domain, e, &align);
		if (inner) {
			size = inner->size;
			align = inner->align;
		}
		if (pack && align > pack)
			align = pack;
		if (e->offset || !i) {
			at = e->offset;
			known = true;
		} else if (align) {
			at = (at + align - 1) / align * align;
		}
		f.offset = at;
		if (known && inner)
			add_schema(s, inner, e->name, at);
		else if (known && f.size)
			add_field(s, &f);
		else
			s->nr_missed++;
		known = known && size;
		at += size;
		if (align > s->align)
			s->align = align;
	}
	/* 0: not known. */
	s->size = attr->mask & NVTX_SCHEMA_HAS_SIZE ? attr->size :
		  known ? (at + s->align - 1) / s->align * s->align : 0;
}

static uint64_t schema_register(const void *domain, const struct nvtx_schema_attr *attr)
{
	const uint64_t needed = NVTX_SCHEMA_HAS_ENTRIES | NVTX_SCHEMA_HAS_NR_ENTRIES;
	struct nvtx_domain d = nvtx_chain_domain(domain);
	struct nvtx_schema *s = NULL;
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
	if (!nvtx_schema_find(d.index, id))
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
	if (!s && !nvtx_schema_find(d.index, id))
		nvtx_miss(NVTX_MISS_SCHEMA);
	return id;
}

static uint64_t enum_register(const void *domain, const struct nvtx_enum_attr *attr)
{
	const uint64_t needed = NVTX_ENUM_HAS_ENTRIES | NVTX_ENUM_HAS_NR_ENTRIES;
	struct nvtx_domain d = nvtx_chain_domain(domain);
	struct nvtx_enumeration *e = NULL;
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

const struct nvtx_ext_entry nvtx_schema_ext_entries[] = {
	NVTX_EXT_ENTRY(NVTX_EXT_SCHEMA_REGISTER, schema_register),
	NVTX_EXT_ENTRY(NVTX_EXT_ENUM_REGISTER, enum_register),
	{ 0, NULL }
};
