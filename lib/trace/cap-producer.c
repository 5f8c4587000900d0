// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Reading one producer: its arena and its rings.  It never waits for the producer, and never
 * believes it: what does not hold together is counted and left out.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/cap-producer.h"
#include "trace/ring-clock.h"

/* Slots that no writer publishes in a lifetime: sums of counters below it do not overflow. */
#define HEAD_MAX	(1ull << 60)

/* A ring with less than a chunk and less than a quarter of it in use may wait this long. */
#define LINGER_NS	1000000000u

static int store_found(struct xsp_store *st, struct xsp_producer *p)
{
	struct xsprof_chunk chunk = {
		.type = XSPROF_CHUNK_PRODUCER,
		.producer = p->number,
	};
	struct xsprof_cap_producer *found = st->buf;

	memset(found, 0, sizeof(*found));
	found->pid = p->pid;
	found->found = xsp_ticks(p->rf.ctl.clock.kind);
	found->ctl = p->rf.ctl;
	chunk.first = found->found;
	chunk.last = found->found;
	return xsp_store_chunk(st, &chunk, found, sizeof(*found));
}

/* The process as the kernel names it to us: through the lock it holds, in whatever namespace. */
static pid_t find_pid(const struct xsp_store *st, const struct xsp_producer *p)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };

	if (!fcntl(p->rf.fd, F_GETLK, &lock) && lock.l_type != F_UNLCK && lock.l_pid > 0)
		return lock.l_pid;
	return p->rf.ctl.pid_ns == st->pid_ns ? (pid_t)p->rf.ctl.pid : 0;
}

static void resume_rings(struct xsp_store *st, struct xsp_producer *p)
{
	uint32_t k;

	for (k = 0; k < p->rf.rings; k++) {
		struct xsprof_ring_reader *reader;

		if (!xsp_ring_ready(&p->rf, k))
			continue;
		reader = xsp_ring_reader(&p->rf, k);
		p->rings[k].tail = __atomic_load_n(&reader->tail, __ATOMIC_RELAXED);
		p->rings[k].skipped = __atomic_load_n(&reader->skipped, __ATOMIC_RELAXED);
		st->ops->resume_ring(st->data, p->number, k, &p->rings[k]);
	}
}

int xsp_producer_open(struct xsp_store *st, int dirfd, const char *name, uint32_t *number,
		      struct xsp_producer **out)
{
	struct xsp_producer *p;
	bool resumed = false;
	struct stat sb;
	int err;

	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	err = xsp_ring_file_open(&p->rf, dirfd, name);
	if (err)
		goto err_free;
	err = -ENOMEM;
	p->rings = calloc(p->rf.rings, sizeof(*p->rings));
	if (!p->rings)
		goto err_close;
	if (fstat(p->rf.fd, &sb)) {
		err = -errno;
		goto err_close;
	}
	p->dev = sb.st_dev;
	p->ino = sb.st_ino;
	strncpy(p->name, name, sizeof(p->name) - 1);
	p->pid = find_pid(st, p);
	if (st->ops && st->ops->resume)
		resumed = st->ops->resume(st->data, &p->rf.ctl, &p->number, &p->arena_pos);
	if (!resumed)
		p->number = (*number)++;
	if (st->ops && st->ops->resume_ring)
		resume_rings(st, p);
	if (!resumed)
		store_found(st, p);
	st->kinds |= 1u << (p->rf.ctl.clock.kind & 31);
	*out = p;
	return 0;

err_close:
	xsp_ring_file_close(&p->rf);
err_free:
	free(p->rings);
	free(p);
	return err;
}

void xsp_producer_free(struct xsp_producer *p)
{
	xsp_ring_file_close(&p->rf);
	xsp_tids_free(&p->tids);
	free(p->rings);
	free(p);
}

/* ---- the arena ----------------------------------------------------------------------------- */

/* Bytes of whole entries at the beginning of @buf; -1 when one of them makes no sense. */
static ssize_t whole_entries(const uint8_t *buf, size_t len)
{
	struct xsprof_entry entry;
	size_t at = 0;

	while (len - at >= sizeof(entry)) {
		memcpy(&entry, buf + at, sizeof(entry));
		if (entry.size < sizeof(entry) || entry.size % 8 ||
		    entry.size > XSP_CAP_RAW_MAX ||
		    entry.text_len > entry.size - sizeof(entry))
			return at ? (ssize_t)at : -1;
		if (entry.size > len - at)
			break;
		at += entry.size;
	}
	return at;
}

static void store_arena(struct xsp_store *st, struct xsp_producer *p)
{
	uint64_t used = __atomic_load_n(&xsp_ring_arena(&p->rf)->used, __ATOMIC_ACQUIRE);
	uint64_t room = p->rf.ctl.arena_size - sizeof(struct xsprof_arena);

	if (used > room)
		used = room;
	while (p->arena_pos < used && !p->arena_broken) {
		struct xsprof_chunk chunk = {
			.type = XSPROF_CHUNK_ARENA,
			.producer = p->number,
			.pos = p->arena_pos,
		};
		size_t len = used - p->arena_pos;
		ssize_t whole;

		if (len > XSP_CAP_RAW_MAX)
			len = XSP_CAP_RAW_MAX;
		if (xsp_ring_copy_arena(&p->rf, p->arena_pos, st->buf, len))
			break;
		whole = whole_entries(st->buf, len);
		if (whole <= 0) {
			p->arena_broken = true;
			xsp_store_note(st, "%s: its names do not hold together from byte %llu on",
				       p->name, (unsigned long long)p->arena_pos);
			break;
		}
		if (xsp_store_chunk(st, &chunk, st->buf, whole))
			break;
		p->arena_pos += whole;
	}
}

/* ---- rings --------------------------------------------------------------------------------- */

static void store_sound(struct xsp_store *st, struct xsp_producer *p, uint32_t k, uint64_t pos,
			const struct xsprof_rec *slots, size_t n, const struct xsp_walk *walk)
{
	struct xsprof_chunk chunk = {
		.type = XSPROF_CHUNK_RING,
		.producer = p->number,
		.ring = k,
		.pos = pos,
		.first = walk->first,
		.last = walk->last,
	};

	if (xsp_store_chunk(st, &chunk, slots, n << XSPROF_SLOT_SHIFT)) {
		p->rings[k].unsaved += n;
		st->unsaved_slots += n;
		st->unsaved_records += walk->records;
		return;
	}
	p->rings[k].read += n;
	st->slots += n;
	st->records += walk->records;
}

/* What holds together, in as many chunks as it takes; the rest of a bad record's block is bad. */
static void store_slots(struct xsp_store *st, struct xsp_producer *p, uint32_t k, uint64_t pos,
			size_t n)
{
	const struct xsprof_rec *slots = st->buf;
	struct xsp_walk walk;
	size_t i = 0;

	while (i < n) {
		size_t good = xsp_walk(slots + i, pos + i, n - i, &walk, &p->tids);

		if (good)
			store_sound(st, p, k, pos + i, slots + i, good, &walk);
		i += good;
		if (i < n) {
			size_t rest = XSPROF_BLOCK_SLOTS - ((pos + i) & (XSPROF_BLOCK_SLOTS - 1));

			if (rest > n - i)
				rest = n - i;
			if (!p->rings[k].bad)
				xsp_store_note(st, "%s: ring %u holds no record at slot %llu",
					       p->name, k, (unsigned long long)(pos + i));
			p->rings[k].bad += rest;
			i += rest;
		}
	}
}

static uint64_t block_up(uint64_t pos)
{
	return (pos + XSPROF_BLOCK_SLOTS - 1) & ~(uint64_t)(XSPROF_BLOCK_SLOTS - 1);
}

/*
 * The first slot of an OVERWRITE ring that no writer may have touched since it was copied, when
 * head was read after the copy.
 */
static uint64_t trusted(uint64_t head, uint64_t size)
{
	size -= XSPROF_OVERWRITE_MARGIN;
	return head > size ? head - size : 0;
}

/*
 * Slots from the cursor on for one chunk: whole blocks, so that it ends with a record, and never
 * more than the ring has.
 */
static size_t cut(const struct xsp_store *st, uint64_t tail, uint64_t limit, uint64_t size)
{
	uint64_t most = st->chunk_slots < size ? st->chunk_slots : size;

	if (limit - tail <= most)
		return limit - tail;
	return ((tail + most) & ~(uint64_t)(XSPROF_BLOCK_SLOTS - 1)) - tail;
}

/*
 * Moves the cursor beyond what may be overwritten by now.
 *
 * Return: slots it moved; -EINVAL: head went back, which it never does.
 */
static int64_t skip_overtaken(struct xsp_producer *p, uint32_t k, uint64_t limit)
{
	struct xsp_producer_ring *r = &p->rings[k];
	uint64_t head = xsp_ring_head(&p->rf, k);
	uint64_t from = trusted(head, xsp_ring_slots(&p->rf));
	uint64_t before = r->tail;

	if (head < limit || head >= HEAD_MAX)
		return -EINVAL;
	/* Where a record surely begins. */
	if (from > r->tail) {
		r->tail = block_up(from);
		r->skipped += r->tail - before;
	}
	return r->tail - before;
}

static int read_overwrite(struct xsp_store *st, struct xsp_producer *p, uint32_t k, uint64_t limit)
{
	struct xsp_producer_ring *r = &p->rings[k];
	uint64_t size = xsp_ring_slots(&p->rf);
	uint64_t copied = 0;
	int64_t skip;
	size_t n;
	int err;

	skip = skip_overtaken(p, k, limit);
	/* A writer as fast as we are is left for the next pass, after all others. */
	while (skip >= 0 && r->tail < limit && copied < 2 * size) {
		uint64_t from = r->tail;

		n = cut(st, from, limit, size);
		copied += n;
		err = xsp_ring_copy(&p->rf, k, from, st->buf, n);
		if (err)
			return err;
		/* The copy is done before head is looked at again. */
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		skip = skip_overtaken(p, k, limit);
		if (skip < 0 || (uint64_t)skip >= n)
			continue;
		n -= skip;
		if (skip)
			memmove(st->buf, (struct xsprof_rec *)st->buf + skip,
				n << XSPROF_SLOT_SHIFT);
		store_slots(st, p, k, r->tail, n);
		if (st->keep && st->error)
			return st->error;
		r->tail += n;
	}
	xsp_ring_release(&p->rf, k, r->tail, r->skipped);
	return skip < 0 ? skip : 0;
}

static int read_discard(struct xsp_store *st, struct xsp_producer *p, uint32_t k, uint64_t limit)
{
	struct xsp_producer_ring *r = &p->rings[k];

	while (r->tail < limit) {
		size_t n = cut(st, r->tail, limit, xsp_ring_slots(&p->rf));
		int err = xsp_ring_copy(&p->rf, k, r->tail, st->buf, n);

		if (err)
			return err;
		store_slots(st, p, k, r->tail, n);
		if (st->keep && st->error)
			return st->error;
		r->tail += n;
		/*
		 * Only now, with the chunk in the kernel's hands: a recorder killed before this
		 * leaves the slots in the ring for the next one.
		 */
		xsp_ring_release(&p->rf, k, r->tail, 0);
	}
	return 0;
}

static void give_up(struct xsp_store *st, struct xsp_producer *p, uint32_t k, const char *why)
{
	p->rings[k].broken = true;
	xsp_store_note(st, "%s: ring %u %s: nothing more is read from it", p->name, k, why);
}

/* Is it time to read this ring? */
static bool due(const struct xsp_store *st, const struct xsp_producer_ring *r, uint64_t pending,
		uint64_t size, const struct xsp_pass *pass)
{
	return pass->all || pending >= st->chunk_slots || pending >= size / 4 ||
	       pass->now - r->since >= LINGER_NS;
}

static void pass_ring(struct xsp_store *st, struct xsp_producer *p, uint32_t k, uint64_t head,
		      struct xsp_pass *pass)
{
	struct xsp_producer_ring *r = &p->rings[k];
	bool discard = p->rf.ctl.mode == XSPROF_MODE_DISCARD;
	uint64_t size = xsp_ring_slots(&p->rf);
	uint64_t pending = head - r->tail;
	uint64_t gained = head - r->seen;
	int err;

	if (r->broken || p->rf.broken)
		return;
	if (head < r->seen || head >= HEAD_MAX || (discard && pending > size)) {
		give_up(st, p, k, "counts what cannot be");
		return;
	}
	r->seen = head;
	pass->new_slots += gained;
	gained = gained > size ? 1024 : (gained << 10) / size;
	if (gained > pass->fill)
		pass->fill = gained;
	/* An OVERWRITE cursor may stand beyond a head of before: it was moved by a newer one. */
	if (head <= r->tail)
		return;
	if (!r->since)
		r->since = pass->now;
	if (!due(st, r, pending, size, pass)) {
		pass->pending += pending;
		return;
	}
	r->since = 0;
	err = discard ? read_discard(st, p, k, head) : read_overwrite(st, p, k, head);
	if (err)
		give_up(st, p, k, xsp_ctl_strerror(err));
}

/*
 * Heads first, then names, then slots up to those heads: a name is in the arena before the first
 * record that bears it is published.
 */
#define BATCH	64u

void xsp_producer_pass(struct xsp_store *st, struct xsp_producer *p, struct xsp_pass *pass)
{
	uint64_t flush = __atomic_load_n(&xsp_ring_ctl(&p->rf)->flush, __ATOMIC_ACQUIRE);
	uint64_t heads[BATCH];
	bool all = pass->all;
	uint64_t ready;
	uint32_t k, i;

	pass->all |= flush != p->flush;
	p->flush = flush;
	if (xsp_ring_slots(&p->rf) < pass->min_slots)
		pass->min_slots = xsp_ring_slots(&p->rf);
	for (k = 0; k < p->rf.rings && !p->rf.broken; k += BATCH) {
		ready = 0;
		for (i = 0; i < BATCH && k + i < p->rf.rings; i++) {
			if (!xsp_ring_ready(&p->rf, k + i))
				continue;
			ready |= 1ull << i;
			heads[i] = xsp_ring_head(&p->rf, k + i);
		}
		if (!ready && !pass->all)
			continue;
		store_arena(st, p);
		for (i = 0; i < BATCH; i++) {
			if (!(ready >> i & 1))
				continue;
			pass->ready++;
			pass_ring(st, p, k + i, heads[i], pass);
		}
	}
	pass->all = all;
	if (p->tids.fresh)
		xsp_producer_threads(st, p, false);
}
