/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The restartable sequences that write into rings: their common part, and the choice by
 * architecture. rseq-pseudocode.h explains them.
 *
 *	xsp_seq1()		publish one slot, inline in a marker
 *	xsp_seq1_since()	the same for a COMPLETE record
 *	xsp_seq_remember()	this CPU's ring is the one for those two
 *	xsp_seq_general()	1 to 8 slots, LOST, padding, drops
 *	xsp_seq_drop()		drop one slot where there is no room, quickly
 *	xsp_seq_raise()		raise the writer's bound
 */
#ifndef XSP_RSEQ_H
#define XSP_RSEQ_H

#include "ring/state.h"

/* How the general sequence ended. */
enum xsp_seq_result {
	XSP_SEQ_DROPPED	= 0,
	XSP_SEQ_WRITTEN	= 1,
	XSP_SEQ_ABORTED	= 2,
	XSP_SEQ_NO_RING	= 3,	/* cpu_id is not one of our rings */
	XSP_SEQ_ROOM	= 4,	/* the ring needs memory */
};

/**
 * struct xsp_seq_in - arguments of the general sequence
 * @hdr: first word of the record
 * @payload: the words after the timestamp, 32 * @slots - 16 bytes, aligned to 8
 * @slots: 1 to 8
 * @add_ticks: all ones: the fourth word is that of @payload plus the record's time
 * @lost_hdr: first word of a LOST record
 * @pad_hdr: first word of padding, without its size
 * @drop: not 0: drop the record (no memory is available)
 * @ticks: out: the record's time, if it was written
 */
struct xsp_seq_in {
	uint64_t	hdr;
	const uint64_t	*payload;
	uint64_t	slots;
	uint64_t	add_ticks;
	uint64_t	lost_hdr;
	uint64_t	pad_hdr;
	uint64_t	drop;
	uint64_t	ticks;
};

/* Offsets that the assembly uses as numbers; abi.h asserts those of the ring header. */
XSPROF_ABI_AT(xsp_seq_in, hdr, 0);
XSPROF_ABI_AT(xsp_seq_in, payload, 8);
XSPROF_ABI_AT(xsp_seq_in, slots, 16);
XSPROF_ABI_AT(xsp_seq_in, add_ticks, 24);
XSPROF_ABI_AT(xsp_seq_in, lost_hdr, 32);
XSPROF_ABI_AT(xsp_seq_in, pad_hdr, 40);
XSPROF_ABI_AT(xsp_seq_in, drop, 48);
XSPROF_ABI_AT(xsp_seq_in, ticks, 56);
/* Offsets in xsp_set from @nr on. */
#define XSP_SET_AT(field, off) \
	XSPROF_ABI_ASSERT(offsetof(struct xsp_set, field) - offsetof(struct xsp_set, nr) == (off))
XSP_SET_AT(ring, 8);
XSP_SET_AT(mask, 16);
XSP_SET_AT(size, 24);
XSP_SET_AT(key, 32);
XSP_SET_AT(overwrite, 40);
XSP_SET_AT(data_off, 48);
XSP_SET_AT(tail_off, 56);
XSPROF_ABI_ASSERT(offsetof(struct xsp_set, nr) % 64 == 0);
XSPROF_ABI_AT(xsprof_ring_writer, head, 0);
XSPROF_ABI_AT(xsprof_ring_writer, mark, 8);
XSPROF_ABI_AT(xsprof_ring_writer, drops, 16);
XSPROF_ABI_AT(xsprof_ring_writer, bound, 24);
XSPROF_ABI_AT(xsprof_ring_writer, grown, 32);
XSPROF_ABI_AT(xsprof_ring_writer, kind, 40);

#if defined(__x86_64__)
#define XSP_HAVE_RSEQ	1
#include "ring/rseq-x86.h"
#elif defined(__aarch64__)
#define XSP_HAVE_RSEQ	1
#include "ring/rseq-arm64.h"
#else
#define XSP_HAVE_RSEQ	0
#define XSP_RSEQ_SIG	0
/* Without sequences for the architecture every record uses the lock rings. */
static inline bool xsp_seq1(uint32_t tid, uint32_t type, uint64_t a, uint64_t b)
{
	(void)tid, (void)type, (void)a, (void)b;
	return false;
}

static inline bool xsp_seq1_since(uint32_t tid, uint32_t type, uint64_t a, uint64_t begin)
{
	(void)tid, (void)type, (void)a, (void)begin;
	return false;
}

static inline void xsp_seq_remember(void)
{
}

static inline unsigned int xsp_seq_general(struct xsp_seq_in *in)
{
	(void)in;
	return XSP_SEQ_NO_RING;
}

static inline bool xsp_seq_drop(void)
{
	return false;
}

static inline void xsp_seq_raise(uint64_t limit)
{
	(void)limit;
}
#endif

#endif /* XSP_RSEQ_H */
