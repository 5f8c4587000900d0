// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Markers of more than one slot: arguments, spans, memory, relations.  Owns the packing of
 * arguments into records; the writing is the slow path's, which is made for any size.
 *
 * Records are built on the stack, so all of it is signal-safe.
 */
#include <string.h>

#include "internal.h"

#define PAYLOAD_WORDS	(XSPROF_RECORD_SLOTS * 4 - 2)
#define MAX_RECORDS	64

/**
 * struct packer - a record being filled with arguments
 * @word: what follows the timestamp
 * @used: bytes of @word used, a multiple of 16
 * @hdr: first word, without the slot count
 * @records: records written so far
 */
struct packer {
	uint64_t	word[PAYLOAD_WORDS];
	size_t		used;
	uint64_t	hdr;
	unsigned int	records;
};

static void packer_start(struct packer *p, uint64_t hdr, uint64_t a, uint64_t b)
{
	p->word[0] = a;
	p->word[1] = b;
	p->used = 16;
	p->hdr = hdr;
}

/* Write what is there; @more: an ARGS record will follow. */
static void packer_write(struct packer *p, bool more)
{
	/* 16 bytes of header and time, then @used; the last half slot is an END argument. */
	unsigned int slots = (unsigned int)((p->used + 16 + XSPROF_SLOT_SIZE - 1) /
					    XSPROF_SLOT_SIZE);

	memset((char *)p->word + p->used, 0, slots * XSPROF_SLOT_SIZE - 16 - p->used);
	xsp_put_slow(p->hdr | (uint64_t)slots << 40 |
		     (uint64_t)(more ? XSPROF_RECF_MORE : 0) << 44, p->word, slots, 0);
	p->records++;
}

static size_t packer_room(const struct packer *p)
{
	return sizeof(p->word) - p->used;
}

/* Go on in another record.  Return: false when there have been enough. */
static bool packer_next(struct packer *p)
{
	uint64_t tid = (uint32_t)p->hdr;

	if (p->records + 1 >= MAX_RECORDS)
		return false;
	packer_write(p, true);
	packer_start(p, xsp_hdr(tid, XSPROF_REC_ARGS, 0), 0, 0);
	return true;
}

static void packer_arg(struct packer *p, const struct xsprof_arg *arg, const char *str)
{
	size_t padded = ((size_t)arg->len + 15) & ~(size_t)15;
	char *to = (char *)p->word + p->used;

	memcpy(to, arg, sizeof(*arg));
	if (arg->len) {
		memcpy(to + sizeof(*arg), str, arg->len);
		memset(to + sizeof(*arg) + arg->len, 0, padded - arg->len);
	}
	p->used += sizeof(*arg) + padded;
}

/* A string takes what is left of a record and goes on in the next. */
static bool pack_string(struct packer *p, xsprof_name_t key, const char *str, size_t len)
{
	struct xsprof_arg arg = { .key = key, .type = XSPROF_ARG_STR };

	if (len > XSPROF_TEXT_MAX)
		len = XSPROF_TEXT_MAX;
	do {
		size_t room = packer_room(p);
		size_t part;

		/* Not for one byte: a piece of at least 16, or all there is. */
		if (room < sizeof(arg) + 16) {
			if (!packer_next(p))
				return false;
			room = packer_room(p);
		}
		part = room - sizeof(arg);
		if (part > len)
			part = len;
		arg.len = part;
		packer_arg(p, &arg, str);
		arg.flags = XSPROF_ARGF_CONT;
		str += part;
		len -= part;
	} while (len);
	return true;
}

static void put_args(uint64_t tid, uint32_t type, uint64_t a, uint64_t b,
		     const struct xsprof_kv *kv, size_t n)
{
	struct packer p;

	p.records = 0;
	packer_start(&p, xsp_hdr(tid, type, 0), a, b);
	for (size_t i = 0; i < n; i++) {
		struct xsprof_arg arg = { .key = kv[i].key, .type = kv[i].type };

		if (kv[i].type == XSPROF_ARG_STR) {
			if (!pack_string(&p, kv[i].key, kv[i].u.str, kv[i].len))
				break;
			continue;
		}
		if (kv[i].type == XSPROF_ARG_END || kv[i].type > XSPROF_ARG_STR)
			continue;
		arg.value = kv[i].u.u64;
		if (packer_room(&p) < sizeof(arg) && !packer_next(&p))
			break;
		packer_arg(&p, &arg, "");
	}
	packer_write(&p, false);
}

/*
 * The thread's id, whether or not this is its first marker; that of a forked child's thread may
 * still be its parent's, and goes into several records here.
 */
static uint64_t this_tid(void)
{
	return likely(xsp_thread.hdr && xsp_attached()) ? xsp_thread.hdr : xsp_thread_enter();
}

void xsprof_begin_args(xsprof_name_t name, const struct xsprof_kv *kv, size_t n)
{
	uint64_t on = xsprof_enabled();

	if (!on)
		return;
	if (!(on >> (name >> XSPROF_NAME_SHIFT) & 1)) {
		xsprof_emit_skip();
		return;
	}
	if (!n) {
		xsprof_emit_begin(name);
		return;
	}
	/* Below a range that was left out the begin keeps its own account of that. */
	if (unlikely(xsp_thread.skips)) {
		xsprof_emit_begin(name);
		put_args(this_tid(), XSPROF_REC_ARGS, 0, 0, kv, n);
		return;
	}
	put_args(this_tid(), XSPROF_REC_BEGIN, name, 0, kv, n);
}

void xsprof_end_args(const struct xsprof_kv *kv, size_t n)
{
	if (!xsprof_enabled())
		return;
	if (!n || unlikely(xsp_thread.skips)) {
		if (n && !(xsp_thread.skips & 1))
			put_args(this_tid(), XSPROF_REC_ARGS, 0, 0, kv, n);
		xsprof_emit_end();
		return;
	}
	put_args(this_tid(), XSPROF_REC_END, 0, 0, kv, n);
}

void xsprof_instant_args(xsprof_name_t name, const struct xsprof_kv *kv, size_t n)
{
	if (xsprof_wants(name))
		put_args(this_tid(), XSPROF_REC_INSTANT, name, 0, kv, n);
}

void xsprof_args(const struct xsprof_kv *kv, size_t n)
{
	if (!n || !xsprof_enabled() || xsp_thread.skips & 1)
		return;
	put_args(this_tid(), XSPROF_REC_ARGS, 0, 0, kv, n);
}

void xsprof_span(xsprof_name_t name, uint64_t begin, uint64_t end, uint64_t id, uint64_t parent)
{
	const uint64_t payload[6] = { name, id, begin, end, parent, 0 };

	if (xsprof_wants(name))
		xsp_put_slow(xsp_hdr(this_tid(), XSPROF_REC_SPAN, 2), payload, 2, 0);
}

static void put_mem(uint32_t type, xsprof_name_t name, const void *ptr, uint64_t bytes,
		    uint32_t device, uint64_t allocated, uint64_t reserved)
{
	const uint64_t payload[6] = {
		(uint64_t)name | (uint64_t)device << 32, (uint64_t)(uintptr_t)ptr,
		bytes, allocated, reserved, 0,
	};

	if (xsprof_wants(name))
		xsp_put_slow(xsp_hdr(this_tid(), type, 2), payload, 2, 0);
}

void xsprof_alloc(xsprof_name_t name, const void *ptr, uint64_t bytes, uint32_t device,
		  uint64_t total_allocated, uint64_t total_reserved)
{
	put_mem(XSPROF_REC_ALLOC, name, ptr, bytes, device, total_allocated, total_reserved);
}

void xsprof_free(xsprof_name_t name, const void *ptr, uint64_t bytes, uint32_t device,
		 uint64_t total_allocated, uint64_t total_reserved)
{
	put_mem(XSPROF_REC_FREE, name, ptr, bytes, device, total_allocated, total_reserved);
}

void xsprof_relation(uint32_t kind, uint64_t head, uint64_t tail)
{
	const uint64_t payload[6] = { (uint64_t)kind << 32, head, tail, 0, 0, 0 };

	if (xsprof_wants(0))
		xsp_put_slow(xsp_hdr(this_tid(), XSPROF_REC_RELATION, 2), payload, 2, 0);
}
