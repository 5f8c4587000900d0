// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Reads one producer: its arena and its rings. Never waits for the producer and never trusts it:
 * invalid data is counted and left out.
 */
#include <errno.h>
#include <string.h>
#include <sys/types.h>

#include "base/ctl-check.h"
#include "drain/producer.h"

/* More slots than a writer publishes in its lifetime: sums of counters below it do not overflow. */
#define HEAD_MAX	(1ull << 60)

/* A ring with less than a chunk, filled to less than a quarter, may wait this long. */
#define LINGER_NS	1000000000u
/* The same for a reader that peeks for a live viewer. */
#define PEEK_LINGER_NS	50000000u

/* ---- the arena ----------------------------------------------------------------------------- */

/* Is it a fact that begins with @key, and has more? */
static bool states(const struct xsprof_entry *entry, const uint8_t *text, const char *key)
{
	size_t len = strlen(key);

	return entry->type == XSPROF_ENTRY_FACT && entry->text_len > len &&
	       !memcmp(text, key, len);
}

/* The bit of the --python-trace module whose function was called; 0: the entry states none. */
static uint64_t states_module(const struct xsprof_entry *entry, const uint8_t *text)
{
	static const char key[] = "python.module.";
	uint32_t at = sizeof(key) - 1, number = 0;

	if (!states(entry, text, key))
		return 0;
	for (; at < entry->text_len && text[at] >= '0' && text[at] <= '9' && number < 64; at++)
		number = 10 * number + text[at] - '0';
	return at < entry->text_len && text[at] == '=' && number < 64 ? 1ull << number : 0;
}

/*
 * Return: bytes of complete entries at the beginning of @buf; -1 for an invalid entry. Adds the
 * facts to @st.
 */
static ssize_t whole_entries(const uint8_t *buf, size_t len, struct xsp_store *st)
{
	struct xsprof_entry entry;
	size_t at = 0;
	bool refused;

	while (len - at >= sizeof(entry)) {
		memcpy(&entry, buf + at, sizeof(entry));
		if (entry.size < sizeof(entry) || entry.size % 8 ||
		    entry.size > XSP_CAP_RAW_MAX ||
		    entry.text_len > entry.size - sizeof(entry))
			return at ? (ssize_t)at : -1;
		if (entry.size > len - at)
			break;
		refused = states(&entry, buf + at + sizeof(entry), "gpu.refused.");
		st->devices += refused || states(&entry, buf + at + sizeof(entry), "device.");
		st->cuda |= refused || states(&entry, buf + at + sizeof(entry), "cupti_version=");
		st->sampled |= states(&entry, buf + at + sizeof(entry), "python.hz=");
		st->modules |= states_module(&entry, buf + at + sizeof(entry));
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
		whole = whole_entries(st->buf, len, st);
		if (whole <= 0) {
			p->arena_broken = true;
			xsp_store_note(st, "%s: its names are damaged from byte %llu on",
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
		p->unsaved += walk->records;
		st->unsaved_records += walk->records;
		return;
	}
	/* A producer that wrote a record ran at that time. */
	if (walk->last > p->wrote)
		p->wrote = walk->last;
	if (walk->last > p->lived)
		p->lived = walk->last;
	if (walk->last > p->ran)
		p->ran = walk->last;
	p->rings[k].read += n;
	st->slots += n;
	st->records += walk->records;
}

static void refuse_slots(struct xsp_store *st, struct xsp_producer *p, uint32_t k, uint64_t pos,
			 uint64_t n)
{
	if (!p->rings[k].bad)
		xsp_store_note(st, "%s: ring %u has an invalid record at slot %llu",
			       p->name, k, (unsigned long long)pos);
	p->rings[k].bad += n;
}

/*
 * Stores valid records in as many chunks as needed; after an invalid record the rest of its block
 * is bad.
 */
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
			refuse_slots(st, p, k, pos + i, rest);
			i += rest;
		}
	}
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
 * Moves the cursor past slots that may have been overwritten.
 *
 * Return: number of slots skipped; -EINVAL: head went back, which is invalid.
 */
static int64_t skip_overtaken(struct xsp_producer *p, uint32_t k, uint64_t limit)
{
	struct xsp_producer_ring *r = &p->rings[k];
	uint64_t head = xsp_ring_head(&p->rf, k);
	uint64_t before = r->tail;

	if (head < limit || head >= HEAD_MAX)
		return -EINVAL;
	r->tail = xsp_ring_trust(&p->rf, k, head, before);
	r->skipped += r->tail - before;
	return r->tail - before;
}

/* Reads slots that may be overwritten while they are copied. */
static int read_overwrite(struct xsp_store *st, struct xsp_producer *p, uint32_t k, uint64_t limit,
			  uint64_t most)
{
	struct xsp_producer_ring *r = &p->rings[k];
	uint64_t size = xsp_ring_slots(&p->rf, k);
	uint64_t copied = 0;
	int64_t skip;
	size_t n;
	int err;

	skip = skip_overtaken(p, k, limit);
	/*
	 * With a writer as fast as we are, leave the rest to the next pass, after all other rings.
	 */
	while (skip >= 0 && r->tail < limit && copied < 2 * size && copied < most) {
		uint64_t from = r->tail;
		uint64_t hole = xsp_ring_hole(&p->rf, k, from, limit - from);

		if (hole) {
			refuse_slots(st, p, k, from, hole);
			r->tail += hole;
			continue;
		}
		n = cut(st, from, limit, size);
		copied += n;
		err = xsp_ring_copy(&p->rf, k, from, st->buf, n);
		if (err)
			return err;
		/* The copy is complete before head is read again. */
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
	err = xsp_ring_release(&p->rf, k, r->tail, r->skipped);
	return skip < 0 ? skip : err;
}

/* Return: slots handled, or -errno. */
static int64_t read_slots(struct xsp_store *st, struct xsp_producer *p, uint32_t k, uint64_t limit)
{
	uint64_t pos = p->rings[k].tail;
	uint64_t n = xsp_ring_hole(&p->rf, k, pos, limit - pos);
	int err;

	if (n) {
		refuse_slots(st, p, k, pos, n);
		return n;
	}
	n = cut(st, pos, limit, xsp_ring_slots(&p->rf, k));
	err = xsp_ring_copy(&p->rf, k, pos, st->buf, n);
	if (err)
		return err;
	store_slots(st, p, k, pos, n);
	return st->keep && st->error ? st->error : (int64_t)n;
}

static int read_discard(struct xsp_store *st, struct xsp_producer *p, uint32_t k, uint64_t limit,
			uint64_t most)
{
	struct xsp_producer_ring *r = &p->rings[k];
	uint64_t from = r->tail;
	int64_t n;
	int err;

	while (r->tail < limit && r->tail - from < most) {
		n = read_slots(st, p, k, limit);
		if (n < 0)
			return n;
		r->tail += n;
		/*
		 * Only after the chunk was written: a recorder killed before this leaves the slots
		 * in the ring for the next one.
		 */
		err = xsp_ring_release(&p->rf, k, r->tail, 0);
		if (err)
			return err;
	}
	return 0;
}

static void give_up(struct xsp_store *st, struct xsp_producer *p, uint32_t k, const char *why)
{
	struct xsp_producer_ring *r = &p->rings[k];

	r->broken = true;
	/* The number of records is unknown, but not zero: report a loss. */
	r->bad += r->seen > r->tail ? r->seen - r->tail : 1;
	xsp_store_note(st, "%s: ring %u %s: nothing more is read from it", p->name, k, why);
}

/* Should this ring be read now? */
static bool due(const struct xsp_store *st, const struct xsp_producer_ring *r, uint64_t pending,
		uint64_t size, const struct xsp_pass *pass, uint64_t linger)
{
	return pass->all || pending >= st->chunk_slots || pending >= size / 4 ||
	       pass->now - r->since >= linger;
}

static void pass_ring(struct xsp_store *st, struct xsp_producer *p, uint32_t k, uint64_t head,
		      struct xsp_pass *pass)
{
	struct xsp_producer_ring *r = &p->rings[k];
	bool discard = p->rf.ctl.mode == XSPROF_MODE_DISCARD && !p->rf.peek;
	uint64_t size = xsp_ring_slots(&p->rf, k);
	uint64_t pending = head - r->tail;
	uint64_t gained = head - r->seen;
	int err;

	if (r->broken || p->rf.mem.broken)
		return;
	if (head < r->seen || head >= HEAD_MAX || (discard && pending > size)) {
		give_up(st, p, k, "has inconsistent counters");
		return;
	}
	r->seen = head;
	pass->new_slots += gained;
	if (gained)
		p->gained_at = pass->now;
	gained = gained > size ? 1024 : (gained << 10) / size;
	if (gained > pass->fill)
		pass->fill = gained;
	/* An OVERWRITE cursor may be beyond the head read earlier: a newer head moved it. */
	if (head <= r->tail)
		return;
	if (!r->since)
		r->since = pass->now;
	if (!due(st, r, pending, size, pass, p->rf.peek ? PEEK_LINGER_NS : LINGER_NS)) {
		pass->pending += pending;
		return;
	}
	err = discard ? read_discard(st, p, k, head, pass->most) :
			read_overwrite(st, p, k, head, pass->most);
	if (err && st->keep && st->error) {
		/* No loss: the slots stay in the ring. */
		r->broken = true;
		return;
	}
	if (err) {
		give_up(st, p, k, xsp_ctl_strerror(err));
		return;
	}
	if (r->tail >= head) {
		r->since = 0;
		return;
	}
	/* The rest is not newer, and the next pass comes soon. */
	pass->pending += head - r->tail;
	pass->fill = 1024;
}

/*
 * Heads first, then names, then slots up to those heads: a name is in the arena before the first
 * record that uses it is published.
 */
#define BATCH	64u

void xsp_producer_pass(struct xsp_store *st, struct xsp_producer *p, struct xsp_pass *pass)
{
	uint64_t flush = __atomic_load_n(&xsp_ring_ctl(&p->rf)->flush, __ATOMIC_ACQUIRE);
	uint64_t pending = pass->pending;
	uint64_t heads[BATCH];
	bool all = pass->all;
	uint64_t ready;
	uint32_t k, i;

	/*
	 * Records that a device's producer held before we came are older than those of all others.
	 */
	pass->all |= flush != p->flush || (p->rf.device && !p->gained_at);
	p->flush = flush;
	if (!p->gained_at)
		p->gained_at = pass->now;
	p->ready = 0;
	xsp_producer_switches(st, p);
	if (xsp_ring_slots(&p->rf, 0) < pass->min_slots)
		pass->min_slots = xsp_ring_slots(&p->rf, 0);
	for (k = 0; k < p->rf.rings && !p->rf.mem.broken; k += BATCH) {
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
			p->ready++;
			pass_ring(st, p, k + i, heads[i], pass);
		}
	}
	pass->all = all;
	pass->ready += p->ready;
	/* A producer of which the kernel notifies us need not be polled until it does. */
	p->quiet = p->rf.device && !p->rf.peek && pass->pending == pending &&
		   pass->now - p->gained_at >= XSP_QUIET_NS;
	if (p->tids.fresh)
		xsp_producer_threads(st, p, false);
}
