// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Counters. A record holds a counter's value, but ITT's increments do not, so the value is kept
 * here, by the counter's address, or by the name for counters without an object.
 */
#include <string.h>

#include "collect/itt/names.h"

/* v = name, enum itt_type, bits of the value. Entries are added under itt_lock(), never removed. */
static struct itt_map counters;

/* Keys other than addresses: a name, and name with type to find an existing counter. */
#define KEY_NAME(name)		(1ull << 62 | (name))
#define KEY_MADE(name, type)	(1ull << 63 | (uint64_t)(type) << 32 | (name))

static void emit(const struct itt_slot *s, uint64_t bits)
{
	xsprof_name_t name = (xsprof_name_t)s->v[0];
	double d;

	switch (s->v[1]) {
	case ITT_TYPE_FLOAT:
	case ITT_TYPE_DOUBLE:
		memcpy(&d, &bits, sizeof(d));
		xsprof_counter_f64(name, d);
		break;
	case ITT_TYPE_U64:
		if (bits > INT64_MAX) {
			xsprof_counter_f64(name, (double)bits);
			break;
		}
		/* fall through */
	default:
		xsprof_counter(name, (int64_t)bits);
	}
}

static void add(struct itt_slot *s, unsigned long long delta, int sign)
{
	uint64_t old, new;
	double d;

	if (s->v[1] != ITT_TYPE_FLOAT && s->v[1] != ITT_TYPE_DOUBLE) {
		delta = sign < 0 ? -delta : delta;
		emit(s, __atomic_add_fetch(&s->v[2], delta, __ATOMIC_RELAXED));
		return;
	}
	old = __atomic_load_n(&s->v[2], __ATOMIC_RELAXED);
	do {
		memcpy(&d, &old, sizeof(d));
		d += sign * (double)delta;
		memcpy(&new, &d, sizeof(d));
	} while (!__atomic_compare_exchange_n(&s->v[2], &old, new, false, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	emit(s, new);
}

static void set(struct itt_slot *s, const void *value)
{
	struct xsprof_kv kv;
	uint64_t bits;

	if (!value || !itt_values(&kv, 1, 0, (int)s->v[1], 1, value)) {
		itt_miss(ITT_MISS_METADATA);
		return;
	}
	memcpy(&bits, &kv.u, sizeof(bits));
	__atomic_store_n(&s->v[2], bits, __ATOMIC_RELAXED);
	emit(s, bits);
}

/* ---- making and finding ---------------------------------------------------------------------- */

static struct itt_slot *new_slot(uint64_t key, xsprof_name_t name, int type)
{
	const uint64_t v[3] = { name, (uint64_t)type, 0 };

	return itt_map_put(&counters, key, v);
}

static int type_or_u64(int type)
{
	return type > ITT_TYPE_UNKNOWN && type <= ITT_TYPE_DOUBLE ? type : ITT_TYPE_U64;
}

void itt_adopt_counter(struct itt_counter *counter)
{
	xsprof_name_t name = itt_intern_domain(counter->domain, counter->name);
	struct itt_slot *s;

	itt_lock();
	s = itt_map_find(&counters, (uintptr_t)counter);
	if (!s)
		s = new_slot((uintptr_t)counter, name, type_or_u64(counter->type));
	itt_unlock();
	if (!s)
		itt_miss(ITT_MISS_COUNTER_FULL);
}

static struct itt_counter *find_or_make(xsprof_name_t name, const char *text, const char *domain,
					int type)
{
	struct itt_slot *s = itt_map_find(&counters, KEY_MADE(name, type));
	struct itt_counter *c;
	uint64_t v[3] = { 0 };

	if (s)
		return (struct itt_counter *)(uintptr_t)s->v[0];
	c = itt_alloc(sizeof(*c));
	if (!c)
		return NULL;
	c->name = itt_strdup(text);
	c->domain = domain ? itt_strdup(domain) : NULL;
	c->type = type;
	v[0] = (uintptr_t)c;
	if (!new_slot((uintptr_t)c, name, type) || !itt_map_put(&counters, KEY_MADE(name, type), v))
		return NULL;
	return c;
}

static struct itt_counter *counter_create_typed(const char *name, const char *domain, int type)
{
	struct itt_counter *c;
	xsprof_name_t id;

	if (!name)
		return NULL;
	id = itt_intern_domain(domain, name);
	itt_lock();
	c = find_or_make(id, name, domain, type_or_u64(type));
	itt_unlock();
	if (!c)
		itt_miss(ITT_MISS_COUNTER_FULL);
	return c;
}
ITT_EXPORT(counter_create_typed, counter_create_typed);
ITT_EXPORT(counter_create_typedA, counter_create_typed);

static struct itt_counter *counter_create(const char *name, const char *domain)
{
	return counter_create_typed(name, domain, ITT_TYPE_U64);
}
ITT_EXPORT(counter_create, counter_create);
ITT_EXPORT(counter_createA, counter_create);

static struct itt_counter *counter_create_v3(const struct itt_domain *domain, const char *name,
					     int type)
{
	return counter_create_typed(name, domain ? domain->name : NULL, type);
}
ITT_EXPORT(counter_create_v3, counter_create_v3);
ITT_EXPORT(counter_createA_v3, counter_create_v3);

static struct itt_slot *find(const struct itt_counter *counter)
{
	struct itt_slot *s = counter ? itt_map_find(&counters, (uintptr_t)counter) : NULL;

	if (!s)
		itt_miss(ITT_MISS_COUNTER);
	return s;
}

static struct itt_slot *find_named(const struct itt_domain *domain, struct itt_string *string)
{
	xsprof_name_t name = itt_string_name(itt_domain_name(domain), string);
	struct itt_slot *s = itt_map_find(&counters, KEY_NAME(name));

	if (s)
		return s;
	itt_lock();
	s = itt_map_find(&counters, KEY_NAME(name));
	if (!s)
		s = new_slot(KEY_NAME(name), name, ITT_TYPE_S64);
	itt_unlock();
	if (!s)
		itt_miss(ITT_MISS_COUNTER_FULL);
	return s;
}

/* ---- the calls ------------------------------------------------------------------------------- */

#define BY_HANDLE(api, delta_arg, delta, sign) \
	static void api(const struct itt_counter *counter delta_arg) \
	{ \
		struct itt_slot *s = find(counter); \
	\
		if (s) \
			add(s, delta, sign); \
	} \
	ITT_EXPORT(api, api)
#define BY_NAME(api, delta_arg, delta, sign) \
	static void api(const struct itt_domain *domain, struct itt_string *name delta_arg) \
	{ \
		struct itt_slot *s = find_named(domain, name); \
	\
		if (s) \
			add(s, delta, sign); \
	} \
	ITT_EXPORT(api, api)
#define NO_DELTA
#define DELTA	, unsigned long long delta

BY_HANDLE(counter_inc, NO_DELTA, 1, 1);
BY_HANDLE(counter_dec, NO_DELTA, 1, -1);
BY_HANDLE(counter_inc_delta, DELTA, delta, 1);
BY_HANDLE(counter_dec_delta, DELTA, delta, -1);
BY_NAME(counter_inc_v3, NO_DELTA, 1, 1);
BY_NAME(counter_dec_v3, NO_DELTA, 1, -1);
BY_NAME(counter_inc_delta_v3, DELTA, delta, 1);
BY_NAME(counter_dec_delta_v3, DELTA, delta, -1);

static void counter_set_value(const struct itt_counter *counter, const void *value)
{
	struct itt_slot *s = find(counter);

	if (s)
		set(s, value);
}
ITT_EXPORT(counter_set_value, counter_set_value);
ITT_EXPORT(counter_set_value_v3, counter_set_value);

static void counter_set_value_ex(const struct itt_counter *counter, const struct itt_clock *clock,
				 unsigned long long timestamp, const void *value)
{
	(void)clock;
	if (timestamp && timestamp != ITT_TIMESTAMP_NONE)
		itt_miss(ITT_MISS_TIMESTAMP);
	counter_set_value(counter, value);
}
ITT_EXPORT(counter_set_value_ex, counter_set_value_ex);

/* A counter is never freed; the program promises not to use it again. */
static void counter_destroy(const struct itt_counter *counter)
{
	(void)counter;
}
ITT_EXPORT(counter_destroy, counter_destroy);

/* ---- what a counter means: an instant that tells it ------------------------------------------ */

static const char *const context_texts[ITT_CONTEXT_LAST + 1] = {
	[ITT_CONTEXT_NAME] = "name", [ITT_CONTEXT_DEVICE] = "device",
	[ITT_CONTEXT_UNITS] = "units", [ITT_CONTEXT_PCI] = "pci address",
	[ITT_CONTEXT_TID] = "thread", [ITT_CONTEXT_MAX] = "maximum", [11] = "bandwidth",
	[12] = "latency", [13] = "occupancy", [14] = "on thread", [15] = "absolute",
	[16] = "instructions", [17] = "cycles",
};

static void bind_context_metadata_to_counter(const struct itt_counter *counter, size_t length,
					     const struct itt_context *list)
{
	struct itt_slot *s = find(counter);
	struct xsprof_kv kv[1 + ITT_CONTEXT_LAST];
	size_t n = 0;

	if (!s || !list || !xsprof_wants((xsprof_name_t)s->v[0]))
		return;
	kv[n++] = xsprof_namev(XSPROF_NAME("counter"), (xsprof_name_t)s->v[0]);
	for (size_t i = 0; i < length; i++) {
		int type = list[i].type;
		xsprof_name_t key;

		if (n == ARRAY_SIZE(kv) || !list[i].value || type < 0 || type > ITT_CONTEXT_LAST ||
		    !context_texts[type]) {
			itt_miss(ITT_MISS_METADATA);
			continue;
		}
		key = xsprof_name(context_texts[type]);
		if (type < ITT_CONTEXT_TID) {
			kv[n++] = xsprof_str(key, list[i].value);
		} else {
			uint64_t v;

			memcpy(&v, list[i].value, sizeof(v));
			kv[n++] = xsprof_u64(key, v);
		}
	}
	itt_note(itt_intern(ITT_CAT_ITT, "counter metadata"), kv, n);
}
ITT_EXPORT(bind_context_metadata_to_counter, bind_context_metadata_to_counter);

const struct itt_entry itt_counter_entries[] = {
	ITT_ENTRY(counter_create, counter_create),
	ITT_ENTRY(counter_createA, counter_create),
	ITT_ENTRY(counter_create_typed, counter_create_typed),
	ITT_ENTRY(counter_create_typedA, counter_create_typed),
	ITT_ENTRY(counter_create_v3, counter_create_v3),
	ITT_ENTRY(counter_createA_v3, counter_create_v3),
	ITT_ENTRY(counter_inc, counter_inc),
	ITT_ENTRY(counter_dec, counter_dec),
	ITT_ENTRY(counter_inc_delta, counter_inc_delta),
	ITT_ENTRY(counter_dec_delta, counter_dec_delta),
	ITT_ENTRY(counter_inc_v3, counter_inc_v3),
	ITT_ENTRY(counter_dec_v3, counter_dec_v3),
	ITT_ENTRY(counter_inc_delta_v3, counter_inc_delta_v3),
	ITT_ENTRY(counter_dec_delta_v3, counter_dec_delta_v3),
	ITT_ENTRY(counter_set_value, counter_set_value),
	ITT_ENTRY(counter_set_value_v3, counter_set_value),
	ITT_ENTRY(counter_set_value_ex, counter_set_value_ex),
	ITT_ENTRY(counter_destroy, counter_destroy),
	ITT_ENTRY(bind_context_metadata_to_counter, bind_context_metadata_to_counter),
	{ NULL, NULL }
};
