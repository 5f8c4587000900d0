// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz target: a ring file. The input is a list of patches to a valid file: 8 bits of area, 16 of
 * offset in words of 4 bytes, 8 of kind, then a value of 8 bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "decoder/fuzz.h"
#include "decoder/sample.h"

#define PATCH	12

static size_t area_of(const struct xsprof_ctl *ctl, uint8_t area, size_t offset)
{
	switch (area % 7) {
	case 0:		return 64 + offset % 264;
	case 1:		return 1024 + offset % 1032;
	case 2:		return ctl->arena_off + offset % 64;
	case 3:		return ctl->arena_off + 64 + offset % 256;
	case 4:		return ctl->rings_off + offset % 128;
	case 5:		return ctl->rings_off + 4096 + offset % 64;
	default:	return ctl->rings_off + 8192 + offset % ctl->ring_size;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct xsprof_ctl ctl;
	uint8_t *file;
	size_t len;

	file = sample_ring_file(size && data[0] & 1, size > 1 ? data[1] * 7 : 0, &len);
	memcpy(&ctl, file, sizeof(ctl));
	for (size_t at = 2; at + PATCH <= size && at < 2 + 64 * PATCH; at += PATCH) {
		uint16_t offset;
		size_t to;

		memcpy(&offset, data + at + 1, sizeof(offset));
		to = area_of(&ctl, data[at], offset * (size_t)4);
		if (to + 8 <= len)
			memcpy(file + to, data + at + 4, data[at + 3] & 1 ? 8 : 4);
	}
	fuzz_read(file, len);
	free(file);
	return 0;
}

void fuzz_seeds(void (*give)(const void *data, size_t size))
{
	static const uint8_t seeds[][2 + 3 * PATCH] = {
		{ 0, 60 },
		{ 1, 100, 6, 0, 0, 1, 0, 0, 0, 0, 4, 0x28, 0, 0 },
		{ 1, 200, 4, 0, 0, 1, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 5, 0, 0, 1, 9 },
		{ 0, 90, 0, 8, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0x30, 0, 0, 0 },
	};

	for (size_t i = 0; i < sizeof(seeds) / sizeof(*seeds); i++)
		give(seeds[i], sizeof(seeds[i]));
}
