// SPDX-License-Identifier: GPL-2.0-only
/*
 * No byte of a record contains old memory: fills the ring with a pattern, writes records of every
 * kind and size, and checks that each byte without a meaning is 0.
 *
 *	session XSPROF_BUFFER_SIZE=16k leak [records=N]
 */
#include "reader.h"
#include "stream.h"

#define POISON		0xaa
#define KINDS		7

static struct rd rd;
static uint64_t found, losts, drops_made;
static xsprof_name_t key, text_name;

static void poison(void)
{
	for (uint32_t k = 0; k < rd.nr; k++) {
		struct rd_ring *r = &rd.ring[k];
		uint64_t head = rd_head(r), free = r->size - (head - r->at);

		if (!rd_ready(&rd, k))
			continue;
		for (uint64_t i = 0; i < free; i++)
			memset(rd_slot(r, head + i), POISON, XSPROF_SLOT_SIZE);
	}
}

/* Checks strings and the zeros after them, by the rules of abi.h. */
static void check_args(struct rd_ring *r, const uint64_t *slot, unsigned int n, unsigned int at)
{
	const unsigned char *byte = (const unsigned char *)slot;
	unsigned int end = n * XSPROF_SLOT_SIZE;
	struct xsprof_arg arg;

	while (at + sizeof(arg) <= end) {
		unsigned int i, padded;

		memcpy(&arg, byte + at, sizeof(arg));
		if (!arg.type) {
			for (i = at; i < end; i++)
				if (byte[i])
					rd_wrong(r, "byte %u after the last argument is %x", i,
						 byte[i]);
			return;
		}
		at += sizeof(arg);
		if (arg.type != XSPROF_ARG_STR) {
			if (arg.len || arg.flags)
				rd_wrong(r, "length or flags of a number");
			continue;
		}
		padded = (arg.len + 15u) & ~15u;
		if (at + padded > end || arg.value) {
			rd_wrong(r, "a string beyond its record, or with a value");
			return;
		}
		for (i = at + arg.len; i < at + padded; i++)
			if (byte[i])
				rd_wrong(r, "byte %u behind a string is %x", i, byte[i]);
		at += padded;
	}
}

static void take(struct rd_ring *r, const uint64_t *slot, unsigned int n, void *arg)
{
	unsigned int type = rd_type(slot), id, words = 0;
	uint64_t seq;

	(void)arg;
	if (type == XSPROF_REC_LOST) {
		losts++;
		return;
	}
	found++;
	if (!(slot[0] >> 44 & XSPROF_RECF_CPU) && slot[0] >> 48)
		rd_wrong(r, "a CPU that is not said to be one");
	switch (type) {
	case XSPROF_REC_BEGIN:
	case XSPROF_REC_ARGS:
		check_args(r, slot, n, XSPROF_SLOT_SIZE);
		return;
	case XSPROF_REC_END:
		words = slot[2] || slot[3];
		break;
	case XSPROF_REC_ALLOC:
	case XSPROF_REC_FREE:
		words = slot[7] != 0;
		break;
	case XSPROF_REC_RELATION:
		words = slot[5] || slot[6] || slot[7] || (uint32_t)slot[2];
		break;
	default:
		/* Every word of a stream's record is known. */
		words = !stream_check(slot, n, &id, &seq);
		break;
	}
	if (words)
		rd_wrong(r, "type %x has something where it should be 0", type);
}

static void emit(uint64_t i)
{
	char str[64] = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijk";
	struct xsprof_kv kv[3] = {
		xsprof_str(key, str), xsprof_i64(key, -1), xsprof_str(key, str),
	};

	kv[0].len = i % 60;
	kv[2].len = i / 60 % 60;

	switch (i % KINDS) {
	case 0:
		xsprof_begin_args(text_name, kv, 1 + i / KINDS % 3);
		break;
	case 1:
		xsprof_end();
		break;
	case 2:
		xsprof_args(kv, 1 + i / KINDS % 3);
		break;
	case 3:
		xsprof_alloc(text_name, &key, i, 0, 1, 2);
		break;
	case 4:
		xsprof_free(text_name, &key, i, 0, 1, 2);
		break;
	case 5:
		xsprof_relation(1, i, i + 1);
		break;
	case 6:
		stream_emit(0, i, XSPROF_RECORD_SLOTS);
		break;
	}
}

/* Fills the stack, where records are built, with a pattern. */
static __attribute__((noinline)) void dirty_stack(void)
{
	volatile unsigned char dirt[4096];

	for (unsigned int i = 0; i < sizeof(dirt); i++)
		dirt[i] = POISON;
}

int main(int argc, char **argv)
{
	uint64_t records = arg_number(argc, argv, "records", 200000), i;

	stream_init();
	key = xsprof_name("key");
	text_name = xsprof_name("text");
	if (rd_open_pid(&rd, getpid()))
		tap_bail("not attached: run it under session");
	for (i = 0; i < records; i++) {
		/* Sometimes the ring is full, to test LOST and the record after it too. */
		bool full = i % 1000 > 600;

		dirty_stack();
		emit(i);
		if (!full) {
			rd_drain_all(&rd, take, NULL);
			if (i % 16 == 0)
				poison();
		}
	}
	rd_drain_all(&rd, take, NULL);
	drops_made = rd_all_drops(&rd);
	tap_note("%llu records, %llu LOST, %llu dropped", (unsigned long long)found,
		 (unsigned long long)losts, (unsigned long long)drops_made);
	CHECK_EQ(found + drops_made, records);
	CHECK(losts > 0);
	tap_result("no byte of a record holds what was there before");
	/* The arena: entries with their padding; the rest of the header is 0. */
	for (i = 0; i < sizeof(rd.arena->reserved) / 8; i++)
		CHECK_EQ(rd.arena->reserved[i], 0);
	for (i = 0; i < rd.arena->used;) {
		const char *at = (const char *)(rd.arena + 1) + i;
		const struct xsprof_entry *e = (const struct xsprof_entry *)at;
		/* A thread's first entry has the time after its text. */
		uint32_t ticks = e->type == XSPROF_ENTRY_THREAD && e->aux & XSPROF_THREAD_NEW ?
				 sizeof(uint64_t) : 0;

		for (uint32_t b = sizeof(*e) + e->text_len; b < e->size - ticks; b++)
			CHECK_EQ(at[b], 0);
		CHECK(e->size >= sizeof(*e) + e->text_len + ticks && !(e->size & 7));
		i += e->size;
	}
	for (i = 0; i < sizeof(rd.ctl->reserved) / 8; i++)
		CHECK_EQ(rd.ctl->reserved[i], 0);
	for (i = 0; i < sizeof(rd.ctl->reserved0) / 8; i++)
		CHECK_EQ(rd.ctl->reserved0[i], 0);
	tap_result("nor does the arena, nor the control page");
	return tap_done();
}
