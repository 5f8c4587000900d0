// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program with invalid schemas and payloads, compiled with NVIDIA's headers: types, flags,
 * lengths and offsets at random, payloads that end where memory ends. It has no pointers, which
 * only the program knows to be good.
 *
 * Usage: hostile MARKS SEED
 */
#include <nvtx3/nvToolsExtPayload.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))
#define SCHEMAS		240u
#define ENTRIES		40u
#define PAGES		8192u
#define F(flag)		NVTX_PAYLOAD_ENTRY_FLAG_##flag

static nvtxDomainHandle_t domain;
static uint64_t schemas[SCHEMAS], state;
static uint32_t nr_schemas;

static uint64_t draw(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static uint64_t below(uint64_t n)
{
	return draw() % n;
}

/* Returns a type, but never a pointer. */
static uint64_t type(void)
{
	uint64_t t = below(82);

	return t == NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE ? 5 : t;
}

static void entry(nvtxPayloadSchemaEntry_t *e, uint32_t number)
{
	static const uint64_t flags[] = {
		0, 0, 0, F(ARRAY_FIXED_SIZE), F(ARRAY_ZERO_TERMINATED), F(ARRAY_LENGTH_INDEX),
		F(ARRAY_LENGTH_PAYLOAD_INDEX), 5 << 4, 6 << 4, 7 << 4, F(EVENT_MESSAGE), 1 << 9,
	};

	*e = (nvtxPayloadSchemaEntry_t){
		.flags = flags[below(COUNT(flags))], .name = below(16) ? "field" : NULL,
		.type = below(8) || !nr_schemas ? type() : schemas[below(nr_schemas)],
	};
	if (!below(32))
		e->flags |= F(OFFSET_FROM_BASE) << below(2);
	/* A text without a length is a pointer. */
	if (e->type >= NVTX_PAYLOAD_ENTRY_TYPE_CSTRING &&
	    e->type <= NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF32)
		e->arrayOrUnionDetail = 1 + below(30);
	else if (below(4))
		e->arrayOrUnionDetail = below(number + 2);
	else
		e->arrayOrUnionDetail = below(2) ? below(300) : draw();
	if (!below(4))
		e->offset = below(8) ? below(200) : draw();
}

static uint64_t new_schema(void)
{
	nvtxPayloadSchemaEntry_t entries[ENTRIES];
	nvtxPayloadSchemaAttr_t attr = {
		.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
			     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
			     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES,
		.type = 1 + below(2), .entries = entries, .numEntries = 1 + below(ENTRIES),
		.payloadStaticSize = below(300), .packAlign = 1ull << below(5),
	};

	for (uint32_t i = 0; i < attr.numEntries; i++)
		entry(&entries[i], i);
	if (!below(4))
		attr.fieldMask |= NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
	if (!below(4))
		attr.fieldMask |= NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ALIGNMENT;
	return nvtxPayloadSchemaRegister(domain, &attr);
}

/* @end: the end of readable memory. */
static void mark(uint8_t *end)
{
	nvtxPayloadData_t payloads[3];
	size_t n = 1 + below(COUNT(payloads));

	for (size_t i = 0; i < n; i++) {
		size_t size = below(2) ? below(64) : below(PAGES);
		uint8_t *at = end - size;

		for (size_t b = 0; b < size; b++)
			at[b] = (uint8_t)(below(4) ? below(6) : draw());
		payloads[i] = (nvtxPayloadData_t){
			below(8) ? schemas[below(nr_schemas)] : type(), size, at,
		};
	}
	nvtxMarkPayload(domain, payloads, n);
}

int main(int argc, char **argv)
{
	long marks = argc > 1 ? atol(argv[1]) : 1000;
	uint8_t *memory = mmap(NULL, 2 * PAGES, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	state = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	if (memory == MAP_FAILED || mprotect(memory + PAGES, PAGES, PROT_NONE))
		return 1;
	domain = nvtxDomainCreateA("hostile");
	for (long i = 0; i < marks; i++) {
		if (nr_schemas < SCHEMAS && (!nr_schemas || !below(4)))
			schemas[nr_schemas++] = new_schema();
		mark(memory + PAGES);
	}
	printf("%ld\n", marks);
	return 0;
}
