// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz target: a whole capture file.  With the lowest bit of the last byte set all checksums are
 * put right first: a mutator does not find them, and behind them is where the work is.
 */
#include <stdlib.h>
#include <string.h>

#include "decoder/fuzz.h"
#include "decoder/sample.h"
#include "ring/tap.h"

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

void fuzz_seeds(void (*give)(const void *data, size_t size))
{
	for (unsigned int i = 0; i < 6; i++) {
		struct cap cap;

		sample_make(&cap, 40 + 20 * (i & 1), i / 2 == 0 ? 0 : i / 2 == 1 ? CAP_ZSTD :
			    CAP_ZSTD | CAP_COLUMNS, 400);
		cap_text(&cap, XSPROF_CHUNK_NOTE, i % 2 ? "1234567\1" : "1234567\2");
		give(cap.data, cap.len);
		cap_free(&cap);
	}
}
