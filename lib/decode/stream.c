// SPDX-License-Identifier: LGPL-2.1-only
/*
 * A stream: the chunks of one ring of one producer, and a window of its records in memory. Detects
 * missing slots; never looks into records.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc32c.h"
#include "decode/local.h"

static int load_more(struct xsprof_trace *t, struct xst_stream *s);

/* Keys of the map are producer numbers; the tracer uses one that no producer has. */
#define KERNEL_KEY	XSPROF_CAP_MAX_PRODUCERS

struct xst_stream *xst_stream_get(struct xsprof_trace *t, uint32_t producer, uint32_t ring)
{
	bool kernel = producer == XSPROF_NO_PRODUCER;
	uint32_t key = kernel ? KERNEL_KEY : producer;
	struct xst_stream *s = (struct xst_stream *)xst_map_get(&t->found.stream_map, key, ring);
	struct xst_producer *p;

	if (s)
		return s;
	p = kernel ? xst_kernel_producer(t) : xst_producer_get(t, producer);
	if (!p)
		return NULL;
	if (t->found.nr_streams == t->found.room_streams) {
		uint32_t room = t->found.room_streams ? t->found.room_streams * 2 : 64;
		struct xst_stream **list = realloc(t->found.streams, room * sizeof(*list));

		if (!list)
			return NULL;
		t->found.streams = list;
		t->found.room_streams = room;
	}
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->producer = p;
	s->ring = ring;
	s->kernel = kernel;
	s->load = load_more;
	s->order = 1 + key * XSPROF_MAX_RINGS + ring;
	if (xst_map_set(&t->found.stream_map, key, ring, s)) {
		free(s);
		return NULL;
	}
	s->next = p->streams;
	p->streams = s;
	t->found.streams[t->found.nr_streams++] = s;
	return s;
}

void xst_stream_free(struct xst_stream *s)
{
	free(s->chunks);
	free(s->buf);
	free(s);
}

/* The CPU of the ring, -1 for a lock ring. */
static int32_t cpu_of(const struct xst_stream *s)
{
	if (s->ring >= s->producer->own_rings)
		return s->ring - s->producer->own_rings;
	return s->ring < s->producer->nr_rings ? (int32_t)s->ring : -1;
}

void xst_stream_rewind(struct xsprof_trace *t, struct xst_stream *s)
{
	xst_buffer_put(t, s);
	s->p = s->end = NULL;
	s->seg = s->producer->fit->segs;
	s->cpu = cpu_of(s);
	s->ticks = 0;
	s->key = 0;
	s->gap = s->first_gap;
	s->drops = 0;
	s->pos = s->first_pos;
	s->chunk_left = t->found.snapshot ? s->index_pos - s->first_pos : 0;
	s->chunk = 0;
	s->queued = s->trailed = s->any = s->unknown_lost = s->hole = false;
	s->page_off = 0;
	s->page_lost = 0;
	s->lost_value = s->lost_yielded = s->gaps = s->bad_slots = 0;
}

/* ---- what comes next --------------------------------------------------------------------- */

static uint64_t time_of(const struct xst_stream *s, uint64_t ticks)
{
	return xst_fit_ns(s->producer->fit, ticks);
}

/* Losses in the ledger that are not in the records happened after the last record. */
static void count_trailing(const struct xsprof_trace *t, struct xst_stream *s)
{
	uint64_t end = s->index_pos, lost = 0;

	if (s->has_ledger) {
		uint64_t seen = s->ledger.read + s->ledger.skipped + s->ledger.bad;

		if (seen > s->ledger.head)
			seen = s->ledger.head;
		if (seen > end)
			end = seen;
		/* The file was full: the ring has nothing after what was stored. */
		if (t->found.no_room && !s->kernel && s->ledger.head > end)
			end = s->ledger.unsaved < s->ledger.head - end ?
			      end + s->ledger.unsaved : s->ledger.head;
		lost = s->ledger.drops + s->ledger.busy;
	}
	if (lost > s->lost_yielded)
		s->drops = lost - s->lost_yielded;
	/* Losses of events before one that the last sub-buffers do not contain. */
	if (s->page_lost > s->drops)
		s->drops = s->page_lost;
	s->page_lost = 0;
	if (end > s->pos)
		s->gap += end - s->pos;
	s->pos = end > s->pos ? end : s->pos;
	s->trailed = true;
}

static uint64_t end_time(const struct xsprof_trace *t, const struct xst_stream *s)
{
	if (s->any)
		return time_of(s, s->ticks);
	if (s->producer->end_ticks)
		return time_of(s, s->producer->end_ticks);
	return xst_last_ns(t);
}

/* The first time in the next chunk's header; a lower bound if it has none. */
static uint64_t hinted_time(const struct xst_stream *s, const struct xsprof_chunk *chunk)
{
	uint64_t after = s->any ? time_of(s, s->ticks) : 0;
	uint64_t hint = chunk && chunk->first ? time_of(s, chunk->first) : 0;

	return hint > after ? hint : after;
}

/* The next event is in the next chunk: sets its time and whether a hole precedes it. */
static void settle_chunk(struct xsprof_trace *t, struct xst_stream *s)
{
	struct xsprof_chunk header, *chunk = NULL;

	if (!t->found.snapshot &&
	    xst_chunk_header(&t->file, s->chunks[s->chunk], &header) == 1)
		chunk = &header;
	s->key = hinted_time(s, chunk);
	if (chunk)
		xst_hole_at_chunk(t, s, chunk);
}

bool xst_stream_settle(struct xsprof_trace *t, struct xst_stream *s)
{
	bool growing = (t->flags & XSPROF_TRACE_FOLLOW) && !t->found.has_end && !t->found.snapshot;

	if (!xst_stream_empty(s)) {
		xst_hole_at_window(s);
		return true;
	}
	/* Load its next window first: only that shows whether there is a hole. */
	if (s->chunk_left) {
		s->key = s->any ? time_of(s, s->ticks) : 0;
		return true;
	}
	if (s->chunk < s->nr_chunks) {
		settle_chunk(t, s);
		/* Only the next sub-buffer itself tells whether events were lost before it. */
		if (s->kernel && s->any)
			s->key = time_of(s, s->ticks);
		return true;
	}
	if (s->trailed || growing) {
		if (growing && !s->trailed)
			xst_hole_at_window(s);
		return false;
	}
	count_trailing(t, s);
	xst_hole_at_window(s);
	s->key = end_time(t, s);
	return s->gap || s->drops;
}

/* ---- loading ----------------------------------------------------------------------------- */

/* Verifies the checksum of a chunk larger than the window, piece by piece. */
static int check_pieces(struct xsprof_trace *t, struct xst_stream *s,
			const struct xsprof_chunk *chunk)
{
	uint64_t off = s->chunk_at + sizeof(*chunk);
	uint32_t crc = 0, left = chunk->stored;

	while (left) {
		uint32_t n = left < s->buf_size ? left : s->buf_size;
		int err = xst_source_read(&t->file.src, off, s->buf, n);

		if (err)
			return err == -ENODATA ? -EBADMSG : err;
		crc = xsp_crc32c(crc, s->buf, n);
		off += n;
		left -= n;
	}
	return crc == chunk->crc ? 0 : -EBADMSG;
}

/* Loads slots [@s->pos, +@slots) of a chunk larger than the window. */
static int load_part(struct xsprof_trace *t, struct xst_stream *s,
		     const struct xsprof_chunk *chunk, uint64_t slots)
{
	uint64_t from = (s->pos - chunk->pos) * XSPROF_SLOT_SIZE;
	size_t len = slots * XSPROF_SLOT_SIZE;
	uint8_t *dst = s->buf + xst_block_offset(s->pos);
	const uint8_t *raw;
	int err;

	if (!chunk->flags) {
		if (!s->checked) {
			err = check_pieces(t, s, chunk);
			if (err)
				return err;
		}
		err = xst_source_read(&t->file.src, s->chunk_at + sizeof(*chunk) + from, dst, len);
		return err == -ENODATA ? -EBADMSG : err;
	}
	err = xst_chunk_load(&t->file, s->chunk_at, chunk, &raw);
	if (!err)
		memcpy(dst, raw + from, len);
	return err;
}

static int load_window(struct xsprof_trace *t, struct xst_stream *s,
		       const struct xsprof_chunk *chunk)
{
	uint32_t offset = xst_block_offset(s->pos);
	uint64_t slots = s->chunk_left;
	int err;

	if (!s->buf) {
		err = xst_buffer_get(t, s, offset + slots * XSPROF_SLOT_SIZE);
		if (err)
			return err;
	}
	if (slots > (s->buf_size - offset) / XSPROF_SLOT_SIZE)
		slots = (s->buf_size - offset) / XSPROF_SLOT_SIZE;
	/* Sub-buffers may be larger than blocks, and are loaded whole. */
	if (s->kernel && slots < s->chunk_left) {
		slots -= slots % (t->found.kernel.subbuf / XSPROF_SLOT_SIZE);
		if (!slots)
			return -ENOMEM;
	}
	if (slots * XSPROF_SLOT_SIZE == chunk->raw)
		err = xst_chunk_load_to(&t->file, s->chunk_at, chunk, s->buf + offset);
	else
		err = load_part(t, s, chunk, slots);
	if (err)
		return err;
	s->checked = true;
	xst_stream_window(s, offset, slots);
	return 0;
}

static bool still_ours(const struct xst_stream *s, const struct xsprof_chunk *chunk)
{
	uint64_t slots = chunk->raw >> XSPROF_SLOT_SHIFT;

	return chunk->type == (s->kernel ? XSPROF_CHUNK_FTRACE : XSPROF_CHUNK_RING) &&
	       chunk->producer == s->producer->number &&
	       chunk->ring == s->ring && chunk->raw % XSPROF_SLOT_SIZE == 0 && slots &&
	       chunk->pos < 1ull << 58 && chunk->pos + slots > s->pos;
}

/* Reads the header again: it differs from the index if the file was changed meanwhile. */
static int read_header(struct xsprof_trace *t, struct xst_stream *s, struct xsprof_chunk *chunk)
{
	int r = xst_chunk_header(&t->file, s->chunk_at, chunk);

	if (r == 1 && still_ours(s, chunk))
		return 0;
	return r < 0 && r != -ENODATA ? r : -EBADMSG;
}

static int refuse_chunk(struct xsprof_trace *t, struct xst_stream *s, uint64_t slots)
{
	t->reading.bad_read++;
	s->bad_slots += slots;
	s->chunk_left = 0;
	xst_warn(t, XST_WARN_CHUNK,
		 "damaged chunk at offset %llu: %llu slots of ring %u of producer %u left out",
		 (unsigned long long)s->chunk_at, (unsigned long long)slots, s->ring,
		 s->producer->number);
	return 0;
}

/* Loads the next window of the current chunk: @load of streams with chunks. */
static int load_more(struct xsprof_trace *t, struct xst_stream *s)
{
	struct xsprof_chunk chunk;
	uint64_t end = s->pos + s->chunk_left;
	int err = read_header(t, s, &chunk);

	if (!err && (chunk.pos > s->pos || chunk.pos + (chunk.raw >> XSPROF_SLOT_SHIFT) != end))
		err = -EBADMSG;
	if (!err)
		err = load_window(t, s, &chunk);
	if (err == -EBADMSG)
		return refuse_chunk(t, s, s->chunk_left);
	return err ? err : 1;
}

/* Loads the next chunk. A missing range before it is reported as a gap once it proves valid. */
static int load_next(struct xsprof_trace *t, struct xst_stream *s)
{
	struct xsprof_chunk chunk = { .raw = 0 };
	uint64_t before = s->pos;
	int err;

	s->chunk_at = s->chunks[s->chunk++];
	s->checked = false;
	err = read_header(t, s, &chunk);
	if (!err && chunk.pos < s->pos)
		err = -EBADMSG;
	if (!err) {
		s->pos = chunk.pos;
		s->chunk_left = chunk.raw >> XSPROF_SLOT_SHIFT;
		err = load_window(t, s, &chunk);
	}
	if (!err) {
		s->gap += chunk.pos - before;
		return 1;
	}
	s->pos = before;
	if (err == -EBADMSG)
		return refuse_chunk(t, s, chunk.raw >> XSPROF_SLOT_SHIFT);
	return err;
}

int xst_stream_load(struct xsprof_trace *t, struct xst_stream *s)
{
	int r = 0;

	/* The old window is consumed: its buffer is needed only for the rest of its chunk. */
	if (!s->chunk_left)
		xst_buffer_put(t, s);
	while (!r) {
		if (s->chunk_left)
			r = s->load(t, s);
		else if (s->chunk < s->nr_chunks)
			r = load_next(t, s);
		else
			break;
	}
	if (r <= 0)
		xst_buffer_put(t, s);
	return r;
}

uint64_t xst_needed_from(const struct xsprof_trace *t)
{
	uint64_t from = t->found.scanned;

	for (uint32_t i = 0; i < t->found.nr_streams; i++) {
		const struct xst_stream *s = t->found.streams[i];

		/* A window that is not consumed may be evicted, and loaded again. */
		if ((s->chunk_left || !xst_stream_empty(s)) && s->chunk_at < from)
			from = s->chunk_at;
		if (s->chunk < s->nr_chunks && s->chunks[s->chunk] < from)
			from = s->chunks[s->chunk];
	}
	return from;
}
