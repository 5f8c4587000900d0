// SPDX-License-Identifier: GPL-2.0-only
/*
 * Captures of N times the same thing, to measure the cost of reading them: each kind has many of
 * something that a reader could walk again and again.
 */
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "tools/capture.h"

#define EACH	8000u		/* rings of a producer that no chunk describes */

static void begin(void)
{
	cap_host("hostname=cost\n");
	cap_clock(T(0), T(100000000));
}

/* Begins a program with names 1 and 2 of categories 1 and 2. */
static void begin_program(struct cap_ring *r)
{
	begin();
	cap_producer(0, 100, T(0));
	cap_name(1, 1, "kept");
	cap_name(2, 2, "switched");
	cap_arena(0);
	cap_ring_open(r, 0, 0, 4096);
}

static uint32_t id(uint32_t index)
{
	return index << XSPROF_NAME_SHIFT | index;
}

/* Threads with an open range; then a range of another category, and its switch, repeatedly. */
static void make_control(uint32_t n, uint8_t type)
{
	struct cap_ring r;
	uint64_t t = T(1);

	begin_program(&r);
	for (uint32_t i = 0; i < n; i++)
		cap_event(&r, t++, type, 1000 + i, id(1), 0, i);
	for (uint32_t i = 0; i < n; i++) {
		cap_event(&r, t++, type, 1, id(2), 0, 1ull << 40 | i);
		cap_event(&r, t++, XSPROF_REC_CONTROL, 1, 0, XSPROF_CONTROL_ENABLE, 1 << 1);
	}
	cap_ring_close(&r, 0);
	cap_end(t);
}

static void make_ledgers(uint32_t n)
{
	begin();
	for (uint32_t i = 0; i < n; i++) {
		struct xsprof_cap_ledger ledger = { .ring = i % EACH };

		cap_chunk(XSPROF_CHUNK_LEDGER, i / EACH, i % EACH, 0, &ledger, sizeof(ledger));
	}
	cap_end(T(10));
}

/* Rings whose records alternate, so that a reader needs each ring's window for each record. */
static void make_rings(uint32_t n)
{
	struct cap_ring r;

	begin();
	for (uint32_t i = 0; i < n; i++) {
		cap_ring_open(&r, i / EACH, i % EACH, 8);
		for (uint32_t k = 0; k < 2; k++)
			cap_event(&r, T(1) + k * n + i, XSPROF_REC_INSTANT, 5, 1, 0, k);
		cap_ring_close(&r, 0);
	}
	cap_end(T(1000));
}

/* Processes that each leave a thread's range open. */
static void make_exits(uint32_t n)
{
	struct cap_ring r;

	begin();
	for (uint32_t i = 0; i < n; i++) {
		cap_ring_open(&r, i, 0, 8);
		cap_event(&r, T(1) + i, XSPROF_REC_BEGIN, 1000 + i, 1, 0, 0);
		cap_ring_close(&r, 0);
		cap_exit(i, XSPROF_HOW_EXITED, 0, T(100) + i);
	}
	cap_end(T(1000));
}

/* Fills the payload of a record of three slots; @t: now. */
static void fill(uint64_t *payload, uint8_t type, uint64_t t, uint32_t i)
{
	const struct xsprof_rec_gpu gpu = {
		.start = t - 500, .end = t, .device = i % 20, .context = i % 3, .stream = i % 50,
		.bytes = i, .graph = i % 5, .graph_node = i % 300, .thread = 1000 + i % 500,
	};
	const size_t head = sizeof(struct xsprof_rec);

	if (type == XSPROF_REC_GPU)
		memcpy(payload, (const uint8_t *)&gpu + head, sizeof(gpu) - head);
	else if (type >= XSPROF_REC_SCHED_IN)
		snprintf((char *)payload, XSPROF_SCHED_COMM, "task-%u", i % 3000);
	else
		for (uint32_t k = 0; k < 8; k++)
			payload[k] = type == XSPROF_REC_STACK ? 0x400000 + (i + k) * 16 : t;
}

/* Returns the meaning of aux for the type. */
static uint32_t aux_of(uint8_t type, uint32_t i)
{
	switch (type) {
	case XSPROF_REC_GPU:
		return XSPROF_GPU_KERNEL + i % XSPROF_GPU_FREE;
	case XSPROF_REC_STACK:
		return 8;
	case XSPROF_REC_SCHED_OUT:
		return 'S' << XSPROF_SCHED_STATE_SHIFT | XSPROF_SCHED_PROCESS;
	case XSPROF_REC_SCHED_WAKE:
		return XSPROF_SCHED_PROCESS;
	default:
		return i % 7;
	}
}

/*
 * Every type of record and an invalid one, with many threads and names. The kernel's are in a ring
 * of their own.
 */
static void make_records(uint32_t n)
{
	static const uint8_t last[] = {
		XSPROF_REC_SCHED_IN, XSPROF_REC_SCHED_OUT, XSPROF_REC_SCHED_WAKE,
		XSPROF_REC_SCHED_MIGRATE, XSPROF_REC_LOST,
	};
	const uint32_t first = XSPROF_REC_SAMPLE + 1, types = first + sizeof(last);
	struct cap_ring r, kernel;
	uint64_t t = T(1);

	begin_program(&r);
	cap_ring_open(&kernel, 0, 6, 4096);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = i % types, round = i / types;
		uint8_t type = k < first ? (uint8_t)(XSPROF_REC_BEGIN + k) : last[k - first];
		uint64_t words[3 * 4] = { 0 };
		struct xsprof_rec rec;

		rec = cap_head(t++, type, 1000 + round % 500, 1 + i % 2000, aux_of(type, round), i);
		rec.size = 3;
		memcpy(words, &rec, sizeof(rec));
		fill(words + 4, type, t, round);
		cap_record(type >= XSPROF_REC_SCHED_IN && type <= XSPROF_REC_SCHED_MIGRATE ?
			   &kernel : &r, words, 3);
	}
	cap_ring_close(&r, 0);
	cap_ring_close(&kernel, 0);
	cap_end(t);
}

/* Chunks of every type except rings, each with something new. */
static void make_chunks(uint32_t n)
{
	char text[64];

	begin();
	for (uint32_t i = 0; i < n; i++) {
		struct xsprof_cap_switch off = { .ticks = T(1) + i };
		uint32_t p = i % 50;

		snprintf(text, sizeof(text), "name number %u", i);
		cap_name(0, i % 0xfffff + 1, text);
		cap_entry(XSPROF_ENTRY_THREAD, 1000 + i, XSPROF_THREAD_GIVEN, text, strlen(text));
		snprintf(text, sizeof(text), "fact%u=%u", i, i);
		cap_entry(XSPROF_ENTRY_FACT, 0, 0, text, strlen(text));
		cap_arena(p);
		cap_thread(p, 1000 + i, "comm");
		cap_chunk(XSPROF_CHUNK_SWITCH, p, 0, 0, &off, sizeof(off));
		cap_chunk(XSPROF_CHUNK_NOTE, XSPROF_NO_PRODUCER, 0, 0, text, strlen(text));
		cap_host(text);
		cap_clock(T(1) + i * 1000, T(1) + i * 1000 + 500);
		cap_chunk(200, 0, 0, 0, text, 8);
	}
	cap_end(T(1) + n * 1000);
}

/* Inverts xsp_hash_mix(): returns the value whose hash is @y. */
static uint64_t unmix(uint64_t y)
{
	const uint64_t factor = 0xd6e8feb86659fd93ull;
	uint64_t inverse = factor;

	/* Each round doubles the number of correct bits. */
	for (int i = 0; i < 6; i++)
		inverse *= 2 - factor * inverse;
	y ^= y >> 32;
	y *= inverse;
	y ^= y >> 32;
	y *= inverse;
	return y ^ y >> 32;
}

/* Launches for annotations whose ids collide in any hash table without a seed. */
static void make_users(uint32_t n)
{
	struct cap_ring r;
	uint64_t t = T(1);

	begin_program(&r);
	for (uint32_t i = 0; i < n; i++) {
		cap_event(&r, t++, XSPROF_REC_CORR_PUSH, 5, 0, 1, unmix((i + 1ull) << 20));
		cap_event(&r, t++, XSPROF_REC_CORR_PUSH, 5, 0, 0, i + 1);
		cap_event(&r, t++, XSPROF_REC_CORR_POP, 5, 0, 0, 0);
		cap_event(&r, t++, XSPROF_REC_CORR_POP, 5, 0, 1, 0);
	}
	cap_ring_close(&r, 0);
	cap_end(t);
}

/*
 * Threads with a step each, all open at once, that end and begin again in turn while memory in use
 * falls: each step has another maximum.
 */
static void make_memory(uint32_t n)
{
	struct xsprof_rec_mem mem = { .bytes = 64 };
	struct cap_ring r;
	uint64_t t = T(1);

	begin_program(&r);
	for (uint32_t i = 0; i < 3 * n; i++) {
		uint32_t tid = 1000 + i % n;

		if (i >= n)
			cap_event(&r, t++, XSPROF_REC_END, tid, 0, 0, 0);
		mem.rec = cap_head(t++, XSPROF_REC_FREE, tid, 0, 0, i);
		mem.total_allocated = 64ull * (4 * n - i);
		cap_record(&r, &mem, 2);
		if (i < 2 * n)
			cap_event(&r, t++, XSPROF_REC_BEGIN, tid, id(1), 0, 0);
	}
	cap_ring_close(&r, 0);
	cap_end(t);
}

/* Ranges hidden by a pause, and ends that belong to none of them. */
static void make_hidden(uint32_t n)
{
	struct cap_ring r;
	uint64_t t = T(1);

	begin_program(&r);
	for (uint32_t i = 0; i < n; i++)
		cap_event(&r, t++, XSPROF_REC_BEGIN, 1000 + i, id(1), 0, 0);
	cap_event(&r, t++, XSPROF_REC_CONTROL, 1, 0, XSPROF_CONTROL_PAUSE, 0);
	cap_event(&r, t++, XSPROF_REC_CONTROL, 1, 0, XSPROF_CONTROL_RESUME, ~0ull);
	for (uint32_t i = 0; i < n; i++) {
		cap_event(&r, t++, XSPROF_REC_END, 1000, id(2), 0, 0);
		cap_event(&r, t++, XSPROF_REC_END, 1, 0, 0, 0);
	}
	cap_ring_close(&r, 0);
	cap_end(t);
}

/* Ranges that all continue when the one around them ends, twice. */
static void make_parts(uint32_t n)
{
	struct cap_ring r;
	uint64_t t = T(1);

	begin_program(&r);
	cap_event(&r, t++, XSPROF_REC_BEGIN, 1, id(2), 0, 0);
	cap_event(&r, t++, XSPROF_REC_BEGIN, 1, id(2), 0, 0);
	for (uint32_t part = 0; part < 3; part++) {
		for (uint32_t i = 0; i < n; i++)
			cap_event(&r, t++, XSPROF_REC_BEGIN, 1, id(1), 0, 0);
		for (uint32_t i = 0; i < n; i++)
			cap_event(&r, t++, XSPROF_REC_END, 1, 0,
				  part < 2 ? XSPROF_END_CONTINUED : 0, 0);
		if (part < 2)
			cap_event(&r, t++, XSPROF_REC_END, 1, 0, 0, 0);
	}
	cap_ring_close(&r, 0);
	cap_end(t);
}

/* Nested mappings, with a stack after each, and an op with it: each stack has its own mapping. */
static void make_mappings(uint32_t n)
{
	struct xsprof_rec_op op = { .sequence = -1 };
	uint64_t t = T(1), stack[8];
	struct cap_ring r;
	char text[64];

	begin_program(&r);
	for (uint32_t i = 0; i < n; i++) {
		snprintf(text, sizeof(text), "%x-%x %x - /gone", 1000 + i, 1000 + 4 * n - i, i);
		cap_entry(XSPROF_ENTRY_MAP, 0, 0, text, strlen(text));
		for (uint32_t k = 0; k < 8; k++)
			stack[k] = 1000 + i % 64 * 8 + k;
		cap_entry(XSPROF_ENTRY_STACK, i + 1, 0, stack, sizeof(stack));
		cap_arena(0);
		op.rec = cap_head(t++, XSPROF_REC_OP, 1, id(1), 0, 0);
		op.stack = i + 1;
		cap_record(&r, &op, sizeof(op) / XSPROF_SLOT_SIZE);
		cap_event(&r, t++, XSPROF_REC_END, 1, 0, 0, 0);
		cap_ring_flush(&r);
	}
	cap_ring_close(&r, 0);
	cap_end(t);
}

/* Threads whose ids collide under one multiplication. */
static void make_alike(uint32_t n)
{
	struct cap_ring r;
	uint32_t tid = 1;

	begin_program(&r);
	for (uint32_t i = 0; i < n; i++) {
		while (xsp_hash_slot(tid, 13))
			tid++;
		cap_event(&r, T(1) + i, XSPROF_REC_BEGIN, tid++, id(1), 0, 0);
	}
	cap_ring_close(&r, 0);
	cap_end(T(1000));
}

int cap_make_cost(const char *kind, uint32_t n)
{
	if (!strcmp(kind, "control"))
		make_control(n, XSPROF_REC_BEGIN);
	else if (!strcmp(kind, "async"))
		make_control(n, XSPROF_REC_ASYNC_BEGIN);
	else if (!strcmp(kind, "ledgers"))
		make_ledgers(n);
	else if (!strcmp(kind, "rings"))
		make_rings(n);
	else if (!strcmp(kind, "exits"))
		make_exits(n);
	else if (!strcmp(kind, "records"))
		make_records(n);
	else if (!strcmp(kind, "chunks"))
		make_chunks(n);
	else if (!strcmp(kind, "users"))
		make_users(n);
	else if (!strcmp(kind, "memory"))
		make_memory(n);
	else if (!strcmp(kind, "hidden"))
		make_hidden(n);
	else if (!strcmp(kind, "parts"))
		make_parts(n);
	else if (!strcmp(kind, "mappings"))
		make_mappings(n);
	else if (!strcmp(kind, "alike"))
		make_alike(n);
	else if (!strcmp(kind, "threads"))
		cap_make_cost_threads(n);
	else
		return cap_make_devices(kind, n);
	return 0;
}
