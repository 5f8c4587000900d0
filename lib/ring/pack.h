/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Packs arguments into as many records as needed, each written when it is full. All on the caller's
 * stack, so it is signal-safe.
 */
#ifndef XSP_PACK_H
#define XSP_PACK_H

#include <string.h>

#include "ring/state.h"

#define XSP_PACK_WORDS	(XSPROF_RECORD_SLOTS * 4 - 2)
#define XSP_PACK_RECORDS	64

/**
 * struct xsp_pack - a record being filled with arguments
 * @word: the words after the timestamp
 * @used: bytes of @word in use, a multiple of 16
 * @hdr: first word, without the slot count
 * @records: records written so far
 */
struct xsp_pack {
	uint64_t	word[XSP_PACK_WORDS];
	size_t		used;
	uint64_t	hdr;
	unsigned int	records;
};

static inline void xsp_pack_start(struct xsp_pack *p, uint64_t hdr, uint64_t a, uint64_t b)
{
	p->word[0] = a;
	p->word[1] = b;
	p->used = 16;
	p->hdr = hdr;
}

/* Writes the record; @more: an ARGS record will follow. */
static inline void xsp_pack_write(struct xsp_pack *p, bool more)
{
	/* 16 bytes of header and time, then @used; the last half slot is an END argument. */
	unsigned int slots = (unsigned int)((p->used + 16 + XSPROF_SLOT_SIZE - 1) /
					    XSPROF_SLOT_SIZE);

	if (!(p->used & 16))
		p->word[p->used / 8] = p->word[p->used / 8 + 1] = 0;
	xsp_put_slow(p->hdr | (uint64_t)slots << 40 |
		     (uint64_t)(more ? XSPROF_RECF_MORE : 0) << 44, p->word, slots, 0);
	p->records++;
}

static inline size_t xsp_pack_room(const struct xsp_pack *p)
{
	return sizeof(p->word) - p->used;
}

/* Starts another record. Return: false if the limit is reached. */
static inline bool xsp_pack_next(struct xsp_pack *p)
{
	uint64_t tid = (uint32_t)p->hdr;

	if (p->records + 1 >= XSP_PACK_RECORDS)
		return false;
	xsp_pack_write(p, true);
	xsp_pack_start(p, xsp_hdr(tid, XSPROF_REC_ARGS, 0), 0, 0);
	return true;
}

static inline void xsp_pack_arg(struct xsp_pack *p, const struct xsprof_arg *arg, const void *bytes)
{
	size_t padded = ((size_t)arg->len + 15) & ~(size_t)15;
	char *to = (char *)p->word + p->used;

	memcpy(to, arg, sizeof(*arg));
	if (arg->len) {
		memcpy(to + sizeof(*arg), bytes, arg->len);
		memset(to + sizeof(*arg) + arg->len, 0, padded - arg->len);
	}
	p->used += sizeof(*arg) + padded;
}

/*
 * Adds bytes that fill the rest of a record and continue in the next; @flags: XSPROF_ARGF_* of the
 * first piece, XSPROF_ARGF_CUT that of the last.
 */
static inline bool xsp_pack_long(struct xsp_pack *p, xsprof_name_t key, uint8_t type,
				 uint8_t flags, const void *bytes, size_t len)
{
	struct xsprof_arg arg = { .key = key, .type = type, .flags = flags & ~XSPROF_ARGF_CUT };
	const char *at = bytes;

	do {
		size_t room = xsp_pack_room(p);
		size_t part;

		/* Pieces have at least 16 bytes, or all that remain. */
		if (room < sizeof(arg) + 16) {
			if (!xsp_pack_next(p))
				return false;
			room = xsp_pack_room(p);
		}
		part = room - sizeof(arg);
		if (part > len)
			part = len;
		arg.len = part;
		if (part == len)
			arg.flags |= flags & XSPROF_ARGF_CUT;
		xsp_pack_arg(p, &arg, at);
		arg.flags = XSPROF_ARGF_CONT;
		at += part;
		len -= part;
	} while (len);
	return true;
}

/* The same for a string or, with @unit 8, an array of numbers, cut to the maximum length. */
static inline bool xsp_pack_pieces(struct xsp_pack *p, xsprof_name_t key, uint8_t type,
				   const void *bytes, size_t len, size_t unit)
{
	uint8_t flags = len > XSPROF_TEXT_MAX ? XSPROF_ARGF_CUT : 0;

	if (flags)
		len = XSPROF_TEXT_MAX / unit * unit;
	return xsp_pack_long(p, key, type, flags, bytes, len);
}

/* An argument that is never split: at most what a record has room for. */
static inline bool xsp_pack_whole(struct xsp_pack *p, const struct xsprof_arg *arg,
				  const void *bytes)
{
	size_t need = sizeof(*arg) + (((size_t)arg->len + 15) & ~(size_t)15);

	if (xsp_pack_room(p) < need && !xsp_pack_next(p))
		return false;
	xsp_pack_arg(p, arg, bytes);
	return true;
}

/* The last argument, for which room is reserved. */
static inline void xsp_pack_last(struct xsp_pack *p, const struct xsprof_arg *arg)
{
	uint64_t tid = (uint32_t)p->hdr;

	if (xsp_pack_room(p) < sizeof(*arg)) {
		xsp_pack_write(p, true);
		xsp_pack_start(p, xsp_hdr(tid, XSPROF_REC_ARGS, 0), 0, 0);
	}
	xsp_pack_arg(p, arg, "");
}

/*
 * The first word of an argument, as in struct xsprof_arg. Storing its members singly and then
 * reading the word would stall the CPU longer than the rest of an argument takes.
 */
static inline uint64_t xsp_arg_word(xsprof_name_t key, uint32_t type, size_t len)
{
	return (uint64_t)key | (uint64_t)type << 32 | (uint64_t)len << 48;
}

/*
 * Up to four numbers, as sizes have, if there is room: avoids a call of memcpy() for a dozen bytes.
 * Return: false if it does not apply.
 */
static inline bool xsp_pack_few(struct xsp_pack *p, xsprof_name_t key, const void *bytes,
				size_t len)
{
	uint64_t *to = p->word + p->used / 8;
	uint64_t a = 0, b = 0;

	if (!len || len > 16 || xsp_pack_room(p) < sizeof(struct xsprof_arg) + 16)
		return false;
	if (len == 4)
		memcpy(&a, bytes, 4);
	else
		memcpy(&a, bytes, 8);
	if (len == 12)
		memcpy(&b, (const char *)bytes + 8, 4);
	else if (len == 16)
		memcpy(&b, (const char *)bytes + 8, 8);
	to[0] = xsp_arg_word(key, XSPROF_ARG_I32S, len);
	to[1] = 0;
	to[2] = a;
	to[3] = b;
	p->used += sizeof(struct xsprof_arg) + 16;
	return true;
}

/* Return: false if there is no room. */
static inline bool xsp_pack_kv(struct xsp_pack *p, const struct xsprof_kv *kv)
{
	uint64_t *to;

	if (kv->type == XSPROF_ARG_STR)
		return xsp_pack_pieces(p, kv->key, XSPROF_ARG_STR, kv->u.str, kv->len, 1);
	if (kv->type == XSPROF_ARG_I32S)
		return xsp_pack_few(p, kv->key, kv->u.ptr, kv->len & ~(size_t)3) ||
		       xsp_pack_pieces(p, kv->key, XSPROF_ARG_I32S, kv->u.ptr, kv->len & ~(size_t)3,
				       4);
	if (kv->type == XSPROF_ARG_END || kv->type > XSPROF_ARG_STR)
		return true;
	if (xsp_pack_room(p) < sizeof(struct xsprof_arg) && !xsp_pack_next(p))
		return false;
	to = p->word + p->used / 8;
	to[0] = xsp_arg_word(kv->key, kv->type, 0);
	to[1] = kv->u.u64;
	p->used += sizeof(struct xsprof_arg);
	return true;
}

/*
 * The thread's id, also for its first marker. A forked child's thread may still have its parent's,
 * which would go into several records here.
 */
static inline uint64_t xsp_this_tid(void)
{
	return likely(xsp_thread.hdr && xsp_attached()) ? xsp_thread.hdr : xsp_thread_enter();
}

#endif /* XSP_PACK_H */
