// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz target: a whole capture file. If the lowest bit of the last byte is set, all checksums are
 * corrected first: a mutator cannot guess them, and the interesting code comes after the checks.
 */
#include <stdlib.h>
#include <string.h>

#include "common/crc32c.h"
#include "common/tap.h"
#include "decoder/fuzz.h"
#include "decoder/sample.h"

static void reseal(struct cap *cap)
{
	struct xsprof_cap_header header;
	size_t at = sizeof(header);

	if (cap->len < at)
		return;
	memcpy(&header, cap->data, at);
	header.crc = crc32c(&header, offsetof(struct xsprof_cap_header, crc));
	memcpy(cap->data, &header, at);
	while (cap->len - at >= sizeof(struct xsprof_chunk)) {
		struct xsprof_chunk chunk;

		memcpy(&chunk, cap->data + at, sizeof(chunk));
		if (chunk.stored > cap->len - at - sizeof(chunk))
			break;
		cap_reseal(cap, at);
		at += sizeof(chunk) + ((chunk.stored + 7) & ~(size_t)7);
		if (at > cap->len)
			break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cap cap = { malloc(size + 1), size, size };

	if (!cap.data)
		abort();
	memcpy(cap.data, data, size);
	if (size && data[size - 1] & 1)
		reseal(&cap);
	fuzz_read(cap.data, cap.len);
	cap_free(&cap);
	return 0;
}

/* ---- the kernel's tracer: what a mutator would not find by itself --------------------------- */

static const char info[] = "clock=mono\nsubbuf_size=4096\ndata_offset=16\ncommit_offset=8\n"
			   "long_size=8\nrelease=1\n";
static const char format[] = "s\nname: e\nID: 5\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:__data_loc char[] text;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:s32 n;\toffset:12;\tsize:4;\tsigned:1;\n\nprint fmt: \"%d\", REC->n\n";
static const char tasks[] = "7 7 seven\n";

static void add_section(uint8_t *raw, size_t *len, uint32_t kind, const char *text)
{
	struct xsprof_cap_section section = { .kind = kind, .len = strlen(text) };

	memcpy(raw + *len, &section, sizeof(section));
	memcpy(raw + *len + sizeof(section), text, section.len);
	*len += sizeof(section) + ((section.len + 7) & ~7u);
}

static void add_tracer(struct cap *cap, unsigned int flags)
{
	struct xsprof_chunk chunk = { .type = XSPROF_CHUNK_KERNEL,
				      .producer = XSPROF_NO_PRODUCER };
	uint8_t raw[1024] = { 0 }, page[4096] = { 0 };
	uint32_t event[] = { 4 | 100 << 5, 5, 7, 4 << 16 | 16, 9, };
	uint32_t large[] = { 0 | 3 << 5, 4 + 20, 5, 7, 0, 9, 0x41424344 };
	uint32_t stamps[] = { 30 | 5 << 5, 1, 31 | 6 << 5, 1, 29 | 1 << 5, 8, 0 };
	uint64_t head[] = { 3000, 1ull << 31 | 1ull << 30 };
	size_t len = 0, at = 16;

	add_section(raw, &len, XSPROF_SECTION_INFO, info);
	add_section(raw, &len, XSPROF_SECTION_FORMAT, format);
	add_section(raw, &len, XSPROF_SECTION_TASKS, tasks);
	add_section(raw, &len, XSPROF_SECTION_SYMBOLS, "ffff f\n");
	cap_chunk(cap, chunk, flags, raw, len);
	for (int i = 0; i < 40; i++) {
		memcpy(page + at, event, sizeof(event));
		at += sizeof(event);
		memcpy(page + at, large, sizeof(large));
		at += sizeof(large);
		if (i == 20) {
			memcpy(page + at, stamps, sizeof(stamps));
			at += sizeof(stamps);
		}
	}
	head[1] |= at - 16;
	memcpy(page, head, sizeof(head));
	memcpy(page + at, (uint64_t[]){ 12 }, 8);
	chunk.type = XSPROF_CHUNK_FTRACE;
	chunk.ring = 1;
	cap_chunk(cap, chunk, flags, page, sizeof(page));
	chunk.pos = 2 * sizeof(page) / XSPROF_SLOT_SIZE;
	cap_chunk(cap, chunk, flags, page, sizeof(page));
	cap_ledger(cap, XSPROF_NO_PRODUCER, (struct xsprof_cap_ledger){ .ring = 1, .head = 384,
		   .read = 256, .unsaved = 128, .drops = 20 });
}

void fuzz_seeds(void (*give)(const void *data, size_t size))
{
	for (unsigned int i = 0; i < 10; i++) {
		struct cap cap;

		sample_make(&cap, 40 + 20 * (i & 1), i / 2 == 0 ? 0 : i / 2 == 1 ? CAP_ZSTD :
			    CAP_ZSTD | CAP_COLUMNS, 400);
		if (i >= 6)
			add_tracer(&cap, i < 8 ? 0 : CAP_ZSTD);
		cap_text(&cap, XSPROF_CHUNK_NOTE, i % 2 ? "1234567\1" : "1234567\2");
		give(cap.data, cap.len);
		cap_free(&cap);
	}
}
