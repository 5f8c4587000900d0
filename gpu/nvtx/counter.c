// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Counters.  An id made by the collector encodes the name and the type of the values; for an id
 * chosen by the program a table keeps both.
 */
#define XSPROF_INLINE
#include "gpu/nvtx/extension.h"

#define COUNTERS	1024u	/* with ids chosen by the program; a power of two */

/* The key is stored last, with release. */
static struct {
	uint64_t	key;
	uint64_t	id;	/* the id that the collector would have made */
} counters[COUNTERS];

#define GROUPS		64u
#define MEMBERS		24u
#define TYPE_GROUP	0xffff00u	/* plus the group's index: beyond all scalar types */

/*
 * A counter with several values: its name and the names of its members.  @nr is stored last.
 * Counters of one name, in different scopes, may have different schemas.
 */
static struct group {
	xsprof_name_t			name;
	uint32_t			nr;
	const struct nvtx_schema	*schema;
	xsprof_name_t			member[MEMBERS];
} groups[GROUPS];

static uint32_t place(uint64_t key, uint32_t probe)
{
	return ((uint32_t)(key * 0x9e3779b97f4a7c15ull >> 40) + probe) % COUNTERS;
}

static uint64_t key_of(uint32_t domain, uint64_t id)
{
	return ((uint64_t)domain << 32 | (uint32_t)id) + 1;
}

static uint64_t our_id(xsprof_name_t name, uint64_t type)
{
	return NVTX_TAG_COUNTER << 56 | type << 32 | name;
}

static bool keep(uint64_t key, uint64_t id)
{
	bool kept = false;

	nvtx_lock();
	for (uint32_t i = 0; !kept && i < COUNTERS / 2; i++) {
		uint32_t at = place(key, i);

		if (counters[at].key && counters[at].key != key)
			continue;
		__atomic_store_n(&counters[at].id, id, __ATOMIC_RELAXED);
		__atomic_store_n(&counters[at].key, key, __ATOMIC_RELEASE);
		kept = true;
	}
	nvtx_unlock();
	return kept;
}

/* Return: the id that the collector would have made, or 0. */
static uint64_t find(uint32_t domain, uint64_t id)
{
	uint64_t want = key_of(domain, id), key;

	if (likely(id >> 56 == NVTX_TAG_COUNTER))
		return id;
	if (id >= NVTX_DYNAMIC_ID)
		return 0;
	for (uint32_t i = 0; i < COUNTERS / 2; i++) {
		key = __atomic_load_n(&counters[place(want, i)].key, __ATOMIC_ACQUIRE);
		if (key == want)
			return __atomic_load_n(&counters[place(want, i)].id, __ATOMIC_RELAXED);
		if (!key)
			break;
	}
	return 0;
}

/* Are samples differences to the previous sample? */
static bool is_delta(const struct nvtx_counter_attr *attr)
{
	const struct nvtx_semantics *s = attr->semantics;

	for (int i = 0; s && i < 16; i++, s = s->next)
		if (s->id == NVTX_SEMANTICS_COUNTER &&
		    s->size >= sizeof(struct nvtx_counter_semantics))
			return (((const struct nvtx_counter_semantics *)s)->flags &
				NVTX_COUNTER_VALUE_TYPE) == NVTX_COUNTER_DELTA;
	return false;
}

/* Names the members "counter.field".  Called under nvtx_lock(). */
static void name_members(struct group *g, struct nvtx_domain d, const char *text,
			 const struct nvtx_schema *schema, uint32_t n)
{
	char member[XSPROF_TEXT_MAX / 2];
	size_t len = strlen(text);

	memcpy(member, text, len);
	member[len] = '.';
	for (uint32_t k = 0; k < n; k++) {
		strncpy(member + len + 1, nvtx_schema_field(schema, k), sizeof(member) - len - 2);
		member[sizeof(member) - 1] = 0;
		g->member[k] = xsprof_name_in((int)d.category, member);
	}
}

/* Return: the type for the id of a counter with this schema; 0: there is no room for it. */
static uint64_t group_type(struct nvtx_domain d, xsprof_name_t name, const char *text,
			   const struct nvtx_schema *schema)
{
	uint32_t n = nvtx_schema_fields(schema), i = 0;
	struct group *g;

	/* Without a name it would be taken for another one without a name. */
	if (!n || n > MEMBERS || !name)
		return 0;
	nvtx_lock();
	while (i < GROUPS && groups[i].nr &&
	       (groups[i].name != name || groups[i].schema != schema))
		i++;
	g = &groups[i];
	if (i < GROUPS && !g->nr) {
		name_members(g, d, text, schema, n);
		g->name = name;
		g->schema = schema;
		__atomic_store_n(&g->nr, n, __ATOMIC_RELEASE);
	}
	nvtx_unlock();
	return i < GROUPS ? TYPE_GROUP + i : 0;
}

static uint64_t counter_register(const void *domain, const struct nvtx_counter_attr *attr)
{
	struct nvtx_domain d = nvtx_chain_domain(domain);
	const struct nvtx_schema *schema;
	char text[XSPROF_TEXT_MAX / 4];
	xsprof_name_t name;
	uint64_t id, type;

	if (!attr || attr->size < sizeof(*attr)) {
		nvtx_miss(NVTX_MISS_SIZE);
		return 0;
	}
	strncpy(text, attr->name ? attr->name : NVTX_NO_NAME, sizeof(text) - 16);
	text[sizeof(text) - 16] = 0;
	if (is_delta(attr))
		strcat(text, " (added)");
	name = xsprof_name_in((int)d.category, text);
	type = nvtx_type_size(attr->schema) ? attr->schema : 0;
	schema = type ? NULL : nvtx_schema_find(d.index, attr->schema);
	if (schema)
		type = group_type(d, name, text, schema);
	id = our_id(name, type);
	if (!attr->id)
		return id;
	if (attr->id >= NVTX_DYNAMIC_ID || !keep(key_of(d.index, attr->id), id))
		nvtx_miss(NVTX_MISS_COUNTER);
	return attr->id;
}

static void sample_i64(const void *domain, uint64_t counter, int64_t value)
{
	uint64_t id = find(nvtx_chain_domain(domain).index, counter);

	if (likely(id))
		xsprof_counter((xsprof_name_t)id, value);
	else
		nvtx_miss(NVTX_MISS_COUNTER);
}

static void sample_f64(const void *domain, uint64_t counter, double value)
{
	uint64_t id = find(nvtx_chain_domain(domain).index, counter);

	if (likely(id))
		xsprof_counter_f64((xsprof_name_t)id, value);
	else
		nvtx_miss(NVTX_MISS_COUNTER);
}

static void put_number(xsprof_name_t name, const struct xsprof_kv *kv)
{
	if (kv->type == XSPROF_ARG_F64)
		xsprof_counter_f64(name, kv->u.f64);
	else if (kv->type == XSPROF_ARG_I64 || kv->u.u64 <= INT64_MAX)
		xsprof_counter(name, kv->u.i64);
	else
		xsprof_counter_f64(name, (double)kv->u.u64);
}

/* Records each number of the group as a counter. */
static void sample_group(const struct group *g, const void *value, size_t size)
{
	/* Acquire: with the release in group_type(); the id may come from another thread. */
	uint32_t n = __atomic_load_n(&g->nr, __ATOMIC_ACQUIRE);
	struct xsprof_kv kv;

	if (!n || !value) {
		nvtx_miss(NVTX_MISS_SAMPLES);
		return;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (g->member[i] && nvtx_schema_number(g->schema, i, value, size, &kv))
			put_number(g->member[i], &kv);
		else
			nvtx_miss(NVTX_MISS_SAMPLES);
	}
}

/* Records a sample: one number of the counter's type, or a group of numbers. */
static void sample(const void *domain, uint64_t counter, const void *value, size_t size)
{
	uint64_t id = find(nvtx_chain_domain(domain).index, counter), type = id >> 32 & 0xffffff;
	struct xsprof_kv kv;

	if (type >= TYPE_GROUP && type < TYPE_GROUP + GROUPS) {
		sample_group(&groups[type - TYPE_GROUP], value, size);
		return;
	}
	if (!id || !type || !value || size < nvtx_type_size(type) ||
	    !nvtx_type_read(&kv, 0, type, value)) {
		nvtx_miss(id ? NVTX_MISS_SAMPLES : NVTX_MISS_COUNTER);
		return;
	}
	put_number((xsprof_name_t)id, &kv);
}

/* A sample without a value. @why: 0 the value is 0, 1 it is unchanged, else it is unavailable. */
static void sample_none(const void *domain, uint64_t counter, uint8_t why)
{
	if (!why)
		sample_i64(domain, counter, 0);
	else if (why != 1)
		nvtx_miss(NVTX_MISS_SAMPLES);
}

/* Batches have timestamps of their own, which are not read: counted only. */
static void batch(void)
{
	nvtx_miss(NVTX_MISS_SAMPLES);
}

const struct nvtx_ext_entry nvtx_counter_ext_entries[] = {
	NVTX_EXT_ENTRY(NVTX_EXT_COUNTER_REGISTER, counter_register),
	NVTX_EXT_ENTRY(NVTX_EXT_SAMPLE_I64, sample_i64),
	NVTX_EXT_ENTRY(NVTX_EXT_SAMPLE_F64, sample_f64),
	NVTX_EXT_ENTRY(NVTX_EXT_SAMPLE, sample),
	NVTX_EXT_ENTRY(NVTX_EXT_SAMPLE_NONE, sample_none),
	NVTX_EXT_ENTRY(NVTX_EXT_BATCH, batch),
	{ 0, NULL }
};
