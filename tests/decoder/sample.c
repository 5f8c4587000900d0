// SPDX-License-Identifier: GPL-2.0-only
/*
 * A capture and a ring file with one record of every kind.
 */
#include <stdlib.h>
#include <string.h>

#include "decoder/sample.h"
#include "common/tap.h"

static void put_names(struct cap *cap)
{
	struct cap arena = { 0 };

	cap_entry(&arena, XSPROF_ENTRY_CATEGORY, 2, 0, "kernel");
	for (int i = 1; i < 12; i++) {
		char text[24];

		snprintf(text, sizeof(text), "name.%d", i * i * i);
		cap_entry(&arena, XSPROF_ENTRY_NAME, i, 0, text);
	}
	cap_entry(&arena, XSPROF_ENTRY_THREAD, 1000, XSPROF_THREAD_GIVEN, "main");
	cap_entry(&arena, XSPROF_ENTRY_FACT, 0, 0, "exe=/usr/bin/thing");
	cap_arena(cap, 0, 0, &arena);
	cap_free(&arena);
}

/* Writes all types in turn, some with arguments. */
static void put_record(struct ring *r, uint32_t tid, uint64_t ts, unsigned int i)
{
	unsigned int kinds = XSPROF_REC_RELATION + 4, kind = i % kinds;
	struct xsprof_rec rec = { .tid = tid, .type = 1 + kind, .ts = ts, .name = 1 + i % 11,
				  .value = 0x100000 + i };
	uint8_t extra[7 * XSPROF_SLOT_SIZE] = { 0 };
	size_t len = 0;

	if (kind >= XSPROF_REC_RELATION) {
		rec.type = XSPROF_REC_SCHED_IN + kind - XSPROF_REC_RELATION;
		rec.aux = i * 0x101;
		rec.name = 0;
		memset(extra, 'k', i % 17);
	}
	if (rec.type == XSPROF_REC_SPAN || rec.type == XSPROF_REC_GPU)
		memcpy(extra, (uint64_t[]){ ts - 5, ts + 5 }, 16);
	if (rec.type == XSPROF_REC_GPU)
		len = 64;
	else if (rec.type == XSPROF_REC_SPAN || rec.type == XSPROF_REC_CLOCK ||
		 rec.type == XSPROF_REC_RELATION || rec.type == XSPROF_REC_ALLOC ||
		 rec.type == XSPROF_REC_FREE || rec.type == XSPROF_REC_SCHED_OUT)
		len = 32;
	if (i % 5 == 0) {
		struct xsprof_arg arg = { .key = 3, .type = XSPROF_ARG_STR, .len = 5 + i % 90 };

		memcpy(extra + len, &arg, sizeof(arg));
		memset(extra + len + sizeof(arg), 'a' + i % 26, arg.len);
		len += sizeof(arg) + ((arg.len + 15u) & ~15u);
	}
	ring_put(r, rec, extra, len);
}

void sample_make(struct cap *cap, unsigned int records, unsigned int flags, size_t chunk)
{
	struct xsprof_ctl ctl = ctl_make(2, 1, 1 << 20, XSPROF_MODE_DISCARD);
	struct xsprof_sync syncs[] = { sync_at(1000, 0), sync_at(1000000, 0),
				       sync_at(2000000, 0) };
	struct xsprof_cap_thread thread = { .tid = 1001, .comm = "worker" };
	struct xsprof_cap_switch off = { .ticks = 2000 + 5 * records, .count = 1 };
	struct ring r[4] = { 0 };

	/* The last ring is the kernel's. */
	ctl.nr_kernel_rings = 1;
	cap_begin(cap);
	cap_text(cap, XSPROF_CHUNK_HOST, "hostname=here\n");
	cap_clock(cap, syncs, 3);
	cap_producer(cap, 0, 100, &ctl);
	put_names(cap);
	for (unsigned int i = 0; i < records; i++) {
		unsigned int k = i / 7 % 4;

		if (i % 400 == 399)
			ring_rec(&r[k], XSPROF_REC_LOST, 0, 2000 + 10 * i, 0, i);
		put_record(&r[k], 1000 + k, 2000 + 10 * i, i);
		if (r[k].len >= chunk)
			cap_ring(cap, 0, k, flags, &r[k]);
	}
	for (unsigned int k = 0; k < 4; k++) {
		if (r[k].len)
			cap_ring(cap, 0, k, flags, &r[k]);
		cap_ledger(cap, 0, (struct xsprof_cap_ledger){ .ring = k, .head = r[k].pos,
			   .read = r[k].pos, .drops = records * 2 });
		ring_free(&r[k]);
	}
	cap_chunk(cap, (struct xsprof_chunk){ .type = XSPROF_CHUNK_SWITCH, .first = off.ticks,
		  .last = off.ticks }, 0, &off, sizeof(off));
	cap_chunk(cap, (struct xsprof_chunk){ .type = XSPROF_CHUNK_THREADS }, 0, &thread,
		  sizeof(thread));
	cap_exit(cap, 0, (struct xsprof_cap_exit){ .how = XSPROF_HOW_EXITED, .ticks = 1500000,
		 .late = 3 });
	cap_text(cap, XSPROF_CHUNK_NOTE, "all was well");
	cap_end(cap, 1600000);
}

void sample_subset(const struct drained *d, const struct drained *full, const char *what)
{
	static uint8_t *seen;
	static size_t room;

	if (room < full->nr) {
		room = full->nr;
		seen = realloc(seen, room);
		if (!seen)
			tap_bail("no memory");
	}
	memset(seen, 0, full->nr);
	/* Both are in time order, and times differ: one pass finds each. */
	for (size_t i = 0, j = 0; i < d->nr; i++) {
		const struct taken *a = &d->list[i];

		if (!a->ev.rec)
			continue;
		for (j = 0; j < full->nr; j++)
			if (full->list[j].ev.rec && full->list[j].ev.value == a->ev.value)
				break;
		if (j == full->nr || seen[j] || memcmp(a->rec, full->list[j].rec, sizeof(a->rec)))
			tap_wrong("%s: record with value %llu was never written, or came twice",
				  what, (unsigned long long)a->ev.value);
		else
			seen[j] = 1;
	}
}

uint8_t *sample_ring_file(uint32_t mode, uint64_t head, size_t *len)
{
	struct xsprof_ctl ctl = ctl_make(1, 1, 4 * XSPROF_BLOCK_SIZE, mode);
	uint64_t slots = ctl.ring_size / XSPROF_SLOT_SIZE;
	struct xsprof_arena arena = { 0 };
	struct cap entries = { 0 };
	uint8_t *data = calloc(1, ctl.total_size);

	if (!data)
		tap_bail("no memory");
	ctl.ready[0] = 3;
	memcpy(data, &ctl, sizeof(ctl));
	cap_entry(&entries, XSPROF_ENTRY_NAME, 1, 0, "alpha");
	cap_entry(&entries, XSPROF_ENTRY_FACT, 0, 0, "exe=/bin/true");
	arena.used = entries.len;
	memcpy(data + ctl.arena_off, &arena, sizeof(arena));
	memcpy(data + ctl.arena_off + sizeof(arena), entries.data, entries.len);
	cap_free(&entries);
	for (uint32_t k = 0; k < 2; k++) {
		uint8_t *ring = data + ctl.rings_off + k * ctl.ring_stride;
		struct xsprof_ring_writer w = {
			.head = head,
			.kind = k ? XSPROF_RING_LOCK : XSPROF_RING_RSEQ,
			.cpu = k ? ~0u : 0,
			.grown = slots,
			.drops = 2,
		};
		struct xsprof_ring_reader reader = { 0 };

		if (mode == XSPROF_MODE_DISCARD && head > slots)
			reader.tail = head - slots;
		memcpy(ring, &w, sizeof(w));
		memcpy(ring + 4096, &reader, sizeof(reader));
		for (uint64_t p = head > slots ? head - slots : 0; p < head; p++) {
			struct xsprof_rec rec = { .tid = 1, .type = XSPROF_REC_INSTANT, .size = 1,
						  .ts = 2000 + 2 * p + k, .name = 1,
						  .value = 2 * p + k };

			memcpy(ring + 8192 + p % slots * XSPROF_SLOT_SIZE, &rec, sizeof(rec));
		}
	}
	*len = ctl.total_size;
	return data;
}
