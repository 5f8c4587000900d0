// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies the rings of a producer for a snapshot: reads each in one go, checks and stores it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/ctl-check.h"
#include "read/peek-ring.h"
#include "snapshot/rings.h"

#define TRIES		8		/* to copy a ring before all of it is overwritten */

/**
 * struct reading - a ring being read
 * @s: the snapshot
 * @p: the producer
 * @k: number of the ring
 * @pos: next slot
 * @head: its head before the names were read
 * @first: ticks of the oldest record that was stored
 * @part: older records are missing
 * @last: ticks of the latest record
 */
struct reading {
	struct snapshot		*s;
	struct xsp_producer	*p;
	uint32_t		k;
	uint64_t		pos;
	uint64_t		head;
	uint64_t		first;
	bool			part;
	uint64_t		*last;
};

static void store_slots(struct reading *r, const struct xsprof_rec *slots, size_t n)
{
	struct xsp_producer_ring *ring = &r->p->rings[r->k];
	struct xsp_store *st = &r->s->st;
	struct xsp_walk walk;
	size_t i = 0;

	while (i < n) {
		struct xsprof_chunk chunk = {
			.type = XSPROF_CHUNK_RING,
			.producer = r->p->number,
			.ring = r->k,
			.pos = r->pos + i,
		};
		size_t good = xsp_walk(slots + i, r->pos + i, n - i, &walk, &r->p->tids);
		size_t rest;

		chunk.first = walk.first;
		chunk.last = walk.last;
		if (good && !xsp_store_chunk(st, &chunk, slots + i, good << XSPROF_SLOT_SHIFT)) {
			ring->read += good;
			st->slots += good;
			st->records += walk.records;
			if (!r->first)
				r->first = walk.first;
			if (walk.last > *r->last)
				*r->last = walk.last;
		} else {
			ring->unsaved += good;
			r->p->unsaved += good ? walk.records : 0;
		}
		i += good;
		if (i == n)
			break;
		/* No record begins here: continue at the next block, which begins with a record. */
		rest = XSPROF_BLOCK_SLOTS - ((r->pos + i) & (XSPROF_BLOCK_SLOTS - 1));
		if (rest > n - i)
			rest = n - i;
		ring->bad += rest;
		i += rest;
	}
}

/* Slots of one piece, which ends with a block, and so with a record. */
static size_t cut(uint64_t pos, uint64_t end, uint64_t most)
{
	if (end - pos <= most)
		return end - pos;
	return ((pos + most) & ~(uint64_t)(XSPROF_BLOCK_SLOTS - 1)) - pos;
}

static void store_piece(struct reading *r, size_t n)
{
	uint64_t end = r->pos + n;
	const struct xsprof_rec *slots = r->s->slots;

	while (r->pos < end) {
		n = cut(r->pos, end, SNAPSHOT_CHUNK_SLOTS);
		store_slots(r, slots, n);
		slots += n;
		r->pos += n;
	}
}

/* The begin of the last @slots before @head, at a block; or @low, if that is later. */
static uint64_t newest(uint64_t low, uint64_t head, uint64_t slots)
{
	uint64_t from = head > slots ? head - slots : 0;

	from = (from + XSPROF_BLOCK_SLOTS - 1) & ~(uint64_t)(XSPROF_BLOCK_SLOTS - 1);
	return from > low && from < head ? from : low;
}

/* A pass that reads no ring stores names. */
static void read_names(struct snapshot *s, struct xsp_producer *p)
{
	struct xsp_pass names = { .all = true, .most = UINT64_MAX, .min_slots = UINT64_MAX };
	uint32_t k;

	for (k = 0; k < p->rf.rings; k++)
		p->rings[k].broken = true;
	xsp_producer_pass(&s->st, p, &names);
}

/*
 * Copies as much as fits in one go, and stores it afterwards: the longer the copy takes, the more a
 * writer overwrites.
 *
 * @tries: how often a writer went around the whole ring meanwhile. Each time half as much is tried:
 * copying memory that another CPU writes may be slower than its writer. r->head is then newer than
 * the stored names. The names of the records up to it are in the arena since before it was read,
 * and must come before them in the capture; they are stored as soon as the records are copied.
 *
 * Return: 0, or -errno.
 */
static int read_ring(struct reading *r, uint64_t since, unsigned int tries)
{
	struct xsp_producer_ring *ring = &r->p->rings[r->k];
	bool discard = r->p->rf.ctl.mode == XSPROF_MODE_DISCARD;
	uint64_t most = 2 * xsp_ring_slots(&r->p->rf, r->k), low, now, copied = 0;
	uint64_t before = r->pos;
	long n;
	int err;

	ring->seen = r->head;
	err = peek_low(&r->p->rf, r->k, &low, &now);
	if (err)
		return err;
	if (tries)
		low = newest(low, r->head, xsp_ring_slots(&r->p->rf, r->k) >> tries);
	if (low > r->head)
		low = r->head;
	if (low > r->pos)
		r->pos = low;
	/* In a DISCARD ring, earlier records were read by a recorder, or counted by the writer. */
	if (!discard) {
		ring->skipped += r->pos - before;
		ring->before = ring->skipped;
	}
	/* Records older than requested are left out, and not lost. */
	if (since && r->head > r->pos)
		r->pos = peek_since(&r->p->rf, r->k, r->pos, r->head, since);
	r->part |= r->pos > 0;
	/* Only a writer that forges its counters is more than two rounds ahead. */
	while (r->pos < r->head && !r->s->st.error && copied < most) {
		/* Nothing was ever written there, whatever its counters claim. */
		uint64_t hole = xsp_ring_hole(&r->p->rf, r->k, r->pos, r->head - r->pos);

		if (hole) {
			ring->bad += hole;
			r->pos += hole;
			continue;
		}
		before = r->pos;
		n = peek_copy(&r->p->rf, r->k, &r->pos, r->s->slots,
			      cut(r->pos, r->head, r->s->nr_slots));
		if (n < 0)
			return n;
		copied += cut(before, r->head, r->s->nr_slots);
		if (r->pos > r->head)
			r->pos = r->head;
		if (!discard)
			ring->skipped += r->pos - before;
		if (tries && n) {
			read_names(r->s, r->p);
			tries = 0;
		}
		store_piece(r, n);
	}
	return 0;
}

/* ---- a producer ---------------------------------------------------------------------------- */

/*
 * Converts CLOCK_MONOTONIC to ticks of the producer's clock, by its sync points at attach and now.
 */
static uint64_t ticks_at(const struct xsp_producer *p, uint64_t ns)
{
	const struct xsprof_sync *then = &p->rf.ctl.attach;
	struct xsprof_sync now;
	double rate;

	xsp_sync_read(&now, p->rf.ctl.clock.kind);
	if (now.ticks <= then->ticks || now.mono <= then->mono || ns >= now.mono)
		return 0;
	rate = (double)(now.ticks - then->ticks) / (double)(now.mono - then->mono);
	if ((double)(now.mono - ns) * rate >= (double)now.ticks)
		return 0;
	return now.ticks - (uint64_t)((double)(now.mono - ns) * rate);
}

/* Notes that the ring is complete for the last so many ns, but not before. */
static void note_reach(struct snapshot *s, const struct xsp_producer *p, uint64_t first)
{
	const struct xsprof_sync *then = &p->rf.ctl.attach;
	struct xsprof_sync now;
	uint64_t ns;

	xsp_sync_read(&now, p->rf.ctl.clock.kind);
	if (now.ticks <= then->ticks || now.mono <= then->mono || first >= now.ticks)
		return;
	ns = (uint64_t)((double)(now.mono - then->mono) * (double)(now.ticks - first) /
			(double)(now.ticks - then->ticks));
	if (!s->reach_ns || ns < s->reach_ns)
		s->reach_ns = ns;
}

static void read_one(struct reading *r, uint64_t since)
{
	struct xsp_producer_ring *ring = &r->p->rings[r->k];
	unsigned int tries;
	int err = 0;

	for (tries = 0; !err && tries < TRIES; tries++) {
		err = read_ring(r, since, tries);
		/* A fast writer went around the whole ring meanwhile: read its present contents. */
		if (err || ring->read || r->s->st.error)
			break;
		r->head = xsp_ring_head(&r->p->rf, r->k);
		if (r->head >= PEEK_HEAD_MAX || r->head <= r->pos)
			break;
	}
	if (err)
		xsp_store_note(&r->s->st, "%s: ring %u: %s: slots from %llu on are left out",
			       r->p->name, r->k,
			       err == -EPROTO ? "has inconsistent counters" : xsp_ctl_strerror(err),
			       (unsigned long long)r->pos);
}

/*
 * Names are in the arena before the first record with them is published: read heads first, then
 * names, then slots up to those heads.
 */
void snapshot_read_rings(struct snapshot *s, struct xsp_producer *p, uint64_t *last)
{
	uint64_t since = s->since_ns ? ticks_at(p, s->since_ns) : 0;
	uint64_t *heads = calloc(p->rf.rings, sizeof(*heads));
	uint32_t k;

	if (!heads) {
		s->st.error = s->st.error ? s->st.error : -ENOMEM;
		return;
	}
	for (k = 0; k < p->rf.rings; k++) {
		/* Records read by recorders are in their files. */
		memset(&p->rings[k], 0, sizeof(p->rings[k]));
		if (xsp_ring_ready(&p->rf, k))
			heads[k] = xsp_ring_head(&p->rf, k);
	}
	read_names(s, p);
	for (k = 0; k < p->rf.rings && !p->rf.mem.broken; k++) {
		struct reading r = { .s = s, .p = p, .last = last, .k = k, .head = heads[k] };

		if (heads[k])
			read_one(&r, since);
		if (r.part && r.first)
			note_reach(s, p, r.first);
	}
	/* The last block of each ring is always included, however old. */
	s->old += *last && *last < since;
	xsp_producer_threads(&s->st, p, false);
	free(heads);
}
