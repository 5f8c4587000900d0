// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Registers payload schemas and enumerations: the layout of payloads.
 *
 * A schema keeps the fields that can become arguments: numbers, arrays of numbers, texts, values
 * of enumerations, and such fields of nested schemas.  After a field whose length is only known
 * from the payload it keeps all fields, as their offsets depend on each other.  Each payload with
 * fields that cannot become arguments is counted (NVTX_MISS_FIELDS).  Schemas and enumerations are
 * never changed or removed after registration, so payloads are decoded without a lock.
 */
#include "gpu/nvtx/schema.h"

#define SCHEMAS		512u	/* powers of two */
#define ENUMS		128u

static struct nvtx_schema schemas[SCHEMAS];
static struct nvtx_enumeration enums[ENUMS];

/* ---- lookup ---------------------------------------------------------------------------------- */

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

bool nvtx_field_is_length(const struct nvtx_field *f)
{
	return (f->kind == KIND_VALUE || (f->kind == KIND_ARRAY && f->length == LENGTH_FIXED &&
					  !f->pointer)) && nvtx_type_is_whole(f->type);
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

/* Size of an entry whose length is only known from the payload. */
#define VARIABLE	UINT64_MAX

/* Return: the index of the integer field made from @entry, NO_ENTRY: none can hold a length. */
static uint32_t length_field(const struct nvtx_schema *s, uint64_t entry)
{
	for (uint32_t i = 0; i < s->nr_fields; i++) {
		const struct nvtx_field *f = &s->field[i];

		if (f->entry == entry && nvtx_field_is_length(f))
			return i;
	}
	return NO_ENTRY;
}

/* Sets where the number of elements comes from.  Return: false if it cannot be determined. */
static bool read_length(struct nvtx_field *f, const struct nvtx_schema *s,
			const struct nvtx_schema_entry *e)
{
	f->from = e->length < NO_ENTRY ? (uint32_t)e->length : NO_ENTRY;
	switch (e->flags & NVTX_ENTRY_ARRAY) {
	case 0:
	case NVTX_ENTRY_ARRAY_FIXED:
		f->length = LENGTH_FIXED;
		f->count = f->from;
		return e->length < 1u << 30;
	case NVTX_ENTRY_ARRAY_ZERO:
		f->length = LENGTH_ZERO;
		return true;
	case NVTX_ENTRY_ARRAY_FIELD:
		f->length = LENGTH_FIELD;
		f->from = length_field(s, e->length);
		return f->from != NO_ENTRY;
	case NVTX_ENTRY_ARRAY_PAYLOAD:
		f->length = LENGTH_PAYLOAD;
		return f->from != NO_ENTRY;
	default:
		return false;
	}
}

/*
 * Reads the length of a text or an array; @f->kind is set.  Return: bytes in the payload; VARIABLE;
 * 0: unknown.
 */
static uint64_t read_elements(struct nvtx_field *f, const struct nvtx_schema *s,
			      const struct nvtx_schema_entry *e, uint64_t size, uint64_t *align)
{
	bool known = read_length(f, s, e);

	f->pointer = !!(e->flags & NVTX_ENTRY_POINTER);
	if (f->pointer) {
		*align = sizeof(void *);
		f->size = known ? sizeof(void *) : 0;
		return sizeof(void *);
	}
	if (!known)
		return 0;
	if (f->length != LENGTH_FIXED)
		return VARIABLE;
	/* 0: too long for an argument; of a text read_text() then keeps the beginning. */
	f->size = f->count <= XSPROF_TEXT_MAX ? (uint32_t)size * f->count : 0;
	return size * f->count;
}

static uint64_t read_text(struct nvtx_field *f, const struct nvtx_schema *s,
			  const struct nvtx_schema_entry *e, uint64_t *align)
{
	uint64_t array = e->flags & NVTX_ENTRY_ARRAY, size;
	bool zero = array == NVTX_ENTRY_ARRAY_ZERO;
	/* CSTRING and UTF8 are texts already: NVTX_ENTRY_ARRAY_FIXED only adds the length. */
	bool bare = e->type != NVTX_TYPE_CHAR && (!array || array == NVTX_ENTRY_ARRAY_FIXED);

	if (zero ? e->flags & NVTX_ENTRY_POINTER : bare && !e->length) {
		f->kind = KIND_POINTER;
		*align = f->size = sizeof(void *);
		return f->size;
	}
	f->kind = KIND_EMBEDDED;
	*align = 1;
	size = read_elements(f, s, e, 1, align);
	/* A text longer than an argument is cut. */
	if (f->length == LENGTH_FIXED && !f->pointer && size)
		f->size = size < XSPROF_TEXT_MAX ? (uint32_t)size : XSPROF_TEXT_MAX;
	if (!f->size && size != VARIABLE)
		f->kind = KIND_SKIP;
	return size;
}

/*
 * Fills @f except its name and offset.  KIND_SKIP: the entry cannot become an argument.
 * Return: the size of the entry in bytes; VARIABLE; 0: unknown.
 */
static uint64_t read_entry(struct nvtx_field *f, const struct nvtx_schema *s, uint32_t domain,
			   const struct nvtx_schema_entry *e, uint64_t *align)
{
	const struct nvtx_enumeration *en = find_enum(domain, e->type);
	uint64_t size = en ? en->size : nvtx_type_size(e->type);
	uint64_t array = e->flags & NVTX_ENTRY_ARRAY;

	*f = (struct nvtx_field){
		.is_message = !!(e->flags & NVTX_ENTRY_MESSAGE), .type = (uint32_t)e->type,
		.kind = KIND_SKIP,
	};
	*align = size;
	if (e->flags & NVTX_ENTRY_FROM)
		return 0;
	if (e->type == NVTX_TYPE_CSTRING || e->type == NVTX_TYPE_UTF8 ||
	    (e->type == NVTX_TYPE_CHAR && array))
		return read_text(f, s, e, align);
	if (array) {
		size = read_elements(f, s, e, size, align);
		if (!en && nvtx_type_is_number(e->type) && (f->size || size == VARIABLE) &&
		    (f->length != LENGTH_FIXED || f->count <= NVTX_LIST))
			f->kind = KIND_ARRAY;
		return en || nvtx_type_size(e->type) || f->pointer ? size : 0;
	}
	if (e->flags & NVTX_ENTRY_POINTER) {
		*align = sizeof(void *);
		return sizeof(void *);
	}
	f->size = (uint32_t)size;
	if (en) {
		f->kind = KIND_ENUM;
		f->type = (uint32_t)(en - enums);
	} else if (nvtx_type_is_read(e->type)) {
		f->kind = KIND_VALUE;
	}
	return size;
}

/* Return: the index of the new field; NO_ENTRY if it found no room and was counted as missed. */
static uint32_t add_field(struct nvtx_schema *s, const struct nvtx_field *f)
{
	s->nr_missed += f->kind == KIND_SKIP;
	if (s->nr_fields < FIELDS && f->offset < 1u << 30 && f->text) {
		s->field[s->nr_fields] = *f;
		return s->nr_fields++;
	}
	s->nr_missed += f->kind != KIND_SKIP;
	return NO_ENTRY;
}

/* Names are never freed: a field that the table has no room for gets none. */
static void name_field(const struct nvtx_schema *s, struct nvtx_field *f, const char *outer,
		       const char *text)
{
	f->text = s->nr_fields < FIELDS ? nvtx_text_join(outer, text) : NULL;
	f->name = f->text ? xsprof_name(f->text) : 0;
}

/* Copies the fields of the schema @inner, nested at offset @at of @s, as "outer.inner". */
static void add_schema(struct nvtx_schema *s, const struct nvtx_schema *inner, const char *name,
		       uint64_t at)
{
	uint32_t numbers[FIELDS], i;
	struct nvtx_field f;

	for (i = 0; i < inner->nr_fields; i++) {
		f = inner->field[i];
		name_field(s, &f, name ? name : "", f.text);
		f.offset += at;
		f.entry = NO_ENTRY;
		if (f.length == LENGTH_FIELD)
			f.from = numbers[f.from];
		/* The field that its length or offset depends on was left out: leave it out too. */
		if ((f.length == LENGTH_FIELD && f.from == NO_ENTRY) ||
		    (f.follows && numbers[i - 1] == NO_ENTRY)) {
			s->nr_missed++;
			numbers[i] = NO_ENTRY;
		} else {
			numbers[i] = add_field(s, &f);
		}
	}
	/* KIND_SKIP fields of @inner were counted by add_field() and are in @inner->nr_missed. */
	s->nr_missed += inner->nr_missed;
	for (i = 0; i < inner->nr_fields; i++)
		s->nr_missed -= inner->field[i].kind == KIND_SKIP;
}

/* The nested schema of an entry; NULL for pointers to schemas and for arrays of them. */
static const struct nvtx_schema *inner_schema(uint32_t domain, const struct nvtx_schema_entry *e)
{
	if (e->flags & (NVTX_ENTRY_POINTER | NVTX_ENTRY_FROM | NVTX_ENTRY_ARRAY))
		return NULL;
	return nvtx_schema_find(domain, e->type);
}

/* Where the next entry starts: at a known offset, after a variable one, or unknown. */
enum where { AT_OFFSET, BEHIND, NOWHERE };

static void read_entries(struct nvtx_schema *s, uint32_t domain,
			 const struct nvtx_schema_attr *attr)
{
	uint64_t pack = attr->mask & NVTX_SCHEMA_HAS_ALIGN ? attr->align : 0, at = 0, size, align;
	enum where where = AT_OFFSET;
	struct nvtx_field f;

	s->align = 1;
	for (size_t i = 0; i < attr->nr_entries; i++) {
		const struct nvtx_schema_entry *e = &attr->entries[i];
		const struct nvtx_schema *inner = inner_schema(domain, e);
		uint32_t added = NO_ENTRY;

		size = read_entry(&f, s, domain, e, &align);
		if (inner) {
			size = inner->size;
			align = inner->align;
		}
		if (pack && align > pack)
			align = pack;
		if (e->offset || !i) {
			at = e->offset;
			where = AT_OFFSET;
		} else if (align) {
			at = (at + align - 1) / align * align;
		}
		f.offset = where == AT_OFFSET ? at : 0;
		f.follows = where == BEHIND;
		f.align = align ? (uint32_t)align : 1;
		f.entry = (uint32_t)i;
		/* Nested schemas need a known offset: none after a variable entry. */
		if (inner && where == BEHIND)
			where = NOWHERE;
		if (where == NOWHERE || (!inner && f.kind == KIND_SKIP && !f.follows)) {
			s->nr_missed++;
		} else if (inner) {
			add_schema(s, inner, e->name, at);
		} else {
			if (f.kind == KIND_SKIP) {
				f.size = size < 1u << 30 ? (uint32_t)size : 0;
				f.length = LENGTH_FIXED;
			}
			name_field(s, &f, "", e->name ? e->name : "payload");
			added = add_field(s, &f);
		}
		/* A field that was left out hides the offset of the next one. */
		if (where != NOWHERE && size == VARIABLE)
			where = f.kind == KIND_SKIP || added == NO_ENTRY ? NOWHERE : BEHIND;
		else if (!size || (where == BEHIND && added == NO_ENTRY))
			where = NOWHERE;
		else
			at += size;
		if (align > s->align)
			s->align = align;
	}
	/* 0: unknown. */
	s->size = attr->mask & NVTX_SCHEMA_HAS_SIZE ? attr->size :
		  where == AT_OFFSET ? (at + s->align - 1) / s->align * s->align : 0;
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
	if (attr->mask & NVTX_SCHEMA_HAS_TYPE && attr->type != NVTX_SCHEMA_STATIC &&
	    attr->type != NVTX_SCHEMA_DYNAMIC) {
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
	/* Registering a known id again changes nothing and is no miss. */
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
