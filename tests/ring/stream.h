/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Streams of numbered records: record @seq of stream @id always has the same words, so a reader can
 * tell a whole record from a torn one. All sizes from 1 to 8 slots, through each of the library's
 * sequences: the inline ones and the general one.
 */
#ifndef XSP_TEST_STREAM_H
#define XSP_TEST_STREAM_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <xsprof/xsprof.h>

#define STREAM_SEQ_BITS	44
#define STREAM_MAX	256

static xsprof_name_t stream_name[4];

static inline uint64_t stream_mix(uint64_t x)
{
	x ^= x >> 31;
	x *= 0x9e3779b97f4a7c15ull;
	x ^= x >> 29;
	x *= 0xbf58476d1ce4e5b9ull;
	return x ^ x >> 32;
}

__attribute__((unused)) static void stream_init(void)
{
	stream_name[0] = xsprof_name("stream.one");
	stream_name[1] = xsprof_name("stream.two");
	stream_name[2] = xsprof_name("stream.key");
	stream_name[3] = xsprof_name("stream.span");
}

static inline uint64_t stream_tag(unsigned int id, uint64_t seq)
{
	return (uint64_t)(id + 1) << STREAM_SEQ_BITS | seq;
}

static inline uint64_t stream_word(uint64_t tag, unsigned int i)
{
	return stream_mix(tag + i * 0x123456789abcdefull);
}

/* Returns the slots of record @tag, up to @most: half of all have one slot, as in real programs. */
static inline unsigned int stream_slots(uint64_t tag, unsigned int most)
{
	static const uint8_t sizes[16] = { 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 3, 4, 5, 6, 7, 8 };
	unsigned int n = sizes[stream_mix(tag) & 15];

	return n <= most ? n : 1;
}

/* Kinds of one-slot records. */
enum stream_one { STREAM_COUNTER, STREAM_ASYNC, STREAM_COMPLETE, STREAM_FLOW };

static inline enum stream_one stream_kind(uint64_t tag)
{
	return stream_mix(tag) >> 8 & 3;
}

static inline void stream_emit_one(uint64_t tag)
{
	xsprof_name_t name = stream_name[tag & 1];

	switch (stream_kind(tag)) {
	case STREAM_COUNTER:
		xsprof_counter(name, (int64_t)tag);
		break;
	case STREAM_COMPLETE:
		xsprof_complete(name, tag);
		break;
	case STREAM_ASYNC:
		xsprof_emit(XSPROF_REC_ASYNC_INSTANT, name, (uint32_t)stream_word(tag, 1), tag);
		break;
	case STREAM_FLOW:
		xsprof_emit(XSPROF_REC_FLOW_STEP, name, (uint32_t)stream_word(tag, 2), tag);
		break;
	}
}

/* A record made in advance, so that a test can observe the writing alone. */
struct stream_record {
	uint64_t		tag;
	uint64_t		word[3];
	unsigned int		slots;
	unsigned int		args;
	struct xsprof_kv	kv[14];
};

/* Makes record @seq of stream @id, of @n slots. */
static inline void stream_make(struct stream_record *r, unsigned int id, uint64_t seq,
			       unsigned int n)
{
	uint64_t tag = stream_tag(id, seq);

	r->tag = tag;
	r->slots = n;
	r->args = 0;
	if (n == 1)
		return;
	if (n == 2 && tag & 1) {
		for (unsigned int i = 0; i < 3; i++)
			r->word[i] = stream_word(tag, i + 1);
		return;
	}
	/* With an odd count half a slot stays zero. */
	r->args = 2 * (n - 1) - (unsigned int)(tag >> 1 & 1);
	for (unsigned int i = 0; i < r->args; i++)
		r->kv[i] = xsprof_u64(stream_name[2], i ? stream_word(tag, i) : tag);
}

static inline void stream_put(const struct stream_record *r)
{
	if (r->slots == 1)
		stream_emit_one(r->tag);
	else if (!r->args)
		xsprof_span(stream_name[3], r->word[0], r->word[1], r->tag, r->word[2]);
	else
		xsprof_instant_args(stream_name[r->tag & 1], r->kv, r->args);
}

/* Makes the record as packed by the library. Return: its type; @word: 30 words. */
static inline unsigned int stream_payload(const struct stream_record *r, uint64_t *word)
{
	memset(word, 0, 30 * sizeof(*word));
	if (!r->args) {
		word[0] = stream_name[3];
		word[1] = r->tag;
		memcpy(word + 2, r->word, sizeof(r->word));
		return XSPROF_REC_SPAN;
	}
	word[0] = stream_name[r->tag & 1];
	for (unsigned int i = 0; i < r->args; i++) {
		word[2 + 2 * i] = r->kv[i].key | (uint64_t)r->kv[i].type << 32;
		word[3 + 2 * i] = r->kv[i].u.u64;
	}
	return XSPROF_REC_INSTANT;
}

static inline void stream_emit_sized(unsigned int id, uint64_t seq, unsigned int n)
{
	struct stream_record r;

	stream_make(&r, id, seq, n);
	stream_put(&r);
}

static inline void stream_emit(unsigned int id, uint64_t seq, unsigned int most)
{
	stream_emit_sized(id, seq, stream_slots(stream_tag(id, seq), most));
}

static inline bool stream_check_one(const uint64_t *s, uint64_t *tag)
{
	static const uint8_t type[] = {
		[STREAM_COUNTER] = XSPROF_REC_COUNTER_I64,
		[STREAM_ASYNC] = XSPROF_REC_ASYNC_INSTANT,
		[STREAM_COMPLETE] = XSPROF_REC_COMPLETE,
		[STREAM_FLOW] = XSPROF_REC_FLOW_STEP,
	};
	enum stream_one kind;
	uint64_t aux = 0;

	*tag = (s[0] >> 32 & 0xff) == XSPROF_REC_COMPLETE ? s[1] - s[3] : s[3];
	kind = stream_kind(*tag);
	if (kind == STREAM_ASYNC || kind == STREAM_FLOW)
		aux = (uint32_t)stream_word(*tag, kind == STREAM_ASYNC ? 1 : 2);
	return (s[0] >> 32 & 0xff) == type[kind] &&
	       s[2] == (stream_name[*tag & 1] | aux << 32);
}

static inline bool stream_check_span(const uint64_t *s, uint64_t *tag)
{
	*tag = s[3];
	return *tag & 1 && s[2] == stream_name[3] && s[4] == stream_word(*tag, 1) &&
	       s[5] == stream_word(*tag, 2) && s[6] == stream_word(*tag, 3) && !s[7];
}

static inline bool stream_check_args(const uint64_t *s, unsigned int n, uint64_t *tag)
{
	uint64_t key = stream_name[2] | (uint64_t)XSPROF_ARG_U64 << 32;
	unsigned int i, args;

	*tag = s[5];
	args = 2 * (n - 1) - (unsigned int)(*tag >> 1 & 1);
	if ((s[0] >> 32 & 0xff) != XSPROF_REC_INSTANT || s[2] != stream_name[*tag & 1] || s[3])
		return false;
	for (i = 0; i < args; i++)
		if (s[4 + 2 * i] != key || s[5 + 2 * i] != (i ? stream_word(*tag, i) : *tag))
			return false;
	/* The rest is 0: nothing of the old stack. */
	return args == 2 * (n - 1) || (!s[4 + 2 * args] && !s[5 + 2 * args]);
}

/**
 * stream_check() - is this a whole record of a stream?
 * @s: its slots
 * @n: how many
 * @id: set to its stream
 * @seq: set to its number
 */
static inline bool stream_check(const uint64_t *s, unsigned int n, unsigned int *id,
				uint64_t *seq)
{
	uint64_t flags = s[0] >> 44;
	uint64_t tag;
	bool ok;

	if (n == 1)
		ok = stream_check_one(s, &tag);
	else if (n == 2 && (s[0] >> 32 & 0xff) == XSPROF_REC_SPAN)
		ok = stream_check_span(s, &tag);
	else
		ok = stream_check_args(s, n, &tag);
	/* Only records of lock rings have the CPU. */
	if (!(flags & XSPROF_RECF_CPU) && flags)
		ok = false;
	*id = (unsigned int)(tag >> STREAM_SEQ_BITS) - 1;
	*seq = tag & ((1ull << STREAM_SEQ_BITS) - 1);
	return ok && *id < STREAM_MAX;
}

#endif /* XSP_TEST_STREAM_H */
