// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz target: a producer's arena, in chunks of the size in the first byte.
 */
#include <string.h>

#include "decoder/builder.h"
#include "decoder/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t piece = size && data[0] ? data[0] : ~(size_t)0;
	struct cap cap;

	cap_begin(&cap);
	for (size_t at = 1; at < size;) {
		struct cap part = { (uint8_t *)data + at, size - at, 0 };

		if (part.len > piece)
			part.len = piece;
		cap_arena(&cap, 0, at - 1, &part);
		at += part.len;
	}
	cap_end(&cap, 1);
	fuzz_read(cap.data, cap.len);
	cap_free(&cap);
	return 0;
}

void fuzz_seeds(void (*give)(const void *data, size_t size))
{
	for (int piece = 0; piece < 3; piece++) {
		struct cap arena = { 0 };
		char first[] = "=";

		cap_entry(&arena, XSPROF_ENTRY_FACT, 0, 0, "seven=7");
		cap_entry(&arena, XSPROF_ENTRY_CATEGORY, 63, 0, "last");
		for (int i = 1; i < 30; i++)
			cap_entry(&arena, XSPROF_ENTRY_NAME, i, 0,
				  &"a name of some length"[i % 20]);
		cap_entry(&arena, XSPROF_ENTRY_THREAD, 1000, 1, "thread");
		/* The first entry's size is about 24: its first byte becomes the chunk size. */
		first[0] = piece * 29;
		memmove(arena.data + 1, arena.data, arena.len - 1);
		arena.data[0] = first[0];
		give(arena.data, arena.len);
		cap_free(&arena);
	}
}
