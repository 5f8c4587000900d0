// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Memory for the windows of streams, within the handle's limit.
 *
 * A window is as large as its chunk while few streams are active, and an equal share when there are
 * many; a stream with a larger window gives it up and reloads later, so any number of streams can
 * be merged. Does not look into windows.
 */
#include <errno.h>
#include <stdlib.h>

#include "decode/local.h"

static void drop_free(struct xst_buffers *b)
{
	struct xst_buffer *last = &b->free[--b->nr_free];

	free(last->mem);
	b->used -= last->size;
}

/* Takes the smallest free buffer that is large enough. */
static bool take_free(struct xst_buffers *b, struct xst_stream *s, size_t size)
{
	struct xst_buffer *best = NULL;

	for (uint32_t i = 0; i < b->nr_free; i++)
		if (b->free[i].size >= size && (!best || b->free[i].size < best->size))
			best = &b->free[i];
	if (!best)
		return false;
	s->buf = best->mem;
	s->buf_size = best->size;
	*best = b->free[--b->nr_free];
	return true;
}

/* ---- who has one, by size ---------------------------------------------------------------- */

static uint32_t blocks_of(const struct xst_stream *s)
{
	uint32_t blocks = s->buf_size / XSPROF_BLOCK_SIZE;

	return blocks < XST_BUFFER_SIZES ? blocks : XST_BUFFER_SIZES - 1;
}

static void add_holder(struct xst_buffers *b, struct xst_stream *s)
{
	uint32_t blocks = blocks_of(s);

	s->buf_prev = NULL;
	s->buf_next = b->by_size[blocks];
	if (s->buf_next)
		s->buf_next->buf_prev = s;
	b->by_size[blocks] = s;
	b->sizes[blocks / 64] |= 1ull << blocks % 64;
	b->holders++;
}

static void drop_holder(struct xst_buffers *b, struct xst_stream *s)
{
	uint32_t blocks = blocks_of(s);

	if (s->buf_prev)
		s->buf_prev->buf_next = s->buf_next;
	else
		b->by_size[blocks] = s->buf_next;
	if (s->buf_next)
		s->buf_next->buf_prev = s->buf_prev;
	if (!b->by_size[blocks])
		b->sizes[blocks / 64] &= ~(1ull << blocks % 64);
	b->holders--;
}

/*
 * Return: a stream with the largest window, if it exceeds @share. There may be as many streams as
 * chunks: not all can be examined each time.
 */
static struct xst_stream *largest(const struct xst_buffers *b, size_t share)
{
	for (int word = XST_BUFFER_WORDS; word--;) {
		struct xst_stream *s;

		if (!b->sizes[word])
			continue;
		s = b->by_size[64 * word + 63 - __builtin_clzll(b->sizes[word])];
		return s->buf_size > share ? s : NULL;
	}
	return NULL;
}

void xst_buffer_put(struct xsprof_trace *t, struct xst_stream *s)
{
	struct xst_buffers *b = &t->reading.buffers;

	if (!s->buf)
		return;
	if (b->nr_free == XST_FREE_BUFFERS)
		drop_free(b);
	b->free[b->nr_free++] = (struct xst_buffer){ s->buf, s->buf_size };
	drop_holder(b, s);
	s->buf = NULL;
	s->buf_size = 0;
}

/* Frees a window; unread records are loaded again later. */
static void evict(struct xsprof_trace *t, struct xst_stream *s)
{
	uint64_t left = (s->end - s->p) / XSPROF_SLOT_SIZE;

	s->chunk_left += left;
	s->pos -= left;
	s->p = s->end = NULL;
	xst_buffer_put(t, s);
}

static bool make_room(struct xsprof_trace *t, size_t size)
{
	struct xst_buffers *b = &t->reading.buffers;

	while (b->used + size > b->limit) {
		struct xst_stream *s;

		if (b->nr_free) {
			drop_free(b);
			continue;
		}
		/* With shares of one block any stream will do. */
		s = largest(b, size > XSPROF_BLOCK_SIZE ? size : 0);
		if (!s)
			return false;
		evict(t, s);
	}
	return true;
}

int xst_buffer_get(struct xsprof_trace *t, struct xst_stream *s, size_t want)
{
	struct xst_buffers *b = &t->reading.buffers;
	size_t share = b->limit / (b->holders + 1);
	size_t size = want < share ? want : share;

	size = (size + XSPROF_BLOCK_SIZE - 1) & ~(size_t)(XSPROF_BLOCK_SIZE - 1);
	if (size > share && size > XSPROF_BLOCK_SIZE)
		size -= XSPROF_BLOCK_SIZE;
	if (!take_free(b, s, size)) {
		while (!make_room(t, size)) {
			if (size <= XSPROF_BLOCK_SIZE)
				return -ENOMEM;
			size = XSPROF_BLOCK_SIZE;
		}
		/* An eviction may have freed one that fits. */
		if (!take_free(b, s, size)) {
			s->buf = aligned_alloc(XSPROF_BLOCK_SIZE, size);
			if (!s->buf)
				return -ENOMEM;
			s->buf_size = size;
			b->used += size;
		}
	}
	add_holder(b, s);
	return 0;
}

void xst_buffers_free(struct xst_buffers *b)
{
	while (b->nr_free)
		drop_free(b);
}
