// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program with NVTX extensions, compiled with NVIDIA's headers: payloads with fields of many
 * types, in attributes and alone, and counters. tests/nvtx/programs.py expects its numbers.
 */
#include <nvtx3/nvToolsExtPayload.h>
#include <nvtx3/nvToolsExtCounters.h>
#include <nvtx3/nvToolsExtSemanticsCounters.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

#define STATIC_ID	(NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 5)
#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))

enum color { RED = 1, GREEN = 2 };

struct all {
	signed char		tiny;
	unsigned short		small;
	int			plain;
	long			large;
	uint64_t		big;
	float			half;
	double			whole;
	size_t			bytes;
	const void		*at;
	char			embedded[6];
	short			array[3];
	const char		*text;
	enum color		color;
	enum color		other;
	nvtxStringHandle_t	handle;
};

#define T(type)		NVTX_PAYLOAD_ENTRY_TYPE_##type
#define E(field, t)	{ .type = (t), .name = #field, .offset = offsetof(struct all, field) }

static nvtxDomainHandle_t domain;

static uint64_t schema(const nvtxPayloadSchemaEntry_t *entries, size_t n, size_t size, uint64_t id)
{
	nvtxPayloadSchemaAttr_t attr = {
		.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
			     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
			     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
			     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE,
		.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, .entries = entries, .numEntries = n,
		.payloadStaticSize = size, .schemaId = id,
	};

	if (id)
		attr.fieldMask |= NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID;
	return nvtxPayloadSchemaRegister(domain, &attr);
}

static void fields(void)
{
	static const nvtxPayloadEnum_t colors[] = { { "red", RED, 0 }, { "green", GREEN, 0 } };
	const nvtxPayloadEnumAttr_t attr = {
		.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES |
			     NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES |
			     NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE,
		.entries = colors, .numEntries = 2, .sizeOfEnum = sizeof(enum color),
	};
	uint64_t color = nvtxPayloadEnumRegister(domain, &attr);
	const nvtxPayloadSchemaEntry_t entries[] = {
		E(tiny, T(CHAR)), E(small, T(USHORT)), E(plain, T(INT)), E(large, T(LONG)),
		E(big, T(UINT64)), E(half, T(FLOAT)), E(whole, T(DOUBLE)), E(bytes, T(SIZE)),
		E(at, T(ADDRESS)),
		{ .flags = NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, .type = T(CHAR),
		  .name = "embedded", .arrayOrUnionDetail = 6,
		  .offset = offsetof(struct all, embedded) },
		{ .flags = NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, .type = T(SHORT),
		  .name = "array", .arrayOrUnionDetail = 3,
		  .offset = offsetof(struct all, array) },
		{ .flags = NVTX_PAYLOAD_ENTRY_FLAG_POINTER, .type = T(CSTRING), .name = "text",
		  .offset = offsetof(struct all, text) },
		E(color, color), E(other, color), E(handle, T(NVTX_REGISTERED_STRING_HANDLE)),
	};
	const struct all all = {
		.tiny = -3, .small = 60000, .plain = -70000, .large = -5000000000,
		.big = 18446744073709551615ull, .half = 0.5f, .whole = -0.125, .bytes = 4096,
		.at = (const void *)0x1234, .embedded = "embed", .array = { 1, 2, 3 },
		.text = "pointed", .color = GREEN, .other = 7,
		.handle = nvtxDomainRegisterStringA(domain, "registered"),
	};
	nvtxPayloadData_t data = { schema(entries, COUNT(entries), sizeof(all), STATIC_ID),
				   sizeof(all), &all };
	nvtxEventAttributes_t e = { .version = NVTX_VERSION, .size = sizeof(e) };

	e.messageType = NVTX_MESSAGE_TYPE_ASCII;
	e.message.ascii = "all";
	e.payloadType = NVTX_PAYLOAD_TYPE_EXT;
	e.reserved0 = 1;
	e.payload.ullValue = (uint64_t)(uintptr_t)&data;
	nvtxDomainRangePushEx(domain, &e);
	nvtxDomainRangePop(domain);

	/* The part that is there; and a schema that was never registered. */
	e.message.ascii = "cut";
	data.size = offsetof(struct all, large);
	nvtxDomainMarkEx(domain, &e);
	e.message.ascii = "unknown";
	data.schemaId = STATIC_ID + 1;
	nvtxDomainMarkEx(domain, &e);
}

/* A schema inside another, arrays, and numbers too large for a list. */
static void nested(void)
{
	struct inner {
		int32_t	a;
		double	b[2];
	};
	struct outer {
		uint8_t		k;
		struct inner	in;
		uint16_t	few[3];
		uint64_t	large[2];
		struct inner	last;
	};
	static const nvtxPayloadSchemaEntry_t of_inner[] = {
		{ .type = T(INT32), .name = "a" },
		{ .flags = NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, .type = T(DOUBLE),
		  .name = "b", .arrayOrUnionDetail = 2 },
	};
	uint64_t inner = schema(of_inner, 2, sizeof(struct inner), 0);
	/* The position of the field after a schema follows from the schema's size and alignment. */
	const nvtxPayloadSchemaEntry_t of_outer[] = {
		{ .type = T(UINT8), .name = "k" },
		{ .type = inner, .name = "in" },
		{ .flags = NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, .type = T(UINT16),
		  .name = "few", .arrayOrUnionDetail = 3 },
		{ .flags = NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, .type = T(UINT64),
		  .name = "large", .arrayOrUnionDetail = 2 },
		{ .type = inner, .name = "last" },
	};
	const struct outer payload = {
		.k = 1, .in = { -2, { 0.1, -4 } }, .few = { 7, 8, 65535 },
		.large = { 1, 5000000000 }, .last = { 9, { 1e30, 0 } },
	};
	nvtxPayloadData_t data = { schema(of_outer, 5, sizeof(payload), 0), sizeof(payload),
				   &payload };
	nvtxEventAttributes_t e = { .version = NVTX_VERSION, .size = sizeof(e) };

	e.messageType = NVTX_MESSAGE_TYPE_ASCII;
	e.message.ascii = "nested";
	e.payloadType = NVTX_PAYLOAD_TYPE_EXT;
	e.reserved0 = 1;
	e.payload.ullValue = (uint64_t)(uintptr_t)&data;
	nvtxDomainMarkEx(domain, &e);
}

/* No offsets, a name in the payload, and ranges that only have payloads. */
static void alone(void)
{
	static const nvtxPayloadSchemaEntry_t entries[] = {
		{ .type = T(UINT8), .name = "first" },
		{ .type = T(INT32), .name = "second" },
		{ .flags = NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE, .type = T(CSTRING) },
		{ .type = T(UINT8), .name = "last" },
	};
	static const nvtxPayloadSchemaEntry_t one[] = { { .type = T(INT64), .name = "result" } };
	const struct {
		uint8_t		first;
		int32_t		second;
		const char	*name;
		uint8_t		last;
	} payload = { 1, -2, "named by a payload", 3 };
	const int64_t result = -9;
	const int32_t bare = -42;
	nvtxPayloadData_t data = { schema(entries, 4, sizeof(payload), 0), sizeof(payload),
				   &payload };
	nvtxPayloadData_t end = { schema(one, 1, sizeof(result), 0), sizeof(result), &result };
	nvtxPayloadData_t number = { T(INT32), sizeof(bare), &bare };
	nvtxRangeId_t id;

	if (nvtxRangePushPayload(domain, &data, 1) != 0 ||
	    nvtxRangePushPayload(domain, &number, 1) != 1 ||
	    nvtxRangePopPayload(domain, NULL, 0) != 1 || nvtxRangePopPayload(domain, &end, 1) != 0)
		printf("levels\n");
	nvtxMarkPayload(domain, &data, 1);
	id = nvtxRangeStartPayload(domain, &data, 1);
	nvtxRangeEndPayload(domain, id, &end, 1);
	/* Printed with the locale's decimal point. */
	printf("%s %.1f\n", nvtxDomainIsEnabled(domain) ? "on" : "off", 1.5);
	nvtxScopeRegister(domain, NULL);
}

/* Payloads of pops, by domain; a name in a payload; unknown ids and values. */
static void beyond(void)
{
	static const nvtxPayloadSchemaEntry_t one[] = { { .type = T(INT64), .name = "of outer" } };
	static const nvtxPayloadSchemaEntry_t named[] = {
		{ .flags = NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE, .type = T(CSTRING) },
	};
	static const char name[] = "named in attributes", *const text = name, *const none = NULL;
	nvtxDomainHandle_t other = nvtxDomainCreateA("beside");
	nvtxEventAttributes_t e = { .version = NVTX_VERSION, .size = sizeof(e) };
	const int64_t result = 77;
	nvtxPayloadData_t end = { schema(one, 1, sizeof(result), 0), sizeof(result), &result };
	nvtxPayloadData_t data = { schema(named, 1, sizeof(text), 0), sizeof(text), &text };
	char names[40][8];
	nvtxPayloadEnum_t values[40];
	nvtxPayloadEnumAttr_t attr = {
		.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES |
			     NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES,
		.entries = values, .numEntries = 40,
	};

	e.messageType = NVTX_MESSAGE_TYPE_ASCII;
	e.message.ascii = "outer";
	nvtxDomainRangePushEx(domain, &e);
	e.message.ascii = "inner";
	nvtxDomainRangePushEx(other, &e);
	nvtxRangePopPayload(domain, &end, 1);
	/* No range of this domain is open. */
	nvtxRangePopPayload(domain, &end, 1);
	nvtxDomainRangePop(other);
	e = (nvtxEventAttributes_t){ .version = NVTX_VERSION, .size = sizeof(e) };
	e.payloadType = NVTX_PAYLOAD_TYPE_EXT;
	e.reserved0 = 1;
	e.payload.ullValue = (uint64_t)(uintptr_t)&data;
	nvtxDomainMarkEx(domain, &e);
	data.payload = &none;
	nvtxDomainMarkEx(domain, &e);
	nvtxDomainRangeEnd(domain, 0x500000fffull);
	for (int i = 0; i < 40; i++) {
		snprintf(names[i], sizeof(names[i]), "v%d", i);
		values[i] = (nvtxPayloadEnum_t){ names[i], (uint64_t)i, 0 };
	}
	nvtxPayloadEnumRegister(domain, &attr);
}

static uint64_t counter(const char *name, uint64_t type, uint64_t id, uint64_t flags)
{
	nvtxSemanticsCounter_t semantics = {
		.header = { sizeof(semantics), NVTX_SEMANTIC_ID_COUNTERS_V1, 1, NULL },
		.flags = flags,
	};
	const nvtxCounterAttr_t attr = {
		.structSize = sizeof(attr), .schemaId = type, .name = name, .counterId = id,
		.semantics = flags ? &semantics.header : NULL,
	};

	return nvtxCounterRegister(domain, &attr);
}

static void counters(void)
{
	uint64_t words = counter("words", T(INT64), 0, 0);
	uint64_t share = counter("share", T(DOUBLE), 0, 0);
	uint64_t fixed = counter("fixed", T(UINT32), NVTX_COUNTER_ID_STATIC_START + 3, 0);
	uint64_t added = counter("more", T(INT64), 0, NVTX_COUNTER_FLAG_VALUETYPE_DELTA);
	uint32_t value = 4000000000u;

	static const nvtxPayloadSchemaEntry_t both[] = {
		{ .type = T(UINT32), .name = "used" }, { .type = T(DOUBLE), .name = "share" },
	};
	const struct {
		uint32_t	used;
		double		share;
	} group = { 7, 0.75 };
	uint64_t groups = counter("memory", schema(both, 2, sizeof(group), 0), 0, 0);

	nvtxCounterSample(domain, groups, &group, sizeof(group));
	/* The second counter does not exist. */
	nvtxCounterSample(domain, groups, &group, 4);
	for (int i = 0; i < 5; i++)
		nvtxCounterSampleInt64(domain, words, -i);
	nvtxCounterSampleNoValue(domain, words, NVTX_COUNTER_SAMPLE_ZERO);
	nvtxCounterSampleNoValue(domain, words, NVTX_COUNTER_SAMPLE_UNCHANGED);
	nvtxCounterSampleFloat64(domain, share, 0.25);
	nvtxCounterSample(domain, fixed, &value, sizeof(value));
	nvtxCounterSample(domain, fixed, &value, 2);
	nvtxCounterSampleInt64(domain, added, 5);
	nvtxCounterSampleInt64(domain, NVTX_COUNTER_ID_STATIC_START + 99, 5);
	nvtxCounterSampleInt64(domain, NVTX_COUNTER_ID_STATIC_START + 3 + (1ull << 32), 5);
}

/* Counters of one name, as in two scopes, with other schemas; and more groups than are kept. */
static void groups(void)
{
	static const nvtxPayloadSchemaEntry_t whole[] = { { .type = T(UINT64), .name = "items" } };
	static const nvtxPayloadSchemaEntry_t part[] = { { .type = T(DOUBLE), .name = "load" } };
	uint64_t items = schema(whole, 1, 8, 0), load = schema(part, 1, 8, 0), last = 0;
	uint64_t first = counter("queue", items, 0, 0), second = counter("queue", load, 0, 0);
	const uint64_t seven = 7;
	const double half = 0.5;
	char name[16];

	nvtxCounterSample(domain, first, &seven, sizeof(seven));
	nvtxCounterSample(domain, second, &half, sizeof(half));
	for (int i = 0; i < 65; i++) {
		snprintf(name, sizeof(name), "group %d", i);
		last = counter(name, items, 0, 0);
	}
	nvtxCounterSample(domain, last, &seven, sizeof(seven));
	nvtxCounterSample(domain, last, &seven, sizeof(seven));
}

int main(void)
{
	setlocale(LC_ALL, "");
	domain = nvtxDomainCreateA("extension");
	fields();
	nested();
	alone();
	beyond();
	counters();
	groups();
	return 0;
}
