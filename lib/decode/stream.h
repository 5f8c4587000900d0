/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * A stream: one ring of one producer, or a CPU of the kernel's tracer, with its chunks and a window
 * of its records in memory (buffers.c), the only part that is decoded.
 */
#ifndef XST_STREAM_H
#define XST_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <xsprof/abi.h>
#include <xsprof/capture.h>

#include "decode/clockfit.h"
#include "decode/producer.h"

struct xsprof_trace;

/**
 * struct xst_stream - one ring of one producer
 *
 * The window [@p, @end) holds some of its records; in @buf, blocks of the ring are aligned like
 * blocks of memory.
 */
struct xst_stream {
	/* the merge's inner loop */
	const uint8_t		*p;
	const uint8_t		*end;
	const struct xst_seg	*seg;
	uint64_t		ticks;		/* of the last record; never decreases */
	uint64_t		key;		/* ns of the next event */
	struct xst_producer	*producer;
	int32_t			cpu;
	uint32_t		order;		/* tie-breaker at equal times */

	/* losses to yield before the next record */
	uint64_t		gap;		/* slots */
	uint64_t		drops;		/* records */

	/* position */
	uint8_t			*buf;
	size_t			buf_size;
	struct xst_stream	*buf_next;	/* list of streams with windows of that size */
	struct xst_stream	*buf_prev;
	uint64_t		pos;		/* slot number at @end */
	uint64_t		chunk_left;	/* slots of the chunk after @end */
	uint64_t		chunk_at;	/* offset of its header in the file */
	uint32_t		ring;
	bool			queued;		/* it is in the merge's heap */
	bool			trailed;	/* the losses at its end have been counted */
	bool			checked;	/* the chunk's checksum was verified */
	bool			any;		/* it has had a record */
	bool			hole;		/* records are missing before the next event */

	/* loads the next window of @chunk_left. Return: 1, 0: no more, or -errno */
	int			(*load)(struct xsprof_trace *t, struct xst_stream *s);

	/* what is known of it */
	uint64_t		*chunks;
	uint32_t		nr_chunks;
	uint32_t		room_chunks;
	uint32_t		chunk;		/* index of the next chunk */
	uint64_t		index_pos;	/* slot after the last indexed chunk */
	uint64_t		first_pos;	/* ring file: oldest slot present */
	uint64_t		first_gap;	/* ... and number of slots overwritten before it */
	bool			has_ledger;
	struct xsprof_cap_ledger ledger;
	uint64_t		lost_value;	/* count in the last LOST record */
	uint64_t		lost_yielded;	/* records */
	uint64_t		gaps;		/* slots reported as lost */
	uint64_t		bad_slots;	/* slots refused while decoding */
	struct xst_stream	*next;		/* next stream of its producer */

	/* of the kernel's tracer: the sub-buffer at @p */
	bool			kernel;
	bool			unknown_lost;	/* an unknown number of events was lost */
	uint32_t		page_off;	/* of the next event, 0 at the begin */
	uint32_t		page_end;
	uint64_t		page_ts;
	uint64_t		page_lost;	/* events lost before the next one */
};

/* ---- stream.c ---------------------------------------------------------------------------- */

/* @producer: XSPROF_NO_PRODUCER for the kernel's tracer on CPU @ring. */
struct xst_stream *xst_stream_get(struct xsprof_trace *t, uint32_t producer, uint32_t ring);
void xst_stream_rewind(struct xsprof_trace *t, struct xst_stream *s);
void xst_stream_free(struct xst_stream *s);
/* Loads the next records. Return: 1, 0 at the end, or -errno. */
int xst_stream_load(struct xsprof_trace *t, struct xst_stream *s);
/* The file offset below which no slot will be read again. */
uint64_t xst_needed_from(const struct xsprof_trace *t);
/* At the end of a window: sets the time of the next event; false if there is none. */
bool xst_stream_settle(struct xsprof_trace *t, struct xst_stream *s);

/* The offset of a slot in a window: blocks of the ring are aligned like blocks of memory. */
static inline uint32_t xst_block_offset(uint64_t pos)
{
	return (pos & (XSPROF_BLOCK_SLOTS - 1)) * XSPROF_SLOT_SIZE;
}

/* Sets the window: @slots slots from @s->pos on, at @offset. */
static inline void xst_stream_window(struct xst_stream *s, uint32_t offset, uint64_t slots)
{
	s->p = s->buf + offset;
	s->end = s->p + slots * XSPROF_SLOT_SIZE;
	s->pos += slots;
	s->chunk_left -= slots;
}

/* Has @s neither records in memory nor losses to yield? */
static inline bool xst_stream_empty(const struct xst_stream *s)
{
	return s->p == s->end && !s->drops && !(s->trailed && (s->gap || s->unknown_lost));
}

/* ---- holes.c ----------------------------------------------------------------------------- */

/* The next event of @s is in memory: is there a hole before it? */
void xst_hole_at_window(struct xst_stream *s);
/* The same if it is in @chunk, which is not in memory. */
void xst_hole_at_chunk(struct xsprof_trace *t, struct xst_stream *s,
		      const struct xsprof_chunk *chunk);

/* ---- buffers.c --------------------------------------------------------------------------- */

#define XST_FREE_BUFFERS	32u

/* Sizes of windows: multiples of blocks, up to the largest chunk. */
#define XST_BUFFER_SIZES	(XSPROF_CHUNK_MAX / XSPROF_BLOCK_SIZE + 2)
#define XST_BUFFER_WORDS	((XST_BUFFER_SIZES + 63) / 64)

/**
 * struct xst_buffers - memory of windows
 * @limit: limit of used and cached memory together
 * @by_size: streams with a window, by its size in blocks; the latest first
 * @sizes: bitmap of sizes in use
 */
struct xst_buffers {
	uint64_t	limit;
	uint64_t	used;
	uint32_t	holders;	/* number of streams with a window */
	uint32_t	nr_free;
	struct xst_buffer {
		uint8_t	*mem;
		size_t	size;
	} free[XST_FREE_BUFFERS];
	struct xst_stream	*by_size[XST_BUFFER_SIZES];
	uint64_t		sizes[XST_BUFFER_WORDS];
};

/* Gets a window of up to @want bytes, a multiple of blocks. Return: 0, or -ENOMEM. */
int xst_buffer_get(struct xsprof_trace *t, struct xst_stream *s, size_t want);
void xst_buffer_put(struct xsprof_trace *t, struct xst_stream *s);
void xst_buffers_free(struct xst_buffers *b);

#endif /* XST_STREAM_H */
