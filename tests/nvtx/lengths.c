// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program with payloads that contain the lengths of their arrays and texts, compiled with
 * NVIDIA's headers: in a field, in another payload, by zeros at the end. tests/nvtx/programs.py
 * expects the values.
 */
#include <nvtx3/nvToolsExtPayload.h>
#include <stdio.h>
#include <string.h>

#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))
#define T(type)		NVTX_PAYLOAD_ENTRY_TYPE_##type
#define F(flag)		NVTX_PAYLOAD_ENTRY_FLAG_##flag

static nvtxDomainHandle_t domain;

static uint64_t schema(uint64_t type, const nvtxPayloadSchemaEntry_t *entries, size_t n)
{
	const nvtxPayloadSchemaAttr_t attr = {
		.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
			     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
			     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES,
		.type = type, .entries = entries, .numEntries = n,
	};

	return nvtxPayloadSchemaRegister(domain, &attr);
}

static void mark(const char *name, nvtxPayloadData_t *data, size_t n)
{
	nvtxEventAttributes_t e = { .version = NVTX_VERSION, .size = sizeof(e) };

	e.messageType = NVTX_MESSAGE_TYPE_ASCII;
	e.message.ascii = name;
	e.payloadType = NVTX_PAYLOAD_TYPE_EXT;
	e.reserved0 = (int32_t)n;
	e.payload.ullValue = (uint64_t)(uintptr_t)data;
	nvtxDomainMarkEx(domain, &e);
}

/* Data that the payload points to, with a schema of fixed offsets. */
static void pointers(void)
{
	static const nvtxPayloadSchemaEntry_t entries[] = {
		{ .type = T(INT32), .name = "n" },
		{ .flags = F(POINTER) | F(ARRAY_LENGTH_INDEX), .type = T(INT32), .name = "values" },
		{ .flags = F(POINTER) | F(ARRAY_ZERO_TERMINATED), .type = T(INT16),
		  .name = "zero" },
		{ .flags = F(POINTER) | F(ARRAY_LENGTH_INDEX), .type = T(CSTRING),
		  .name = "text" },
		{ .flags = F(POINTER) | F(ARRAY_FIXED_SIZE), .type = T(DOUBLE), .name = "fixed",
		  .arrayOrUnionDetail = 2 },
		{ .flags = F(POINTER), .type = T(CSTRING), .name = "four",
		  .arrayOrUnionDetail = 4 },
		{ .type = T(UINT8), .name = "last" },
	};
	static const int32_t values[] = { 5, -6, 7 };
	static const int16_t zero[] = { 1, 256, 2, 0, 9 };
	static const double fixed[] = { 0.5, -1.25 };
	struct {
		int32_t		n;
		const int32_t	*values;
		const int16_t	*zero;
		const char	*text;
		const double	*fixed;
		const char	*four;
		uint8_t		last;
	} payload = { 3, values, zero, "texts", fixed, "fourteen", 8 };
	nvtxPayloadData_t data = { schema(NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, entries, COUNT(entries)),
				   sizeof(payload), &payload };

	mark("pointers", &data, 1);
	/* A length below 0 is 0; one beyond an argument's capacity is not. */
	payload.n = -4;
	mark("negative", &data, 1);
	payload.n = 100000;
	payload.text = NULL;
	mark("long", &data, 1);
}

/* Data in the payload, and all that follows it. */
static void inside(void)
{
	static const nvtxPayloadSchemaEntry_t entries[] = {
		{ .type = T(UINT8), .name = "n" },
		{ .flags = F(ARRAY_LENGTH_INDEX), .type = T(INT16), .name = "values" },
		{ .type = T(DOUBLE), .name = "number" },
		{ .type = T(LONGDOUBLE), .name = "no argument" },
		{ .flags = F(ARRAY_ZERO_TERMINATED), .type = T(UINT32), .name = "zero" },
		{ .flags = F(ARRAY_ZERO_TERMINATED), .type = T(CSTRING), .name = "text" },
		{ .flags = F(ARRAY_LENGTH_INDEX), .type = T(CSTRING), .name = "counted" },
		{ .type = T(UINT16), .name = "last" },
	};
	struct {
		uint8_t		n;
		int16_t		values[3];
		double		number;
		_Alignas(16) char none[16];
		uint32_t	zero[3];
		char		text[4];
		char		counted[3];
		uint16_t	last;
	} payload = {
		.n = 3, .values = { -1, 300, 2 }, .number = 0.75, .zero = { 70000, 1, 0 },
		.text = "in", .last = 65000,
	};
	uint8_t bytes[sizeof(payload)];
	nvtxPayloadData_t data = { schema(NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC, entries,
					  COUNT(entries)), sizeof(bytes), bytes };
	size_t text = (size_t)((uint8_t *)payload.text - (uint8_t *)&payload);

	/* "in", 0, three characters, and a number at the next even address. */
	memcpy(bytes, &payload, sizeof(payload));
	memcpy(bytes + text + 3, "abc", 3);
	memcpy(bytes + text + 6, &payload.last, 2);
	mark("inside", &data, 1);
	/* The last is incomplete. */
	data.size = text + 7;
	mark("inside, cut", &data, 1);
	/* So is the first array; the position of what follows is unknown. */
	bytes[0] = 255;
	mark("inside, too long", &data, 1);
}

/* Two dimensions, and lengths in a payload of their own. */
static void elsewhere(void)
{
	static const nvtxPayloadSchemaEntry_t matrix[] = {
		{ .flags = F(ARRAY_FIXED_SIZE), .type = T(UINT32), .name = "shape",
		  .arrayOrUnionDetail = 2 },
		{ .flags = F(ARRAY_LENGTH_INDEX), .type = T(INT32), .name = "matrix" },
	};
	static const nvtxPayloadSchemaEntry_t other[] = {
		{ .flags = F(ARRAY_LENGTH_PAYLOAD_INDEX), .type = T(INT32), .name = "other",
		  .arrayOrUnionDetail = 1 },
	};
	static const struct {
		uint32_t	shape[2];
		int32_t		matrix[6];
	} payload = { { 2, 3 }, { 1, 2, 3, 4, 5, 6 } };
	static const int32_t values[] = { 11, 12, 13, 14 };
	const int64_t four = 4;
	const uint64_t type = NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC;
	nvtxPayloadData_t data[2] = {
		{ schema(type, matrix, COUNT(matrix)), sizeof(payload), &payload },
	};

	mark("matrix", data, 1);
	data[0] = (nvtxPayloadData_t){ schema(type, other, 1), sizeof(values), values };
	data[1] = (nvtxPayloadData_t){ T(INT64), sizeof(four), &four };
	mark("elsewhere", data, 2);
	mark("nowhere", data, 1);
}

/* Names of fields, each longer than 60 bytes with its parents' names. */
static void names(void)
{
	static const nvtxPayloadSchemaEntry_t inner[] = {
		{ .type = T(INT32), .name = "the first field of the innermost structure" },
		{ .type = T(INT32), .name = "the first field of the innermost structures" },
	};
	uint64_t of_inner = schema(NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, inner, 2);
	const nvtxPayloadSchemaEntry_t middle[] = {
		{ .type = of_inner, .name = "a structure with a long name" },
	};
	uint64_t of_middle = schema(NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, middle, 1);
	const nvtxPayloadSchemaEntry_t outer[] = {
		{ .type = of_middle, .name = "another one around it" },
	};
	const int32_t payload[] = { 1, 2 };
	nvtxPayloadData_t data = { schema(NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, outer, 1),
				   sizeof(payload), payload };

	mark("names", &data, 1);
}

int main(void)
{
	domain = nvtxDomainCreateA("lengths");
	pointers();
	inside();
	elsewhere();
	names();
	return 0;
}
