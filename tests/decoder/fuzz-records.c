// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz target: the slots of rings, their records and arguments, with valid headers. The first byte
 * sets the number of slots in the first of two rings, and its position in the block.
 */
#include <string.h>

#include "decoder/builder.h"
#include "decoder/fuzz.h"

static void put(struct cap *cap, uint32_t ring, uint64_t pos, const uint8_t *data, size_t size)
{
	struct ring r = { .pos = pos };

	if (!size)
		return;
	ring_raw(&r, data, size);
	cap_ring(cap, 0, ring, size % 3 ? CAP_COLUMNS : 0, &r);
	ring_free(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct xsprof_ctl ctl = ctl_make(1, 1, 1 << 20, XSPROF_MODE_OVERWRITE);
	struct xsprof_sync syncs[] = { sync_at(1000, 0), sync_at(1000000, 50000) };
	size_t slots, first;
	struct cap cap;

	if (!size)
		return 0;
	slots = (size - 1) / XSPROF_SLOT_SIZE;
	first = data[0] % 16 < slots ? slots - data[0] % 16 : slots;
	cap_begin(&cap);
	cap_clock(&cap, syncs, 2);
	cap_producer(&cap, 0, 100, &ctl);
	put(&cap, 0, data[0], data + 1, first * XSPROF_SLOT_SIZE);
	put(&cap, 1, 0, data + 1 + first * XSPROF_SLOT_SIZE, (slots - first) * XSPROF_SLOT_SIZE);
	cap_end(&cap, 1);
	fuzz_read(cap.data, cap.len);
	cap_free(&cap);
	return 0;
}

void fuzz_seeds(void (*give)(const void *data, size_t size))
{
	for (unsigned int i = 0; i < 4; i++) {
		struct xsprof_arg arg = { .key = 2, .type = XSPROF_ARG_STR, .len = 9 };
		uint8_t extra[128] = { 0 }, seed[1 + 200 * XSPROF_SLOT_SIZE] = { 0 };
		struct ring r = { 0 };

		memcpy(extra + 16, &arg, sizeof(arg));
		memcpy(extra + 64, &arg, sizeof(arg));
		memcpy(extra, (uint64_t[]){ 2100, 2300 }, 16);
		for (unsigned int n = 0; n < 60; n++)
			ring_put(&r, (struct xsprof_rec){ .tid = 1 + n % 2,
				 .type = n * (i + 1) % 0x1b, .ts = 2000 + n * 20, .name = n % 5,
				 .aux = 1 + n % 3, .value = n * 10 }, extra, n % 4 * 32);
		seed[0] = i * 5;
		memcpy(seed + 1, r.data, r.len < sizeof(seed) - 1 ? r.len : sizeof(seed) - 1);
		give(seed, r.len < sizeof(seed) - 1 ? r.len + 1 : sizeof(seed));
		ring_free(&r);
	}
}
