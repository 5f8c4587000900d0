// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes captures for the tests of the tools: see capture.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/crc32c.h"
#include "tools/capture.h"

static FILE *file;
static uint8_t arena[1 << 20];
static size_t arena_used;
static uint64_t arena_pos[XSPROF_CAP_MAX_PRODUCERS];
static uint64_t slots_total;
static uint32_t producers;
static uint64_t next_first, next_last;

static void put(const void *data, size_t len)
{
	if (len && fwrite(data, len, 1, file) != 1) {
		perror("make-capture");
		exit(1);
	}
}

void cap_open(const char *path)
{
	struct xsprof_cap_header header = {
		.magic = XSPROF_CAP_MAGIC,
		.major = XSPROF_CAP_MAJOR,
		.minor = XSPROF_CAP_MINOR,
		.header_size = sizeof(header),
		.created = 1700000000000000000u,
	};

	file = strcmp(path, "-") ? fopen(path, "w") : stdout;
	if (!file) {
		perror(path);
		exit(1);
	}
	header.crc = crc32c(&header, offsetof(struct xsprof_cap_header, crc));
	put(&header, sizeof(header));
}

void cap_flush(void)
{
	fflush(file);
}

void cap_close(void)
{
	if (fclose(file)) {
		perror("make-capture");
		exit(1);
	}
}

void cap_times(uint64_t first, uint64_t last)
{
	next_first = first;
	next_last = last;
}

void cap_chunk(uint16_t type, uint32_t producer, uint32_t ring, uint64_t pos, const void *data,
	       size_t len)
{
	static const uint8_t zero[8];
	struct xsprof_chunk chunk = {
		.magic = XSPROF_CHUNK_MAGIC,
		.type = type,
		.stored = (uint32_t)len,
		.raw = (uint32_t)len,
		.producer = producer,
		.ring = ring,
		.pos = pos,
		.first = next_first,
		.last = next_last,
	};

	cap_times(0, 0);
	if (type == XSPROF_CHUNK_RING) {
		const struct xsprof_rec *rec = data;

		chunk.first = rec->ts;
		while ((const uint8_t *)rec < (const uint8_t *)data + len) {
			if (rec->type != XSPROF_REC_PAD)
				chunk.last = rec->ts;
			rec += rec->size & 15;
		}
	}
	chunk.crc = crc32c(data, len);
	chunk.header_crc = crc32c(&chunk, offsetof(struct xsprof_chunk, header_crc));
	put(&chunk, sizeof(chunk));
	put(data, len);
	put(zero, -len & 7);
}

void cap_host(const char *lines)
{
	cap_chunk(XSPROF_CHUNK_HOST, XSPROF_NO_PRODUCER, 0, 0, lines, strlen(lines));
}

static struct xsprof_sync sync_at(uint64_t ticks)
{
	return (struct xsprof_sync){
		.ticks = ticks, .mono = ticks, .mono_raw = ticks, .boot = ticks,
		.real = 1700000000000000000u + ticks, .window = 20, .kind = XSPROF_CLOCK_TSC,
	};
}

void cap_clock(uint64_t from, uint64_t to)
{
	struct xsprof_sync sync[2] = { sync_at(from), sync_at(to) };

	cap_chunk(XSPROF_CHUNK_CLOCK, XSPROF_NO_PRODUCER, 0, 0, sync, sizeof(sync));
}

void cap_producer(uint32_t producer, uint32_t pid, uint64_t ticks)
{
	cap_contained(producer, pid, pid, ticks);
}

void cap_contained(uint32_t producer, uint32_t pid, uint32_t own_pid, uint64_t ticks)
{
	static struct xsprof_cap_producer p;

	memset(&p, 0, sizeof(p));
	p.pid = pid;
	p.found = ticks;
	p.ctl.magic = XSPROF_MAGIC;
	p.ctl.abi_major = XSPROF_ABI_MAJOR;
	p.ctl.page_size = 4096;
	p.ctl.nr_rings = 4;
	p.ctl.nr_lock_rings = 1;
	p.ctl.nr_kernel_rings = 4;
	p.ctl.ring_size = 1 << 20;
	p.ctl.ring_stride = (1 << 20) + 8192;
	p.ctl.rings_off = 1 << 20;
	p.ctl.arena_off = 4096;
	p.ctl.arena_size = (1 << 20) - 4096;
	p.ctl.total_size = p.ctl.rings_off + 5 * p.ctl.ring_stride;
	p.ctl.pid = own_pid;
	p.ctl.ppid = 50;
	p.ctl.start_time = 99999;
	p.ctl.state = XSPROF_STATE_LIVE;
	p.ctl.clock = (struct xsprof_clock){
		.kind = XSPROF_CLOCK_TSC, .mult = 1, .freq = 1000000000,
	};
	p.ctl.attach = sync_at(ticks);
	cap_chunk(XSPROF_CHUNK_PRODUCER, producer, 0, 0, &p, sizeof(p));
	if (producer >= producers)
		producers = producer + 1;
}

void cap_thread(uint32_t producer, uint32_t tid, const char *comm)
{
	struct xsprof_cap_thread thread = { .tid = tid };

	memcpy(thread.comm, comm, strnlen(comm, sizeof(thread.comm)));
	cap_chunk(XSPROF_CHUNK_THREADS, producer, 0, 0, &thread, sizeof(thread));
}

void cap_exit(uint32_t producer, uint32_t how, int32_t status, uint64_t ticks)
{
	struct xsprof_cap_exit gone = { .how = how, .status = status, .ticks = ticks };

	cap_chunk(XSPROF_CHUNK_EXIT, producer, 0, 0, &gone, sizeof(gone));
}

void cap_end(uint64_t ticks)
{
	struct xsprof_cap_end end = {
		.ticks = ticks, .slots = slots_total, .producers = producers,
	};

	cap_chunk(XSPROF_CHUNK_END, XSPROF_NO_PRODUCER, 0, 0, &end, sizeof(end));
}

void cap_entry(uint16_t type, uint32_t id, uint32_t aux, const void *text, size_t len)
{
	struct xsprof_entry entry = {
		.size = (uint32_t)((sizeof(entry) + len + 7) & ~(size_t)7),
		.type = type,
		.text_len = (uint16_t)len,
		.id = id,
		.aux = aux,
	};

	memset(arena + arena_used, 0, entry.size);
	memcpy(arena + arena_used, &entry, sizeof(entry));
	memcpy(arena + arena_used + sizeof(entry), text, len);
	arena_used += entry.size;
}

void cap_arena(uint32_t producer)
{
	cap_chunk(XSPROF_CHUNK_ARENA, producer, 0, arena_pos[producer], arena, arena_used);
	arena_pos[producer] += arena_used;
	arena_used = 0;
}

uint32_t cap_name(uint32_t category, uint32_t index, const char *text)
{
	uint32_t id = category << XSPROF_NAME_SHIFT | index;

	cap_entry(XSPROF_ENTRY_NAME, id, 0, text, strlen(text));
	return id;
}

void cap_ring_open(struct cap_ring *ring, uint32_t producer, uint32_t number, uint32_t max)
{
	*ring = (struct cap_ring){ .producer = producer, .ring = number, .max = max };
	ring->slots = calloc(max + 8, XSPROF_SLOT_SIZE);
	if (!ring->slots)
		exit(1);
}

void cap_ring_flush(struct cap_ring *ring)
{
	if (!ring->n)
		return;
	cap_chunk(XSPROF_CHUNK_RING, ring->producer, ring->ring, ring->pos, ring->slots,
		  (size_t)ring->n * XSPROF_SLOT_SIZE);
	slots_total += ring->n;
	ring->pos += ring->n;
	ring->n = 0;
}

void cap_record(struct cap_ring *ring, const void *data, uint32_t slots)
{
	uint32_t left = (uint32_t)(XSPROF_BLOCK_SLOTS - (ring->pos + ring->n) % XSPROF_BLOCK_SLOTS);
	struct xsprof_rec *rec;

	if (left < slots) {
		rec = (struct xsprof_rec *)(ring->slots + (size_t)ring->n * XSPROF_SLOT_SIZE);
		memset(rec, 0, (size_t)left * XSPROF_SLOT_SIZE);
		rec->type = XSPROF_REC_PAD;
		rec->size = (uint8_t)left;
		ring->n += left;
		if (ring->n >= ring->max)
			cap_ring_flush(ring);
	}
	rec = (struct xsprof_rec *)(ring->slots + (size_t)ring->n * XSPROF_SLOT_SIZE);
	memcpy(rec, data, (size_t)slots * XSPROF_SLOT_SIZE);
	rec->size = (uint8_t)((rec->size & 0xf0) | slots);
	ring->n += slots;
	if (ring->n >= ring->max)
		cap_ring_flush(ring);
}

void cap_ring_close(struct cap_ring *ring, uint64_t drops)
{
	struct xsprof_cap_ledger ledger = {
		.ring = ring->ring, .kind = XSPROF_RING_RSEQ, .drops = drops,
	};

	cap_ring_flush(ring);
	ledger.head = ledger.read = ring->pos;
	cap_chunk(XSPROF_CHUNK_LEDGER, ring->producer, ring->ring, 0, &ledger, sizeof(ledger));
	free(ring->slots);
}

struct xsprof_rec cap_head(uint64_t ticks, uint8_t type, uint32_t tid, uint32_t name, uint32_t aux,
			   uint64_t value)
{
	return (struct xsprof_rec){
		.tid = tid, .type = type, .ts = ticks, .name = name, .aux = aux, .value = value,
	};
}

void cap_event(struct cap_ring *ring, uint64_t ticks, uint8_t type, uint32_t tid, uint32_t name,
	       uint32_t aux, uint64_t value)
{
	struct xsprof_rec rec = cap_head(ticks, type, tid, name, aux, value);

	cap_record(ring, &rec, 1);
}
