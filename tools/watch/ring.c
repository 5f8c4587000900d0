// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads the new records of a producer's rings, in time order. A ring is copied one block at a time,
 * so a look needs little memory, however much was written. It does not interpret records.
 */
#include <errno.h>
#include <stdlib.h>

#include "read/peek-ring.h"
#include "watch/local.h"

#define WINDOW	(4 * XSPROF_BLOCK_SLOTS)

/* Copies the next piece of a ring. Return: false: there is none at this look. */
static bool fill(struct watched *w, uint32_t k)
{
	struct watch_cursor *c = &w->rings[k];
	uint64_t size = xsp_ring_slots(w->rf, k), pos, want;
	long n;

	c->at = c->n = 0;
	while (!c->done && c->pos < c->head && c->copied < 2 * size) {
		/* Nothing was ever written there, whatever its counters claim. */
		uint64_t hole = xsp_ring_hole(w->rf, k, c->pos, c->head - c->pos);

		if (hole) {
			watch_lost(w);
			c->pos += hole;
			continue;
		}
		pos = c->pos;
		want = c->head - pos < WINDOW ? c->head - pos : WINDOW;
		if (want > size)
			want = size;
		/* A window ends with a block, and so with a record. */
		if (want < c->head - pos)
			want = ((pos + want) & ~(uint64_t)(XSPROF_BLOCK_SLOTS - 1)) - pos;
		n = peek_copy(w->rf, k, &pos, c->buf, want);
		if (n < 0) {
			c->broken = true;
			watch_lost(w);
			return false;
		}
		c->copied += want;
		if (pos != c->pos)
			watch_lost(w);
		c->pos = pos;
		c->n = n;
		if (n)
			return true;
	}
	return false;
}

/* The next record, or NULL; an invalid record ends its block. */
static const struct xsprof_rec *next(struct watched *w, uint32_t k, uint64_t limit)
{
	struct watch_cursor *c = &w->rings[k];

	for (;;) {
		const struct xsprof_rec *rec;
		uint32_t slots, left, in;

		if (c->at >= c->n && !fill(w, k))
			return NULL;
		rec = &c->buf[c->at];
		slots = rec->size & 0x0f;
		in = (c->pos + c->at) & (XSPROF_BLOCK_SLOTS - 1);
		left = XSPROF_BLOCK_SLOTS - in;
		if (slots && slots <= XSPROF_RECORD_SLOTS && slots <= left &&
		    slots <= c->n - c->at) {
			if (rec->ts <= limit)
				return rec;
			c->done = true;
			return NULL;
		}
		watch_lost(w);
		c->at += left < c->n - c->at ? left : c->n - c->at;
		if (c->at == c->n) {
			c->pos += c->n;
			c->at = c->n = 0;
		}
	}
}

static void pass(struct watch_cursor *c)
{
	c->at += c->buf[c->at].size & 0x0f;
	if (c->at < c->n)
		return;
	c->pos += c->n;
	c->at = c->n = 0;
}

/* Reads the heads of all rings, and allocates a buffer for those with new records. */
static int begin(struct watched *w)
{
	uint32_t k;

	for (k = 0; k < w->rf->rings; k++) {
		struct watch_cursor *c = &w->rings[k];
		uint64_t low, head;

		c->done = c->broken || w->rf->mem.broken || !xsp_ring_ready(w->rf, k);
		if (c->done)
			continue;
		if (peek_low(w->rf, k, &low, &head) || head < c->pos) {
			c->broken = c->done = true;
			continue;
		}
		if (low > c->pos) {
			/* At the first look records overwritten before do not count as missed. */
			if (w->looked)
				watch_lost(w);
			c->pos = low;
		}
		c->head = head;
		c->copied = 0;
		c->done = head == c->pos;
		if (c->done || c->buf)
			continue;
		c->buf = malloc(WINDOW * sizeof(*c->buf));
		if (!c->buf)
			return -ENOMEM;
	}
	return 0;
}

/* Records that were read and are not yet due are read again at the next look. */
static void end(struct watched *w)
{
	uint32_t k;

	for (k = 0; k < w->rf->rings; k++) {
		struct watch_cursor *c = &w->rings[k];

		c->pos += c->at;
		c->at = c->n = 0;
		free(c->buf);
		c->buf = NULL;
	}
}

int watch_rings(struct watched *w, uint64_t limit)
{
	int err = begin(w);

	while (!err) {
		const struct xsprof_rec *rec, *first = NULL;
		uint64_t second = limit;
		uint32_t k, from = 0;

		/*
		 * Finds the ring with the earliest record, up to the first record of another ring.
		 */
		for (k = 0; k < w->rf->rings; k++) {
			rec = w->rings[k].done ? NULL : next(w, k, limit);
			if (!rec) {
				w->rings[k].done = true;
				continue;
			}
			if (!first || rec->ts < first->ts) {
				if (first)
					second = first->ts;
				first = rec;
				from = k;
			} else if (rec->ts < second) {
				second = rec->ts;
			}
		}
		if (!first)
			break;
		while ((rec = next(w, from, limit)) && rec->ts <= second) {
			watch_record(w, rec);
			pass(&w->rings[from]);
		}
	}
	end(w);
	return err;
}
