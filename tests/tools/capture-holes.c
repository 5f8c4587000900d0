// SPDX-License-Identifier: GPL-2.0-only
/*
 * Captures with inconsistent rings, ledgers and ends: of a recorder that was killed, and of a
 * program that writes false times.
 */
#include <xsprof/profiler.h>

#include "tools/capture.h"

/* The ledger is older than the last loss of ring 1; a fused range of ring 0 spans that loss. */
void cap_make_old_ledger(void)
{
	struct xsprof_cap_ledger ledger = { .ring = 1, .kind = XSPROF_RING_RSEQ, .drops = 5 };
	struct cap_ring r[2];

	cap_host("hostname=old\n");
	cap_clock(T(0), T(10000));
	cap_producer(0, 100, T(0));
	cap_name(0, 1, "step");
	cap_name(0, 2, "there");
	cap_arena(0);
	for (uint32_t k = 0; k < 2; k++)
		cap_ring_open(&r[k], 0, k, 64);
	cap_event(&r[1], T(0), XSPROF_REC_LOST, 0, 0, 0, 5);
	cap_event(&r[1], T(1), XSPROF_REC_INSTANT, 101, 2, 0, 0);
	cap_ring_flush(&r[1]);
	ledger.head = ledger.read = r[1].pos;
	cap_chunk(XSPROF_CHUNK_LEDGER, 0, 1, 0, &ledger, sizeof(ledger));
	cap_event(&r[1], T(900), XSPROF_REC_LOST, 0, 0, 0, 7);
	cap_event(&r[1], T(900), XSPROF_REC_INSTANT, 101, 2, 0, 0);
	for (uint32_t i = 0; i < 4; i++) {
		cap_event(&r[0], T(2 + 200 * i), XSPROF_REC_BEGIN, 100, 1, 0, 0);
		cap_event(&r[0], T(i == 3 ? 792 : 92 + 200 * i), XSPROF_REC_END, 100, 0, 0, 0);
	}
	for (uint32_t k = 0; k < 2; k++)
		cap_ring_flush(&r[k]);
}

/* Steps and allocations with times after the end of their process. */
void cap_make_late(void)
{
	struct xsprof_rec_mem mem = { .bytes = 8, .total_allocated = 1000000 };
	struct cap_ring r;

	cap_host("hostname=late\n");
	cap_clock(T(0), T(10000));
	cap_producer(0, 100, T(0));
	cap_name(0, 1, "step");
	cap_arena(0);
	cap_ring_open(&r, 0, 0, 512);
	cap_event(&r, T(5), XSPROF_REC_STEP, 100, 1, 0, 1);
	for (uint32_t i = 0; i < 100; i++, mem.total_allocated -= 8) {
		mem.rec = cap_head(T(20 + 3 * i), i ? XSPROF_REC_FREE : XSPROF_REC_ALLOC, 100, 0,
				   XSPROF_DEVICE_CPU << 16, 1);
		cap_record(&r, &mem, 2);
		cap_event(&r, T(21 + 3 * i), XSPROF_REC_STEP, 100, 1, 0, 2 + i);
	}
	cap_ring_close(&r, 0);
	cap_exit(0, XSPROF_HOW_KILLED, 9, T(10));
	cap_end(T(1000));
}
