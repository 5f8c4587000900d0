// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Reads a producer's ring file in place: what a dead process left, or the current contents of a
 * living one. Consumes and writes nothing; a recorder may drain the same rings.
 *
 * Slots may be overwritten while they are copied; this is checked afterwards:
 *
 *	reader				writer (DISCARD)	writer (OVERWRITE)
 *	A  copies slots [p, q)		reads tail		-
 *	B  reads tail, or head, again	writes slots below	writes up to 15 slots
 *	   and trusts only p >= tail,	tail + size		beyond head, then head
 *	   or p + size >= head + 15
 *
 * B after A: a slot that passes B was not being written during A.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/ctl-check.h"
#include "decode/local.h"

#define ARENA_PIECE	(256u << 10)
#define HEAD_MAX	(1ull << 58)

static uint64_t slots_of(const struct xsprof_trace *t)
{
	return t->found.ring_ctl.ring_size >> XSPROF_SLOT_SHIFT;
}

static uint64_t ring_at(const struct xsprof_trace *t, uint32_t ring)
{
	return t->found.ring_ctl.rings_off + ring * t->found.ring_ctl.ring_stride;
}

static int read_writer(const struct xsprof_trace *t, uint32_t ring, struct xsprof_ring_writer *w)
{
	return xst_source_read(&t->file.src, ring_at(t, ring), w, sizeof(*w));
}

static int read_reader(const struct xsprof_trace *t, uint32_t ring, struct xsprof_ring_reader *r)
{
	return xst_source_read(&t->file.src, ring_at(t, ring) + t->found.ring_ctl.page_size, r,
			       sizeof(*r));
}

/* The oldest slot that an OVERWRITE ring certainly holds, at the begin of a block. */
static uint64_t oldest(uint64_t head, uint64_t size)
{
	uint64_t low;

	if (head + XSPROF_OVERWRITE_MARGIN <= size)
		return 0;
	low = head + XSPROF_OVERWRITE_MARGIN - size;
	return (low + XSPROF_BLOCK_SLOTS - 1) & ~(uint64_t)(XSPROF_BLOCK_SLOTS - 1);
}

/* ---- reading a ring ---------------------------------------------------------------------- */

static int copy(struct xsprof_trace *t, struct xst_stream *s, uint8_t *dst, uint64_t slots)
{
	uint64_t data = ring_at(t, s->ring) + 2ull * t->found.ring_ctl.page_size;
	uint64_t at = s->pos & (slots_of(t) - 1);
	uint64_t first = slots_of(t) - at;
	int err;

	if (first > slots)
		first = slots;
	err = xst_source_read(&t->file.src, data + at * XSPROF_SLOT_SIZE, dst,
			      first * XSPROF_SLOT_SIZE);
	if (!err && first < slots)
		err = xst_source_read(&t->file.src, data, dst + first * XSPROF_SLOT_SIZE,
				      (slots - first) * XSPROF_SLOT_SIZE);
	return err;
}

/* B: the lowest slot that can be trusted now. */
static int trusted(struct xsprof_trace *t, const struct xst_stream *s, uint64_t *low)
{
	struct xsprof_ring_writer w;
	struct xsprof_ring_reader r;
	int err;

	/*
	 * Pairs with the order of the writer's stores: the copy must be complete before the loads.
	 */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (t->found.ring_ctl.mode == XSPROF_MODE_OVERWRITE) {
		err = read_writer(t, s->ring, &w);
		*low = oldest(w.head < HEAD_MAX ? w.head : HEAD_MAX, slots_of(t));
	} else {
		err = read_reader(t, s->ring, &r);
		*low = r.tail;
	}
	return err;
}

/* Skips slots from @s->pos to @low: overwritten, or consumed by a recorder. */
static void skip(const struct xsprof_trace *t, struct xst_stream *s, uint64_t low)
{
	uint64_t gone = low - s->pos < s->chunk_left ? low - s->pos : s->chunk_left;

	if (t->found.ring_ctl.mode == XSPROF_MODE_OVERWRITE) {
		s->gap += gone;
		s->ledger.skipped += gone;
		s->ledger.read -= gone;
	}
	s->pos += gone;
	s->chunk_left -= gone;
}

/* Loads the next window of a ring: @load of its stream. */
static int load(struct xsprof_trace *t, struct xst_stream *s)
{
	uint32_t offset = xst_block_offset(s->pos);
	uint64_t slots = s->chunk_left, low;
	uint64_t before = s->pos;
	int err;

	if (!s->buf) {
		err = xst_buffer_get(t, s, offset + slots * XSPROF_SLOT_SIZE);
		if (err)
			return err;
	}
	if (slots > (s->buf_size - offset) / XSPROF_SLOT_SIZE)
		slots = (s->buf_size - offset) / XSPROF_SLOT_SIZE;
	err = copy(t, s, s->buf + offset, slots);
	if (!err)
		err = trusted(t, s, &low);
	if (err) {
		t->reading.bad_read++;
		s->bad_slots += s->chunk_left;
		xst_warn(t, XST_WARN_TRUNCATED, "ring %u cannot be read any more: %s", s->ring,
			 strerror(-err));
		s->pos += s->chunk_left;
		s->chunk_left = 0;
		return 0;
	}
	if (low > s->pos)
		skip(t, s, low);
	if (s->pos >= before + slots)
		return 0;
	slots -= s->pos - before;
	xst_stream_window(s, offset + (s->pos - before) * XSPROF_SLOT_SIZE, slots);
	return 1;
}

/* ---- what is in the file ----------------------------------------------------------------- */

static int add_ring(struct xsprof_trace *t, uint32_t ring)
{
	struct xsprof_ring_writer w;
	struct xsprof_ring_reader r;
	uint64_t from;
	struct xst_stream *s;

	if (read_writer(t, ring, &w) || read_reader(t, ring, &r) || w.head > HEAD_MAX) {
		t->found.bad_index++;
		xst_warn(t, XST_WARN_CHUNK, "ring %u cannot be read: left out", ring);
		return 0;
	}
	s = xst_stream_get(t, 0, ring);
	if (!s)
		return -ENOMEM;
	s->load = load;
	from = oldest(w.head, slots_of(t));
	s->first_gap = from;
	if (t->found.ring_ctl.mode == XSPROF_MODE_DISCARD) {
		from = r.tail;
		s->first_gap = 0;
		if (from > w.head || w.head - from > slots_of(t))
			from = w.head > slots_of(t) ? w.head - slots_of(t) : 0;
	}
	if (from > w.head)
		from = w.head;
	s->first_pos = from;
	s->index_pos = w.head;
	s->has_ledger = true;
	s->ledger = (struct xsprof_cap_ledger){
		.ring = ring,
		.kind = w.kind,
		.head = w.head,
		.read = w.head - s->first_gap,
		.skipped = s->first_gap,
		.drops = w.drops,
		.busy = w.busy,
	};
	t->found.producers[0]->rings += w.head > from;
	return 0;
}

static int add_arena(struct xsprof_trace *t)
{
	const struct xsprof_ctl *ctl = &t->found.ring_ctl;
	struct xsprof_arena arena;
	uint64_t used, pos = 0;
	uint8_t *piece;
	int err;

	err = xst_source_read(&t->file.src, ctl->arena_off, &arena, sizeof(arena));
	if (err)
		return xst_fail(t, err, "its arena cannot be read");
	t->found.producers[0]->nomem = arena.nomem;
	t->found.producers[0]->late = arena.late;
	used = arena.used;
	if (used > ctl->arena_size - sizeof(arena)) {
		t->found.bad_entries++;
		xst_warn(t, XST_WARN_ARENA, "the size of its arena is invalid");
		used = ctl->arena_size - sizeof(arena);
	}
	piece = malloc(ARENA_PIECE);
	if (!piece)
		return -ENOMEM;
	while (!err && pos < used) {
		size_t len = used - pos < ARENA_PIECE ? used - pos : ARENA_PIECE;

		err = xst_source_read(&t->file.src, ctl->arena_off + sizeof(arena) + pos, piece,
				      len);
		t->found.seen += len;
		if (!err)
			err = xst_arena_parse(t, t->found.producers[0], pos, piece, len);
		pos += len;
	}
	free(piece);
	return err;
}

/* For a file of this boot: adds a sync point of now, as a second one. */
static int add_now(struct xsprof_trace *t)
{
	const struct xsprof_ctl *ctl = &t->found.ring_ctl;
	char text[40] = "";
	uint8_t id[16];
	int fd, n, i, j;

	if (ctl->clock.kind != xsp_clock_kind() && ctl->clock.kind != XSPROF_CLOCK_MONO_RAW)
		return 0;
	fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	for (i = 0, j = 0; j < 16 && i < n; i += 2) {
		i += text[i] == '-';
		if (sscanf(text + i, "%2hhx", &id[j++]) != 1)
			return 0;
	}
	if (j < 16 || memcmp(id, ctl->boot_id, sizeof(id)))
		return 0;
	t->found.syncs = calloc(1, sizeof(*t->found.syncs));
	if (!t->found.syncs)
		return -ENOMEM;
	xsp_sync_read(&t->found.syncs[0], ctl->clock.kind);
	t->found.nr_syncs = t->found.room_syncs = 1;
	return 0;
}

int xst_snapshot_open(struct xsprof_trace *t)
{
	struct xsprof_ctl *ctl = &t->found.ring_ctl;
	struct xst_producer *p;
	int err;

	err = xst_source_read(&t->file.src, 0, ctl, sizeof(*ctl));
	if (!err)
		err = xsp_ctl_check(ctl, t->file.src.size);
	if (err)
		return xst_fail(t, err, "%s", xsp_ctl_strerror(err));
	t->found.snapshot = true;
	t->reading.horizon = UINT64_MAX;
	p = xst_producer_get(t, 0);
	if (!p)
		return -ENOMEM;
	xst_producer_set_ctl(p, ctl);
	p->end_ticks = ctl->exit_ticks;
	if (ctl->state == XSPROF_STATE_EXITED || ctl->state == XSPROF_STATE_KILLED) {
		p->has_exit = true;
		p->how = ctl->state == XSPROF_STATE_EXITED ? XSPROF_HOW_EXITED : XSPROF_HOW_KILLED;
	}
	err = ctl->quiets ? xst_producer_switch(p, ctl->quiet_ticks, 0) : 0;
	if (!err && ctl->switched)
		err = xst_producer_switch(p, ctl->switch_ticks, ctl->switched);
	if (!err)
		err = add_arena(t);
	for (uint32_t k = 0; k < ctl->nr_rings + ctl->nr_lock_rings && !err; k++)
		if (ctl->ready[k / 64] >> (k % 64) & 1)
			err = add_ring(t, k);
	if (!err)
		err = add_now(t);
	if (!err)
		err = xst_clocks_fit(t);
	return err;
}
